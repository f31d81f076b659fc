"""Drawing of a paper's figures: each value, its position, and its name."""

from __future__ import annotations

import json
from typing import Any

from floatgate.papers.kit.drawing import figure_of
from floatgate.papers.kit.exhibits import Bars, Column, Dots, Lines, Numbers

LABELS = {"b": "Line B", "a": "Line A", "unused": "not there"}


def _values(plot: Any) -> list[dict[str, Any]]:
    """Returns all rows of data of a plot, layer by layer. Each data set comes once."""
    found: list[Any] = []

    def look(part: Any) -> None:
        if isinstance(part, dict):
            data = part.get("data")
            if isinstance(data, dict) and data.get("values") not in [None, *found]:
                found.append(data["values"])
            for inner in part.values():
                look(inner)
        elif isinstance(part, list):
            for inner in part:
                look(inner)

    document = plot.to_dict()
    look(document)
    named = list(document.get("datasets", {}).values())
    told = [json.loads(rows) if isinstance(rows, str) else rows for rows in [*found, *named]]
    return [row for rows in told for row in rows]


class _Layer:
    """One layer of a plot, with the data that the plot has for it."""

    def __init__(self, plot: dict[str, Any], layer: dict[str, Any]) -> None:
        name = layer["data"].get("name")
        self._layer = layer | {"datasets": {k: v for k, v in plot["datasets"].items() if k == name}}

    def to_dict(self) -> dict[str, Any]:
        return self._layer


def test_a_line_that_has_no_parameter_is_the_same_at_every_value() -> None:
    rows = [
        {"trace": "one", "line": "a", "size": 4, "hits": 0.25},
        {"trace": "one", "line": "a", "size": 8, "hits": 0.5},
        {"trace": "one", "line": "b", "size": None, "hits": 0.75},
        {"trace": "two", "line": "a", "size": 16, "hits": 0.125},
    ]
    figure = figure_of(
        Lines(
            key="k",
            title="Hits",
            caption="",
            rows=rows,
            metric="hits",
            style=".1%",
            labels=LABELS,
            x="size",
            x_title="Size",
            x_text="{:.0f} B".format,
        )
    )
    assert [drawing.heading for drawing in figure.drawings] == ["one", "two"]
    assert [entry.text for entry in figure.legend] == ["Line B", "Line A"]
    drawn = {
        (row["run"], row["at"], row["value"])
        for row in _values(figure.drawings[0].chart)
        if "value" in row and row.get("run") in LABELS.values()
    }
    assert drawn == {
        ("Line A", 4.0, 0.25),
        ("Line A", 8.0, 0.5),
        ("Line B", 4.0, 0.75),
        ("Line B", 8.0, 0.75),
    }


def test_lines_have_intervals_and_rules() -> None:
    rows = [
        {"line": "a", "size": 4, "value": 0.25, "half": 0.125},
        {"line": "a", "size": 8, "value": 0.5, "half": None},
    ]
    figure = figure_of(
        Lines(
            key="k",
            title="Gain",
            caption="",
            rows=rows,
            metric="value",
            style=".1f",
            labels=LABELS,
            panel=None,
            x="size",
            x_title="Size",
            x_text="{:.0f} B".format,
            spread="half",
            rules=(("the paper", 2.0),),
        )
    )
    [drawing] = figure.drawings
    assert drawing.heading == "(dashed: the paper 2.000)"
    values = _values(drawing.chart)
    spread = [(row["at"], row["low"], row["high"]) for row in values if "low" in row]
    assert spread == [(4.0, 0.125, 0.375)], "nothing is random in the other"
    assert {"value": 2.0, "run": "the paper"} in values
    assert "[0.0, 2.0]" in json.dumps(drawing.chart.to_dict()), "the axis reaches the rule"


def test_bars_have_their_values_and_rules() -> None:
    rows = [
        {"trace": "one", "line": "a", "gain": 1.5},
        {"trace": "one", "line": "b", "gain": 2.5},
        {"trace": "two", "line": "a", "gain": 3.5},
    ]
    figure = figure_of(
        Bars(
            key="k",
            title="Gain",
            caption="",
            rows=rows,
            metric="gain",
            style=".3f",
            labels=LABELS,
            panel=None,
            row="trace",
            rules={None: [("DFTL", 1.25)]},
        )
    )
    [drawing] = figure.drawings
    assert drawing.heading == "(dashed: DFTL 1.250)"
    drawn = {
        (row.get("row"), row["run"], row.get("colour"), row["value"])
        for row in (_values(drawing.chart))
    }
    assert drawn == {
        ("one", "one, Line A", "Line A", 1.5),
        ("one", "one, Line B", "Line B", 2.5),
        ("two", "two, Line A", "Line A", 3.5),
        (None, "DFTL", None, 1.25),
    }
    # The axis ends 15% behind the longest bar.
    assert '"domain": [0, 4.02' in drawing.chart.to_json(indent=None)


def test_bars_of_lines_share_the_colours_of_their_groups() -> None:
    rows = [{"trace": "one", "line": line, "waste": i + 1.5} for i, line in enumerate("ab")]
    figure = figure_of(
        Bars(
            key="k",
            title="Waste",
            caption="",
            rows=rows,
            metric="waste",
            style=".3f",
            labels=LABELS,
            groups={"a": "first group"},
        )
    )
    [drawing] = figure.drawings
    assert [(r["row"], r["run"], r["colour"], r["value"]) for r in _values(drawing.chart)] == [
        ("Line A", "Line A", "first group", 1.5),
        ("Line B", "Line B", "Line B", 2.5),
    ]
    assert [entry.text for entry in figure.legend] == ["Line B", "first group"]


def test_dots_are_at_their_places() -> None:
    rows = [
        {"trace": "one", "line": "a", "at": 3, "page": 70},
        {"trace": "one", "line": "b", "at": 5, "page": 20},
    ]
    figure = figure_of(
        Dots(
            key="k",
            title="Pages in their order",
            caption="",
            rows=rows,
            metric="page",
            style=",.0f",
            labels=LABELS,
            x="at",
            x_title="At",
        )
    )
    [drawing] = figure.drawings
    assert figure.title == "Pages in their order"
    assert drawing.chart.to_dict()["layer"][0]["encoding"]["y"]["title"] == figure.title
    assert [(row["colour"], row["x"], row["y"]) for row in _values(drawing.chart)] == [
        ("Line A", 3, 70),
        ("Line B", 5, 20),
    ]


def test_dots_lie_beside_the_marks_that_they_are_held_against() -> None:
    figure = figure_of(
        Dots(
            key="k",
            title="Time",
            caption="",
            rows=[{"trace": "one", "line": "a", "at": 0.25, "time": -0.5}],
            metric="time",
            style=".2f",
            labels=LABELS,
            x="at",
            x_title="At",
            marks=[("the paper", -0.33, -0.09)],
        )
    )
    [drawing] = figure.drawings
    known = _values(drawing.chart)
    assert {"x": -0.33, "y": -0.09, "run": "the paper"} in known
    assert {"x": 0.25, "y": -0.5, "colour": "Line A"} in known
    text = drawing.chart.to_json(indent=None)
    assert '"domain": [-0.33, 0.25]' in text
    assert '"domain": [-0.5, 0]' in text


def test_dots_have_intervals_both_ways_where_something_is_random() -> None:
    rows = [
        {"trace": "one", "line": "a", "at": 0.25, "time": -0.5, "dx": 0.125, "dy": 0.25},
        {"trace": "one", "line": "b", "at": -0.5, "time": 0.5, "dx": None, "dy": 0.125},
        {"trace": "two", "line": "a", "at": 0.0, "time": 0.0, "dx": None, "dy": None},
    ]
    figure = figure_of(
        Dots(
            key="k",
            title="Time",
            caption="",
            rows=rows,
            metric="time",
            style=".2f",
            labels=LABELS,
            x="at",
            x_title="At",
            x_spread="dx",
            spread="dy",
        )
    )
    one, two = (drawing.chart.to_dict() for drawing in figure.drawings)
    rules = [layer for layer in one["layer"] if layer["mark"]["type"] == "rule"]
    ends = [
        (
            {name: part["field"] for name, part in rule["encoding"].items()},
            [(row["colour"], row["low"], row["high"]) for row in _values(_Layer(one, rule))],
        )
        for rule in rules
    ]
    assert ends == [
        (
            {"x": "low", "x2": "high", "y": "y", "color": "colour"},
            [("Line A", 0.125, 0.375)],
        ),
        (
            {"x": "x", "y": "low", "y2": "high", "color": "colour"},
            [("Line A", -0.75, -0.25), ("Line B", 0.375, 0.625)],
        ),
    ]
    assert [layer["mark"]["type"] for layer in two["layer"]] == ["circle"], "nothing is random"
    # All plots have axes that contain every interval.
    for plot in (one, two):
        encoding = plot["layer"][0]["encoding"]
        domains = [encoding[axis]["scale"]["domain"] for axis in "xy"]
        assert domains == [[-0.5, 0.375], [-0.75, 0.625]]


def test_a_table_tells_texts_from_numbers_and_what_is_missing() -> None:
    columns = (Column("Name", "name"), Column("Waste", "waste", "{:.2f}".format))
    rows = [{"name": "one", "waste": 1.25}, {"name": None, "waste": None}, {}]
    table = figure_of(Numbers(key="k", title="T", caption="C", rows=rows, columns=columns)).table
    assert table is not None
    assert table.columns == ["Name", "Waste"]
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["one", "1.25"],
        ["–", "–"],
        ["–", "–"],
    ]
    assert [row[1].order for row in table.rows] == [1.25, None, None]
    assert table.text_columns == frozenset({0})


def test_lines_have_intervals_and_go_below_zero() -> None:
    rows = [
        {"trace": "one", "line": "a", "size": 4, "gain": -0.25, "half": 0.5},
        {"trace": "one", "line": "a", "size": 8, "gain": 0.5, "half": 0.25},
        {"trace": "one", "line": "b", "size": None, "gain": 0.125},
    ]
    figure = figure_of(
        Lines(
            key="k",
            title="Gain",
            caption="",
            rows=rows,
            metric="gain",
            style=".1%",
            labels=LABELS,
            x="size",
            x_title="Size",
            x_text="{:.0f} B".format,
            spread="half",
        )
    )
    drawn = _values(figure.drawings[0].chart)
    ends = {(row["colour"], row["at"], row["low"], row["high"]) for row in drawn if "low" in row}
    assert ends == {("Line A", 4.0, -0.75, 0.25), ("Line A", 8.0, 0.25, 0.75)}
    assert "[-0.75, 0.75]" in json.dumps(figure.drawings[0].chart.to_dict())
