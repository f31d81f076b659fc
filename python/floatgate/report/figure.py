"""What a figure of the report is made of."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from . import charts
from .tables import Table


@dataclass(frozen=True)
class Legend:
    """One entry: its text, series colour (None where only the pattern matters), line pattern."""

    text: str
    colour: int | None
    dash: int = 0


@dataclass(frozen=True)
class Drawing:
    """One plot: its heading within the figure, and what it shows in words for those who listen."""

    heading: str
    chart: charts.Plot
    description: str
    legend: list[Legend] = field(default_factory=list)
    """Its own, where the figure's plots do not share one."""
    text: str = ""
    """What a reader is told of it above the plot."""


@dataclass
class Figure:
    """One section of the report."""

    key: str
    title: str
    caption: str
    lines: bool = False
    """Whether the legend's swatches are lines rather than areas."""
    wide: bool = False
    """Whether each plot takes all of the width."""
    drawings: list[Drawing] = field(default_factory=list)
    legend: list[Legend] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    """Why something a reader might expect is not drawn."""
    table: Table | None = None


def sentence(what: str, panel: str, frame: pl.DataFrame) -> str:
    """A plot in words: what, for which part of the runs, how many."""
    runs = frame["run"].n_unique()
    where = f", {panel}" if panel else ""
    return f"{what}{where}; {runs} {'run' if runs == 1 else 'runs'}."


def join_title(title: str, panel: str) -> str:
    return f"{title} · {panel}" if panel else title
