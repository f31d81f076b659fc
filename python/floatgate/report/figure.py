"""Building blocks of a figure in the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import polars as pl

from floatgate.results.tables import Table

from . import charts


@dataclass(frozen=True)
class Legend:
    """One legend entry: text, colour in `theme` (None where only the pattern matters), pattern."""

    text: str
    colour: str | None
    dash: int = 0


@dataclass(frozen=True)
class Drawing:
    """One plot, with its heading within the figure and a text description for screen readers."""

    heading: str
    chart: charts.Plot
    description: str
    legend: list[Legend] = field(default_factory=list)
    """Legend of this plot alone, where the figure's plots do not share one."""
    text: str = ""
    """Text shown above the plot."""


@dataclass
class Figure:
    """One section of the report."""

    key: str
    title: str
    caption: str
    lines: bool = False
    """Whether the legend's swatches are lines rather than areas."""
    wide: bool = False
    """Whether each plot takes the full width."""
    drawings: list[Drawing] = field(default_factory=list)
    legend: list[Legend] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    """Reasons why the figure lacks something that a reader might expect."""
    absent: list[tuple[str, str]] = field(default_factory=list)
    """Quantities that no run of the page has, with the reason. The page lists them at its end."""
    table: Table | None = None


def sentence(what: str, panel: str, frame: pl.DataFrame) -> str:
    """Describes a plot in words: its content, its panel, and its number of runs."""
    runs = frame["run"].n_unique()
    where = f", {panel}" if panel else ""
    return f"{what}{where}; {runs} {'run' if runs == 1 else 'runs'}."


def add_panels(
    figure: Figure,
    title: str,
    found: Mapping[str, pl.DataFrame],
    what: str,
    draw: Callable[[str, pl.DataFrame], charts.Plot],
) -> None:
    """Adds a plot for each panel whose frame has rows. `what` describes the plot in words, and
    `draw` makes it from the panel's name and frame."""
    for panel, frame in found.items():
        if not frame.is_empty():
            text = sentence(what, panel, frame)
            figure.drawings.append(Drawing(join_title(title, panel), draw(panel, frame), text))


def join_title(title: str, panel: str) -> str:
    return " · ".join(filter(None, (title, panel)))
