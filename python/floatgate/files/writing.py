"""Writes a file completely or not at all."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from . import parts

if TYPE_CHECKING:
    import polars as pl


def write_whole(path: Path, content: bytes) -> None:
    """Writes `content` to `path` in one step, so that an interrupted run leaves no partial file.

    The directory must exist. Raises an `OSError` that names the path.
    """
    with parts.writing(path) as part:
        part.write_bytes(content)


def write_frame(path: Path, frame: pl.DataFrame) -> None:
    """Writes a small table in one step: as CSV if the suffix of `path` is `.csv`, else as Parquet.

    Raises `OSError` where the disk is full; Polars has no error of its own for this.
    """
    content = io.BytesIO()
    if path.suffix == ".csv":
        frame.write_csv(content)
    else:
        frame.write_parquet(content)
    write_whole(path, content.getvalue())


def write_table(directory: Path, name: str, frame: pl.DataFrame) -> None:
    """Writes a table as Parquet and as CSV, each in one step (see `write_frame`)."""
    for suffix in ("parquet", "csv"):
        write_frame(directory / f"{name}.{suffix}", frame)
