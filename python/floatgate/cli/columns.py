"""Tables for terminals of any width: labels stay whole, and a line names the omitted columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

GAP = 2
"""Blanks between two columns, and the indent of a row printed below its labels."""

PROSE = 18
"""Minimum width of a column of prose, unless its text is shorter."""

Cell = str | Text


@dataclass(frozen=True)
class Column:
    """One column, and the rules for fitting it to a narrow terminal."""

    title: str
    cells: Sequence[Cell]
    kind: Literal["label", "number", "prose"] = "number"
    """A label names its row and is never cut. A number is whole or left out. Prose may wrap."""
    is_right: bool = True
    """Whether the column is aligned right."""
    name: str = ""
    """Name used where the column is left out; the default is the title."""
    rank: int = 0
    """Place in the order of importance: a column of a higher rank is left out earlier."""
    same: str | None = None
    """Value common to all rows, where equal cells do not already show it."""

    @property
    def constant(self) -> str | None:
        """The text common to all rows, or None where rows differ."""
        texts = {str(cell) for cell in self.cells}
        return texts.pop() if len(texts) == 1 < len(self.cells) else self.same

    @property
    def content(self) -> int:
        """Minimum width of the cells in characters."""
        most = max(map(_longest, self.cells), default=0)
        if self.kind != "prose":
            return most
        words = (len(word) for cell in self.cells for word in str(cell).split())
        return min(most, max(PROSE, *words, 0))

    @property
    def width(self) -> int:
        """Minimum width of the column in characters."""
        return max(self.content, _longest(self.title))

    def narrowed(self) -> Column:
        """Returns the column with its title wrapped where that makes the column narrower."""
        return replace(self, title=_broken(self.title, self.content))


def label(title: str, cells: Iterable[Cell]) -> Column:
    return Column(title, [*cells], "label", is_right=False)


def prose(title: str, cells: Iterable[Cell], name: str = "") -> Column:
    """Returns a column of text that may wrap."""
    return Column(title, [*cells], "prose", is_right=False, name=name)


def print_columns(out: Console, columns: Sequence[Column]) -> None:
    """Prints a table, and a line that names the columns that do not fit.

    Columns with the same text in all rows are dropped first, then other columns by their rank, and
    of one rank from the right. If labels take more than half of the terminal, they are printed on
    separate lines.
    """
    shown, left_out = [*columns], list[Column]()
    if _total(shown) > out.width:
        shown = [column.narrowed() for column in shown]
        _drop(shown, left_out, out.width, [one for one in shown if one.constant is not None])
    labels = [column for column in shown if column.kind == "label"]
    others = [column for column in shown if column.kind != "label"]
    if _total(shown) > out.width and 2 * _total(labels) > out.width:
        _drop(others, left_out, out.width - GAP, others)
        _print_below(out, [one for one in columns if _is_among(one, labels)], others)
    else:
        _drop(shown, left_out, out.width, others)
        out.print(_table(shown, out.width, range(len(columns[0].cells))))
    if left_out:
        text = _words([one for one in columns if _is_among(one, left_out)])
        out.print(Text(f"left out at {out.width} columns: {text}", style="dim"))


def _total(columns: Sequence[Column]) -> int:
    return sum(column.width for column in columns) + GAP * max(len(columns) - 1, 0)


def _drop(
    columns: list[Column], left_out: list[Column], width: int, may_go: Sequence[Column]
) -> None:
    """Removes columns until the others fit: the highest rank first, and of one rank from the right.
    Keeps at least one non-label column.
    """
    for column in sorted(reversed([*may_go]), key=lambda one: -one.rank):
        is_only = not any(one.kind != "label" for one in columns if one is not column)
        if _total(columns) > width and not is_only:
            columns[:] = [one for one in columns if one is not column]
            left_out.append(column)


def _is_among(column: Column, others: Sequence[Column]) -> bool:
    """Returns whether the column is one of the others; their titles may be wrapped."""
    return any(column.cells is other.cells for other in others)


def _words(left_out: Sequence[Column]) -> str:
    """Names the omitted columns: first those that differ by row, then those with a common text."""
    differ, alike = [], []
    for column in left_out:
        name = column.name or _in_one_line(column.title) or "unit"
        if column.constant is None:
            differ.append(name)
        else:
            alike.append(f"{name} {column.constant}")
    same = f"the same in all rows: {', '.join(alike)}" if alike else ""
    return "; ".join(filter(None, (", ".join(differ), same)))


def _in_one_line(title: str) -> str:
    return " ".join(title.split("\n"))


def _widths(columns: Sequence[Column], width: int) -> list[int]:
    """Returns the width of each column; prose columns share the room that the others leave."""
    found = [column.width for column in columns]
    room = width - _total(columns)
    growing = [at for at, column in enumerate(columns) if column.kind == "prose"]
    while room > 0 and growing:
        at = min(growing, key=lambda one: found[one])
        if found[at] >= max(map(_longest, columns[at].cells), default=0):
            growing.remove(at)
        else:
            found[at] += 1
            room -= 1
    return found


def _table(columns: Sequence[Column], width: int, rows: Iterable[int]) -> Table:
    """Returns the given rows as a table; columns are as wide as for all rows."""
    has_titles = any(column.title for column in columns)
    drawn = Table(box=None, pad_edge=False, header_style="dim", show_header=has_titles)
    drawn.padding = (0, GAP, 0, 0)
    for column, characters in zip(columns, _widths(columns, width), strict=True):
        drawn.add_column(
            column.title,
            justify="right" if column.is_right else "left",
            no_wrap=column.kind != "prose",
            overflow="fold",
            width=characters,
        )
    for row in rows:
        drawn.add_row(*(_text(column.cells[row]) for column in columns))
    return drawn


def _print_below(out: Console, labels: Sequence[Column], columns: Sequence[Column]) -> None:
    """Prints each row below its labels. Labels wrap if they are longer than a line."""
    if titles := ", ".join(_in_one_line(column.title) for column in labels if column.title):
        out.print(Text(titles, style="dim", overflow="fold"))
    if any(column.title for column in columns):
        out.print(Padding(_table(columns, out.width - GAP, ()), (0, 0, 0, GAP)))
    untitled = [replace(column, title=" " * _longest(column.title)) for column in columns]
    for row in range(len(labels[0].cells)):
        names = (str(column.cells[row]).strip() for column in labels)
        out.print(Text(", ".join(filter(None, names)), overflow="fold"))
        body = _table(untitled, out.width - GAP, [row])
        body.show_header = False
        out.print(Padding(body, (0, 0, 0, GAP)))


def _text(cell: Cell) -> Text:
    return cell if isinstance(cell, Text) else Text(cell)


def _longest(text: Cell) -> int:
    """Returns the number of characters in the longest line of the text."""
    return max(map(len, str(text).split("\n")), default=0)


def _broken(title: str, width: int) -> str:
    """Wraps the title to this width, or to its longest unbreakable part if that is longer."""
    lines: list[str] = []
    for line in title.split("\n"):
        parts = re.findall(r".+?(?:[_ ]|[.](?=[^0-9])|$)", line)
        limit = max(width, *(len(part.rstrip()) for part in parts), 0)
        lines.append("")
        for part in parts:
            if lines[-1] and len((lines[-1] + part).rstrip()) > limit:
                lines.append("")
            lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)
