"""Turns a paper's exhibits into figures of a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from floatgate.report.charts import BAR, Plot, inline_data, line_colour
from floatgate.report.figure import Drawing, Figure, Legend
from floatgate.report.legends import named
from floatgate.report.sweep_chart import SweepAxis, chart_sweep
from floatgate.report.theme import VERDICTS
from floatgate.results.tables import Cell, Table
from floatgate.results.values import ABSENT

from .exhibits import Bars, Chart, Column, Dots, Exhibit, HeatMap, Lines, Numbers, Row

ALL, SOME, NONE = "as claimed or more", "in part, or open", "less"
STATES = {ALL: "met", SOME: "partly", NONE: "unmet"}
"""Verdicts of the cells of a map, with their colours in `theme`."""

LONGEST = 220
"""Longest name next to a map, in pixels."""

TITLE = 22
GAP = 2
EDGE = 5
"""Room in a band of bars for its name, between two bars, and below the last bar, in pixels."""


def figure_of(exhibit: Exhibit) -> Figure:
    figure = Figure(exhibit.key, exhibit.title, exhibit.caption)
    if isinstance(exhibit, Numbers):
        if isinstance(exhibit, HeatMap):
            _add_cells(figure, exhibit)
        if not figure.drawings:
            figure.reasons.append(exhibit.caption)
        figure.table = number_table(exhibit.title, exhibit.columns, exhibit.rows)
    elif isinstance(exhibit, Lines):
        _add_lines(figure, exhibit)
    elif isinstance(exhibit, Bars):
        _add_bars(figure, exhibit)
    elif isinstance(exhibit, Dots):
        _add_dots(figure, exhibit)
    return figure


def number_table(title: str, columns: Sequence[Column], rows: Sequence[Row]) -> Table:
    """Returns rows as a table of the page. A missing value is a dash."""
    cells = [[_cell(column, row.get(column.field)) for column in columns] for row in rows]
    texts = frozenset(i for i, column in enumerate(columns) if column.text is None)
    return Table(title, [column.title for column in columns], cells, texts)


def _cell(column: Column, value: Any) -> Cell:
    if column.text is None:
        return Cell(ABSENT if value is None else str(value))
    return Cell(ABSENT if value is None else column.text(value), value)


def cells_of(chart: HeatMap) -> list[Row]:
    """Returns the cells of a map: the points of each, and the share of them at which the claim is
    met; an open point counts half. A cell is missing if all its points are left out."""
    keys = [key for key, *_ in chart.sides]
    cells: dict[tuple[str, ...], list[float]] = {}
    for row in chart.rows:
        if not row["rejected"]:
            cells.setdefault(tuple(row[key] for key in keys), []).append(row["score"])
    return [
        {
            **dict(zip(("x", "y"), (*sides, ""), strict=False)),
            "met": sum(scores) / len(scores),
            "state": ALL if min(scores) == 1 else SOME if any(scores) else NONE,
            "text": f"{sum(score == 1 for score in scores)} of {len(scores)}",
        }
        for sides, scores in cells.items()
    ]


def _add_cells(figure: Figure, chart: HeatMap) -> None:
    if not (cells := cells_of(chart)):
        return
    sides = [*zip(("x", "y"), [*chart.sides, ("", "", [""])], strict=False)]
    # The side with the longer names becomes the rows, where each name has a line of its own.
    (x, (_, across, columns)), (y, (_, up, rows)) = sorted(
        sides, key=lambda side: sum(map(len, side[1][2]))
    )
    base = alt.Chart(_data(cells)).encode(
        x=alt.X(
            f"{x}:N",
            title=across or None,
            sort=list(columns),
            axis=alt.Axis(labelAngle=0, labelOverlap=False, labelLimit=LONGEST),
        ),
        y=alt.Y(
            f"{y}:N",
            title=up or None,
            sort=list(rows),
            axis=alt.Axis(labelOverlap=False, labelLimit=LONGEST),
        ),
    )
    states = alt.Scale(domain=[*STATES], range=VERDICTS)
    state = alt.Color("state:N", scale=states, legend=alt.Legend(title="As claimed or more"))
    tooltip = [alt.Tooltip("met:Q", title="As claimed or more", format=".0%")]
    layers = [
        base.mark_rect(style="segment").encode(color=state, tooltip=tooltip),
        base.mark_text(style="total", aria=False).encode(text=alt.Text("text:N")),
    ]
    plot: Plot = alt.LayerChart(layer=layers, height=40 * len(rows))
    drawn = {row["state"] for row in cells}
    figure.legend = [Legend(*one) for one in STATES.items() if one[0] in drawn]
    said = f"{chart.title}: points as claimed or more, an open one as a half."
    figure.drawings.append(Drawing("", plot, said))


def _panels(chart: Chart) -> list[tuple[Any, list[Row]]]:
    if chart.panel is None:
        return [(None, chart.rows)]
    names = dict.fromkeys(row[chart.panel] for row in chart.rows)
    return [(name, [row for row in chart.rows if row[chart.panel] == name]) for name in names]


def _drawn(chart: Chart) -> list[str]:
    drawn = {row["line"] for row in chart.rows}
    return [line for line in chart.labels if line in drawn]


def _add_lines(figure: Figure, chart: Lines) -> None:
    figure.lines = True
    names = [chart.labels[line] for line in _drawn(chart)]
    for panel, rows in _panels(chart):
        at = sorted({float(row[chart.x]) for row in rows if row[chart.x] is not None})
        points: list[Row] = [
            {"run": name, "colour": name, "dash": "", "value": float(row[chart.metric]), "at": x}
            for row in rows
            for name in [chart.labels[row["line"]]]
            for x in (at if row[chart.x] is None else [float(row[chart.x])])
        ]
        spread = [
            {"colour": chart.labels[row["line"]], "at": float(row[chart.x])} | ends
            for row in rows
            if row[chart.x] is not None and (ends := _ends(row, chart.metric, chart.spread))
        ]
        reached = [
            *(point["value"] for point in points),
            *(row[end] for row in spread for end in ("low", "high")),
            *(value for _, value in chart.rules),
        ]
        domain = min(0.0, *reached), chart.top or max(reached)
        axis = SweepAxis(chart.x_title, [(x, chart.x_text(x)) for x in at])
        drawn = chart_sweep(
            pl.DataFrame(points),
            axis,
            chart.title,
            names,
            domain,
            chart.style,
            spread=pl.DataFrame(spread),
        )
        for mark in _rules(chart.rules):
            drawn += mark.encode(y=alt.Y("value:Q"))
        figure.drawings.append(_drawing(chart, panel, drawn, chart.rules))
    figure.legend = named(names)


def _rules(rules: Sequence[tuple[str, float]]) -> Iterator[alt.Chart]:
    for name, value in rules:
        mark = alt.Chart(_data([{"value": value, "run": name}])).mark_rule(
            style="span", strokeDash=[7, 3]
        )
        yield mark.encode(tooltip=[alt.Tooltip("run:N", title="Rule")])


def _add_bars(figure: Figure, chart: Bars) -> None:
    lines = _drawn(chart)
    groups = list(dict.fromkeys(_group(chart, line) for line in lines))
    for panel, rows in _panels(chart):
        drawn = _bars(chart, rows, lines, groups, chart.rules.get(panel, ()))
        figure.drawings.append(_drawing(chart, panel, drawn, chart.rules.get(panel, ())))
    if len(groups) > 1:
        figure.legend = named(groups)


def _add_dots(figure: Figure, chart: Dots) -> None:
    names = [chart.labels[line] for line in _drawn(chart)]
    colour = line_colour(names)
    across, up = (chart.x, chart.x_spread), (chart.metric, chart.spread)
    x_scale = _scale([*_reached(chart.rows, *across), *(x for _, x, _ in chart.marks)])
    y_scale = _scale([*_reached(chart.rows, *up), *(y for *_, y in chart.marks)])
    x, x_low = (alt.X(f"{name}:Q", title=chart.x_title, scale=x_scale) for name in ("x", "low"))
    y, y_low = (alt.Y(f"{name}:Q", title=chart.title, scale=y_scale) for name in ("y", "low"))
    for panel, rows in _panels(chart):
        points = [
            {"x": row[chart.x], "y": row[chart.metric], "colour": chart.labels[row["line"]]}
            for row in rows
        ]
        dots = alt.Chart(_data(points)).mark_circle(size=chart.size, opacity=0.6)
        layers = [dots.encode(x=x, y=y, color=colour)]
        for of, ends in (
            (across, {"x": x_low, "x2": alt.X2("high:Q"), "y": y}),
            (up, {"x": x, "y": y_low, "y2": alt.Y2("high:Q")}),
        ):
            ended = [point | _ends(row, *of) for point, row in zip(points, rows, strict=True)]
            if spread := [point for point in ended if "low" in point]:
                rule = alt.Chart(_data(spread)).mark_rule(opacity=0.6, aria=False)
                layers.append(rule.encode(**ends, color=colour))
        if chart.marks:
            marks = [{"x": at, "y": high, "run": name} for name, at, high in chart.marks]
            base = alt.Chart(_data(marks)).encode(x=x, y=y)
            layers.append(base.mark_point(shape="cross", size=90, filled=True, color="black"))
            layers.append(base.mark_text(align="left", dx=8).encode(text=alt.Text("run:N")))
        plot: Plot = alt.LayerChart(layer=layers, height=220)
        figure.drawings.append(_drawing(chart, panel, plot))
    if len(names) > 1:
        figure.legend = named(names)


def _reached(rows: Sequence[Row], column: str, spread: str) -> list[float]:
    """Returns the ends of all intervals, and the values without an interval."""
    ends = [_ends(row, column, spread) or {"at": row[column]} for row in rows]
    return [value for end in ends for value in end.values()]


def _data(rows: Sequence[Row]) -> alt.InlineData:
    return inline_data(pl.DataFrame(rows, infer_schema_length=None))


def _scale(values: Sequence[float]) -> alt.Scale:
    return alt.Scale(domain=[min([0, *values]), max([0, *values])], nice=False)


def _group(chart: Bars, line: str) -> str:
    return chart.groups.get(line, chart.labels[line])


def _drawing(
    chart: Chart, panel: Any, plot: Plot, rules: Sequence[tuple[str, float]] = ()
) -> Drawing:
    heading = "" if panel is None else str(panel)
    said = "; ".join(f"{name} {value:.3f}" for name, value in rules)
    where = f" on {heading}" if heading else ""
    heading = f"{heading} (dashed: {said})".strip() if said else heading
    return Drawing(heading, plot, f"{chart.title}{where}.")


def _bars(
    chart: Bars,
    rows: Sequence[Row],
    lines: Sequence[str],
    groups: Sequence[str],
    rules: Sequence[tuple[str, float]],
) -> Plot:
    """Draws horizontal bars with the name of their band above and their value at their end."""
    by_line = chart.row == "line"
    slots = [None] if by_line else list(lines)
    names = chart.labels if by_line else {}
    bands = list(dict.fromkeys(names.get(row[chart.row], row[chart.row]) for row in rows))
    height = TITLE + len(slots) * (BAR + GAP) + EDGE
    values = [*(row[chart.metric] for row in rows), *(value for _, value in rules), 0]
    limit = 1.15 * max(values)
    scale = alt.Scale(domain=[1.15 * min(values) or 0, limit or 1], nice=False)
    axis = alt.Axis(title=chart.axis or chart.title, format=_axis_style(chart.style))
    x, low = (alt.X(name, scale=scale, axis=axis) for name in ("value:Q", "low:Q"))
    y = _band_axis(bands, height)
    colour = line_colour(groups)
    layers: list[alt.Chart] = []
    for i, slot in enumerate(slots):
        chosen = [row for row in rows if slot in (None, row["line"])]
        data = [_bar(chart, names, row) for row in chosen]
        if not data:
            continue
        offset = TITLE + i * (BAR + GAP) + BAR / 2 - height / 2
        base = alt.Chart(_data(data)).encode(x=x, y=y)
        tooltip = [
            alt.Tooltip("run:N", title="Run"),
            alt.Tooltip("value:Q", title=chart.axis or chart.title, format=chart.style),
        ]
        bar = base.mark_bar(size=BAR, yOffset=offset)
        text = base.mark_text(align="left", dx=5, yOffset=offset, style="total", aria=False)
        layers.append(bar.encode(color=colour, tooltip=tooltip))
        layers.append(text.encode(text=alt.Text("value:Q", format=chart.style)))
        ends = [_ends(row, chart.metric, chart.spread) for row in chosen]
        if spread := [bar | end for bar, end in zip(data, ends, strict=True) if end]:
            lines_over = base.properties(data=_data(spread))
            layers.append(lines_over.mark_rule(yOffset=offset).encode(x=low, x2=alt.X2("high:Q")))
    layers += [mark.encode(x=x) for mark in _rules(rules)]
    plot: Plot = alt.LayerChart(layer=layers, height=height * len(bands))
    return plot


def _bar(chart: Bars, names: Mapping[str, str], row: Row) -> Row:
    band, label = row[chart.row], chart.labels[row["line"]]
    bar = {"row": names.get(band, band), "colour": _group(chart, row["line"])}
    run = label if chart.row == "line" else f"{band}, {label}"
    return bar | {"run": run, "value": float(row[chart.metric])}


def _ends(row: Row, column: str, spread: str) -> Row:
    """Adds the interval of a value, if it has one."""
    value, half = float(row[column]), row.get(spread)
    return {} if half is None else {"low": value - half, "high": value + half}


def _axis_style(style: str) -> str:
    return ".0%" if style.endswith("%") else "~s"


def _band_axis(bands: Sequence[str], height: int) -> alt.Y:
    return alt.Y(
        "row:N",
        sort=None,
        scale=alt.Scale(domain=list(bands)),
        axis=alt.Axis(
            title=None,
            domain=False,
            ticks=False,
            grid=False,
            labelAlign="left",
            labelPadding=0,
            labelOffset=TITLE / 2 - height / 2,
            labelFontSize=12,
            labelLimit=alt.ExprRef("width"),
            labelOverlap=False,
        ),
    )
