"""Tables of a data sheet."""

from __future__ import annotations

from floatgate.results.tables import Cell, Table
from floatgate.results.values import ABSENT, count, fixed, measured, space_percent

from .datasheet import DataSheet, LatencyLine, Line


def performance_table(sheet: DataSheet) -> Table:
    """Returns the rates and throughput, fresh and steady, with the ranges of the drive's class."""
    rows = []
    is_class_known = bool(sheet.source)
    for line in sheet.lines:
        value = line.fresh if sheet.class_state == "fresh" else line.steady
        known = (_rate(line.fresh, line.unit), _rate(line.steady, line.unit))
        conditions = Cell(space_percent(line.conditions))
        cells = [Cell(line.name), *map(Cell, known), Cell(line.unit), conditions]
        rows.append([*cells, *_class_cells(line, value, line.unit, is_class_known)])
    titles = ["", "fresh", "steady", "", "conditions", *(["class"] if is_class_known else [])]
    return Table("Performance", titles, rows, frozenset({0, 3, 4, 5}))


def latencies_table(sheet: DataSheet) -> Table:
    """Returns the response times in the steady state, with the ranges of the drive's class."""
    is_class_known = bool(sheet.source)
    rows = []
    for line in sheet.latencies:
        times = (line.mean_us, line.p50_us, line.p99_us, line.p999_us)
        cells = [
            Cell(line.name.removesuffix(" latency")),
            *(Cell(measured(time)) for time in times),
        ]
        rows.append(
            [*cells, Cell(line.conditions), *_class_cells(line, line.p50_us, "", is_class_known)]
        )
    titles = ["latency,\N{NO-BREAK SPACE}\N{MICRO SIGN}s", "mean", "p50", "p99", "p99.9"]
    titles += ["conditions", *(["class"] if is_class_known else [])]
    return Table("Latency", titles, rows, frozenset({0, 5, 6}))


def _class_cells(
    line: Line | LatencyLine, value: float | None, unit: str, is_class_known: bool
) -> list[Cell]:
    """Returns the published range, with a mark if the simulated number lies outside."""
    if not is_class_known:
        return []
    if line.published is None:
        return [Cell(ABSENT)]
    low, high = line.published
    mark = "" if not line.outside or value is None else "below" if value < low else "above"
    return [Cell(f"{mark} {_rate(low, unit)} to {_rate(high, unit)}".lstrip())]


def _rate(value: float | None, unit: str) -> str:
    if unit == "IOPS":
        return count(value)
    return fixed(value, 0) if value is not None and value >= 100 else measured(value)
