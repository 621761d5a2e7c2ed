from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from replay.errors import ParameterError, ReplayError
from replay.native import import_warp, native_errors, native_output

libc = ctypes.CDLL(None)


def write(number: int, text: str) -> None:
    """Write past Python's streams, as native code does."""
    os.write(number, text.encode())


def test_what_native_code_wrote_is_the_reason(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ReplayError) as caught:
        with native_errors("cannot load x.wrp", remedy="record it again"):
            write(2, "LLVM: bad object\n")
            libc.printf(b"and on stdout\n")  # still in the C library's buffer when the error is raised
            raise RuntimeError("Failed to load: ")
    assert str(caught.value) == (
        "cannot load x.wrp: Failed to load; LLVM: bad object; and on stdout; record it again"
    )
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert capfd.readouterr() == ("", "")


def test_a_reason_is_told_once_and_never_missing() -> None:
    with pytest.raises(ReplayError, match=r"^doing: bad arch$"):
        with native_errors("doing"):
            write(2, "bad arch\nbad arch\n")
            raise RuntimeError("bad arch")
    with pytest.raises(ReplayError, match=r"^doing: RuntimeError$"):
        with native_errors("doing"):
            raise RuntimeError


def test_without_an_error_it_is_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    with native_errors("doing"):
        write(2, "a warning\n")
        write(1, "a print in a kernel\n")
    assert capfd.readouterr() == ("", "a print in a kernel\na warning\n")  # the output is for results
    with native_errors("doing", known={"f_backward"}):
        write(2, "not found: [ f_backward ]\nnot found: [ f_forward ]\n")
        write(1, "f_backward, says a kernel\n")
    assert capfd.readouterr().err == "f_backward, says a kernel\nnot found: [ f_forward ]\n"
    with native_errors("doing", emit=False):
        write(2, "noise\n")
    assert capfd.readouterr() == ("", "")


def test_our_own_errors_and_interrupts_pass_unchanged(capfd: pytest.CaptureFixture[str]) -> None:
    for error in (ParameterError("mine"), KeyboardInterrupt()):
        with pytest.raises(type(error)) as caught:
            with native_errors("doing"):
                write(2, "said before\n")
                raise error
        assert caught.value is error
        write(2, "after\n")
        assert capfd.readouterr().err == "said before\nafter\n"


def test_much_output_does_not_block_and_the_end_is_kept(capfd: pytest.CaptureFixture[str]) -> None:
    with native_output() as output:
        for _ in range(40):
            write(2, "x" * 10_000 + "\n")
        write(2, "the end")
    assert output.stderr.endswith("\nthe end")
    assert len(output.stderr) <= 64 * 1024
    assert capfd.readouterr().err == ""


def test_a_block_within_a_block_belongs_to_the_outer_one() -> None:
    with native_output() as outer:
        write(2, "one ")
        with native_output() as inner:
            write(2, "two")
    assert (inner.stderr, outer.stderr) == ("", "one two")


def test_threads_take_turns_and_lose_nothing() -> None:
    texts: list[str] = []

    def work(number: int) -> None:
        for _ in range(20):
            with native_output() as output:
                write(2, f"thread {number}")
            texts.append(output.stderr)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(texts) == sorted(f"thread {number}" for number in range(4) for _ in range(20))


def test_no_descriptor_is_left_open() -> None:
    def count() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    with native_output():
        pass
    before = count()
    for _ in range(5):
        with native_output():
            write(1, "x")
        with pytest.raises(ReplayError), native_errors("doing"):
            raise RuntimeError("x")
    assert count() == before


def test_warp_starts_without_a_word() -> None:
    code = "from replay.native import import_warp; print(import_warp().config.version)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (result.stdout, result.stderr) == ("1.19.0\n", "")


def test_it_works_in_a_process_without_standard_streams() -> None:
    code = (
        "import os, sys; out = os.dup(1); os.close(1); os.close(2); sys.stdout = sys.stderr = None\n"
        "from replay.native import import_warp; v = import_warp().config.version; os.write(out, v.encode())"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert result.stdout == "1.19.0"


def test_warp_is_the_same_module_each_time() -> None:
    assert import_warp() is import_warp() is sys.modules["warp"]
