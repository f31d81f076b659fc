"""The report as one HTML file: nothing is fetched, so it can be mailed, archived, put on a disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from floatgate.comparison import Comparison
from floatgate.intervals import what_seeds_change
from floatgate.result import Result

from . import tables, theme
from .figure import Figure
from .figures import figures
from .files import write_whole
from .intervals import differences_table, means_table
from .overview import overview
from .payload import payload
from .runs import TRACE, Run, Varying, combined_runs, label_runs, varying
from .told import Told, messages

SCHEMA = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
"""The Vega-Lite version that Altair writes, as `major.minor`."""


NO_TABLE = tables.Table("", [], [])
"""Stands where a page has no such table."""


@dataclass(frozen=True)
class Details:
    """Everything about one run that is not compared."""

    label: str
    provenance: Sequence[tuple[str, str]]
    config: Sequence[tuple[str, str, bool]]
    drawn: Sequence[tables.Table]


def details_of(result: Result, label: str, config: Sequence[tuple[str, str, bool]]) -> Details:
    """Those of a run: where its numbers come from, its operations, its flash, its own config."""
    found = (tables.operations_table(result), tables.space_table(result.space))
    drawn = [table for table in found if table is not None]
    return Details(label, tables.provenance(result), config, drawn)


def write_report(
    results: Sequence[Result],
    path: Path,
    *,
    title: str | None = None,
    baseline: Mapping[str, Any] | None = None,
) -> Path:
    """Writes the report of one or several results to `path`, whole or not at all.

    Results that differ in their seed alone are one row and one bar, with an interval. Differences
    are to `baseline`, the values of some of the keys that vary, or with several seeds to the first
    combination. Without a title the page is named after what was run. Raises `ValueError` when
    there are no results, and `OSError` when the file cannot be written (its directory must exist).
    """
    path = Path(path)
    text = _render(results, title, baseline)
    write_whole(path, text.encode("utf-8"))
    return path


def _render(
    results: Sequence[Result], title: str | None, baseline: Mapping[str, Any] | None
) -> str:
    """The page as text: the same results give the same bytes."""
    if not results:
        raise ValueError("a report needs at least one result; none was given")
    runs = label_runs(results)
    combined = combined_runs(results)
    is_mean = len(combined) < len(runs)
    keys = varying([run.result for run in combined])
    differing = [vary.key for vary in keys]
    keys += [vary for vary in varying(results) if vary.key == "seed" and is_mean]
    notes = messages(runs, lambda result: result.notes)
    if changed := what_seeds_change(results):
        notes.append(Told(changed, [run.name for run in runs]))
    return fill_page(
        figures(combined),
        title=title or _title(runs),
        subtitle=_subtitle(runs),
        runs=runs,
        single=len(runs) == 1,
        warnings=messages(runs, lambda result: result.warnings),
        notes=notes,
        overview=overview(runs),
        summary=means_table(combined) if is_mean else tables.summary_table(runs),
        differences=_differences(results, combined, keys, baseline),
        varying=tables.varying_table(keys),
        config=[row for row in tables.config_rows(runs[0].result, differing) if not row[2]],
        details=[_details(run, differing) for run in runs],
    )


def _differences(
    results: Sequence[Result],
    combined: Sequence[Run],
    varied: Sequence[Varying],
    baseline: Mapping[str, Any] | None,
) -> tables.Table:
    """Those to the baseline, where there are seeds or one is named: over the keys that vary."""
    seeds = len(combined[0].seeds)
    if len({result.seed for result in results}) != seeds or (seeds == 1 and not baseline):
        return NO_TABLE
    keys = [vary.key for vary in varied if vary.key not in (TRACE, "seed", "floatgate")]
    if isinstance(results, Comparison):
        keys = results.keys
    return differences_table(combined, keys, baseline)


def fill_page(
    found: Sequence[Figure],
    *,
    warnings: Sequence[Told | tuple[str, Sequence[str]]],
    notes: Sequence[Told | tuple[str, Sequence[str]]],
    details: Sequence[Details],
    overview: Sequence[tuple[str, str]] = (),
    config: Sequence[tuple[str, str, bool]] = (),
    differences: tables.Table = NO_TABLE,
    **content: Any,
) -> str:
    """The template with these figures and everything else that it names.

    `config` is what all runs share; a warning or note has the runs it is about.
    """
    environment = Environment(
        loader=PackageLoader(__package__ or "", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.jinja").render(
        **content,
        details=details,
        warnings=[Told(*one) for one in warnings],
        notes=[Told(*one) for one in notes],
        overview=overview,
        config=config,
        differences=differences,
        figures=found,
        payload=payload(found),
        dashes=[" ".join(map(str, dash)) for dash in theme.DASHES],
        light=Markup(theme.css_variables(theme.LIGHT)),
        dark=Markup(theme.css_variables(theme.DARK)),
        font=Markup(theme.FONT),
        css=Markup(stylesheet()),
        javascript=Markup(_asset("report.js")),
        vega=Markup(begin_script().result()),
    )


def workload_page(
    found: Sequence[Figure],
    *,
    name: str,
    subtitle: str,
    notes: Sequence[str],
    summary: tables.Table,
    facts: Sequence[tuple[str, str]],
    table: tables.Table,
    warnings: Sequence[str] = (),
) -> str:
    """The page of what a workload is like, without a run; `facts` and `table` are its details."""
    return fill_page(
        found,
        title=name,
        subtitle=subtitle,
        runs=[name],
        single=True,
        warnings=[(warning, []) for warning in warnings],
        notes=[(note, []) for note in notes],
        summary=summary,
        varying=NO_TABLE,
        details=[Details(name, facts, [], [table])],
    )


def _title(runs: Sequence[Run]) -> str:
    """What was run: the trace, or how many runs over which traces."""
    traces = list(dict.fromkeys(run.result.workload.name for run in runs))
    if len(runs) == 1:
        return traces[0]
    if len(traces) > 3:
        return f"{len(runs)} runs, {len(traces)} traces"
    return f"{len(runs)} runs of {' and '.join(traces)}"


def _subtitle(runs: Sequence[Run]) -> str:
    """The kind of page and the version behind it."""
    versions = sorted({run.result.floatgate for run in runs})
    return f"Flash simulation report · Floatgate {', '.join(versions)}"


def _details(run: Run, differing: Sequence[str]) -> Details:
    own = [row for row in tables.config_rows(run.result, differing) if row[2]]
    return details_of(run.result, run.label, own)


@cache
def begin_script() -> Future[str]:
    """Begins to make the script that all pages have, which takes a second, beside whatever goes on
    before the first page is written."""
    pool = ThreadPoolExecutor(1)
    try:
        return pool.submit(_vega)
    finally:
        pool.shutdown(wait=False)


def _vega() -> str:
    """Vega, Vega-Lite and their embedding, from the library that also draws the pictures."""
    script: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=SCHEMA)
    # Inside a script element only these end it early; the libraries have neither today.
    if "</script" in script.lower() or "<!--" in script:
        raise RuntimeError("the Vega bundle cannot be put into a page: it has an HTML delimiter")
    return script


def stylesheet() -> str:
    """What all pages look like, beside their colours."""
    return _asset("report.css")


def _asset(name: str) -> str:
    return resources.files(__package__ or "").joinpath("assets").joinpath(name).read_text("utf-8")
