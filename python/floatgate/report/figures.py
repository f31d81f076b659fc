"""Which plots a report has: frames and charts brought together, with titles, captions, legends.

A figure is one question. Its plots are the panels that answer it; what cannot be drawn is said
in words, never shown as an empty plot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import polars as pl

from . import charts, frames, tables
from .figure import Drawing, Figure, Legend, join_title, sentence
from .predictions import prediction_frame
from .runs import Run, panels
from .sweeps import sweep
from .theme import SERIES
from .values import rows_of

DRAWN = 64
"""More runs than this are listed in the tables but not drawn."""


def figures(runs: Sequence[Run]) -> list[Figure]:
    """All figures, in reading order."""
    drawn = list(runs[:DRAWN])
    found = [
        *sweep(drawn),
        _amplification(drawn, runs),
        _hit_ratio(drawn),
        _distribution(drawn, runs),
        _blame(drawn, runs),
        _timeline(drawn),
        _wear(drawn, runs),
    ]
    if len(runs) > DRAWN:
        text = f"Drawn: the first {DRAWN} of {len(runs)} runs. The tables have them all."
        for figure in found:
            figure.reasons.append(text)
    return found


def _amplification(drawn: Sequence[Run], runs: Sequence[Run]) -> Figure:
    figure = Figure(
        "write-amplification",
        "Write amplification by cause",
        "Flash pages programmed for each page the host wrote; the sum of a bar is the write "
        "amplification.",
    )
    by_panel = {name: frames.amplification(group) for name, group in panels(drawn).items()}
    laws = {name: prediction_frame(group) for name, group in panels(drawn).items()}
    if any(not frame.is_empty() for frame in laws.values()):
        figure.caption += (
            " Dark rule: what a closed form predicts for the steady state of a large drive, where "
            "its assumptions hold."
        )
    limit = max(tables.series_limit(by_panel), *(_limit(frame) for frame in laws.values()))
    for name, frame in by_panel.items():
        if not frame.is_empty():
            chart = charts.chart_amplification(frame, _first(frame["row"]), limit, laws[name])
            what = sentence("Write amplification by cause", name, frame)
            figure.drawings.append(Drawing(name, chart, _predicted(what, laws[name])))
    figure.legend = _part_legend(by_panel.values(), list(frames.CAUSES.values()))
    _say_missing(figure, by_panel.values(), drawn, "the host wrote nothing")
    whole = frames.amplification(runs)
    if not whole.is_empty():
        title = "Pages programmed per host page, by cause"
        table = tables.parts_table(title, whole, frames.CAUSES.values(), 3)
        figure.table = tables.with_predictions(table, prediction_frame(runs))
    return figure


def _limit(predicted: pl.DataFrame) -> float:
    """Where an axis must end at least to show the predictions."""
    return max(predicted["value"], default=0.0) * 1.05


def _predicted(what: str, predicted: pl.DataFrame) -> str:
    """A plot in words, with the closed forms in it."""
    laws = "; ".join(f"{row['run']}, {row['label']}" for row in predicted.iter_rows(named=True))
    return f"{what} Predicted: {laws}." if laws else what


def _blame(drawn: Sequence[Run], runs: Sequence[Run]) -> Figure:
    figure = Figure(
        "blame",
        "Where the time went",
        "Mean response time of all requests, divided by what they waited for; the sum of a bar "
        "is the mean.",
    )
    by_panel = {name: frames.blame(group) for name, group in panels(drawn).items()}
    _bars(figure, by_panel, charts.chart_blame, "Mean response time by what it was spent on")
    figure.legend = _part_legend(by_panel.values(), list(frames.BLAME.values()))
    _say_missing(figure, by_panel.values(), drawn, "no response times were recorded")
    whole = frames.blame(runs)
    if not whole.is_empty():
        title = "Mean response time by what it was spent on, µs per request"
        figure.table = tables.parts_table(title, whole, frames.BLAME.values(), 1)
    return figure


def _hit_ratio(drawn: Sequence[Run]) -> Figure:
    figure = Figure(
        "hit-ratio", "Hit ratio", "Share of look-ups that the cache answered without the flash."
    )
    for cache, title, why in (
        ("mapping", "Mapping cache", "the whole map is in memory, or nothing was looked up"),
        ("buffer", "Write buffer", "no buffer is configured, or nothing was looked up"),
    ):
        found = {name: frames.hit_ratio(group, cache) for name, group in panels(drawn).items()}
        for name, frame in found.items():
            if not frame.is_empty():
                chart = charts.chart_hit_ratio(frame, _first(frame["row"]))
                figure.drawings.append(
                    Drawing(
                        join_title(title, name), chart, sentence(f"{title} hit ratio", name, frame)
                    )
                )
        _say_missing(figure, found.values(), drawn, why, title)
    return figure


def _distribution(drawn: Sequence[Run], runs: Sequence[Run]) -> Figure:
    figure = Figure(
        "latency",
        "Response time",
        "Share of requests answered within a time, to p99.9. The vertical scale gives the tail "
        "its room: each step up leaves a tenth of the requests.",
        lines=True,
    )
    groups = panels(drawn)
    found = {
        (kind, name): frames.distribution(group, kind)
        for kind in ("read", "write")
        for name, group in groups.items()
    }
    domain = _span(found.values(), "us")
    for (kind, name), frame in found.items():
        if domain is None or frame.is_empty():
            continue
        # A log scale needs two different ends.
        ends = (domain[0] * 0.9, domain[1] * 1.1)
        colours, dashes = _series(drawn, groups[name])
        chart = charts.chart_distribution(frame, colours, dashes, ends)
        heading = join_title(f"{kind.capitalize()}s", name)
        what = f"Distribution of {kind} response times, {_times(frame['us'])}"
        own = _own_legend(drawn, groups[name])
        figure.drawings.append(Drawing(heading, chart, sentence(what, name, frame), own))
    for kind in ("read", "write"):
        kinds = [frame for (each, _), frame in found.items() if each == kind]
        why = f"no response times of {kind}s (none in the workload, or not timed)"
        _say_missing(figure, kinds, drawn, why, f"{kind.capitalize()}s")
    if figure.drawings:
        figure.legend = _line_legend(drawn)
    table = tables.latency_table(runs)
    figure.table = table if table.rows else None
    return figure


def _timeline(drawn: Sequence[Run]) -> Figure:
    figure = Figure(
        "timeline",
        "Over the run",
        "Each point is one window of the run, at the number of pages the host had written.",
        lines=True,
    )
    short = [run.name for run in drawn if len(rows_of(run.result, "timeline", "host_pages")) < 2]
    if short:
        who = "" if len(short) == len(drawn) else f" ({_some(short)})"
        figure.reasons.append(f"No timeline where a run has fewer than two windows{who}.")
    long = [run for run in drawn if run.name not in short]
    for metric, title, style, why in (
        ("write_amplification", "Write amplification", ",.3f", "the host wrote nothing"),
        ("hit_ratio", "Map hit ratio", ".1%", "there is no mapping cache"),
        ("mean_us", "Mean response time, µs", ",.4~r", "no response times were recorded"),
    ):
        found = {name: frames.timeline(group, metric) for name, group in panels(long).items()}
        figure.drawings += _timeline_drawings(drawn, found, title, style)
        if long:
            _say_missing(figure, found.values(), long, why, title)
    if figure.drawings:
        figure.legend = _line_legend(drawn)
    return figure


def _timeline_drawings(
    drawn: Sequence[Run], found: dict[str, pl.DataFrame], title: str, style: str
) -> list[Drawing]:
    """One metric over the run, a plot per panel, all to the same scale."""
    domain = _span(found.values(), "value")
    if domain is None:
        return []
    low, high = domain if domain[1] > domain[0] else (domain[0] - 0.5, domain[1] + 0.5)
    drawings = []
    for name, frame in found.items():
        if frame.is_empty():
            continue
        group = panels(drawn)[name]
        colours, dashes = _series(drawn, group)
        chart = charts.chart_timeline(frame, title, colours, dashes, (low, high), style)
        what = sentence(f"{title} over host pages written", name, frame)
        own = _own_legend(drawn, group)
        drawings.append(Drawing(join_title(title, name), chart, what, own))
    return drawings


def _wear(drawn: Sequence[Run], runs: Sequence[Run]) -> Figure:
    figure = Figure("wear", "Wear", "How often the erase units were erased, during this run.")
    if len(drawn) == 1:
        histogram = frames.wear_histogram(drawn[0])
        if not histogram.is_empty():
            what = f"Erase units by number of erases, {histogram.height} bars."
            chart = charts.chart_wear_histogram(histogram)
            figure.drawings.append(Drawing("Erase units by number of erases", chart, what))
        else:
            figure.reasons.append("Not drawn: the result has no erase counts.")
    else:
        figure.caption += (
            " Thin line: least to most worn unit. Bar: one standard deviation either side of "
            "the mean, the dark mark."
        )
        found = {name: frames.wear_range(group) for name, group in panels(drawn).items()}
        limit = max((float(x) for frame in found.values() for x in frame["high"]), default=0) or 1
        for name, frame in found.items():
            if not frame.is_empty():
                chart = charts.chart_wear_range(frame, _first(frame["row"]), limit)
                what = sentence("Least, mean and most erases of a unit", name, frame)
                figure.drawings.append(Drawing(name, chart, what))
        _say_missing(figure, found.values(), drawn, "the result has no erase counts")
    table = tables.wear_table(runs)
    figure.table = table if table.rows else None
    return figure


def _bars(
    figure: Figure,
    by_panel: dict[str, pl.DataFrame],
    draw: Callable[[pl.DataFrame, Sequence[str], float], charts.Plot],
    what: str,
) -> None:
    """A plot of stacked bars per panel, all to the same scale."""
    limit = tables.series_limit(by_panel)
    for name, frame in by_panel.items():
        if not frame.is_empty():
            chart = draw(frame, _first(frame["row"]), limit)
            figure.drawings.append(Drawing(name, chart, sentence(what, name, frame)))


def _say_missing(
    figure: Figure,
    found: Iterable[pl.DataFrame],
    runs: Sequence[Run],
    why: str,
    title: str = "",
) -> None:
    """Names the runs that are not in any of the frames, and why."""
    present = {label for frame in found for label in frame["run"]}
    missing = [run.name for run in runs if run.label not in present]
    if not missing:
        return
    subject = f"{title}: not drawn" if title else "Not drawn"
    who = "" if len(missing) == len(runs) else f" for {_some(missing)}"
    figure.reasons.append(f"{subject}{who}: {why}.")


def _some(names: Sequence[str]) -> str:
    """The first few names, and how many more."""
    shown = "; ".join(names[:4])
    return shown if len(names) <= 4 else f"{shown}; and {len(names) - 4} more"


def _line_legend(drawn: Sequence[Run]) -> list[Legend]:
    """Colours and line patterns of the figure's plots, where they share them."""
    return [] if len(drawn) < 2 or not _shared(drawn) else _entries(drawn)


def _own_legend(drawn: Sequence[Run], group: Sequence[Run]) -> list[Legend]:
    """The legend of a single plot, where each needs its own."""
    return [] if _shared(drawn) else _entries(group)


def _series(drawn: Sequence[Run], group: Sequence[Run]) -> tuple[list[str], list[str]]:
    """Colour and line pattern domains of the plot of `group`."""
    runs = drawn if _shared(drawn) else group
    return _first([run.colour for run in runs]), _first([run.dash for run in runs])


def _shared(drawn: Sequence[Run]) -> bool:
    """Whether the colours go round for all runs, so that they mean the same in every plot."""
    return len({run.colour for run in drawn}) <= SERIES


def _entries(runs: Sequence[Run]) -> list[Legend]:
    colours, dashes = _first([run.colour for run in runs]), _first([run.dash for run in runs])
    entries = [Legend(text, i) for i, text in enumerate(colours)]
    if len(dashes) > 1:
        entries += [Legend(text, None, i) for i, text in enumerate(dashes)]
    return entries


def _first(values: Iterable[str]) -> list[str]:
    """The different values in order of appearance."""
    return list(dict.fromkeys(values))


def _part_legend(found: Iterable[pl.DataFrame], names: Sequence[str]) -> list[Legend]:
    present = {part for frame in found for part in frame["part"]}
    return [Legend(name, i) for i, name in enumerate(names) if name in present]


def _span(found: Iterable[pl.DataFrame], column: str) -> tuple[float, float] | None:
    """Least and most of a column over several frames."""
    values = [float(x) for frame in found for x in frame[column] if x is not None]
    return (min(values), max(values)) if values else None


def _times(column: pl.Series) -> str:
    low, high = float(column.min() or 0), float(column.max() or 0)  # type: ignore[arg-type]
    return f"{low:.3g} to {high:.3g} µs"
