"""Figures of a report: combines frames and charts with titles, captions and legends.

A figure answers one question, and its plots are the panels of the answer. Where a plot cannot be
drawn, the figure gives the reason in words and shows no empty plot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import polars as pl

from floatgate.results.causes import CAUSES, blame_names
from floatgate.results.result import Result
from floatgate.results.tables import METRICS, Unit
from floatgate.results.values import measured, percent

from . import charts, frames, tables
from .die_use import die_use
from .distributions import distributions
from .figure import Drawing, Figure, add_panels, join_title, sentence
from .intervals import mean_hit_ratio, mean_parts, seed_marks
from .job_view import jobs
from .lane_view import lane_view
from .latency_chart import chart_distribution
from .legends import first, line_legend, own_legend, part_legend, say_missing, series, span
from .over_time import UNTIMED, over_time
from .owners import owners
from .placement import placement
from .predictions import prediction_frame
from .runs import Run, panels
from .sweeps import sweep
from .units import units_of
from .wear_map import wear_map

CACHES: tuple[tuple[frames.Cache, str, str, str], ...] = (
    (
        lambda result: result.mapping,
        "Mapping cache",
        METRICS["hit_ratio"].title,
        "the whole map is in memory, or nothing was looked up",
    ),
    (
        lambda result: result.buffer,
        "Write buffer",
        "Write buffer hit ratio",
        "no buffer is configured, or nothing was looked up",
    ),
)
"""Each cache: its section of a result, its name, the name of its hit ratio, and the reason why it
may have none."""

DRAWN = 64
"""Maximum number of runs drawn; tables list all runs."""


MEANS = ("sweep", "write-amplification", "hit-ratio", "blame")
"""Keys of the figures that show means over seeds. The others show the first seed only."""


def figures(runs: Sequence[Run]) -> list[Figure]:
    """Returns all figures, in reading order."""
    drawn = list(runs[:DRAWN])
    time = units_of([result for run in runs for result in run.seeds]).time
    found = [
        *sweep(drawn, time),
        _amplification(drawn, runs),
        _hit_ratio(drawn),
        _distribution(drawn, runs, time),
        *distributions(drawn, runs, time),
        _blame(drawn, runs, time),
        *jobs(drawn, runs, time),
        placement(drawn, runs),
        owners(drawn, runs),
        *lane_view(drawn),
        die_use(drawn, runs),
        *over_time(drawn, time),
        _wear(drawn, runs),
        *wear_map(drawn),
    ]
    _tell_of_seeds(found, runs[0])
    if len(runs) > DRAWN:
        text = f"Drawn: the first {DRAWN} of {len(runs)} runs. The tables have them all."
        for figure in found:
            figure.reasons.append(text)
    return found


def _tell_of_seeds(found: Sequence[Figure], run: Run) -> None:
    """States in each figure whether it shows means over seeds or a single seed."""
    seeds = len(run.seeds)
    for figure in found if seeds > 1 else ():
        if not (figure.drawings or figure.table):
            continue
        if figure.key in MEANS:
            figure.caption += (
                f" Means of {seeds} seeds, with 95 % confidence intervals (Student's t)"
                f"{'.' if figure.lines else '; a dot is one seed.'}"
            )
        else:
            figure.reasons.append(f"Of the runs with seed {run.result.seed}, one of {seeds} seeds.")


def _amplification(drawn: Sequence[Run], runs: Sequence[Run]) -> Figure:
    figure = Figure(
        "write-amplification",
        "Write amplification by cause",
        "Bytes programmed to the flash for each byte the host wrote; the sum of a bar is the write "
        "amplification.",
    )
    groups = panels(drawn)
    by_panel = {name: mean_parts(frames.amplification, group) for name, group in groups.items()}
    marks = {
        name: seed_marks(group, lambda result: result.write_amplification)
        for name, group in groups.items()
    }
    laws = {name: prediction_frame(group) for name, group in groups.items()}
    if any(not frame.is_empty() for frame in laws.values()):
        figure.caption += (
            " Dark rule: what a closed form predicts for the steady state of a large drive, where "
            "its assumptions hold."
        )
    highest = [*(_limit(frame, "value") for frame in laws.values()), *map(_highest, marks.values())]
    limit = max(tables.series_limit(by_panel), *highest)
    for name, frame in by_panel.items():
        if not frame.is_empty():
            rows = first(frame["row"])
            chart = charts.chart_amplification(frame, rows, limit, laws[name], marks[name])
            what = sentence("Write amplification by cause", name, frame)
            figure.drawings.append(Drawing(name, chart, _predicted(what, laws[name])))
    figure.legend = part_legend(by_panel.values(), CAUSES)
    say_missing(figure, by_panel.values(), drawn, "the host wrote nothing")
    whole = mean_parts(frames.amplification, runs)
    if not whole.is_empty():
        title = "Bytes programmed per byte of the host, by cause"
        table = tables.parts_table(title, whole, CAUSES.values(), 3)
        figure.table = tables.with_predictions(table, prediction_frame(runs))
    return figure


def _limit(marks: pl.DataFrame, column: str, room: float = 1.05) -> float:
    """Returns the end of an axis that just has room for the marks."""
    return max(marks[column], default=0.0) * room


def _highest(marks: charts.Marks) -> float:
    """Returns the end of an axis that just has room for whiskers, dots, and the number behind."""
    return max(_limit(marks[0], "high", 1.15), _limit(marks[1], "value"))


def _predicted(what: str, predicted: pl.DataFrame) -> str:
    """Adds the closed forms to the description of a plot."""
    laws = "; ".join(f"{row['run']}, {row['label']}" for row in predicted.iter_rows(named=True))
    return f"{what} Predicted: {laws}." if laws else what


def _blame(drawn: Sequence[Run], runs: Sequence[Run], time: Unit) -> Figure:
    figure = Figure(
        "blame",
        "Where the time went",
        "Mean response time of all requests, divided by what they waited for; the sum of a bar "
        "is the mean.",
    )
    names = blame_names(run.result for run in runs)
    blame = partial(frames.blame, names=names)
    whole = mean_parts(blame, runs)
    unit, base = time
    by_panel = {
        name: mean_parts(blame, group).with_columns(pl.col("value") / base)
        for name, group in panels(drawn).items()
    }
    marks = {
        name: seed_marks(group, lambda result: _blamed(result, base))
        for name, group in panels(drawn).items()
    }
    limit = max(tables.series_limit(by_panel), *map(_highest, marks.values()))

    def draw(name: str, frame: pl.DataFrame) -> charts.Plot:
        return charts.chart_blame(frame, first(frame["row"]), names, limit, unit, marks[name])

    add_panels(figure, "", by_panel, "Mean response time by what it was spent on", draw)
    figure.legend = part_legend(by_panel.values(), names)
    say_missing(figure, by_panel.values(), drawn, UNTIMED)
    if not whole.is_empty():
        title = f"Mean response time by what it was spent on, {unit} per request"
        scaled = whole.with_columns(pl.col("value") / base)
        figure.table = tables.parts_table(title, scaled, names.values(), 3)
    return figure


def _blamed(result: Result, unit: float) -> float | None:
    """Returns the sum of all causes of the mean response time, in `unit`.

    Returns None where the sum is zero.
    """
    return sum(time or 0.0 for time in vars(result.latency.blame_us).values()) / unit or None


def _hit_ratio(drawn: Sequence[Run]) -> Figure:
    figure = Figure(
        "hit-ratio", "Hit ratio", "Share of look-ups that the cache answered without the flash."
    )
    for cache, title, ratio, why in CACHES:
        groups = panels(drawn)
        found = {name: mean_hit_ratio(group, cache) for name, group in groups.items()}
        ratios = {value for frame in found.values() for value in frame["value"]}
        if ratios == {1.0} or (len(ratios) == 1 and len(drawn) > 1):
            figure.absent.append((ratio, f"all {percent(*ratios)}"))
            continue
        draw = partial(_hit_chart, groups, cache)
        add_panels(figure, title, found, f"{title} hit ratio", draw)
        say_missing(figure, found.values(), drawn, why, title)
    return figure


def _hit_chart(
    groups: Mapping[str, Sequence[Run]], cache: frames.Cache, name: str, frame: pl.DataFrame
) -> charts.Plot:
    marks = seed_marks(groups[name], partial(_hits, cache))
    return charts.chart_hit_ratio(frame, first(frame["row"]), marks)


def _hits(cache: frames.Cache, result: Result) -> float | None:
    return cache(result).hit_ratio


def _distribution(drawn: Sequence[Run], runs: Sequence[Run], time: Unit) -> Figure:
    figure = Figure(
        "latency",
        "Response time",
        "Response time at each percentile of the requests, up to the slowest. A tenth of the "
        "requests remains from one line of the grid to the next.",
        lines=True,
    )
    groups = panels(drawn)
    found = {
        (kind, name): frames.distribution(group, kind)
        for kind in ("read", "write")
        for name, group in groups.items()
    }
    ends, nines = span(found.values(), "us"), span(found.values(), "nines")
    for (kind, name), frame in found.items():
        if ends is None or nines is None or frame.is_empty():
            continue
        unit, base = time
        chart = chart_distribution(
            frame.with_columns(time=pl.col("us") / base).drop("us"),
            *series(drawn, groups[name]),
            # The two ends of a log scale must differ.
            (ends[0] / base * 0.9, ends[1] / base * 1.1),
            f"Response time, {unit}",
            max(nines[1], 1.0),
        )
        heading = join_title(f"{kind.capitalize()}s", name)
        low, high = (measured(us / base) for us in (min(frame["us"]), max(frame["us"])))
        what = f"Distribution of {kind} response times, {low} to {high} {unit}"
        own = own_legend(drawn, groups[name])
        figure.drawings.append(Drawing(heading, chart, sentence(what, name, frame), own))
    for kind in ("read", "write"):
        kinds = [frame for (each, _), frame in found.items() if each == kind]
        say_missing(figure, kinds, drawn, UNTIMED, f"{kind.capitalize()}s")
    if figure.drawings:
        figure.legend = line_legend(drawn)
    table = tables.latency_table(runs, time)
    figure.table = table if table.rows else None
    return figure


def _wear(drawn: Sequence[Run], runs: Sequence[Run]) -> Figure:
    figure = Figure("wear", "Wear", "How often the erase units were erased during this run.")
    if len(drawn) == 1:
        histogram = frames.wear_histogram(drawn[0])
        if not histogram.is_empty():
            what = f"Erase units by number of erases, {histogram.height} bars."
            chart = charts.chart_wear_histogram(histogram)
            figure.drawings.append(Drawing("Erase units by number of erases", chart, what))
        else:
            figure.absent.append(("Wear", "the result has no erase counts"))
    else:
        figure.caption += (
            " Thin line: least to most worn unit. Bar: one standard deviation on either side of "
            "the mean, which is the dark mark."
        )
        found = {name: frames.wear_range(group) for name, group in panels(drawn).items()}
        limit = max((float(x) for frame in found.values() for x in frame["high"]), default=0) or 1

        def draw(_: str, frame: pl.DataFrame) -> charts.Plot:
            return charts.chart_wear_range(frame, first(frame["row"]), limit)

        add_panels(figure, "", found, "Least, mean and most erases of a unit", draw)
        say_missing(figure, found.values(), drawn, "the result has no erase counts")
    table = tables.wear_table(runs)
    figure.table = table if table.rows else None
    return figure
