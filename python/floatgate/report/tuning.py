"""Outcome of a search (`floatgate.tuning.outcome`) as a page, pictures and config files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import altair as alt
import polars as pl

from floatgate.files.writing import write_frame, write_whole
from floatgate.results.tables import Cell, Table
from floatgate.results.values import ABSENT, count, measured
from floatgate.tuning.outcome import Goal, Tried, Tuned

from . import page
from .charts import Plot, inline_data
from .figure import Drawing, Figure
from .pictures import write_figure
from .quantities import Quantity, quantity_of
from .runs import value_text, value_words

BEST = "best.toml"


def write_tuned(found: Tuned, directory: Path) -> list[Path]:
    """Writes the drives as TOML, tune.json, trials.parquet, tune.html and the figures as SVG.

    The first drive of the front is best.toml; the others are front-2.toml and so on. The directory
    must exist. Returns the paths of the page and the pictures. Raises `OSError` when a file cannot
    be written.
    """
    for at, config in enumerate(found.configs):
        name = BEST if at == 0 else f"front-{at + 1}.toml"
        write_whole(directory / name, (_header(found, at) + config + "\n").encode())
    text = json.dumps(found.to_dict(), indent=2, ensure_ascii=False)
    write_whole(directory / "tune.json", (text + "\n").encode())
    write_frame(directory / "trials.parquet", found.table)
    figures = tuned_figures(found)
    path = directory / "tune.html"
    write_whole(path, _page(found, figures).encode())
    return [path, *(write_figure(figure, directory, "svg") for figure in figures)]


def tuned_figures(found: Tuned) -> list[Figure]:
    """Returns a figure of the trials for each objective; with several, first the Pareto front."""
    figures = [_progress(found, at) for at in range(len(found.goals))]
    return [_pareto(found), *figures] if len(found.goals) > 1 else figures


def facts(found: Tuned) -> list[tuple[str, str]]:
    """Lists the task of the search and its outcome."""
    states = Counter(one.state for one in found.trials)
    told = ", ".join(f"{count(many)} {state}" for state, many in states.items())
    lines = [
        ("trace", f"{found.trace}, {count(found.requests)} requests"),
        ("drive", found.device),
        ("trials", f"{count(len(found.trials))} by {found.sampler}, seed {found.seed}: {told}"),
    ]
    for at, goal in enumerate(found.goals):
        best = _best_value(found, at)
        bound = goal.bound_is if goal.bound is None else f"{measured(goal.bound)}, {goal.bound_is}"
        words = f"{measured(best)}; as given {measured(goal.default)}; bound: {bound}"
        lines.append((f"{'least' if goal.direction == 'min' else 'most'} {goal.metric}", words))
    return lines


def _best_value(found: Tuned, at: int) -> float:
    values = [one.values[at] for one in _front(found) if one.values is not None]
    return min(values, key=lambda value: found.goals[at].sign * value)


def front_table(found: Tuned) -> Table:
    """Returns the drives of the Pareto front: their keys and their objectives."""
    keys = list(found.best.settings)
    quantities = _quantities(found)
    titles = ["Trial", *keys, *(one.heading for one in quantities)]
    rows = [
        [
            Cell(str(one.number), one.number),
            *(Cell(value_text(key, one.settings[key])) for key in keys),
            *(
                Cell(each.text(value), value)
                for each, value in zip(quantities, one.values or (), strict=True)
            ),
        ]
        for one in _front(found)
    ]
    return Table("Best", titles, rows, frozenset(range(1 + len(keys))))


def chart_progress(
    points: pl.DataFrame, best: pl.DataFrame, rules: pl.DataFrame, title: str
) -> Plot:
    """Returns a chart of an objective by trial number.

    It has dots of `value` by `number`, a line of the best value so far, and rules with a `label` at
    a `value`.
    """
    axis = alt.Axis(title="Trial", grid=False, tickMinStep=1)
    x = alt.X("number:Q", axis=axis)
    y = alt.Y("value:Q", scale=alt.Scale(zero=True), axis=alt.Axis(title=title, tickCount=5))
    tooltip = [
        alt.Tooltip("number:Q", title="Trial"),
        alt.Tooltip("value:Q", title=title, format=",.4~g"),
        alt.Tooltip("words:N", title="Keys"),
    ]
    dots = alt.Chart(inline_data(points)).mark_point(filled=True, size=40)
    line = alt.Chart(inline_data(best)).mark_line(strokeWidth=2, interpolate="step-after")
    marks = alt.Chart(inline_data(rules)).encode(y=y)
    rule = marks.mark_rule(strokeDash=[4, 4], style="span")
    text = marks.mark_text(align="left", dx=4, dy=-6, style="total", aria=False)
    parts = (
        dots.encode(x=x, y=y, tooltip=tooltip)
        + line.encode(x=x, y=y)
        + rule
        + text.encode(x=alt.value(0), text="label:N")
    )
    plot: Plot = parts.properties(height=280)
    return plot


def chart_pareto(points: pl.DataFrame, front: pl.DataFrame, titles: tuple[str, str]) -> Plot:
    """Returns dots of `second` by `first`, with a line through the dots of the front."""
    scale = alt.Scale(zero=False)
    x = alt.X("first:Q", scale=scale, axis=alt.Axis(title=titles[0], grid=False))
    y = alt.Y("second:Q", scale=scale, axis=alt.Axis(title=titles[1]))
    tooltip = [
        alt.Tooltip("first:Q", title=titles[0], format=",.4~g"),
        alt.Tooltip("second:Q", title=titles[1], format=",.4~g"),
        alt.Tooltip("words:N", title="Keys"),
    ]
    dots = alt.Chart(inline_data(points)).mark_point(size=40)
    line = alt.Chart(inline_data(front)).mark_line(strokeWidth=2, point=True)
    parts = dots.encode(x=x, y=y, tooltip=tooltip) + line.encode(x=x, y=y)
    plot: Plot = parts.properties(height=320)
    return plot


def _progress(found: Tuned, at: int) -> Figure:
    goal, quantity = found.goals[at], _quantities(found)[at]
    bound = "" if goal.bound is None else ", and the bound that no placement beats"
    figure = Figure(
        f"objective-{at + 1}",
        _name(goal, quantity),
        f"{_completed(found)} The line is the best so far. Dashed: the drive as given{bound}.",
    )
    rows, best, least = [], [], None
    for one in _complete(found.trials):
        value = (one.values or ())[at] / quantity.unit[1]
        rows.append({"number": one.number, "value": value, "words": _words(one)})
        least = value if least is None else min(least, value, key=lambda each: goal.sign * each)
        best.append({"number": one.number, "value": least})
    rules = [{"value": quantity.shown(goal.default), "label": "as given"}]
    if goal.bound is not None:
        rules.append({"value": quantity.shown(goal.bound), "label": "bound"})
    frames = (pl.DataFrame(rows), pl.DataFrame(best), pl.DataFrame(rules))
    chart = chart_progress(*frames, quantity.heading)
    figure.drawings.append(Drawing("", chart, f"{quantity.heading} of {len(rows)} trials."))
    return figure


def _pareto(found: Tuned) -> Figure:
    first, second = _quantities(found)[:2]
    caption = f"{_completed(found)} The line joins those of the front."
    if len(found.goals) > 2:
        caption += " The front is that of all objectives."
    figure = Figure("pareto", "Pareto front", caption)
    points, front = (
        pl.DataFrame(
            [
                {
                    "first": first.shown(one.values[0]),
                    "second": second.shown(one.values[1]),
                    "words": _words(one),
                }
                for one in some
                if one.values is not None
            ]
        )
        for some in (_complete(found.trials), _front(found))
    )
    chart = chart_pareto(points, front, (first.heading, second.heading))
    what = f"{second.heading} over {first.heading}, {points.height} trials."
    figure.drawings.append(Drawing("", chart, what))
    figure.table = front_table(found)
    return figure


def _complete(trials: Iterable[Tried]) -> list[Tried]:
    return [one for one in trials if one.values is not None]


def _front(found: Tuned) -> list[Tried]:
    return [found.trials[at] for at in found.front]


def _quantities(found: Tuned) -> list[Quantity]:
    """Returns title and unit of each objective."""
    return [
        quantity_of(
            goal.metric,
            [goal.default, *(one.values[at] for one in found.trials if one.values is not None)],
        )
        for at, goal in enumerate(found.goals)
    ]


def _completed(found: Tuned) -> str:
    """Describes the dots of a plot."""
    every, drawn = len(found.trials), len(_complete(found.trials))
    if drawn == every:
        return f"All {count(every)} trials."
    states = Counter(one.state for one in found.trials if one.values is None)
    others = " and ".join(f"{count(many)} were {state}" for state, many in states.items())
    return f"{count(drawn)} of {count(every)} trials; {others}."


def _name(goal: Goal, quantity: Quantity) -> str:
    title = quantity.title if quantity.title[:1] == "p" else _lower(quantity.title)
    return f"{'Least' if goal.direction == 'min' else 'Most'} {title}"


def _lower(title: str) -> str:
    """Returns a title within a sentence; names in capitals stay."""
    return title if title[:2].isupper() else f"{title[:1].lower()}{title[1:]}"


def _words(one: Tried) -> str:
    return ", ".join(f"{key}={value}" for key, value in one.settings.items())


def _briefly(one: Tried) -> str:
    """Returns the settings of a trial in a sentence."""
    *words, last = [value_words(key, value) for key, value in one.settings.items()]
    return f"{', '.join(words)} and {last}" if words else last


def _header(found: Tuned, at: int) -> str:
    """Returns the comments at the start of a config file: its objectives, trace, trial and keys."""
    one = _front(found)[at]
    values = ", ".join(
        f"{goal.metric} {measured(value)} (as given {measured(goal.default)})"
        for goal, value in zip(found.goals, one.values or (), strict=True)
    )
    trials = f"trial {one.number} of {len(found.trials)} by {found.sampler}, seed {found.seed}"
    lines = (f"floatgate tune: {values}", f"for {found.trace}; {trials}", _words(one))
    return "".join(f"# {' '.join(line.split())}\n" for line in lines)


def _trials_table(found: Tuned) -> Table:
    keys = list(found.best.settings)
    rows = []
    for one in found.trials:
        cells = [Cell(str(one.number), one.number), Cell(one.state)]
        cells += [Cell(one.settings[key]) for key in keys]
        values = one.values or (None,) * len(found.goals)
        cells += [Cell(ABSENT if value is None else measured(value), value) for value in values]
        rows.append([*cells, Cell(one.reason)])
    titles = ["Trial", "State", *keys, *(goal.metric for goal in found.goals), "Why not complete"]
    text = frozenset({*range(2 + len(keys)), len(titles) - 1})
    return Table("Trials", titles, rows, text)


def _page(found: Tuned, figures: list[Figure]) -> str:
    tiles = [
        (_name(goal, quantity), Cell(quantity.words(_best_value(found, at))))
        for at, (goal, quantity) in enumerate(zip(found.goals, _quantities(found), strict=True))
    ]
    tiles.append(("Trials", Cell(count(len(found.trials)))))
    names, cells = [name for name, _ in tiles], [cell for _, cell in tiles]
    return page.workload_page(
        figures,
        name=f"{found.device} for {found.trace}",
        subtitle="Tuning report · Floatgate",
        notes=found.notes,
        warnings=found.warnings,
        summary=Table("Best", ["", *names], [[Cell(""), *cells]]),
        facts=facts(found),
        table=_trials_table(found),
        answer=_answer(found),
        means=front_table(found),
    )


def _answer(found: Tuned) -> str:
    """Returns a sentence with the first drive of the front and its objectives."""
    values = " and ".join(
        f"{_lower(quantity.title)} is {quantity.words(value)} "
        f"(as given {quantity.text(goal.default)})"
        for goal, quantity, value in zip(
            found.goals, _quantities(found), found.best.values or (), strict=True
        )
    )
    return f"With {_briefly(found.best)}, {values}."
