"""Files that a user names: checks that a file has an end, its text, and printable names."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

TEXT_MOST = 1 << 26
"""Bytes of the longest text or document that is read at once."""

BLOCK = 1 << 20
"""Bytes that are read at once; a signal takes effect between two blocks."""

_ENDLESS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISCHR, "a character device"),
    (stat.S_ISBLK, "a block device"),
    (stat.S_ISSOCK, "a socket"),
)

# Control characters, characters that change the direction of writing, and surrogates, which stand
# for bytes that are not UTF-8.
_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def check_end(path: Path) -> None:
    """Raises OSError for a path that has no end, such as `/dev/zero`. A pipe has an end."""
    mode = path.stat().st_mode
    for is_kind, kind in _ENDLESS:
        if is_kind(mode):
            raise OSError(errno.EINVAL, f"{kind}; expected a file or a pipe", str(path))


def check_regular(path: Path) -> None:
    """Raises OSError for anything except a regular file, because only that can be read twice."""
    check_end(path)
    if path.is_fifo():
        raise OSError(errno.EINVAL, "a pipe; expected a file, which is read twice", str(path))


def blocks(file: BinaryIO) -> Iterator[bytes]:
    """Yields the rest of an open file, block by block."""
    while block := file.read(BLOCK):
        yield block


def read_text(path: Path, most: int = TEXT_MOST) -> str:
    """Returns the text of a file or a pipe, of at most `most` bytes.

    Raises OSError, or UnicodeDecodeError if it is not UTF-8.
    """
    check_end(path)
    data = bytearray()
    with path.open("rb") as file:
        for block in blocks(file):
            data += block
            if len(data) > most:
                long = f"more than {most >> 20} MiB; expected a text"
                raise OSError(errno.EFBIG, long, str(path))
    return data.decode("utf-8")


def parse_json(text: str | bytes, **options: Any) -> Any:
    """Parses JSON as `json.loads` does,
    but also raises ValueError for a document that nests too deeply.
    """
    try:
        return json.loads(text, **options)
    except RecursionError:
        raise ValueError("lists or tables nest too deeply") from None


def shown(text: str | os.PathLike[str]) -> str:
    r"""Returns a file's name, or a text with names in it, in printable form: `\x1b` for a control
    character, and `\xff` for a byte that is not UTF-8.
    """
    return _UNPRINTABLE.sub(_escape, os.fspath(text))


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:
        # Python represents an undecodable byte of a name as this surrogate.
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
