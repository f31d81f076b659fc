"""Table and figures that a notebook shows for each kind of result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from floatgate.advising.lines import Advice
from floatgate.analysis.datasheet import DataSheet
from floatgate.analysis.datasheet_tables import performance_table
from floatgate.analysis.hot_tables import sequences_means_table
from floatgate.analysis.hotness import Hotness
from floatgate.analysis.precondition_tables import recipes_table
from floatgate.analysis.preconditioning import Preconditioned
from floatgate.models.prediction import Prediction
from floatgate.results.comparison import Comparison
from floatgate.results.result import Result
from floatgate.results.tables import Cell, Table
from floatgate.results.values import measured
from floatgate.tuning.outcome import Tuned

from .advice import advice_figures, answers_table, chart_numbers
from .figure import Drawing, Figure
from .figures import figures
from .hotness import hotness_figures
from .preconditioning import distance_figure
from .runs import combined_runs
from .tuning import front_table, tuned_figures


def table_of(found: object) -> Table:
    """Returns the main table of a result."""
    makers: dict[type, Callable[[Any], Table]] = {
        Advice: answers_table,
        Tuned: front_table,
        DataSheet: performance_table,
        Preconditioned: recipes_table,
        Prediction: predictions_table,
        Hotness: sequences_means_table,
    }
    return makers[type(found)](found)


def figures_of(found: object) -> Sequence[Figure]:
    """Returns the figures of a result's page."""
    makers: dict[type, Callable[[Any], Sequence[Figure]]] = {
        Advice: advice_figures,
        Tuned: tuned_figures,
        DataSheet: _sheet_figures,
        Preconditioned: lambda one: [distance_figure(one)],
        Prediction: _prediction_figures,
        Hotness: hotness_figures,
        Result: lambda one: figures(combined_runs([one])),
        Comparison: lambda several: figures(combined_runs(several)),
    }
    return makers[type(found)](found)


def predictions_table(found: Prediction) -> Table:
    rows = [
        [
            Cell(row.policy),
            Cell(f"{row.write_amplification:.4f}", row.write_amplification),
            Cell(row.assumption),
            Cell(row.source),
        ]
        for row in found.rows
    ]
    titles = ["cleaning", "write amplification", "holds for", "source"]
    return Table("Closed forms", titles, rows, frozenset({0, 2, 3}))


def _sheet_figures(found: DataSheet) -> list[Figure]:
    """Returns figures of the steady state with the ranges of the class, one for each unit."""
    names = {"IOPS": "iops", "MB/s": "throughput"}
    rates = [
        (names.get(one.unit, one.unit), one.unit, one.name, one.steady, one.published)
        for one in found.lines
    ]
    times = [("latency", "p50, µs", one.name, one.p50_us, one.published) for one in found.latencies]
    drawn: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for key, unit, name, value, published in [*rates, *times]:
        if value:
            low, high = published or (value, value)
            point = {
                "row": name,
                "value": value,
                "low": low,
                "high": high,
                "words": measured(value),
            }
            drawn.setdefault((key, unit), []).append(point)
    caption = "Of the steady state; the bar is what data sheets of the class say."
    return [_dots(key, unit, caption, points) for (key, unit), points in drawn.items()]


def _prediction_figures(found: Prediction) -> list[Figure]:
    points = [
        {
            "row": row.policy,
            "words": f"{value:.3f}",
            **dict.fromkeys(("value", "low", "high"), value),
        }
        for row in found.rows
        for value in (row.write_amplification,)
    ]
    title = "Write amplification"
    return [_dots("write-amplification", title, "By closed forms.", points)]


def _dots(key: str, title: str, caption: str, points: Sequence[dict[str, Any]]) -> Figure:
    rows = [point["row"] for point in points]
    figure = Figure(key, title, caption)
    chart = chart_numbers(pl.DataFrame(points), rows, title)
    figure.drawings.append(Drawing("", chart, f"{title}; {len(rows)} rows."))
    return figure
