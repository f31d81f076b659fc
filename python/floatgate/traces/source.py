"""From a path or a URL to plain bytes: opening, undoing compression, turning away archives."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zstandard

from .model import TraceError

#: The extras of this package, and the URL schemes whose packages each one brings.
EXTRAS = {
    "http": ("http", "https"),
    "s3": ("s3", "s3a"),
    "gcs": ("gs", "gcs"),
    "azure": ("az", "abfs"),
}


def is_url(text: str) -> bool:
    """True for `s3://...` and the like; a Windows drive letter is no scheme."""
    scheme, mark, _ = text.partition("://")
    return bool(mark) and len(scheme) > 1


def load(source: str) -> list[tuple[str, bytes]]:
    """The files behind `source`, a local path or a URL, as (name, plain bytes).

    A directory gives its `.parquet` files in the order of their names. Raises `TraceError` where
    nothing is found, nothing can be read, compressed data is damaged or a file is an archive.
    """
    raw = _fetch(source) if is_url(source) else _open(Path(source))
    return [(name, _no_archive(decompress(data, name), name)) for name, data in raw]


def _open(path: Path) -> list[tuple[str, bytes]]:
    try:
        if not path.is_dir():
            return [(str(path), path.read_bytes())]
        parts = sorted(path.rglob("*.parquet"))
        files = [(str(part), part.read_bytes()) for part in parts]
    except FileNotFoundError:
        raise TraceError(f"{path}: no such file") from None
    except OSError as error:
        raise TraceError(f"{path}: cannot be read: {error.strerror or error}") from error
    return _some_parts(files, str(path))


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
        raise TraceError(f"{url}: cannot be read: {_missing(url, error)}") from error
    except Exception as error:  # each kind of storage has exceptions of its own
        words = " ".join(str(error).split()) or type(error).__name__
        raise TraceError(f"{url}: cannot be read: {words}") from error
    return _some_parts(files, url)


def _missing(url: str, error: ImportError) -> str:
    """Which packages a URL needs. Of a chain such as `simplecache::s3://...`, the last counts."""
    scheme = url.partition("://")[0].rpartition("::")[2]
    for extra, schemes in EXTRAS.items():
        if scheme in schemes:
            return f"packages for {scheme} are missing; install floatgate[{extra}]"
    return " ".join(str(error).split())


def _content(system: Any, path: str) -> bytes:
    return bytes(system.cat_file(path))


def _some_parts(files: list[tuple[str, bytes]], where: str) -> list[tuple[str, bytes]]:
    if not files:
        raise TraceError(f"{where}: a directory without .parquet files; give a trace file")
    return files


def _no_archive(data: bytes, name: str) -> bytes:
    for kind, at, magic in _ARCHIVES:
        if data.startswith(magic, at):
            raise TraceError(
                f"{name}: a {kind} archive; expected a trace: unpack it and give one of its files"
            )
    return data


def decompress(data: bytes, name: str) -> bytes:
    """`data` without its compression, if it has one; `name` is for the error message."""
    for label, magic, expand in _CODECS:
        if data.startswith(magic):
            try:
                return expand(data)
            except (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError) as error:
                raise TraceError(
                    f"{name}: truncated or corrupt {label} data: {' '.join(str(error).split())}"
                ) from error
    return data


def _expand_zstd(data: bytes) -> bytes:
    # The streaming reader of zstandard ends quietly where the input ends, even in mid-frame.
    # A decompression object says whether it reached the end of its frame.
    parts = []
    try:
        while data:
            frame = zstandard.ZstdDecompressor().decompressobj()
            parts.append(frame.decompress(data))
            if not frame.eof:
                raise EOFError("it ends inside a frame")
            data = frame.unused_data
    except zstandard.ZstdError as error:
        raise ValueError(error) from error
    return b"".join(parts)


#: What an archive has at which byte. A tar archive shows behind compression, the others in front.
_ARCHIVES = (
    ("zip", 0, b"PK\x03\x04"),
    ("zip", 0, b"PK\x05\x06"),
    ("7z", 0, b"7z\xbc\xaf\x27\x1c"),
    ("rar", 0, b"Rar!\x1a\x07"),
    ("tar", 257, b"ustar"),
)

_CODECS: tuple[tuple[str, bytes, Callable[[bytes], bytes]], ...] = (
    ("gzip", b"\x1f\x8b", gzip.decompress),
    ("zstd", b"\x28\xb5\x2f\xfd", _expand_zstd),
    ("bzip2", b"BZh", bz2.decompress),
    ("xz", b"\xfd7zXZ\x00", lzma.decompress),
)
