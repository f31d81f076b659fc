"""From a path or a URL to plain bytes: opening, and undoing compression by magic bytes."""

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


def is_url(text: str) -> bool:
    """True for `s3://...` and the like; a Windows drive letter is no scheme."""
    scheme, mark, _ = text.partition("://")
    return bool(mark) and len(scheme) > 1


def load(source: str) -> list[tuple[str, bytes]]:
    """The files behind `source`, a local path or a URL, as (name, plain bytes).

    A directory gives its `.parquet` files in the order of their names. Raises `TraceError` where
    nothing is found, nothing can be read or compressed data is damaged.
    """
    raw = _fetch(source) if is_url(source) else _open(Path(source))
    return [(name, decompress(data, name)) for name, data in raw]


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
    except (OSError, ValueError, ImportError) as error:
        raise TraceError(f"{url}: cannot be read: {' '.join(str(error).split())}") from error
    return _some_parts(files, url)


def _content(system: Any, path: str) -> bytes:
    return bytes(system.cat_file(path))


def _some_parts(files: list[tuple[str, bytes]], where: str) -> list[tuple[str, bytes]]:
    if not files:
        raise TraceError(f"{where}: a directory without .parquet files; give a trace file")
    return files


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


_CODECS: tuple[tuple[str, bytes, Callable[[bytes], bytes]], ...] = (
    ("gzip", b"\x1f\x8b", gzip.decompress),
    ("zstd", b"\x28\xb5\x2f\xfd", _expand_zstd),
    ("bzip2", b"BZh", bz2.decompress),
    ("xz", b"\xfd7zXZ\x00", lzma.decompress),
)
