"""Exhibits of a reproduction: tables and charts with their data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Column:
    """A column of a table of numbers."""

    title: str
    field: str
    text: Callable[[Any], str] | None = None
    """How a number is written. None: it is a text."""


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """One of the paper's figures or tables, or one of ours."""

    key: str
    title: str
    caption: str
    rows: list[Row]
    """Its data, a row per point."""


@dataclass(frozen=True, kw_only=True)
class Numbers(Exhibit):
    """A table."""

    columns: Sequence[Column]
    brief: bool = True
    """Whether a terminal has it, too."""


@dataclass(frozen=True, kw_only=True)
class HeatMap(Numbers):
    """A table of points, drawn as cells over one or two of their columns."""

    sides: Sequence[tuple[str, str, Sequence[str]]]
    """Of each side its column, its title, and its values in order. A row that counts has no
    `rejected`, and in `score` a number from 0 to 1, of which a cell has the mean."""


@dataclass(frozen=True, kw_only=True)
class Shares(Numbers):
    """A table of counts, drawn as a bar for each row with a part for each of `parts`."""

    row: str
    """The column that names a bar."""
    parts: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Chart(Exhibit):
    """Plots of one number. In a row, `line` has what tells the lines, or bars, apart."""

    metric: str = "value"
    """The column that is drawn."""
    spread: str = "half"
    """The column with half of a value's interval, which is drawn over it, if a row has one."""
    style: str
    """How its numbers are written, a d3 format."""
    labels: Mapping[str, str]
    """The names of the lines by what the rows have in `line`, in the order of the legend."""
    panel: str | None = "trace"
    """The column of which each value has a plot. None: one plot."""


@dataclass(frozen=True, kw_only=True)
class Lines(Chart):
    """Lines over a parameter. A row that has None there is the same at every value."""

    x: str
    """The column with the parameter."""
    x_title: str
    x_text: Callable[[float], str]
    top: float | None = None
    """Where the vertical axis ends; else at the largest value."""
    rules: Sequence[tuple[str, float]] = ()
    """Values to hold the lines against, each with its name."""


@dataclass(frozen=True, kw_only=True)
class Dots(Chart):
    """A dot for each row, at `x` and the metric; what is where matters, not single values."""

    x: str
    """The column for the horizontal axis."""
    x_title: str
    axis: str = ""
    """What the vertical axis has; else the title."""
    marks: Sequence[tuple[str, float, float]] = ()
    """Places to hold the dots of each plot against, each with its name."""
    size: int = 3
    """Of a dot, in square pixels."""
    x_spread: str = ""
    """The column with half of the interval of `x`, which is drawn through the dot."""


@dataclass(frozen=True, kw_only=True)
class Bars(Chart):
    """Bars from zero: a band for each value of the column `row`, in it a bar for each line."""

    row: str = "line"
    groups: Mapping[str, str] = field(default_factory=dict)
    """Which lines share a colour, and its name, where not each has its own."""
    axis: str = ""
    """What the bars measure; else the title."""
    rules: Mapping[str | None, Sequence[tuple[str, float]]] = field(default_factory=dict)
    """Values to hold the bars of a plot against, by its panel, each with its name."""
