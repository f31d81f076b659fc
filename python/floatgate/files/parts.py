"""Part files: files and folders that are still being written,
and get their final name when complete.

The writing process holds a lock on its part file. If it is killed, the system releases the lock,
and the next process that writes to the folder removes the part file.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

if sys.platform != "win32":
    import fcntl

PREFIX = ".floatgate-"
SUFFIX = ".part"


class Part:
    """A new file or folder that no other process removes while this process runs."""

    def __init__(
        self, folder: Path, make: Callable[[Path], None], prefix: str = PREFIX, suffix: str = SUFFIX
    ) -> None:
        """Creates the part by calling `make` with its path. Raises OSError if that fails."""
        self._lock: int | None = None
        is_ours = False
        while not is_ours:
            self.path = folder / f"{prefix}{os.urandom(6).hex()}{suffix}"
            make(self.path)
            # Until it is locked, another process may mistake it for an abandoned part and remove
            # it.
            is_ours, self._lock = _claim(self.path)

    def end(self) -> None:
        """Removes the part, unless it has its final name by now."""
        _remove(self.path)
        if self._lock is not None:
            os.close(self._lock)


def file(folder: Path, mode: int = 0o666) -> Part:
    """Creates an empty file in `folder`, with the mode of any new file or a stricter one."""

    def make(path: Path) -> None:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))

    return Part(folder, make)


def folder(place: Path, prefix: str = PREFIX, suffix: str = SUFFIX) -> Part:
    """Creates an empty folder in `place` that only its owner can access."""
    return Part(place, lambda path: path.mkdir(mode=0o700), prefix, suffix)


@contextlib.contextmanager
def writing(path: Path, mode: int = 0o666) -> Iterator[Path]:
    """Yields a new file in the folder of `path`.

    It replaces `path` at the end, or vanishes on failure.

    Raises OSError, which names `path`.
    """
    part = None
    try:
        part = file(path.parent, mode)
        yield part.path
        part.path.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        if part is not None:
            part.end()


def sweep(folder: Path, prefix: str = PREFIX, suffix: str = SUFFIX) -> None:
    """Removes parts in `folder` that killed processes of this user left behind.

    On a file system without locks, it removes nothing.
    """
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if path.name.startswith(prefix) and path.name.endswith(suffix):
                _remove_left(path)


def _remove_left(path: Path) -> None:
    with contextlib.suppress(OSError):
        if sys.platform == "win32" or path.lstat().st_uid != os.geteuid():
            return
        handle = _opened(path)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if stat.S_IFMT(os.fstat(handle).st_mode) in (stat.S_IFREG, stat.S_IFDIR):
                _remove(path)
        finally:
            os.close(handle)


def _claim(path: Path) -> tuple[bool, int | None]:
    """Returns whether `path` still exists once it is locked, and the handle that holds the lock."""
    if sys.platform == "win32":
        return True, None
    try:
        handle = _opened(path)
    except FileNotFoundError:
        return False, None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError:
        # The file system has no locks; then other processes remove nothing either.
        os.close(handle)
        return True, None
    with contextlib.suppress(FileNotFoundError):
        if os.path.samestat(os.fstat(handle), path.lstat()):
            return True, handle
    os.close(handle)
    return False, None


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
