"""Grids and messages on a terminal: nothing here waits for Polars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

Lines = Iterator[tuple[str, str]]
"""Name and text; no name continues the line above."""


def fact_grid(lines: Iterable[tuple[str, str]]) -> Table:
    """Names to the left, dim; what there is to say about them to the right."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in lines:
        grid.add_row(Text(name), Text(text))
    return grid


def print_messages(out: Console, warnings: Iterable[str], notes: Iterable[str]) -> None:
    """What casts doubt on the numbers, to be seen; then what is good to know."""
    lines = [Text.assemble(("warning: ", "bold yellow"), text) for text in warnings]
    lines += [Text.assemble(("note: ", "dim"), text) for text in notes]
    if lines:
        out.print()
    for line in lines:
        out.print(line)
