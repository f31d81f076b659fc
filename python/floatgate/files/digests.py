"""Digest of a table's rows, kept in the metadata of a Parquet file to detect a flipped bit.

Parquet as Polars writes it has no checksums: a damaged file can decode to other numbers. A digest
is text. It covers the names and types of the columns, the order of the rows and every value, and
it does not depend on how the rows are split into frames or into groups of a file.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import dataclass

import polars as pl

KEY = "floatgate.rows"
"""Key of the digest in a file's metadata, if no other document in the metadata contains it."""


def digest_of(rows: pl.DataFrame) -> str:
    """Returns the digest of all rows of a table; the table may have nulls and lists."""
    digest = Digest(rows.schema)
    digest.add(rows)
    return digest.text()


class Digest:
    """Digest of rows that come in frames, one after the other.

    Each column has a CRC-32, which adds a tenth to the time in which Parquet is decoded.
    """

    def __init__(self, schema: pl.Schema) -> None:
        self.rows = 0
        self._columns = {name: _Column(str(kind)) for name, kind in schema.items()}

    def add(self, rows: pl.DataFrame) -> None:
        """Takes in the next rows, which have the columns of the schema."""
        if rows.is_empty():
            return
        for name, column in self._columns.items():
            column.add(rows[name], self.rows)
        self.rows += rows.height

    def text(self, about: str = "") -> str:
        """Returns the digest of all rows added and of the text `about`: 32 hexadecimal digits."""
        columns = [[name, *vars(column).values()] for name, column in self._columns.items()]
        document = json.dumps([about, self.rows, columns])
        return hashlib.sha256(document.encode()).hexdigest()[:32]


@dataclass
class _Column:
    kind: str
    values: int = 0
    nulls: int = 0
    """Checksum of the row numbers of null values."""

    def add(self, values: pl.Series, first_row: int) -> None:
        if values.null_count():
            rows = values.is_null().arg_true().to_numpy().astype("<u8") + first_row
            self.nulls = zlib.crc32(rows.tobytes(), self.nulls)
        self.values = zlib.crc32(_content(values), self.values)


def _content(values: pl.Series) -> bytes | memoryview:
    """Returns the values as bytes, so that the bytes of two halves join to those of the whole."""
    kind = values.dtype
    if kind == pl.Boolean:
        values, kind = values.cast(pl.UInt8), pl.UInt8()
    if kind.is_integer() or kind.is_float():
        # Most commands need no digest, and NumPy would take a third of their start.
        import numpy as np

        return np.ascontiguousarray(values.fill_null(0).to_numpy()).data
    texts = json.dumps(values.to_list(), default=str, separators=(",", ":"))
    return (texts[1:-1] + ",").encode()
