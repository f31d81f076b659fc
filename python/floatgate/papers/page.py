"""A paper's reproduction as files: a page, the document, and the numbers as tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from floatgate.report import tables
from floatgate.report.charts import SweepAxis, chart_sweep
from floatgate.report.figure import Drawing, Figure, Legend
from floatgate.report.files import write_whole
from floatgate.report.page import fill_page
from floatgate.report.tables import Cell, Table
from floatgate.report.values import measured, percent, size

from .paper import Chart, Outcome, Point, series

STYLES = {"hit_ratio": ",.1%", "mean_us": ",.4~r", "stdev_us": ",.4~r"}


def write_outcome(outcome: Outcome, document: Mapping[str, Any], directory: Path) -> None:
    """paper.html, results.json, and numbers.parquet and .csv with a row per run."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    (directory / "results.json").write_text(text + "\n", "utf-8")
    frame = pl.DataFrame([asdict(point) for point in outcome.points], infer_schema_length=None)
    frame.write_parquet(directory / "numbers.parquet")
    frame.write_csv(directory / "numbers.csv")
    write_whole(directory / "paper.html", _page(outcome).encode("utf-8"))


def claims_table(outcome: Outcome) -> Table:
    """The claims beside our numbers, with verdicts and reasons."""
    rows = [
        [Cell(f"{claim.text} ({claim.where})"), *map(Cell, (claim.paper, *_found(found)))]
        for claim, found in outcome.claims
    ]
    titles = ["Claim", "Paper", "Ours", "Verdict", "Why"]
    return Table("Claims", titles, rows, frozenset(range(len(titles))))


def _found(found: Any) -> tuple[str, str, str]:
    return found.ours, found.verdict, found.why


def figure_of(outcome: Outcome, chart: Chart) -> Figure:
    """One figure: a plot per trace, a line per scheme."""
    figure = Figure(chart.key, chart.title, chart.caption, lines=True)
    lines = [line for line in chart.lines if line in outcome.labels]
    labels = [outcome.labels[line] for line in lines]
    rows = series(outcome, chart)
    for trace in dict.fromkeys(row["trace"] for row in rows):
        mine = [row for row in rows if row["trace"] == trace]
        sizes = sorted({row["cache_bytes"] for row in mine if row["cache_bytes"]})
        frame = _frame(outcome, mine, chart.metric, sizes)
        values = frame["value"].to_list()
        domain = (0.0, 1.0) if chart.metric == "hit_ratio" else (0.0, max(values))
        axis = SweepAxis("Map cache", [(float(at), size(at)) for at in sizes])
        style = STYLES[chart.metric]
        drawn = chart_sweep(frame, axis, chart.title, labels, domain, style)
        figure.drawings.append(Drawing(trace, drawn, f"{chart.title} on {trace}."))
    figure.legend = [Legend(label, i) for i, label in enumerate(labels)]
    return figure


def _frame(
    outcome: Outcome, rows: list[dict[str, Any]], metric: str, sizes: list[int]
) -> pl.DataFrame:
    """The rows for plotting; what has no cache is the same at every size."""
    points = []
    for row in rows:
        label = outcome.labels[row["line"]]
        for at in [row["cache_bytes"]] if row["cache_bytes"] else sizes:
            known = {"run": label, "colour": label, "dash": "", "value": float(row[metric])}
            points.append(known | {"at": float(at)})
    return pl.DataFrame(points)


def _page(outcome: Outcome) -> str:
    traces = list(dict.fromkeys(point.trace for point in outcome.points))
    everything = ["all figures"]
    figures = [figure_of(outcome, chart) for chart in outcome.charts]
    figures[0].table = _numbers(outcome.points, outcome.labels)
    return fill_page(
        figures,
        title=outcome.title,
        subtitle=f"{outcome.citation} · reproduced by Floatgate, {outcome.mode}",
        runs=traces,
        single=False,
        warnings=[(text, everything) for text in outcome.warnings],
        notes=[(text, everything) for text in outcome.notes],
        summary=claims_table(outcome),
        varying=Table("", [], []),
        details=_details(outcome),
    )


def _numbers(points: list[Point], labels: Mapping[str, str]) -> Table:
    """Every run with its numbers."""
    titles = ["Trace", "Scheme", "Arrivals", "Cache", "Hit ratio", "Mean, µs", "Std dev, µs"]
    titles += ["Map reads", "Map programs", "Prefetched used", "Cleaning", "Utilization"]
    rows = [
        [
            Cell(point.trace),
            Cell(labels[point.line]),
            Cell(point.arrivals),
            Cell(size(point.cache_bytes), point.cache_bytes),
            *(Cell(percent(point.hit_ratio), point.hit_ratio),),
            *(Cell(measured(us), us) for us in (point.mean_us, point.stdev_us)),
            *(Cell(f"{n:.3f}", n) for n in (point.map_reads, point.map_programs)),
            Cell(percent(point.prefetch_used), point.prefetch_used),
            *(Cell(percent(n), n) for n in (point.cleaning_share, point.utilization)),
        ]
        for point in points
    ]
    return Table("All runs", titles, rows, frozenset({0, 1, 2}))


def _details(outcome: Outcome) -> list[dict[str, Any]]:
    """Provenance and config of a run of each trace; results.json has those of every run."""
    shown: dict[str, dict[str, Any]] = {}
    for point, result in zip(outcome.points, outcome.results, strict=True):
        if point.line == "tlllp" and point.trace not in shown:
            document = result.to_dict()
            shown[point.trace] = {
                "label": f"{point.trace}, {outcome.labels['tlllp']}, {size(point.cache_bytes)}",
                "provenance": tables.provenance(document),
                "operations": tables.operations_table(document),
                "config": tables.config_rows(document, []),
            }
    return list(shown.values())
