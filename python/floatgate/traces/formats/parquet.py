"""Parquet with the columns of a trace frame, as `floatgate trace import` writes it.

`at_ns`, `op` (0 read, 1 write, 2 trim, 3 flush), `offset` and `length` in bytes; `device` may be
missing. What else is known of the trace is JSON under the key `floatgate` of the file metadata.
"""

from __future__ import annotations

import io
import json
from typing import Any

import polars as pl

from .. import gaps
from ..model import FLUSH, NUMBER_LIMIT, SCHEMA, Parsed, Trace, TraceError
from ..text import Head
from .base import Format

_KEY = "floatgate"
_NEEDED = [name for name in SCHEMA if name != "device"]


def _claims(head: Head) -> bool:
    return head.data.startswith(b"PAR1")


def _read(data: bytes) -> Parsed:
    try:
        frame = pl.read_parquet(io.BytesIO(data))
        about = _about(pl.read_parquet_metadata(io.BytesIO(data)).get(_KEY))
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        raise TraceError(f"damaged Parquet data: {' '.join(str(error).split())}") from error
    result = from_frame(frame)
    names = about.get("devices", [])
    if names and result.frame.height:
        codes = {str(code): name for code, name in enumerate(names)}
        device = pl.col("device").cast(pl.String).replace(codes)
        result.frame = result.frame.with_columns(device)
    if about:
        units = ", ".join(about["units"])
        result.notes = [f"imported from {about['format']} ({units})", *about["notes"]]
        result.notes += about["guessed"]
    return result


def _about(text: str | None) -> dict[str, Any]:
    about: dict[str, Any] = json.loads(text) if text else {}
    return about


def metadata(trace: Trace) -> dict[str, str]:
    """File metadata from which `read` restores what the columns do not hold.

    What is said about long gaps is left out: whoever reads the file sees them again.
    """
    units = trace.units
    seen_again = gaps.told(trace.frame["at_ns"])
    about = {
        "format": trace.format,
        "units": [units.time, units.address, units.length],
        "guessed": list(units.guessed),
        "devices": trace.devices,
        "notes": [note for note in trace.notes if note not in seen_again],
    }
    return {_KEY: json.dumps(about)}


def from_frame(frame: pl.DataFrame) -> Parsed:
    """Checks a frame with the columns of a trace (`device` optional) and takes it over.

    Raises `TraceError` naming the column that is missing, of another kind, null or out of range.
    """
    missing = [name for name in _NEEDED if name not in frame.columns]
    if missing:
        raise TraceError(
            f"column {missing[0]} is missing; expected {', '.join(_NEEDED)} and perhaps device; "
            f"there are {', '.join(frame.columns[:12]) or 'none'}"
        )
    columns = []
    for name in _NEEDED:
        kind = frame.schema[name]
        bad = frame[name].null_count() or not kind.is_integer()
        if bad or _out_of_range(frame[name]):
            low, high = _limits(name)
            raise TraceError(
                f"column {name}: expected integers from {low} to {high - 1} and no nulls; "
                f"it is {kind} from {frame[name].min()!s} to {frame[name].max()!s}"
            )
        columns.append(pl.col(name).cast(pl.Int64 if name == "at_ns" else SCHEMA[name]))
    flush = pl.col("op") == FLUSH
    place = [pl.when(flush).then(0).otherwise(column) for column in columns[2:]]
    device = pl.col("device") if "device" in frame.columns else pl.lit(0, pl.UInt32)
    if frame.select(device).to_series().null_count():
        raise TraceError("column device: expected a device in every row; some are null")
    taken = frame.select(
        columns[0].alias("time"),
        columns[1].alias("op"),
        device.alias("device"),
        place[0].cast(pl.UInt64).alias("offset"),
        place[1].cast(pl.UInt64).alias("length"),
    )
    return Parsed(taken, ("ns", "bytes", "bytes"), candidates=taken.height)


def _limits(name: str) -> tuple[int, int]:
    return {"at_ns": (-(1 << 62), 1 << 62), "op": (0, FLUSH + 1)}.get(name, (0, NUMBER_LIMIT))


def _out_of_range(column: pl.Series) -> bool:
    low, high = _limits(column.name)
    values: Any = (column.min(), column.max())
    return not column.is_empty() and not low <= values[0] <= values[1] < high


FORMAT = Format(
    "parquet",
    "Parquet with the columns at_ns, op, device, offset, length (or a directory of such files)",
    "this project",
    _claims,
    _read,
)
