"""Grids and messages for terminals, without an import of Polars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from floatgate.results.values import space_percent

Lines = Iterator[tuple[str, str]]
"""Pairs of name and text; a pair with an empty name continues the pair above."""


def fact_grid(lines: Iterable[tuple[str, str]]) -> Table:
    """Returns a grid with dim names to the left and texts to the right."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in lines:
        grid.add_row(Text(name), Text(space_percent(text)))
    return grid


def print_messages(out: Console, warnings: Iterable[str], notes: Iterable[str]) -> None:
    """Prints the warnings, highlighted, and then the notes."""
    lines = [Text.assemble(("warning: ", "bold yellow"), space_percent(text)) for text in warnings]
    lines += [Text.assemble(("note: ", "dim"), space_percent(text)) for text in notes]
    if lines:
        out.print()
    for line in lines:
        out.print(line)
