"""From what a format's reader found to a `Trace`: units, order, devices, and what was dropped."""

from __future__ import annotations

import re
from collections.abc import Mapping

import polars as pl

from . import gaps
from .model import (
    FLUSH,
    SCHEMA,
    SPACE_UNITS,
    TIME_UNITS,
    Parsed,
    Trace,
    TraceError,
    Units,
    plural,
)

#: More lines than this share that do not parse mean that the file is something else.
UNPARSED_MAX = 0.01

_LAST_NS = 1 << 63


def build(
    parsed: Parsed,
    name: str,
    form: str,
    units: Mapping[str, str] | None,
    limit: int | None,
    close_gaps: int | None,
) -> Trace:
    """Makes the trace `name` of format `form`.

    `units` overrides, `limit` keeps the earliest, `close_gaps` shortens gaps to so many ns.
    """
    _refuse_garbage(parsed, name, form)
    said = _units(parsed, units or {}, name)
    notes = list(parsed.notes)
    frame = _to_bytes(parsed.frame, said)
    frame = _drop_empty(frame, notes)
    if frame.is_empty():
        raise TraceError(f"{name}: the trace has no requests ({form})")
    frame = _in_order(frame, said.time, name, notes)
    if limit is not None and limit < frame.height:
        notes.append(f"only the first {limit:,} of {frame.height:,} requests")
        frame = frame.head(limit)
    if close_gaps is None:
        notes += gaps.told(frame["at_ns"])
    else:
        at, note = gaps.close(frame["at_ns"], close_gaps)
        frame = frame.with_columns(at)
        notes.append(note)
    frame, devices = _number_devices(frame)
    return Trace(
        name=name,
        format=form,
        frame=frame.select(pl.col(column).cast(kind) for column, kind in SCHEMA.items()),
        units=said,
        devices=devices,
        unparsed_lines=parsed.unparsed,
        first_unparsed=parsed.first_unparsed,
        notes=notes,
    )


def check_units(units: Mapping[str, str]) -> None:
    """Raises `TraceError` unless `units` maps time, address or length to a unit there is."""
    known = {"time": TIME_UNITS, "address": SPACE_UNITS, "length": SPACE_UNITS}
    for what, unit in units.items():
        if what not in known:
            raise TraceError(f"units: {what!r} has none; expected {', '.join(known)}")
        if unit not in known[what]:
            expected = ", ".join(known[what])
            raise TraceError(f"units: {what} in {unit!r} is not known; expected {expected}")


def _units(parsed: Parsed, given: Mapping[str, str], name: str) -> Units:
    check_units(given)
    time, address, length = parsed.units
    guesses = [why for what, why in parsed.guesses.items() if what not in given]
    return Units(
        given.get("time", time),
        given.get("address", address),
        given.get("length", length),
        tuple(guesses),
    )


def _refuse_garbage(parsed: Parsed, name: str, form: str) -> None:
    if parsed.unparsed and parsed.unparsed > UNPARSED_MAX * parsed.candidates:
        share = 100 * parsed.unparsed / parsed.candidates
        raise TraceError(
            f"{name}: {parsed.unparsed:,} of {parsed.candidates:,} lines ({share:.3g} %) cannot be "
            f"read as {form}, at most 1 % may be like that; the first is {parsed.first_unparsed}"
        )


def _to_bytes(frame: pl.DataFrame, units: Units) -> pl.DataFrame:
    scales = {"offset": SPACE_UNITS[units.address], "length": SPACE_UNITS[units.length]}
    return frame.with_columns(pl.col(c) * scale for c, scale in scales.items() if scale > 1)


def _drop_empty(frame: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    kept = frame.filter((pl.col("length") > 0) | (pl.col("op") == FLUSH))
    if kept.height < frame.height:
        dropped = plural(frame.height - kept.height, "request")
        notes.append(f"{dropped} of length 0 dropped")
    return kept


def _in_order(frame: pl.DataFrame, unit: str, name: str, notes: list[str]) -> pl.DataFrame:
    """Adds `at_ns` and sorts by it; requests of equal time stay in the order of the file."""
    time = frame["time"]
    first, last = time.min(), time.max()
    span = int((last - first) * TIME_UNITS[unit])  # type: ignore[arg-type, operator]
    if span >= _LAST_NS:
        raise TraceError(
            f"{name}: times from {first!s} to {last!s} {unit} span more than 292 years"
        )
    at = ((pl.col("time") - first) * TIME_UNITS[unit]).cast(pl.UInt64)
    backwards = int((time < time.shift(1)).sum())
    frame = frame.with_columns(at.alias("at_ns"))
    if backwards:
        notes.append(f"{plural(backwards, 'line')} stepped backwards in time; sorted by time")
        frame = frame.sort("at_ns", maintain_order=True)
    return frame


def _number_devices(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Numbers devices from 0 in the order of their names, digits in a name read as numbers."""
    keys = frame["device"].unique().to_list()
    if len(keys) == 1:
        return frame.with_columns(device=pl.lit(0, pl.UInt32)), [str(keys[0])]
    keys.sort(key=lambda key: _natural(str(key)))
    codes = pl.col("device").replace_strict(keys, list(range(len(keys))), return_dtype=pl.UInt32)
    return frame.with_columns(codes), [str(key) for key in keys]


def _natural(text: str) -> list[tuple[int, int, str]]:
    parts = re.split(r"([0-9]+)", text)
    return [(1, int(p), "") if p.isdigit() else (0, 0, p) for p in parts] + [(0, 0, text)]
