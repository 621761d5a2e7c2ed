"""The count of a frame's calls: every one while it is watched, waits told apart, and nothing left wrapped."""

from __future__ import annotations

from types import SimpleNamespace

from app.bench.calls import Calls, counted_calls
from app.gl_platform import GL


def test_calls_are_counted_until_the_end_and_then_as_before() -> None:
    flushed: list[str] = []
    direct = SimpleNamespace(glFlush=lambda: flushed.append("flush"), glClear=lambda: None)
    before, clear, flush = GL.glFlush, direct.glClear, direct.glFlush
    with counted_calls(direct) as taken:
        assert direct.glClear is clear
        direct.glFlush()
        direct.glFlush()
        assert taken().count == {"glFlush": 2}
        assert taken().count == {}
        assert GL.glFlush is not before
    assert GL.glFlush is before and direct.glFlush is flush and flushed == ["flush", "flush"]


def test_a_fence_that_is_only_looked_at_is_no_wait() -> None:
    direct = SimpleNamespace(glClientWaitSync=lambda fence, flags, timeout: timeout)
    with counted_calls(direct) as taken:
        direct.glClientWaitSync(1, 0, 0)
        assert taken().waits == {}
        assert direct.glClientWaitSync(1, 0, 5) == 5
        assert taken().waits == {"glClientWaitSync": 1}


def test_a_line_tells_launches_copies_and_waits() -> None:
    calls = Calls()
    calls.count.update({"cuGraphLaunch": 1, "cuMemcpyHtoDAsync": 2, "glFlush": 1, "cuStreamSynchronize": 1})
    calls.nbytes["host to device"] += 16
    assert (calls.launches, calls.copies) == (1, 2)
    assert str(calls) == (
        "1 cuGraphLaunch, 2 cuMemcpyHtoDAsync, 1 cuStreamSynchronize, 16 B host to device; 1 glFlush; "
        "host waits: 1 cuStreamSynchronize"
    )
    assert calls.of_cuda() == {("cuGraphLaunch", 1), ("cuMemcpyHtoDAsync", 2), ("cuStreamSynchronize", 1)}
