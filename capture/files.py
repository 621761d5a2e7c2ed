"""The files of a capture on disk: `x.wrp`, `x_modules/`, `x.json`; checked before, published when complete.

A new set replaces an old one so that a reader, or a process killed at any moment, finds the old capture
or the new one. The module files carry a digest in their names, so those of both lie side by side for a
moment; the new manifest waits as `x.json.next`; the rename of `x.wrp` decides. A manifest lists the module
files of its capture: what no manifest here lists is somebody else's, and is neither removed nor mixed with.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from capture.device import size_text
from capture.lock import locked
from replay.errors import ManifestError, RecordingError
from replay.manifest import Manifest, manifest_path, next_manifest_path

_LONGEST_NAME = 200  # file systems take 255 bytes, of which staging and suffixes need some
_LONGEST_SHOWN = 160
_MAGIC = b"WRP1"
_STAGED = "frame.wrp"  # Warp takes some names for others, such as `x.wrp` for `x`; never this one


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
        shown = _shown(output)
        if "\0" in str(output):
            raise RecordingError(
                f"{str(output)!r} names no file", remedy="give a path such as waves/frame.wrp"
            )
        try:
            str(output).encode()
        except UnicodeEncodeError:  # Warp takes paths as UTF-8 only
            raise RecordingError(
                f"the path {shown} is not UTF-8", remedy="give another output path"
            ) from None
        name = re.sub(r"\.wrp$", "", output.name, flags=re.IGNORECASE)
        if not name or name in (".", ".."):
            raise RecordingError(f"{shown!r} names no file", remedy="give a path such as waves/frame.wrp")
        if len(os.fsencode(name)) > _LONGEST_NAME:
            raise RecordingError(f"the file name {name[:40]!r}... is too long", remedy="give a shorter one")
        try:
            if output.is_dir() and name == output.name:
                raise RecordingError(
                    f"{shown} is a folder", remedy=f"give a file in it, such as {output / 'frame.wrp'}"
                )
            return cls(output.absolute().with_name(name + ".wrp"))
        except OSError as error:
            raise RecordingError(
                f"{shown}: {error.strerror or error}", remedy="give another output path"
            ) from None

    @property
    def modules(self) -> Path:
        """The folder of compiled modules, as Warp names it."""
        return self.wrp.with_name(self.wrp.name[: -len(".wrp")] + "_modules")

    @property
    def manifest(self) -> Path:
        """The manifest."""
        return manifest_path(self.wrp)

    @property
    def _lock(self) -> Path:
        return self.wrp.with_name(f".{self.wrp.stem}.lock")

    def check(self, nbytes: int) -> None:
        """Check that a file of about `nbytes` can be put here and that nothing foreign would be overwritten.

        Raises:
            RecordingError: not a writable folder, too little space, or something in the way.
        """
        folder = self.wrp.parent
        try:
            while not folder.exists() and folder != folder.parent:
                folder = folder.parent
            self._check_in_the_way_at_rest()
            free = shutil.disk_usage(folder).free
        except OSError as error:
            raise RecordingError(f"{_shown(self.wrp)}: {error.strerror or error}") from None
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

    def _check_in_the_way_at_rest(self) -> None:
        """Refuse as `_check_in_the_way` does, but not for what another recording is just moving."""
        try:
            self._check_in_the_way()
        except RecordingError as refused:
            try:
                with locked(self._lock):
                    self._check_in_the_way()
            except OSError:
                raise refused from None

    def _check_in_the_way(self) -> None:
        """Refuse what is not a capture of ours, and links, which a rename would silently replace.

        Raises:
            RecordingError: names what is in the way.
            OSError: it cannot be looked at.
        """

        def refuse(path: Path, what: str) -> NoReturn:
            raise RecordingError(f"{path} is in the way: {what}", remedy="give another output path")

        manifests = (self.manifest, next_manifest_path(self.wrp))
        for path in (self.wrp, *manifests):
            if path.is_symlink():
                refuse(path, "it is a symbolic link")
            if os.path.lexists(path) and not path.is_file():
                refuse(path, "it is a folder" if path.is_dir() else "it is not a regular file")
        if self.wrp.exists() and not _is_wrp(self.wrp):
            refuse(self.wrp, "it is no capture")
        for path in manifests:
            if path.exists() and _read(path) is None:
                refuse(path, "it is no manifest of a capture")
        if not os.path.lexists(self.modules):
            return
        if not self.modules.is_dir() or self.modules.is_symlink():
            refuse(self.modules, "it is not a folder")
        ours = set().union(*(_modules_of(path) for path in manifests))
        for path in sorted(self.modules.iterdir()):
            if path.name not in ours or path.is_symlink() or not path.is_file():
                refuse(self.modules, f"{path.name!r} in it is no module of a capture recorded here")

    @contextlib.contextmanager
    def staging(self) -> Iterator[FileSet]:
        """Give a set in a hidden folder beside this one, which is removed afterwards.

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
            yield FileSet(folder / _STAGED)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _remove_abandoned(self, prefix: str) -> None:
        """Remove what recordings left behind that were killed."""
        for folder in self.wrp.parent.glob(f"{glob.escape(prefix)}*"):
            pid = folder.name[len(prefix) :].partition("-")[0]
            if pid.isdigit() and not _is_running(int(pid)):
                shutil.rmtree(folder, ignore_errors=True)

    def publish(self, staged: FileSet) -> None:
        """Put a complete staged set, whose manifest lists its modules, in place of this one.

        Raises:
            RecordingError: the system refuses, something came in the way, or another process does not get
                done; the old set still stands, or the new one does.
        """
        waiting = next_manifest_path(self.wrp)
        try:
            with locked(self._lock):
                self._check_in_the_way()
                self._settle()
                old, new = _modules_of(self.manifest), _modules_of(staged.manifest)
                self.modules.mkdir(exist_ok=True)
                staged.manifest.replace(waiting)
                for name in sorted(new):
                    (staged.modules / name).replace(self.modules / name)
                staged.wrp.replace(self.wrp)
                self._remove(old - new)
                waiting.replace(self.manifest)
        except OSError as error:
            raise RecordingError(f"{self.wrp}: cannot be put in place: {error.strerror or error}") from error

    def _settle(self) -> None:
        """Bring what a killed recording left to the old capture or the new one, whichever `x.wrp` is."""
        waiting = next_manifest_path(self.wrp)
        left = _read(waiting)
        if left is None:
            return
        old, new = _modules_of(self.manifest), set(left.modules)
        if self.wrp.exists() and digest_of(self.wrp) == left.wrp_sha256:
            self._remove(old - new)
            waiting.replace(self.manifest)
        else:
            self._remove(new - old)
            waiting.unlink()

    def _remove(self, names: set[str]) -> None:
        for name in sorted(names):
            (self.modules / name).unlink(missing_ok=True)


def _shown(path: Path) -> str:
    text = str(path)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN // 2]}...{text[-40:]}"


def _is_wrp(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def _read(manifest: Path) -> Manifest | None:
    try:
        return Manifest.read(manifest)
    except ManifestError:
        return None


def _modules_of(manifest: Path) -> set[str]:
    found = _read(manifest)
    return set(found.modules) if found is not None else set()


def digest_of(path: Path) -> str:
    """Return the SHA-256 digest of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


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
