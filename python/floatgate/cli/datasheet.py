"""`floatgate devices NAME --measure`: a data sheet for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from floatgate.datasheet import DataSheet, LatencyLine, Line
from floatgate.report.tables import Cell, Table, space_table
from floatgate.report.values import ABSENT, count, fixed, measured, percent, ratio, size

from .grids import Lines, fact_grid, print_messages
from .output import console
from .summary import print_table


def print_sheet(sheet: DataSheet) -> None:
    """Capacity, performance, latencies; then what is to be known."""
    out = console()
    out.print(Text(f"{sheet.device}, measured on the model", style="bold"))
    out.print()
    out.print(fact_grid(_facts(sheet)))
    if (space := space_table(sheet.space)) is not None:
        print_table(out, space)
    print_table(out, _performance(sheet))
    print_table(out, _latencies(sheet.latencies, is_class_known=bool(sheet.source)))
    print_messages(out, sheet.warnings, sheet.notes)


def _facts(sheet: DataSheet) -> Lines:
    over = sheet.spare_factor / (1 - sheet.spare_factor)
    yield "raw capacity", f"{size(sheet.raw_bytes)} of flash"
    spare = f"spare factor {percent(sheet.spare_factor)}, over-provisioning {percent(over)}"
    yield "user capacity", f"{size(sheet.user_bytes)}; {spare}"
    wa = ratio(sheet.write_amplification)
    yield "write amplification", f"{wa}, random writes in the steady state"
    yield from sheet.states.items()
    if sheet.source:
        state = "" if sheet.class_state == "steady" else f", {sheet.class_state}"
        yield f"class{state}", sheet.source


def _performance(sheet: DataSheet) -> Table:
    rows = []
    is_class_known = bool(sheet.source)
    for line in sheet.lines:
        value = line.fresh if sheet.class_state == "fresh" else line.steady
        known = (_rate(line.fresh, line.unit), _rate(line.steady, line.unit))
        cells = [Cell(line.name), *map(Cell, known), Cell(line.unit), Cell(line.conditions)]
        rows.append([*cells, *_class_cells(line, value, line.unit, is_class_known)])
    titles = ["", "fresh", "steady", "", "conditions", *(["class", ""] if is_class_known else [])]
    return Table("Performance", titles, rows, frozenset({0, 3, 4, 5, 6}))


def _latencies(lines: Sequence[LatencyLine], *, is_class_known: bool) -> Table:
    rows = []
    for line in lines:
        times = (line.mean_us, line.p50_us, line.p99_us, line.p999_us)
        cells = [
            Cell(line.name.removesuffix(" latency")),
            *(Cell(measured(time)) for time in times),
        ]
        rows.append(
            [*cells, Cell(line.conditions), *_class_cells(line, line.p50_us, "", is_class_known)]
        )
    titles = ["latency,\N{NO-BREAK SPACE}\N{MICRO SIGN}s", "mean", "p50", "p99", "p99.9"]
    titles += ["conditions", *(["class", ""] if is_class_known else [])]
    return Table("Latency", titles, rows, frozenset({0, 5, 6, 7}))


def _class_cells(
    line: Line | LatencyLine, value: float | None, unit: str, is_class_known: bool
) -> list[Cell]:
    """The published range, and a mark where the number is outside."""
    if not is_class_known:
        return []
    if line.published is None:
        return [Cell(ABSENT), Cell("")]
    low, high = line.published
    mark = "" if not line.outside or value is None else "below" if value < low else "above"
    return [Cell(f"{_rate(low, unit)} to {_rate(high, unit)}"), Cell(mark)]


def _rate(value: float | None, unit: str) -> str:
    if unit == "IOPS":
        return count(value)
    return fixed(value, 0) if value is not None and value >= 100 else measured(value)
