"""Compressed files: gzip, zstd, bzip2 and xz, with one stream or several.

Files with several streams are common: pbzip2, pixz, pzstd and `cat` produce them. Python's own
bzip2 and xz readers treat bytes that begin no stream as the end of the file, so a damaged byte
hides all later streams. This module treats all bytes after a stream that begin no stream as an
error.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

import zstandard

from floatgate.files.reading import BLOCK, blocks

_COMPRESSED = 1 << 16
"""Compressed bytes per read: few, because a decoder copies the bytes after a short stream."""


@dataclass(frozen=True)
class Codec:
    """One kind of compression."""

    name: str
    magics: tuple[bytes, ...]
    """Possible first bytes of a file."""
    expand: Callable[[BinaryIO], Iterator[bytes]]
    """Decompresses a file into blocks. Raises EOFError, OSError, ValueError or zlib.error."""


def codec_of(start: bytes) -> Codec | None:
    """Returns the compression of a file that begins with `start`, or None."""
    return next((codec for codec in _CODECS if start.startswith(codec.magics)), None)


def _gzip(file: BinaryIO) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=file) as plain:
        yield from blocks(cast(BinaryIO, plain))


def _zstd(file: BinaryIO) -> Iterator[bytes]:
    return _streams(file, "frame", zstandard.ZstdDecompressor().decompressobj, ())


def _bzip2(file: BinaryIO) -> Iterator[bytes]:
    return _streams(file, "stream", bz2.BZ2Decompressor, (BLOCK,))


def _xz(file: BinaryIO) -> Iterator[bytes]:
    return _streams(file, "stream", lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ), (BLOCK,), 4)


def _streams(
    file: BinaryIO,
    noun: str,
    decoder: Callable[[], Any],
    most: tuple[int, ...],
    padding: int = 0,
) -> Iterator[bytes]:
    """Decompresses consecutive streams up to the end of the file.

    `decoder` makes a decoder for one stream. `most` holds the limit of bytes per call, if any. Zero
    bytes may follow a stream if their number is a multiple of `padding`. Raises EOFError or
    ValueError.
    """
    number, data = 0, file.read(_COMPRESSED)
    while data:
        number, stream = number + 1, decoder()
        while not stream.eof:
            if not data and getattr(stream, "needs_input", True):
                data = file.read(_COMPRESSED)
                if not data:
                    raise EOFError(f"it ends inside {noun} {number}")
            try:
                plain = stream.decompress(data, *most)
            except (OSError, lzma.LZMAError, zstandard.ZstdError) as error:
                raise ValueError(f"{noun} {number}: {error}") from error
            data = b""
            yield plain
        data = stream.unused_data or file.read(_COMPRESSED)
        if padding:
            data, zeros = _after_zeros(data, file)
            if zeros % padding:
                raise ValueError(
                    f"{zeros} zero bytes follow {noun} {number}; expected a multiple of {padding}"
                )


def _after_zeros(data: bytes, file: BinaryIO) -> tuple[bytes, int]:
    """Skips zero bytes; returns the bytes after them and the number of zeros."""
    zeros = 0
    while data:
        rest = data.lstrip(b"\0")
        zeros += len(data) - len(rest)
        if rest:
            return rest, zeros
        data = file.read(_COMPRESSED)
    return data, zeros


# A zstd file may begin with a skippable frame, as files of pzstd do.
_SKIPPED = tuple(bytes([0x50 + number]) + b"\x2a\x4d\x18" for number in range(16))
_CODECS = (
    Codec("gzip", (b"\x1f\x8b",), _gzip),
    Codec("zstd", (b"\x28\xb5\x2f\xfd", *_SKIPPED), _zstd),
    Codec("bzip2", (b"BZh",), _bzip2),
    Codec("xz", (b"\xfd7zXZ\x00",), _xz),
)
MAGIC_MAX = max(len(magic) for codec in _CODECS for magic in codec.magics)
"""Bytes at the start of a file that `codec_of` needs."""
