"""Bytes of `.wrp` files, format 18: reading with every bound checked, and writing a changed stream.

Definition of the format: `warp/native/apic_types.h` and the parser in `apic.cpp` of Warp 1.19. Nothing here
imports Warp, executes anything, or knows what an operation means: that is `replay.graph`.
"""
