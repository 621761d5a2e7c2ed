"""What one frame asks of the device: launches, copies and waits, counted from the calls that were made.

While it lasts, every function of the driver's bindings is wrapped, and so is what of Warp's native library
reaches the device, and what of OpenGL waits, fences, flushes or moves data. A profiler's callback sees the
same calls (tests/gpu/test_frame_calls.py). What a frame is, and what is reported of it, is not known here.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

_WARP = ("wp_cuda_", "wp_memcpy", "wp_memset", "wp_alloc_", "wp_free_", "wp_array_")
_GL = (
    "glFlush", "glFinish", "glFenceSync", "glClientWaitSync", "glWaitSync", "glReadPixels", "glGetTexImage",
    "glGetBufferSubData", "glTexSubImage2D", "glTexImage2D", "glBufferData",
    "glBufferSubData", "glGetQueryObjectui64v",
)  # fmt: skip
_BYTES = {"HtoD": "host to device", "DtoH": "device to host", "DtoD": "device to device"}
LAUNCHES = ("cuGraphLaunch", "cuLaunchKernel", "cuLaunchKernelEx")
HOST_WAITS = (
    "cuStreamSynchronize", "cuCtxSynchronize", "cuEventSynchronize", "wp_cuda_stream_synchronize",
    "wp_cuda_context_synchronize", "wp_cuda_event_synchronize", "glFinish", "glClientWaitSync",
    "glGetTexImage",
)  # fmt: skip
"""Calls in which the host may wait for the device. `glGetBufferSubData` is none here: it takes answers whose
fence has passed (app/view/range_fit.py). A fence that is only looked at has a name of its own."""


@dataclass
class Calls:
    """Calls by name, and bytes by direction of copying; of a copy into a texture, those of the field."""

    count: Counter[str] = field(default_factory=Counter)
    nbytes: Counter[str] = field(default_factory=Counter)

    @property
    def launches(self) -> int:
        """Graphs and single kernels launched."""
        return sum(self.count[name] for name in LAUNCHES)

    @property
    def copies(self) -> int:
        """Copies told to the driver."""
        return sum(number for name, number in self.count.items() if "cuMemcpy" in name or "wp_memcpy" in name)

    @property
    def waits(self) -> dict[str, int]:
        """Calls in which the host may have waited."""
        return {name: self.count[name] for name in HOST_WAITS if self.count[name]}

    def of_cuda(self) -> frozenset[tuple[str, int]]:
        """The calls without those of OpenGL, to compare frames by."""
        return frozenset((name, number) for name, number in self.count.items() if not name.startswith("gl"))

    def __str__(self) -> str:
        """Say it in a line: what CUDA was told, then what OpenGL was asked that is more than drawing."""
        cuda = [
            f"{number} {name}" for name, number in sorted(self.count.items()) if not name.startswith("gl")
        ]
        copied = [f"{number:,} B {way}" for way, number in sorted(self.nbytes.items())]
        opengl = [f"{number} {name}" for name, number in sorted(self.count.items()) if name.startswith("gl")]
        waits = ", ".join(f"{number} {name}" for name, number in self.waits.items())
        return "; ".join(
            (
                ", ".join(cuda + copied) or "no CUDA",
                ", ".join(opengl) or "no OpenGL",
                f"host waits: {waits or 'none'}",
            )
        )


@contextmanager
def counted_calls(direct: Any = None) -> Iterator[Callable[[], Calls]]:
    """Count while this lasts; what it gives returns the calls since it was last asked.

    Args:
        direct: further functions of OpenGL, as attributes of an object; None for none.
    """
    from app.gl_platform import GL

    calls = Calls()

    lock = threading.Lock()  # pictures are shown by another thread

    def note(name: str, arguments: tuple[Any, ...]) -> None:
        if name == "glClientWaitSync" and not arguments[2]:
            name = "glClientWaitSync without time"
        way, nbytes = _copied(name, arguments) if "Memcpy" in name else ("", 0)
        with lock:
            calls.count[name] += 1
            if way:
                calls.nbytes[way] += nbytes

    def taken() -> Calls:
        with lock:
            seen = Calls(Counter(calls.count), Counter(calls.nbytes))
            calls.count.clear()
            calls.nbytes.clear()
        return seen

    patched: list[tuple[Any, str, Any]] = []

    def watch(owner: Any, name: str) -> None:
        function = getattr(owner, name)

        def counting(*arguments: Any) -> Any:
            note(name, arguments)
            return function(*arguments)

        counting.__name__ = name  # errors are told by it
        setattr(owner, name, counting)
        patched.append((owner, name, function))

    try:
        for owner in _cuda_owners():
            for name in _functions(owner):
                watch(owner, name)
        for name in _GL:
            watch(GL, name)
        for name in [name for name in (vars(direct) if direct is not None else ()) if name in _GL]:
            watch(direct, name)
        yield taken
    finally:
        for owner, name, function in reversed(patched):
            setattr(owner, name, function)


def _cuda_owners() -> list[Any]:
    """The driver's bindings and Warp's native library, as far as they are there."""
    owners: list[Any] = []
    try:
        from cuda.bindings import driver

        owners.append(driver)
    except ImportError:
        pass
    import warp as wp

    runtime = wp._src.context.runtime  # None until Warp is used
    return owners if runtime is None else [*owners, runtime.core]


def _functions(owner: Any) -> list[str]:
    quiet = ("cuCtxPushCurrent", "cuCtxPopCurrent", "cuGetErrorString")  # nothing reaches the device
    return [
        name
        for name in vars(owner)
        if (name.startswith(_WARP) or (name.startswith("cu") and name[2:3].isupper()))
        and name not in quiet
        and callable(getattr(owner, name))
    ]


def _copied(name: str, arguments: tuple[Any, ...]) -> tuple[str, int]:
    if name.startswith("cuMemcpy2D"):
        return "device to texture", int(arguments[0].WidthInBytes) * int(arguments[0].Height)
    way = next((text for key, text in _BYTES.items() if key in name), "elsewhere")
    return way, int(arguments[2])
