"""Exhibits of a reproduction: tables and charts with their data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]
Format = Callable[[float], str]


@dataclass(frozen=True)
class Column:
    title: str
    field: str
    text: Callable[[Any], str] | None = None
    """Formats a number. None for a column of texts."""


def columns_of(text: Callable[[Any], str] | None = None, /, **titles: str) -> list[Column]:
    """Returns columns with one format, by the names of their fields."""
    return [Column(title, field, text) for field, title in titles.items()]


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """One of the paper's figures or tables, or one of ours."""

    key: str
    title: str
    caption: str
    rows: list[Row]
    """Data of the exhibit, one row a point."""


@dataclass(frozen=True, kw_only=True)
class Numbers(Exhibit):
    columns: Sequence[Column]
    brief: bool = True
    """Whether a terminal shows the table, too."""


@dataclass(frozen=True, kw_only=True)
class HeatMap(Numbers):
    """A table of points, drawn as cells over one or two of their columns."""

    sides: Sequence[tuple[str, str, Sequence[str]]]
    """Column, title and ordered values of each side. A cell shows the mean `score` (0 to 1) of
    its rows without `rejected`."""


@dataclass(frozen=True, kw_only=True)
class Chart(Exhibit):
    """Plots of one number. The column `line` of a row names its line or bar."""

    metric: str = "value"
    """Column with the drawn number."""
    spread: str = "half"
    """Column with half of a value's interval, drawn over the value if a row has one."""
    style: str
    """Number format, in d3's notation."""
    labels: Mapping[str, str]
    """Names of the lines by their key in the rows, in the order of the legend."""
    panel: str | None = "trace"
    """Column that separates the plots: one plot for each of its values. None: one plot."""


@dataclass(frozen=True, kw_only=True)
class Lines(Chart):
    """Lines over a parameter. A row with None for the parameter is equal at every value."""

    x: str
    x_title: str
    x_text: Callable[[float], str]
    top: float | None = None
    """Upper end of the vertical axis. None: the largest value."""
    rules: Sequence[tuple[str, float]] = ()
    """Values to compare the lines with, each with its name."""


@dataclass(frozen=True, kw_only=True)
class Dots(Chart):
    """A dot for each row, at `x` and the metric."""

    x: str
    x_title: str
    marks: Sequence[tuple[str, float, float]] = ()
    """Positions to compare the dots of each plot with, each with its name."""
    size: int = 3
    x_spread: str = ""
    """Column with half of the interval of `x`, which is drawn through the dot."""


@dataclass(frozen=True, kw_only=True)
class Bars(Chart):
    """Bars from zero: a band for each value of the column `row`, and in it a bar for each line."""

    row: str = "line"
    groups: Mapping[str, str] = field(default_factory=dict)
    """Name of the colour group of each line. Empty: each line has its own colour."""
    axis: str = ""
    """Title of the axis along the bars. Empty: the title of the chart."""
    rules: Mapping[str | None, Sequence[tuple[str, float]]] = field(default_factory=dict)
    """Values to compare the bars of a plot with, by the plot's panel, each with its name."""
