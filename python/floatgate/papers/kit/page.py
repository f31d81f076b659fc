"""Writes a paper's reproduction as files: a page, the document, and the numbers as tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
from altair.utils.schemapi import debug_mode

from floatgate.files.writing import write_table, write_whole
from floatgate.report import tables
from floatgate.report.figure import Figure
from floatgate.report.latex import latex
from floatgate.report.page import Details, details_of, fill_page
from floatgate.results.tables import Table

from .claims import OURS
from .drawing import figure_of, number_table
from .exhibits import Numbers
from .outcome import Outcome, claims_table, findings, headline, shares, stated_kinds


def write_outcome(outcome: Outcome, document: Mapping[str, Any], directory: Path) -> None:
    """Writes paper.html and results.json; `numbers` (one row a run) and `domain` (one a claim and
    point) as Parquet and CSV; and the claims and every table in LaTeX."""
    (directory / "results.json").write_text(_lines(document) + "\n", "utf-8")
    frame = pl.DataFrame([vars(point) for point in outcome.points], infer_schema_length=None)
    frame.write_parquet(directory / "numbers.parquet")
    frame.write_csv(directory / "numbers.csv")
    points = [{"claim": c["id"], **row} for c in document["claims"] for row in c.get("domain", ())]
    if points:
        write_table(directory, "domain", pl.DataFrame(points, infer_schema_length=None))
    for name, table in _tables(outcome):
        write_whole(directory / f"{name}.tex", latex(table).encode("utf-8"))
    write_whole(directory / "paper.html", _page(outcome).encode("utf-8"))


def _lines(value: Any) -> str:
    """Returns JSON with one line for each claim, row of a figure, and run."""
    if isinstance(value, Mapping):
        entries = (f"{json.dumps(key)}: {_lines(entry)}" for key, entry in value.items())
        return "{\n" + ",\n".join(entries) + "\n}"
    if isinstance(value, list):
        return "[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in value) + "\n]"
    return json.dumps(value, ensure_ascii=False)


def _tables(outcome: Outcome) -> Iterator[tuple[str, Table]]:
    yield "claims", replace(claims_table(findings(outcome)), title=f"Claims. {OURS}")
    for exhibit in outcome.exhibits:
        if isinstance(exhibit, Numbers) and exhibit.rows:
            yield exhibit.key, number_table(exhibit.title, exhibit.columns, exhibit.rows)


def _page(outcome: Outcome) -> str:
    found = findings(outcome)
    traces = list(dict.fromkeys(point.trace for point in outcome.points))
    covered = [f"This quick run {outcome.coverage}."] if outcome.coverage else []
    notes = [*covered, OURS, *outcome.notes]
    # As in `payload`: in debug mode Altair validates each part of a chart when it is made.
    with debug_mode(False):
        figures = [figure_of(exhibit) for exhibit in outcome.exhibits if exhibit.rows]
    rows = [vars(point) | {"line": outcome.labels[point.line]} for point in outcome.points]
    every = Figure("all-runs", "All runs", "")
    every.table = number_table("All runs", outcome.columns, rows)
    return fill_page(
        [*figures, every],
        title=outcome.listed.title,
        subtitle=f"{outcome.listed.citation} · reproduced by Floatgate, {outcome.mode}",
        runs=traces,
        single=False,
        warnings=[(text, []) for text in outcome.warnings],
        notes=[(text, []) for text in notes],
        answer=headline(found),
        verdicts=shares(stated_kinds(found)),
        summary=claims_table(found),
        varying=Table("", [], []),
        details=_details(outcome),
    )


def _details(outcome: Outcome) -> list[Details]:
    """Returns provenance and config of one run of each trace. results.json has them for every
    run."""
    shown: dict[str, Details] = {}
    for point, result in zip(outcome.points, outcome.results, strict=True):
        if point.line == outcome.shown and point.trace not in shown:
            label = f"{point.trace}, {outcome.labels[point.line]}"
            shown[point.trace] = details_of(result, label, tables.config_rows(result, []))
    return list(shown.values())
