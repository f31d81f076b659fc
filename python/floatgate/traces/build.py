"""Builds a `Trace` from a reader's output: converts units, sorts by time, numbers devices."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import polars as pl

from . import gaps
from .model import (
    IS_REQUEST,
    SCHEMA,
    SPACE_UNITS,
    STREAM,
    TIME_UNITS,
    UNSTATED,
    Parsed,
    Trace,
    TraceError,
    Units,
    plural,
)

#: Largest share of unparsed lines. A file with more of them has another format.
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
    """Builds the trace `name`, of format `form`, from a reader's output. Raises `TraceError`.

    `units` overrides the units of the file. `limit` keeps the earliest requests. `close_gaps` is
    the longest gap that remains between two requests, in ns.
    """
    refuse_garbage(parsed, name, form)
    said = said_units(parsed, units or {})
    notes = list(parsed.notes)
    frame = to_bytes(parsed.frame, said)
    frame = _drop_empty(frame, notes)
    if frame.is_empty():
        raise no_requests(name, form, notes)
    frame = _in_order(frame, said.time, name, notes)
    of = max(frame.height, parsed.rows)
    if limit is not None and limit < of:
        frame = frame.head(limit)
        notes.append(f"only the first {frame.height:,} of {of:,} requests")
    if close_gaps is None:
        notes += gaps.told(frame["at_ns"])
    else:
        closing = gaps.Closing(close_gaps)
        frame = frame.with_columns(closing.close(frame["at_ns"]))
        notes.append(closing.told())
    numbers, devices = number_devices(frame["device"].unique(), parsed.devices)
    return Trace(
        name=name,
        format=form,
        frame=in_schema(frame, numbers),
        units=said,
        devices=devices,
        unparsed_lines=parsed.unparsed,
        first_unparsed=parsed.first_unparsed,
        notes=notes,
        checked=parsed.checked,
    )


def in_schema(frame: pl.DataFrame, numbers: Mapping[Any, int]) -> pl.DataFrame:
    """Returns the columns of `SCHEMA`, and `STREAM` if the frame has it.

    `numbers` maps each device in the file to its number.
    """
    if all(key == number for key, number in numbers.items()):
        device = pl.col("device")
    elif len(numbers) == 1:
        device = pl.lit(0, pl.UInt32).alias("device")
    else:
        known = list(numbers)
        device = pl.col("device").replace_strict(known, [*numbers.values()], return_dtype=pl.UInt32)
    frame = frame.with_columns(device)
    kinds = SCHEMA | STREAM if "stream" in frame.columns else SCHEMA
    return frame.select(pl.col(column).cast(kind) for column, kind in kinds.items())


def check_units(units: Mapping[str, str]) -> None:
    """Raises `TraceError` unless `units` maps time, address or length to a known unit."""
    known = {"time": TIME_UNITS, "address": SPACE_UNITS, "length": SPACE_UNITS}
    for what, unit in units.items():
        if what not in known:
            raise TraceError(f"units: {what!r} given; expected {', '.join(known)}")
        if unit not in known[what]:
            expected = ", ".join(known[what])
            raise TraceError(f"units: {what} in {unit!r} given; expected {expected}")


def said_units(parsed: Parsed, given: Mapping[str, str]) -> Units:
    """Returns the units of the file, overridden by the `given` ones."""
    check_units(given)
    time, address, length = parsed.units
    guesses = {what: why for what, why in parsed.guesses.items() if what not in given}
    if "address" in given and UNSTATED in guesses.get("length", ""):
        guesses["length"] += (
            "; --address-unit is for addresses alone, use --length-unit for lengths"
        )
    return Units(
        given.get("time", time),
        given.get("address", address),
        given.get("length", length),
        tuple(guesses.values()),
    )


def refuse_garbage(parsed: Parsed, name: str, form: str) -> None:
    """Raises `TraceError` if too many lines are unparsed or the reader has rejected the file."""
    if parsed.cause:
        raise TraceError(f"{name}: {parsed.cause}{_first_of(parsed)}")
    if parsed.unparsed and parsed.unparsed > UNPARSED_MAX * parsed.candidates:
        share = 100 * parsed.unparsed / parsed.candidates
        raise TraceError(
            f"{name}: {parsed.unparsed:,} of {parsed.candidates:,} lines ({share:.3g} %) cannot be "
            f"read as {form}; expected at most 1 %; the first is {parsed.first_unparsed}"
        )


def _first_of(parsed: Parsed) -> str:
    if parsed.first_unparsed is None:
        return ""
    lines = plural(parsed.unparsed, "line")
    return f"; {lines} cannot be read, the first is {parsed.first_unparsed}"


def no_requests(name: str, form: str, notes: Sequence[str]) -> TraceError:
    """Returns the error for a trace without requests; `notes` explain which lines were dropped."""
    why = f": {'; '.join(notes)}" if notes else ""
    return TraceError(f"{name}: the trace has no requests ({form}){why}")


def to_bytes(frame: pl.DataFrame, units: Units) -> pl.DataFrame:
    """Converts addresses and lengths to bytes."""
    scales = {"offset": SPACE_UNITS[units.address], "length": SPACE_UNITS[units.length]}
    return frame.with_columns(pl.col(c) * scale for c, scale in scales.items() if scale > 1)


def _drop_empty(frame: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    kept = frame.filter(IS_REQUEST)
    if kept.height < frame.height:
        dropped = plural(frame.height - kept.height, "request")
        notes.append(f"{dropped} of length 0 dropped")
    return kept


def _in_order(frame: pl.DataFrame, unit: str, name: str, notes: list[str]) -> pl.DataFrame:
    """Adds `at_ns` and sorts by it; requests with equal times keep the order of the file."""
    time = frame["time"]
    first, last = time.min(), time.max()
    check_span(first, last, unit, name)
    backwards = int((time < time.shift(1)).sum())
    frame = frame.with_columns(since(first, time.dtype, unit))
    if backwards:
        notes.append(f"{plural(backwards, 'line')} stepped backwards in time; sorted by time")
        frame = frame.sort("at_ns", maintain_order=True)
    return frame


def check_span(first: Any, last: Any, unit: str, name: str) -> None:
    """Raises `TraceError` if two times are 2^63 ns (292 years) or more apart."""
    if int((last - first) * TIME_UNITS[unit]) >= _LAST_NS:
        raise TraceError(
            f"{name}: times from {_plain(first)} to {_plain(last)} {unit} span more than 292 years"
            "; expected times of one clock, in this unit"
        )


def _plain(number: Any) -> str:
    """Formats a time without an exponent and without trailing zeros."""
    text = f"{Decimal(number):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def since(first: Any, dtype: pl.DataType, unit: str) -> pl.Expr:
    """Returns the column `at_ns`: nanoseconds since the time `first`.

    `dtype` is the type of the times.
    """
    # As text, because Polars imports NumPy to convert a `Decimal` of Python.
    ticks: pl.Expr = pl.col("time") - pl.lit(_plain(first)).cast(dtype)
    return (ticks * TIME_UNITS[unit]).cast(pl.UInt64).alias("at_ns")


def number_devices(found: pl.Series, names: Sequence[str]) -> tuple[dict[Any, int], list[str]]:
    """Numbers devices from 0 in the order of their names; digits in a name compare as numbers.

    `found` has the devices of the requests. `names` may hold the names of devices that are numbers.
    Returns the number of each device in `found`, and the device names in order.
    """
    keys = found.unique().to_list()
    called = {key: names[key] if names and 0 <= key < len(names) else str(key) for key in keys}
    order = sorted(set(called.values()), key=_natural)
    return {key: order.index(name) for key, name in called.items()}, order


def _natural(text: str) -> list[tuple[int, int, str]]:
    parts = re.split(r"([0-9]+)", text)
    return [(1, int(p), "") if p.isdigit() else (0, 0, p) for p in parts] + [(0, 0, text)]
