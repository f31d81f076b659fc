"""Parquet tables of a study, each with a digest of its bytes.

Polars writes Parquet without checksums, and a damaged file can decode to other numbers or cause a
panic. So the digest is checked before decoding. It is in the file's metadata, and covers the whole
file with the digits of the digest replaced by zeros.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Mapping, Sequence

import polars as pl

from floatgate import _core

_KEY = "floatgate.digest"
_BLANK = "0" * 32
_PLACE = re.compile(re.escape(_KEY.encode()) + rb"\x18\x20([0-9a-f]{32})")
"""The key and the digits of the digest in Thrift: two texts, the second with 32 bytes."""


def encode(frame: pl.DataFrame) -> bytes:
    """Returns the table as the bytes of a Parquet file with its digest."""
    content = io.BytesIO()
    frame.write_parquet(content, metadata={_KEY: _BLANK})
    blank = content.getvalue()
    start, end = _digits(blank)
    return blank[:start] + _digest_of(blank).encode() + blank[end:]


def decode(
    content: bytes, place: str, kinds: Mapping[str, str], columns: Sequence[str] | None = None
) -> pl.DataFrame:
    """Returns the table in the bytes of a file, or only `columns`.

    `place` names the file. `kinds` maps columns to the types that they must have, as texts. A file
    of another program has no digest to check. Raises ConfigError for a damaged file.
    """
    if _PLACE.search(content):
        start, end = _digits(content)
        blank = content[:start] + _BLANK.encode() + content[end:]
        if content[start:end].decode() != _digest_of(blank):
            raise _damaged(place, "its bytes do not match its digest")
    wanted = None if columns is None else [*columns]
    try:
        there = pl.read_parquet_schema(io.BytesIO(content))
        frame = pl.read_parquet(io.BytesIO(content), columns=wanted)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise _damaged(place, str(error)) from error
    for name, kind in there.items():
        if str(kind) != kinds.get(name, str(kind)):
            raise _damaged(place, f"its column {name} is {kind}; expected {kinds[name]}")
    return frame


def _digits(content: bytes) -> tuple[int, int]:
    """Returns start and end of the digits of the digest, which are at the end of the file."""
    *_, last = _PLACE.finditer(content)
    return last.span(1)


def _digest_of(blank: bytes) -> str:
    return hashlib.sha256(blank).hexdigest()[:32]


def _damaged(place: str, why: str) -> _core.ConfigError:
    return _core.ConfigError(
        f"{place}: cannot be read: {why}; remove the file, and --resume runs its rows again"
    )
