"""Parts: files and folders in the making, which get their name when they are complete.

The process that makes a part has it locked. A process that is killed leaves its parts behind, and
the system takes their locks away: the next process that writes there removes them.
"""

from __future__ import annotations

import contextlib
import os
import secrets
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
    """A new file or folder, which nobody else removes as long as this process runs."""

    def __init__(
        self, folder: Path, make: Callable[[Path], None], prefix: str = PREFIX, suffix: str = SUFFIX
    ) -> None:
        """`make` makes it at the path that it is given. Raises OSError where it cannot."""
        self._lock: int | None = None
        is_ours = False
        while not is_ours:
            self.path = folder / f"{prefix}{secrets.token_hex(6)}{suffix}"
            make(self.path)
            # Before it is locked, another process may take it for one that was left behind.
            is_ours, self._lock = _claim(self.path)

    def end(self) -> None:
        """Removes it, unless it has got its final name by now."""
        _remove(self.path)
        if self._lock is not None:
            os.close(self._lock)


def file(folder: Path, mode: int = 0o666) -> Part:
    """An empty file in `folder`, with the mode of any new file or a stricter one."""

    def make(path: Path) -> None:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))

    return Part(folder, make)


def folder(place: Path, prefix: str = PREFIX, suffix: str = SUFFIX) -> Part:
    """An empty folder in `place`, for its owner alone."""
    return Part(place, lambda path: path.mkdir(mode=0o700), prefix, suffix)


@contextlib.contextmanager
def writing(path: Path, mode: int = 0o666) -> Iterator[Path]:
    """A new file beside `path` that takes its place at the end, and vanishes on failure.

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
    """Removes the parts in `folder` that processes of this user left behind when they were killed.

    Where the file system has no locks, nothing is removed.
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
    """Whether `path` is still there once it is locked, and what keeps the lock."""
    if sys.platform == "win32":
        return True, None
    try:
        handle = _opened(path)
    except FileNotFoundError:
        return False, None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError:
        # The file system has no locks; then others remove nothing, either.
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
