"""Site of all papers: a front page with claims and verdicts, and each paper's page and data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from floatgate.files.writing import write_table, write_whole
from floatgate.report.templates import filled

from .claims import OURS
from .outcome import KINDS, Summary, headline, share_bar, shares, stated_kinds


def write_index(summaries: Sequence[Summary], directory: Path) -> None:
    """Writes index.html, and claims.parquet and .csv with one row per claim. Each paper has a
    folder of its name in the directory, with the files of `floatgate paper NAME`."""
    claims = [
        {"of": summary.listed.name, "mode": summary.mode, **vars(claim)}
        for summary in summaries
        for claim in summary.claims
    ]
    write_table(directory, "claims", pl.DataFrame(claims, infer_schema_length=None))
    write_whole(directory / "index.html", _index(summaries, directory).encode("utf-8"))


def _index(summaries: Sequence[Summary], directory: Path) -> str:
    names = [summary.listed.name for summary in summaries]
    files = {name: sorted(file.name for file in (directory / name).iterdir()) for name in names}
    claims = [claim for summary in summaries for claim in summary.claims]
    return filled(
        __package__ or "",
        "site.html.jinja",
        title="Papers",
        subtitle="Claims and verdicts, reproduced by Floatgate",
        answer=headline(claims, "the papers state"),
        verdicts=shares(stated_kinds(claims)),
        papers=summaries,
        files=files,
        share_bar=share_bar,
        shares=shares,
        kinds=KINDS,
        ours=OURS,
    )
