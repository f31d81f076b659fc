"""The report as one HTML file that needs no network, so it can be mailed or archived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert
from markupsafe import Markup

from floatgate.files.writing import write_whole
from floatgate.results.intervals import what_seeds_change
from floatgate.results.result import Result
from floatgate.results.tables import Part, Table, space_table

from . import tables, theme
from .constant import Absent, quantity, without, without_constant
from .figure import Figure
from .figures import figures
from .front import Front, compared_keys, front
from .intervals import differences_table, means_table
from .over_time import OVER_TIME
from .overview import overview
from .payload import payload
from .pills import warning_pills
from .runs import Run, combined_runs, label_runs, varying
from .templates import asset, filled
from .told import Told, messages, spaced
from .units import units_of

SCHEMA = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
"""Vega-Lite version of the charts from Altair, as `major.minor`."""


NO_TABLE = Table("", [], [])
"""Empty table, for a page that lacks one."""

EXACT = " \N{PLUS-MINUS SIGN} 0"
"""Interval of a number that is the same for all seeds."""


@dataclass(frozen=True)
class Details:
    """Everything about one run that the report does not compare."""

    label: str
    provenance: Sequence[tuple[str, str]]
    config: Sequence[tuple[str, str, bool]]
    drawn: Sequence[Table]


@dataclass(frozen=True)
class Answer:
    """Answer to a question about a workload."""

    question: str
    text: str
    confidence: str
    """Word for the way in which the answer was found."""
    method: str
    """Sentence about that way."""
    doubts: Sequence[str]


def details_of(result: Result, label: str, config: Sequence[tuple[str, str, bool]]) -> Details:
    """Returns a run's details: provenance, operations, use of the flash, own config values."""
    found = (tables.operations_table(result), space_table(result.space))
    drawn = [table for table in found if table is not None]
    return Details(label, tables.provenance(result), config, drawn)


def write_report(
    results: Sequence[Result],
    path: Path,
    *,
    title: str | None = None,
    baseline: Mapping[str, Any] | None = None,
) -> Path:
    """Writes the report of one or several results to `path`, completely or not at all.

    Results that differ in their seed alone become one row and one bar, with an interval. The report
    shows differences to `baseline`, which gives values for some of the keys that vary. Without
    `baseline`, a report over several seeds shows differences to the first combination. The default
    title names the traces. Raises `ValueError` when there are no results, and `OSError` when the
    file cannot be written (its directory must exist).
    """
    path = Path(path)
    text = _render(results, title, baseline)
    write_whole(path, text.encode("utf-8"))
    return path


def _render(
    results: Sequence[Result], title: str | None, baseline: Mapping[str, Any] | None
) -> str:
    """Returns the page as text; equal results give equal bytes."""
    if not results:
        raise ValueError("a report needs at least one result; none was given")
    runs = label_runs(results)
    combined = combined_runs(results)
    is_mean = len(combined) < len(runs)
    units = units_of(results)
    keys = varying([run.result for run in combined])
    differing = [vary.key for vary in keys]
    keys += [vary for vary in varying(results) if vary.key == "seed" and is_mean]
    notes = messages(runs, lambda result: result.notes)
    if changed := what_seeds_change(results):
        notes.append(Told(changed, [run.name for run in runs]))
    first = front(results, runs, combined, units, baseline, title)
    main = means_table(combined, units) if is_mean else tables.summary_table(runs, units)
    main, constant = without_constant(main, frozenset({"Write amplification"}))
    dropped = {quantity(title) for title, _ in constant}
    found = figures(combined)
    return fill_page(
        [figure for figure in found if figure.drawings or figure.reasons or figure.table],
        title=title or _window_title(first, runs),
        subtitle=_subtitle(runs),
        runs=runs,
        single=len(runs) == 1,
        front=first,
        warnings=[],
        notes=notes,
        overview=overview(runs, units.life),
        summary=main,
        differences=without(_differences(results, combined, baseline), dropped),
        varying=tables.varying_table(keys),
        config=[row for row in tables.config_rows(runs[0].result, differing) if not row[2]],
        details=[_details(run, differing) for run in runs],
        left_out=left_out([*first.left_out, *constant], found),
    )


def _window_title(first: Front, runs: Sequence[Run]) -> str:
    """Returns the keys that vary, and the trace unless it varies itself."""
    trace = runs[0].result.workload.name
    names = [first.title, *(part for part in first.about[:1] if part == trace)]
    return " \N{MIDDLE DOT} ".join(names)


def left_out(columns: Sequence[Absent], found: Sequence[Figure]) -> list[str]:
    """Returns a line for each reason, with the quantities that the page leaves out for it.

    Each quantity is listed once, whatever its units, and its course over the run is not listed
    again.
    """
    by_reason: dict[str, list[str]] = {}
    listed: set[str] = set()
    for title, why in [*columns, *(one for fig in found for one in fig.absent)]:
        what = quantity(title)
        if what not in listed and what.removesuffix(OVER_TIME) not in listed:
            listed.add(what)
            by_reason.setdefault(_with_unit(why, title), []).append(what)
    return [f"{', '.join(what)}: {why}" for why, what in by_reason.items()]


def _with_unit(why: str, title: str) -> str:
    """Adds the unit of a column to its only value, and removes an interval of ± 0."""
    unit = title.removeprefix(quantity(title)).removeprefix(",")
    return f"{why.removesuffix(EXACT)}{unit}" if why.startswith("all ") else why


def _differences(
    results: Sequence[Result], combined: Sequence[Run], baseline: Mapping[str, Any] | None
) -> Table:
    """Returns the differences to the baseline over the keys that vary.

    The table is empty unless there are several seeds or a baseline is given.
    """
    seeds = len(combined[0].seeds)
    if len({result.seed for result in results}) != seeds or (seeds == 1 and not baseline):
        return NO_TABLE
    return differences_table(combined, compared_keys(results, combined), baseline)


def fill_page(
    found: Sequence[Figure],
    *,
    warnings: Sequence[Told | tuple[str, Sequence[str]]],
    notes: Sequence[Told | tuple[str, Sequence[str]]],
    details: Sequence[Details],
    overview: Sequence[tuple[str, str]] = (),
    config: Sequence[tuple[str, str, bool]] = (),
    differences: Table = NO_TABLE,
    front: Front | None = None,
    answer: str = "",
    answers: Sequence[Answer] = (),
    means: Table = NO_TABLE,
    verdicts: Sequence[Part] = (),
    left_out: Sequence[str] = (),
    **content: Any,
) -> str:
    """Returns the filled template of a page.

    `config` has the values that all runs share. A warning or note names the runs that it applies
    to, or none where it applies to all that the page shows.
    """
    return filled(
        __package__ or "",
        "report.html.jinja",
        **content,
        details=details,
        pills=warning_pills([spaced(Told(*one)) for one in warnings]),
        notes=[spaced(Told(*one)) for one in notes],
        front=front,
        answer=answer,
        answers=answers,
        means=means,
        verdicts=verdicts,
        left_out=left_out,
        overview=overview,
        config=config,
        differences=differences,
        figures=found,
        payload=payload(found),
        dashes=[" ".join(map(str, dash)) for dash in theme.DASHES],
        javascript=Markup(asset("report.js")),
        vega=Markup(begin_script().result()),
    )


def workload_page(
    found: Sequence[Figure],
    *,
    name: str,
    subtitle: str,
    notes: Sequence[str],
    summary: Table,
    facts: Sequence[tuple[str, str]],
    table: Table = NO_TABLE,
    warnings: Sequence[str] = (),
    answer: str = "",
    means: Table = NO_TABLE,
) -> str:
    """Returns a page about a workload, without runs; `facts` and `table` are its details.

    The sentence `answer` stands below the title, and the table `means` below the summary.
    """
    return fill_page(
        found,
        title=name,
        subtitle=subtitle,
        runs=[name],
        single=True,
        warnings=[(warning, []) for warning in warnings],
        notes=[(note, []) for note in notes],
        summary=summary,
        answer=answer,
        means=means,
        varying=NO_TABLE,
        details=[Details(name, facts, [], [table] if table.rows else [])],
    )


def _subtitle(runs: Sequence[Run]) -> str:
    """Returns the kind of page and the Floatgate versions of the results."""
    versions = sorted({run.result.floatgate for run in runs})
    return f"Flash simulation report · Floatgate {', '.join(versions)}"


def _details(run: Run, differing: Sequence[str]) -> Details:
    own = [row for row in tables.config_rows(run.result, differing) if row[2]]
    return details_of(run.result, run.label, own)


@cache
def begin_script() -> Future[str]:
    """Starts a thread that builds the script shared by all pages.

    Building takes a second, in parallel with the work before the first page is written.
    """
    pool = ThreadPoolExecutor(1)
    try:
        return pool.submit(_vega)
    finally:
        pool.shutdown(wait=False)


def _vega() -> str:
    """Returns the script of Vega, Vega-Lite and their embedding, for the version in `SCHEMA`.

    The library that draws the pictures also supplies this script.
    """
    script: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=SCHEMA)
    # Only these two delimiters would end a script element early. Neither occurs in the current
    # libraries.
    if "</script" in script.lower() or "<!--" in script:
        raise RuntimeError("the Vega bundle cannot be put into a page: it has an HTML delimiter")
    return script
