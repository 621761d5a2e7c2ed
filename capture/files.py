"""The files of a capture on disk: `x.wrp`, `x_modules/`, `x.json`; checked before, published when complete.

A new set replaces an old one so that a reader, or a process killed at any moment, finds the old capture
or the new one. The module files carry a digest in their names, so those of both lie side by side for a
moment; the new manifest waits as `x.json.next`; the rename of `x.wrp` decides.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from capture.device import size_text
from replay.errors import ManifestError, RecordingError
from replay.fields import read_json
from replay.manifest import MAX_BYTES, SCHEMA, manifest_path, next_manifest_path

_LONGEST_NAME = 200  # file systems take 255 bytes, of which staging and suffixes need some
_MODULE_SUFFIXES = (".o", ".cubin", ".ptx", ".cu")


@dataclass(frozen=True)
class FileSet:
    """Paths of one capture."""

    wrp: Path

    @classmethod
    def at(cls, output: Path) -> FileSet:
        """Return the set for an output path with or without `.wrp`, in any case.

        Raises:
            RecordingError: the path names no file, or a folder.
        """
        name = re.sub(r"\.wrp$", "", output.name, flags=re.IGNORECASE)
        if not name or name in (".", "..") or "\0" in str(output):
            raise RecordingError(
                f"{str(output)!r} names no file", remedy="give a path such as waves/frame.wrp"
            )
        if output.is_dir() and name == output.name:
            raise RecordingError(
                f"{output} is a folder", remedy=f"give a file in it, such as {output / 'frame.wrp'}"
            )
        if len(os.fsencode(name)) > _LONGEST_NAME:
            raise RecordingError(f"the file name {name[:40]!r}... is too long", remedy="give a shorter one")
        return cls(output.absolute().with_name(name + ".wrp"))

    @property
    def modules(self) -> Path:
        """The folder of compiled modules, as Warp names it."""
        return self.wrp.with_name(self.wrp.name[: -len(".wrp")] + "_modules")

    @property
    def manifest(self) -> Path:
        """The manifest."""
        return manifest_path(self.wrp)

    def check(self, nbytes: int) -> None:
        """Check that a file of about `nbytes` can be put here and that nothing foreign would be overwritten.

        Raises:
            RecordingError: not a writable folder, too little space, or something in the way.
        """
        folder = self.wrp.parent
        try:
            while not folder.exists() and folder != folder.parent:
                folder = folder.parent
            self._check_in_the_way()
            free = shutil.disk_usage(folder).free
        except OSError as error:
            raise RecordingError(f"{self.wrp}: {error.strerror or error}") from None
        if not folder.is_dir():
            raise RecordingError(f"{folder} is a file, not a folder", remedy="give another output path")
        try:
            with tempfile.TemporaryDirectory(prefix=".ripplescope-", dir=folder):
                pass  # permission bits do not tell: root, read-only mounts and quotas have their own rules
        except OSError as error:
            raise RecordingError(f"the folder {folder} is not writable: {error.strerror or error}") from None
        if nbytes > free:
            raise RecordingError(
                f"{self.wrp} needs {size_text(nbytes)} on disk, {size_text(free)} are free",
                remedy="make room",
            )

    def _check_in_the_way(self) -> None:
        for path in (self.wrp, self.manifest):
            if os.path.lexists(path) and not path.is_file():
                kind = "a folder" if path.is_dir() else "not a regular file"
                raise RecordingError(f"{path} is in the way: it is {kind}", remedy="give another output path")
        if os.path.lexists(self.manifest) and not _is_manifest(self.manifest):
            raise RecordingError(
                f"{self.manifest} is in the way: it is no manifest of a capture",
                remedy="give another output path",
            )
        if not os.path.lexists(self.modules):
            return
        if not self.modules.is_dir() or self.modules.is_symlink():
            raise RecordingError(
                f"{self.modules} is in the way: it is not a folder", remedy="give another output path"
            )
        for path in sorted(self.modules.iterdir()):
            if path.suffix not in _MODULE_SUFFIXES or not path.is_file():
                raise RecordingError(
                    f"{self.modules} is in the way: {path.name!r} in it is no compiled module",
                    remedy="give another output path",
                )

    @contextlib.contextmanager
    def staging(self) -> Iterator[FileSet]:
        """Give a set of the same names in a hidden folder beside this one, which is removed afterwards.

        Raises:
            RecordingError: the folder cannot be made.
        """
        prefix = f".{self.wrp.stem}-staging-"
        try:
            self.wrp.parent.mkdir(parents=True, exist_ok=True)
            self._remove_abandoned(prefix)
            folder = Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-", dir=self.wrp.parent))
        except OSError as error:
            raise RecordingError(
                f"the folder {self.wrp.parent} is not writable: {error.strerror or error}"
            ) from None
        try:
            yield FileSet(folder / self.wrp.name)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _remove_abandoned(self, prefix: str) -> None:
        """Remove what recordings left behind that were killed."""
        for folder in self.wrp.parent.glob(f"{glob_escape(prefix)}*"):
            pid = folder.name[len(prefix) :].partition("-")[0]
            if pid.isdigit() and not _is_running(int(pid)):
                shutil.rmtree(folder, ignore_errors=True)

    def publish(self, staged: FileSet) -> None:
        """Put a complete staged set in place of this one.

        Raises:
            RecordingError: the system refuses; the old set still stands, or the new one does.
        """
        waiting = next_manifest_path(self.wrp)
        try:
            with _locked(self.wrp.parent):
                new = {path.name for path in staged.modules.iterdir()}
                self.modules.mkdir(exist_ok=True)
                for name in sorted(new):
                    (staged.modules / name).replace(self.modules / name)
                staged.manifest.replace(waiting)
                staged.wrp.replace(self.wrp)
                waiting.replace(self.manifest)
                for path in self.modules.iterdir():
                    if path.name not in new:
                        path.unlink()
        except OSError as error:
            raise RecordingError(f"{self.wrp}: cannot be put in place: {error.strerror or error}") from error


def glob_escape(text: str) -> str:
    """Return a pattern that matches just this text."""
    return re.sub(r"([*?\[])", r"[\1]", text)


def _is_manifest(path: Path) -> bool:
    try:
        value = read_json(path, MAX_BYTES)
    except ManifestError:
        return False
    return isinstance(value, dict) and value.get("schema") == SCHEMA


def _is_running(pid: int) -> bool:
    if os.name == "nt":
        return True  # signal 0 would end the process there
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let one process at a time publish in a folder, where the system can lock folders."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
