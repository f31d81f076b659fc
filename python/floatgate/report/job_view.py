"""Figure of the jobs of a job file: what each job waited for, and a row of numbers for each."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from floatgate.results.causes import blame_names
from floatgate.results.jobs import job_table
from floatgate.results.tables import Unit

from . import charts, frames, tables
from .figure import Figure, add_panels
from .intervals import DOTS, SPREAD
from .legends import first, part_legend
from .runs import Run

RUNS_DRAWN = 8
"""Most runs whose jobs are drawn; the table has the jobs of all runs."""


def jobs(drawn: Sequence[Run], runs: Sequence[Run], time: Unit) -> list[Figure]:
    """Returns a figure with a plot for each run; none if no run has jobs."""
    with_jobs = [run for run in runs if run.result.jobs]
    if not with_jobs:
        return []
    figure = Figure(
        "jobs",
        "Jobs",
        "Mean completion latency (clat) of the reads and writes of each job, divided by what they "
        "waited for. It counts from when the job sends a request.",
    )
    names = blame_names(run.result for run in runs)
    unit, base = time
    shown = [run for run in drawn if run.result.jobs][:RUNS_DRAWN]
    several = len(runs) > 1
    by_run = {
        run.name if several else "": frames.job_blame(run, names).with_columns(
            pl.col("value") / base
        )
        for run in shown
    }
    limit = tables.series_limit(by_run)
    no_marks = pl.DataFrame(schema=SPREAD), pl.DataFrame(schema=DOTS)

    def draw(_: str, frame: pl.DataFrame) -> charts.Plot:
        return charts.chart_blame(frame, first(frame["row"]), names, limit, unit, no_marks)

    add_panels(figure, "", by_run, "Mean completion latency of each job by cause", draw)
    figure.legend = part_legend(by_run.values(), names)
    if len(with_jobs) > len(shown):
        figure.reasons.append(f"Drawn: the jobs of the first {len(shown)} runs.")
    if not figure.drawings:
        figure.reasons.append("The drive has no clock, so the jobs have no latencies.")
    figure.table = job_table([(run.name, run.result) for run in with_jobs], (time,))
    return [figure]
