"""Writing a file whole or not at all."""

from __future__ import annotations

import io
import os
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_reading_umask = threading.Lock()


def write_whole(path: Path, content: bytes) -> None:
    """Puts `content` at `path` in one step, so that an interrupted run leaves no half file.

    The directory must exist; what goes wrong is an `OSError` that names the path.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        # A temporary file is private; a report has the mode of any new file.
        part.chmod(0o666 & ~_umask())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_frame(path: Path, frame: pl.DataFrame) -> None:
    """Writes a small table as Parquet, or as CSV where `path` says so, in one step.

    Raises OSError where the disk is full, for which Polars has no error of its own.
    """
    content = io.BytesIO()
    if path.suffix == ".csv":
        frame.write_csv(content)
    else:
        frame.write_parquet(content)
    write_whole(path, content.getvalue())


def write_table(directory: Path, name: str, frame: pl.DataFrame) -> None:
    """Writes a table as Parquet and as CSV, as `write_frame` does."""
    for suffix in ("parquet", "csv"):
        write_frame(directory / f"{name}.{suffix}", frame)


def _umask() -> int:
    """The process's file mode mask; reading it means setting it for a moment."""
    # Of two threads at once, the second would read what the first has set, and leave it there.
    with _reading_umask:
        mask = os.umask(0o077)
        os.umask(mask)
    return mask
