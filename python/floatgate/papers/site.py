"""All papers in one place: claims and verdicts, and a page, data and tables for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from floatgate.report import theme
from floatgate.report.files import write_table, write_whole
from floatgate.report.page import stylesheet

from . import verdicts
from .page import claims_table, write_outcome
from .paper import HOLDS, OURS, Measured, Outcome

EVERYWHERE, SOMEWHERE, UNCLEAR = "hold everywhere", "hold somewhere", "ambiguous"
NOWHERE, CANNOT = "hold nowhere", "cannot be checked"
KINDS = (EVERYWHERE, SOMEWHERE, UNCLEAR, NOWHERE, CANNOT)


def kind_of(found: Measured) -> str:
    """Where a claim holds of the points of its domain that were not left out; one that is asked at
    a single place has none."""
    if not found.rows:
        return {HOLDS: EVERYWHERE, verdicts.NOWHERE: NOWHERE}.get(found.verdict, CANNOT)
    cases = {row["case"] for row in found.rows if not row["rejected"]}
    if not cases:
        return CANNOT
    if HOLDS in cases:
        return EVERYWHERE if cases == {HOLDS} else SOMEWHERE
    return UNCLEAR if verdicts.AMBIGUOUS in cases else NOWHERE


def write_site(
    outcomes: Sequence[Outcome], documents: Sequence[Mapping[str, Any]], directory: Path
) -> None:
    """index.html; claims.parquet and .csv with a row per claim; and for each paper a folder of its
    name with what `floatgate paper NAME` writes."""
    for outcome, document in zip(outcomes, documents, strict=True):
        folder = directory / outcome.name
        folder.mkdir()
        write_outcome(outcome, document, folder)
    claims = [
        {"of": outcome.name, "mode": outcome.mode, "kind": kind_of(found)}
        | {key: claim[key] for key in ("id", "claim", "where", "paper", "ours", "verdict", "why")}
        for outcome, document in zip(outcomes, documents, strict=True)
        for (_, found), claim in zip(outcome.claims, document["claims"], strict=True)
    ]
    write_table(directory, "claims", pl.DataFrame(claims, infer_schema_length=None))
    write_whole(directory / "index.html", _index(outcomes, directory).encode("utf-8"))


def _index(outcomes: Sequence[Outcome], directory: Path) -> str:
    environment = Environment(
        loader=PackageLoader(__package__ or "", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    papers = [
        {
            "name": outcome.name,
            "title": outcome.title,
            "citation": outcome.citation,
            "mode": outcome.mode,
            "warnings": outcome.warnings,
            "counts": Counter(kind_of(found) for _, found in outcome.claims),
            "table": claims_table(outcome),
            "files": sorted(file.name for file in (directory / outcome.name).iterdir()),
        }
        for outcome in outcomes
    ]
    return environment.get_template("site.html.jinja").render(
        title="Papers",
        subtitle="Claims and verdicts, reproduced by Floatgate",
        papers=papers,
        kinds=KINDS,
        ours=OURS,
        light=Markup(theme.css_variables(theme.LIGHT)),
        dark=Markup(theme.css_variables(theme.DARK)),
        font=Markup(theme.FONT),
        css=Markup(stylesheet()),
    )
