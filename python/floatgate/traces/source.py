"""Opens a path or a URL as plain bytes: undoes compression, refuses archives."""

from __future__ import annotations

import hashlib
import io
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from floatgate.files.reading import blocks, check_end

from . import compressed
from .model import TraceError

#: The extras of this package, and the URL schemes that each one supports.
EXTRAS = {
    "http": ("http", "https"),
    "s3": ("s3", "s3a"),
    "gcs": ("gs", "gcs"),
    "azure": ("az", "abfs"),
}

_Part = TypeVar("_Part")


def is_url(text: str) -> bool:
    """Returns whether `text` is a URL such as `s3://...`; a Windows drive is no scheme."""
    scheme, mark, _ = text.partition("://")
    return bool(mark) and len(scheme) > 1


@dataclass(frozen=True)
class Content:
    """A file behind a source; it can be opened any number of times."""

    name: str
    _open: Callable[[], BinaryIO]

    @contextmanager
    def opened(self) -> Iterator[Plain]:
        """Yields the bytes without their compression. Raises `TraceError`."""
        with _said(self.name):
            file = self._open()
        with file:
            with _said(self.name):
                start = file.read(compressed.MAGIC_MAX)
                file.seek(0)
            plain = Plain(_expanded(file, start, self.name))
            head = plain.peek(_ARCHIVE_HEAD)
            _refuse_archive(head, self.name)
            _refuse_stand_in(head, self.name)
            yield plain

    def digest(self) -> str:
        """Returns the digest of the stored bytes, compressed or not. Raises `TraceError`."""
        found = hashlib.sha256()
        with _said(self.name), self._open() as file:
            for block in blocks(file):
                found.update(block)
        return found.hexdigest()


class Plain:
    """Reads a sequence of blocks in pieces of any size."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = filter(None, blocks)
        self._rest = b""

    def peek(self, size: int) -> bytes:
        """Returns up to `size` of the next bytes; they remain to be read."""
        found, missing = [self._rest], size - len(self._rest)
        while missing > 0 and (block := next(self._blocks, b"")):
            found.append(block)
            missing -= len(block)
        self._rest = b"".join(found)
        return self._rest[:size]

    def read(self, size: int) -> bytes:
        """Returns the next bytes: fewer than `size` only at the end."""
        found = self.peek(size)
        self._rest = self._rest[size:]
        return found


def contents(source: str) -> list[Content]:
    """Returns the files behind `source`, a local path or a URL.

    A directory yields its `.parquet` files in the order of their names. Raises `TraceError` if
    there is no file or if a file cannot be read.
    """
    if is_url(source):
        return [_held(name, data) for name, data in _fetch(source)]
    path = Path(source)
    name = str(path)
    with _said(name):
        if (parts := parquet_parts(path)) is not None:
            return [_local(part) for part in _some_parts(parts, name)]
        check_end(path)
        return [_local(path) if path.is_file() else _held(name, _drained(path))]


def _drained(pipe: Path) -> bytes:
    """Reads a pipe to its end; a pipe can be read only once."""
    with pipe.open("rb") as file:
        return b"".join(blocks(file))


def parquet_parts(path: Path) -> list[Path] | None:
    """Returns the `.parquet` files below a directory by name, or None if `path` is no directory.

    Raises `TraceError` if a directory cannot be listed, because its files would be missing.
    """
    with _said(str(path)):
        if not path.is_dir():
            return None
    walk = os.walk(path, onerror=_refuse_folder)
    return sorted(
        Path(folder, name)
        for folder, _, names in walk
        for name in names
        if name.endswith(".parquet")
    )


def _refuse_folder(error: OSError) -> None:
    with _said(str(error.filename)):
        raise error


@contextmanager
def _said(name: str) -> Iterator[None]:
    """Converts an OSError to a `TraceError` that names the file."""
    try:
        yield
    except FileNotFoundError:
        raise TraceError(f"{name}: no such file") from None
    except OSError as error:
        raise TraceError(f"{name}: cannot be read: {error.strerror or error}") from error


def _local(path: Path) -> Content:
    return Content(str(path), lambda: path.open("rb"))


def _held(name: str, data: bytes) -> Content:
    return Content(name, lambda: io.BytesIO(data))


def _fetch(url: str) -> list[tuple[str, bytes]]:
    import fsspec  # type: ignore[import-untyped]  # a URL is rare, the import slow

    try:
        system, path = fsspec.core.url_to_fs(url)
        if not system.isdir(path):
            return [(url, _content(system, path))]
        parts = sorted(str(part) for part in system.glob(f"{path.rstrip('/')}/**/*.parquet"))
        files = [(part, _content(system, part)) for part in parts]
    except FileNotFoundError:
        raise TraceError(f"{url}: no such file") from None
    except ImportError as error:
        raise TraceError(f"{url}: cannot be read: {missing_packages(url, error)}") from error
    except Exception as error:  # each kind of storage has exceptions of its own
        words = " ".join(str(error).split()) or type(error).__name__
        raise TraceError(f"{url}: cannot be read: {words}") from error
    return _some_parts(files, url)


def missing_packages(url: str, error: Exception) -> str:
    """Names the packages that a URL needs. In `simplecache::s3://...`, the last scheme counts."""
    scheme = url.partition("://")[0].rpartition("::")[2]
    for extra, schemes in EXTRAS.items():
        if scheme in schemes:
            return f"packages for {scheme} are missing; install floatgate[{extra}]"
    return " ".join(str(error).split())


def _content(system: Any, path: str) -> bytes:
    return bytes(system.cat_file(path))


def _some_parts(files: list[_Part], where: str) -> list[_Part]:
    if not files:
        raise TraceError(f"{where}: a directory without .parquet files; give a trace file")
    return files


def _refuse_archive(head: bytes, name: str) -> None:
    for kind, at, magic in _ARCHIVES:
        if head.startswith(magic, at):
            raise TraceError(
                f"{name}: a {kind} archive; expected a trace: unpack it and give one of its files"
            )


def _refuse_stand_in(head: bytes, name: str) -> None:
    """Raises `TraceError` for a placeholder of a trace that was not downloaded."""
    for start, what in _STAND_INS:
        if head.lstrip().lower().startswith(start):
            raise TraceError(f"{name}: {what}")


def _expanded(file: BinaryIO, start: bytes, name: str) -> Iterator[bytes]:
    """Yields the decompressed blocks of a file; `start` identifies the compression."""
    codec = compressed.codec_of(start)
    if codec is None:
        with _said(name):
            yield from blocks(file)
        return
    try:
        yield from codec.expand(file)
    except (EOFError, OSError, ValueError, zlib.error) as error:
        words = " ".join(str(error).split())
        raise TraceError(f"{name}: truncated or corrupt {codec.name} data: {words}") from error


#: Kind, offset and magic bytes of archives. A compressed tar archive shows after decompression.
_ARCHIVES = (
    ("zip", 0, b"PK\x03\x04"),
    ("zip", 0, b"PK\x05\x06"),
    ("7z", 0, b"7z\xbc\xaf\x27\x1c"),
    ("rar", 0, b"Rar!\x1a\x07"),
    ("tar", 257, b"ustar"),
)

_LFS = "a Git LFS pointer, not the file itself; git lfs pull"
_ANNEX = "a git-annex pointer, not the file itself; git annex get"
_PAGE = "a web page, not the file itself; download it again"

#: First bytes of placeholders for files that were not downloaded, and what to do about them.
_STAND_INS = (
    (b"version https://git-lfs.github.com/spec/", _LFS),
    (b"version https://hawser.github.com/spec/", _LFS),
    (b"/annex/objects/", _ANNEX),
    (b"<!doctype html", _PAGE),
    (b"<html", _PAGE),
)
_ARCHIVE_HEAD = max(at + len(magic) for _, at, magic in _ARCHIVES)
