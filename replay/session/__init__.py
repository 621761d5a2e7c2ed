"""Sessions: everything that entered a player, in one append-only file, and its exact replay."""
