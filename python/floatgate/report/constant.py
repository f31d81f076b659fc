"""Columns of a table in which nothing differs: the page leaves them out and lists them once."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from floatgate.results.tables import Cell, Table
from floatgate.results.values import ABSENT, SIZES, TIMES

from .units import LIVES

Absent = tuple[str, str]
"""Quantity that a page leaves out, and the reason."""

Values = tuple[float | str, ...]
"""Value of each cell of a column: its number, or its text where it has none."""

UNITS = frozenset(unit for unit, _ in (*TIMES, *SIZES, *LIVES)) | {"%", "MB/s"}
"""Units of columns and plots."""

DIGITS = 9
"""Significant digits in which numbers must agree to be equal: rounding of means changes others."""


def quantity(title: str) -> str:
    """Returns the title of a column or plot without the unit, which is one word after a comma."""
    name, comma, unit = title.rpartition(",")
    return name if comma and len(unit.split()) == 1 and unit.strip() in UNITS else title


def without(table: Table, names: Container[str]) -> Table:
    """Returns the table without the columns of some quantities."""
    kept = [at for at, title in enumerate(table.columns) if quantity(title) not in names]
    return _columns(table, kept)


def without_constant(
    table: Table, keep: frozenset[str] = frozenset()
) -> tuple[Table, list[Absent]]:
    """Returns the table without columns of one value, and without copies of other columns.

    Also returns the columns left out, with the reason. Columns are compared by value, not by their
    printed digits. A table of one row keeps all columns with a value. Columns named in `keep` stay.
    """
    left: list[Absent] = []
    kept: list[int] = []
    seen: dict[Values, str] = {}
    for at, title in enumerate(table.columns):
        values = tuple(_value(row[at]) for row in table.rows)
        is_kept = at in table.text_columns or title in keep
        reason = "" if is_kept else _reason(values, table.rows[0][at].text, seen)
        if reason:
            left.append((title, reason))
        else:
            kept.append(at)
            seen.setdefault(values, title)
    return _columns(table, kept), left


def _columns(table: Table, kept: Sequence[int]) -> Table:
    rows = [[row[at] for at in kept] for row in table.rows]
    columns = [table.columns[at] for at in kept]
    texts_at = frozenset(i for i, at in enumerate(kept) if at in table.text_columns)
    return Table(table.title, columns, rows, texts_at)


def _value(cell: Cell) -> float | str:
    if isinstance(cell.order, (int, float)):
        return float(f"{cell.order:.{DIGITS}g}")
    return cell.text


def _reason(values: Values, text: str, seen: Mapping[Values, str]) -> str:
    """Returns why a column is left out; empty if it stays. `text` is its first cell as printed."""
    if set(values) == {ABSENT}:
        return "not known of any run"
    if len(values) < 2:
        return ""
    if len(set(values)) == 1:
        return f"all {text}"
    return f"equal to {seen[values]}" if values in seen else ""
