"""Columns of a table in which nothing differs: the page leaves them out and lists them once."""

from __future__ import annotations

from floatgate.results.tables import Table
from floatgate.results.values import ABSENT

Absent = tuple[str, str]
"""What a page leaves out, and why."""


def without_constant(
    table: Table, keep: frozenset[str] = frozenset()
) -> tuple[Table, list[Absent]]:
    """Returns the table without columns of one value, and without copies of other columns.

    Returns the columns left out, with the reason. A table of one row keeps all columns with a
    value. Columns named in `keep` stay.
    """
    left: list[Absent] = []
    kept: list[int] = []
    seen: dict[tuple[str, ...], str] = {}
    for at, title in enumerate(table.columns):
        texts = tuple(row[at].text for row in table.rows)
        reason = "" if at in table.text_columns or title in keep else _reason(texts, seen)
        if reason:
            left.append((title, reason))
        else:
            kept.append(at)
            seen.setdefault(texts, title)
    rows = [[row[at] for at in kept] for row in table.rows]
    columns = [table.columns[at] for at in kept]
    texts_at = frozenset(i for i, at in enumerate(kept) if at in table.text_columns)
    return Table(table.title, columns, rows, texts_at), left


def _reason(texts: tuple[str, ...], seen: dict[tuple[str, ...], str]) -> str:
    if set(texts) == {ABSENT}:
        return "not known of any run"
    if len(texts) < 2:
        return ""
    if len(set(texts)) == 1:
        return f"all {texts[0]}"
    return f"equal to {seen[texts]}" if texts in seen else ""
