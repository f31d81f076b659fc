"""Columns of a table in which nothing differs: the page leaves them out and lists them once."""

from __future__ import annotations

from collections.abc import Mapping

from floatgate.results.tables import Table
from floatgate.results.values import ABSENT

Absent = tuple[str, str]
"""What a page leaves out, and why."""

Values = tuple[tuple[str, float | str | None], ...]
"""Text and exact value of each cell of a column."""


def without_constant(
    table: Table, keep: frozenset[str] = frozenset()
) -> tuple[Table, list[Absent]]:
    """Returns the table without columns of one value, and without copies of other columns.

    Returns the columns left out, with the reason. A table of one row keeps all columns with a
    value. Columns named in `keep` stay.
    """
    left: list[Absent] = []
    kept: list[int] = []
    seen: dict[Values, str] = {}
    for at, title in enumerate(table.columns):
        values = tuple((row[at].text, row[at].order) for row in table.rows)
        reason = "" if at in table.text_columns or title in keep else _reason(values, seen)
        if reason:
            left.append((title, reason))
        else:
            kept.append(at)
            seen.setdefault(values, title)
    rows = [[row[at] for at in kept] for row in table.rows]
    columns = [table.columns[at] for at in kept]
    texts_at = frozenset(i for i, at in enumerate(kept) if at in table.text_columns)
    return Table(table.title, columns, rows, texts_at), left


def _reason(values: Values, seen: Mapping[Values, str]) -> str:
    """Returns why a column is left out; empty if it stays."""
    texts = {text for text, _ in values}
    if texts == {ABSENT}:
        return "not known of any run"
    if len(values) < 2:
        return ""
    if len(set(values)) == 1:
        return f"all {values[0][0]}"
    return f"equal to {seen[values]}" if values in seen else ""
