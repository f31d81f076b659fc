"""Advice (`floatgate.advising.lines.Advice`) as a page and pictures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import altair as alt
import polars as pl

from floatgate.advising.lines import Advice, Line, Number
from floatgate.advising.tables import headline, large_numbers, life_table, time_of, words
from floatgate.files.writing import write_frame, write_whole
from floatgate.results.tables import Cell, Table, Unit
from floatgate.results.values import ABSENT, SIZES, count, lasting, size

from . import page
from .charts import BAR_BELOW, PLAIN, Plot, inline_data, row_axis
from .figure import Drawing, Figure
from .latency_chart import log_ticks
from .pictures import write_figure
from .templates import typeset
from .told import separated

PICTURES = {
    "amplification": ("", "Bytes programmed for each byte that the host writes."),
    "separation": ("", "Bytes programmed for each byte that the host writes."),
    "map": ("bytes", "Memory for map entries."),
    "latency": ("us", "99 % of the requests take no longer."),
    "streams": ("", "Bytes programmed for each byte that the host writes."),
}
"""Figures of the advice, by the key of their line: the unit of the drawn numbers, and the caption.

A figure leaves out the numbers of its line that have another unit.
"""

AXES = {"": "Write amplification", "bytes": "Map memory", "us": "p99"}
"""Title of the axis of a figure, by the unit of its numbers."""

WIDE = 50
"""The axis is logarithmic where the largest value exceeds the smallest by more than this factor."""

BAND = 44
"""Height of a row in pixels."""


def write_advice(found: Advice, directory: Path) -> list[Path]:
    """Writes advice.html, advice.json, the numbers as a table, and the figures as SVG.

    The directory must exist. Returns the paths of the page and of the pictures. Raises `OSError`
    when a file cannot be written.
    """
    figures = advice_figures(found)
    text = json.dumps(found.to_dict(), indent=2, ensure_ascii=False)
    write_whole(directory / "advice.json", (text + "\n").encode())
    write_frame(directory / "numbers.parquet", numbers_frame(found))
    path = directory / "advice.html"
    write_whole(path, _page(found, figures).encode())
    return [path, *(write_figure(figure, directory, "svg") for figure in figures)]


def advice_figures(found: Advice) -> list[Figure]:
    """Returns a figure for each line of the advice that has numbers to draw."""
    return [figure for line in found.lines if (figure := _figure(line)) is not None]


def answers_table(found: Advice) -> Table:
    """Returns the table of questions, answers and the confidence in each answer."""
    rows = [[Cell(line.question), Cell(line.answer), Cell(line.found)] for line in found.lines]
    return Table("Advice", ["Question", "Answer", "Confidence"], rows, frozenset(range(3)))


def numbers_frame(found: Advice) -> pl.DataFrame:
    """Returns a row for each number.

    `question` is the line's key, and `found` its confidence; `name`, `value`, `unit`, `low` and
    `high` are the number's fields.
    """
    rows = [
        {"question": line.key, "found": line.found, **vars(number)}
        for line in found.lines
        for number in line.numbers
    ]
    text, real = pl.String, pl.Float64
    schema = {"question": text, "found": text, "name": text, "value": real, "unit": text}
    return pl.DataFrame(rows, schema={**schema, "low": real, "high": real})


def chart_numbers(points: pl.DataFrame, rows: Sequence[str], title: str) -> Plot:
    """Returns a chart of dots with their intervals.

    `points` has a row for each number: `row`, `value`, `low`, `high`, and `words` (its label).
    """
    low, high = max(min(points["low"].to_list()), 1e-9), max(points["high"].to_list())
    x = alt.X(
        "value:Q",
        scale=alt.Scale(zero=True, nice=True),
        axis=alt.Axis(title=title, tickCount=6, format=PLAIN),
    )
    if high > WIDE * low:
        ends = (low / 2, high * 2)
        axis = alt.Axis(title=title, format=PLAIN, values=log_ticks(*ends))
        scale = alt.Scale(type="log", domain=list(ends), nice=False)
        x = alt.X("value:Q", scale=scale, axis=axis)
    # The number stands in the label of its row, where no mark can cover it at any width.
    pairs = zip(rows, points["words"], strict=True)
    labels = [str(typeset(f"{row}: {text}")) for row, text in pairs]
    labelled = points.with_columns(name="row", row=pl.Series(labels, dtype=pl.String))
    base = alt.Chart(inline_data(labelled)).encode(y=row_axis(labels))
    tooltip = [alt.Tooltip("name:N", title="Of"), alt.Tooltip("words:N", title=title)]
    rule = base.mark_rule(strokeWidth=3, style="span", yOffset=BAR_BELOW, y2Offset=BAR_BELOW)
    dots = base.mark_point(filled=True, size=70, yOffset=BAR_BELOW)
    parts = rule.encode(x=alt.X("low:Q"), x2="high:Q") + dots.encode(x=x, tooltip=tooltip)
    plot: Plot = parts.properties(height=BAND * len(labels))
    return plot


def _figure(line: Line) -> Figure | None:
    """Returns the figure of a line's numbers, or None if the line has no figure or no numbers."""
    if line.key not in PICTURES or not line.numbers:
        return None
    unit, caption = PICTURES[line.key]
    figure = Figure(line.key, line.question, caption)
    drawn = [number for number in line.numbers if number.unit == unit]
    time = time_of(line.numbers)
    name, base = _axis_unit(drawn, time)
    points = pl.DataFrame(
        [
            {
                "row": number.name,
                "value": number.value / base,
                "low": (number.value if number.low is None else number.low) / base,
                "high": (number.value if number.high is None else number.high) / base,
                "words": words(number, time),
            }
            for number in drawn
        ]
    )
    title = f"{AXES[unit]}, {name}" if name else AXES[unit]
    chart = chart_numbers(points, [number.name for number in drawn], title)
    figure.drawings.append(Drawing("", chart, f"{line.question} {line.answer}"))
    figure.table = _numbers_table(line)
    return figure


def _axis_unit(numbers: Sequence[Number], time: Unit) -> Unit:
    """Returns the unit of the axis, in which the greatest of the numbers is 1 or more."""
    if numbers[0].unit == "bytes":
        most = max(number.value for number in numbers)
        return [unit for unit in SIZES if most >= unit[1]][-1]
    return time if numbers[0].unit == "us" else ("", 1.0)


def _numbers_table(line: Line) -> Table:
    rows, time = [], time_of(line.numbers)
    for number in line.numbers:
        ends = (number.low, number.high)
        shown = [
            Cell(ABSENT if end is None else words(Number("", end, number.unit), time), end)
            for end in ends
        ]
        rows.append([Cell(number.name), Cell(words(number, time), number.value), *shown])
    return Table(line.question, ["", "Value", "Least", "Most"], rows)


def _lines_table(found: Advice) -> Table:
    """Returns the method of each answer, and the next measurement, a sentence in each row."""
    rows = [
        [Cell(line.question), Cell(kind), Cell(text)]
        for line in found.lines
        for kind, texts in (
            ("how", line.method),
            ("next", (line.next,)),
            ("command", line.commands),
        )
        for text in texts
    ]
    title = "How it was found, and what to measure next"
    return Table(title, ["Question", "", ""], rows, frozenset(range(3)))


def _answers(found: Advice) -> list[page.Answer]:
    return [
        page.Answer(
            line.question,
            _own_words(line),
            line.found,
            "".join(line.method[:1]),
            [separated(doubt) for doubt in line.doubts],
        )
        for line in found.lines
    ]


def _own_words(line: Line) -> str:
    """Returns the answer; if it is unknown, only the reason, as the page already says "unknown"."""
    text = line.answer.removeprefix(f"{line.found}: ")
    return separated(text if text == line.answer else f"{text[:1].upper()}{text[1:]}.")


def _played(every: int) -> str:
    return "all" if every == 1 else f"samples of one in {every}"


def _page(found: Advice, figures: list[Figure]) -> str:
    large = large_numbers(found)
    names, texts = [name for name, _ in large], [text for _, text in large]
    facts = [
        ("Trace", found.name),
        ("Requests", count(found.requests)),
        ("Duration", lasting(found.duration_s)),
        ("Spans", size(found.span_bytes)),
        ("Pages played", _played(found.sampled_every)),
        ("Drive of times and endurance", found.device),
        ("Seed", str(found.seed)),
    ]
    return page.fill_page(
        figures,
        title=found.name,
        subtitle="Advice · Floatgate",
        answer=headline(found),
        runs=[found.name],
        single=True,
        warnings=[],
        notes=[(note, []) for note in found.notes],
        summary=Table("", ["", *names], [[Cell(""), *map(Cell, texts)]]),
        answers=_answers(found),
        means=life_table(found),
        varying=Table("", [], []),
        details=[page.Details(found.name, facts, [], [_lines_table(found)])],
    )
