"""Dropping files on a window of an X display, as a file manager does: the source's side of the XDND protocol.

By ctypes on libX11, which GLFW needs as well. https://freedesktop.org/wiki/Specifications/XDND/, version 5.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterable
from ctypes import POINTER, Structure, Union, byref, c_char_p, c_int, c_long, c_ulong, c_void_p
from pathlib import Path
from typing import Any

PATIENCE = 40.0
_VERSION = 5
_SELECTION_REQUEST, _SELECTION_NOTIFY, _CLIENT_MESSAGE = 30, 31, 33

_HEAD = [("type", c_int), ("serial", c_ulong), ("send_event", c_int), ("display", c_void_p)]


class _ClientMessage(Structure):
    _fields_ = [
        *_HEAD,
        ("window", c_ulong),
        ("message_type", c_ulong),
        ("format", c_int),
        ("data", c_long * 5),
    ]


class _SelectionRequest(Structure):
    _fields_ = [
        *_HEAD,
        *((name, c_ulong) for name in ("owner", "requestor", "selection", "target", "property", "time")),
    ]


class _SelectionNotify(Structure):
    _fields_ = [
        *_HEAD,
        *((name, c_ulong) for name in ("requestor", "selection", "target", "property", "time")),
    ]


class _Event(Union):
    _fields_ = [
        ("type", c_int),
        ("client", _ClientMessage),
        ("request", _SelectionRequest),
        ("notify", _SelectionNotify),
        ("room", c_long * 24),
    ]


def _library() -> Any:
    library = ctypes.CDLL("libX11.so.6")
    library.XOpenDisplay.argtypes, library.XOpenDisplay.restype = [c_char_p], c_void_p
    library.XDefaultRootWindow.argtypes, library.XDefaultRootWindow.restype = [c_void_p], c_ulong
    library.XInternAtom.argtypes, library.XInternAtom.restype = [c_void_p, c_char_p, c_int], c_ulong
    library.XCreateSimpleWindow.argtypes = [c_void_p, c_ulong, *[c_int] * 4, ctypes.c_uint, c_ulong, c_ulong]
    library.XCreateSimpleWindow.restype = c_ulong
    library.XSetSelectionOwner.argtypes = [c_void_p, c_ulong, c_ulong, c_ulong]
    library.XSendEvent.argtypes = [c_void_p, c_ulong, c_int, c_long, POINTER(_Event)]
    library.XChangeProperty.argtypes = [*[c_void_p, c_ulong, c_ulong, c_ulong, c_int, c_int, c_char_p, c_int]]
    for name in ("XPending", "XFlush", "XCloseDisplay"):
        getattr(library, name).argtypes = [c_void_p]
    library.XNextEvent.argtypes = [c_void_p, POINTER(_Event)]
    return library


class _Source:
    """A window that offers something, and what the target is told of it."""

    def __init__(self, display: str, target: int) -> None:
        self._x, self._target = _library(), target
        self._display = self._x.XOpenDisplay(display.encode())
        assert self._display, f"no display {display}"
        root = self._x.XDefaultRootWindow(self._display)
        self._window = self._x.XCreateSimpleWindow(self._display, root, 0, 0, 1, 1, 0, 0, 0)
        self._x.XSetSelectionOwner(self._display, self.atom("XdndSelection"), self._window, 0)

    def atom(self, name: str) -> int:
        return self._x.XInternAtom(self._display, name.encode(), 0)

    def tell(self, message: str, *data: int) -> None:
        event = _Event()
        client = event.client
        client.type, client.window, client.format = _CLIENT_MESSAGE, self._target, 32
        client.message_type = self.atom(message)
        client.data = (c_long * 5)(self._window, *data)
        self._x.XSendEvent(self._display, self._target, 0, 0, byref(event))
        self._x.XFlush(self._display)

    def wait(self, message: str, content: bytes) -> bool:
        """Wait for an answer, and give the content to who asks for it; return whether it is a yes."""
        wanted, end, event = self.atom(message), time.monotonic() + PATIENCE, _Event()
        while True:
            while not self._x.XPending(self._display):
                assert time.monotonic() < end, f"the window never answered {message}"
                time.sleep(0.005)
            self._x.XNextEvent(self._display, byref(event))
            if event.type == _SELECTION_REQUEST:
                self._give(event.request, content)
            elif event.type == _CLIENT_MESSAGE and event.client.message_type == wanted:
                return event.client.data[1] != 0  # GLFW tells how many bytes it took

    def _give(self, request: _SelectionRequest, content: bytes) -> None:
        self._x.XChangeProperty(
            *(self._display, request.requestor, request.property, request.target, 8, 0, content, len(content))
        )
        event = _Event()
        event.notify = _SelectionNotify(
            type=_SELECTION_NOTIFY,
            requestor=request.requestor,
            selection=request.selection,
            target=request.target,
            property=request.property,
            time=request.time,
        )
        self._x.XSendEvent(self._display, request.requestor, 0, 0, byref(event))
        self._x.XFlush(self._display)

    def close(self) -> None:
        self._x.XCloseDisplay(self._display)


def drop(display: str, window: int, place: tuple[int, int], paths: Iterable[Path]) -> None:
    """Drag files over a place on the screen, and let them fall on the window that is there.

    Raises:
        AssertionError: the window does not take files, or never answers.
    """
    content = "".join(f"{path.as_uri()}\r\n" for path in paths).encode()
    source = _Source(display, window)
    try:
        x, y = place
        source.tell("XdndEnter", _VERSION << 24, source.atom("text/uri-list"), 0, 0)
        source.tell("XdndPosition", 0, x << 16 | y, 0, source.atom("XdndActionCopy"))
        assert source.wait("XdndStatus", content), "the window does not take files"
        source.tell("XdndDrop", 0, 0, 0, 0)
        assert source.wait("XdndFinished", content), "the window did not take the files"
    finally:
        source.close()
