"""`floatgate paper`."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options, output

if TYPE_CHECKING:
    from floatgate.papers.kit.outcome import Finding, Summary
    from floatgate.papers.kit.parallel import Asked, Reproduced
    from floatgate.results.tables import Table

Full = Annotated[
    bool,
    typer.Option(
        "--full/--quick",
        help="Run every point of each claim's domain (an hour or two), or some points (minutes).",
    ),
]
Traces = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Directory of the paper's traces (default: FLOATGATE_TRACES)."
    ),
]

Cached = Annotated[
    bool,
    typer.Option(help="Reuse cached results of this engine, and cache new results."),
]


ALL = "all"
"""Name that selects every paper."""


def paper(
    name: Annotated[
        str | None, typer.Argument(help="The paper to reproduce, or all; omit it for a list.")
    ] = None,
    full: Full = False,
    traces: Traces = None,
    out: options.Out = None,
    force: options.Force = False,
    cache: Cached = True,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Reproduce a paper: its figures, and its claims next to our numbers, with verdicts.

    Writes a page, the numbers and all configs into --out DIR (default: floatgate-paper-NAME, or the
    next free floatgate-paper-NAME-N; --json writes files only with --out). "all" reproduces every
    paper, and puts a page of all claims and verdicts first. Results of runs are stored in the
    user's cache.
    """
    if name is None:
        _list(json)
        return
    default = Path(f"floatgate-paper-{Path(name).name}")
    with (
        _uncollected(),
        output.folder(out, default, force=force, is_written=not json) as out,
        output.staged(out, force=force, quiet=quiet) as part,
    ):
        from floatgate.papers.kit.parallel import Asked

        asked = Asked(full, traces, cache, document=json)
        found = _all(asked, part, quiet) if name == ALL else [_one(name, asked, part, quiet)]
    documents = [one.document for one in found]
    if json:
        output.print_json({"papers": documents} if name == ALL else documents[0])
    else:
        for one in found:
            _print(one.summary)
    if out:
        output.say(f"page: {out / ('index.html' if name == ALL else 'paper.html')}", quiet)


def _one(name: str, asked: Asked, part: Path | None, quiet: bool) -> Reproduced:
    from floatgate.papers.kit.parallel import reproduce_one

    if part:
        from floatgate.report.page import begin_script

        begin_script()
    with output.progress_bar(quiet) as progress:
        return reproduce_one(name, asked, part, progress, partial(output.say, quiet=quiet))


def _all(asked: Asked, part: Path | None, quiet: bool) -> list[Reproduced]:
    from floatgate.papers import PAPERS
    from floatgate.papers.kit.parallel import reproduce_all

    names = [paper.name for paper in PAPERS]
    with output.progress_bars(quiet) as progress:
        found = reproduce_all(names, asked, part, progress, partial(output.say, quiet=quiet))
    if part:
        from floatgate.papers.kit.site import write_index

        write_index([one.summary for one in found], part)
    return found


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Disables the garbage collector.

    Thousands of results stay alive until the end. Collections, during the command and at exit,
    would take a fifth of the time and free nothing.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _list(json: bool) -> None:
    from dataclasses import asdict

    from floatgate.papers import PAPERS

    if json:
        output.print_json([asdict(paper) for paper in PAPERS])
        return
    out = output.console()
    for paper in PAPERS:
        out.print(f"{paper.name}  {paper.title}")
        out.print(f"{' ' * len(paper.name)}  {paper.citation}", style="dim")


def _print_table(table: Table) -> None:
    from rich.text import Text

    from .columns import print_columns
    from .summary import columns_of

    out = output.console()
    out.print(Text(f"\n{table.title}"))
    print_columns(out, columns_of(table))
    out.print()


def _print(summary: Summary) -> None:
    """Prints the totals, each claim as a block, then tables of numbers, warnings and notes."""
    from rich.text import Text

    from floatgate.papers.kit.claims import OURS

    out = output.console()
    out.print(f"{summary.listed.title} ({summary.listed.citation}), {summary.mode}")
    kinds = summary.kinds()
    if number := sum(kinds.values()):
        totals = ", ".join(f"{many} {kind}" for kind, many in kinds.items() if many)
        out.print(Text(f"{number} claims of the paper: {totals}.", style="bold"))
    if summary.coverage:
        out.print(Text(f"This quick run {summary.coverage}."))
    out.print()
    _print_claims(summary.claims)
    for table in summary.tables:
        _print_table(table)
    for kind, style, texts in (
        ("warning", "bold yellow", summary.warnings),
        ("note", "dim", (OURS, *summary.notes)),
    ):
        for text in texts:
            out.print(Text.assemble((f"{kind}: ", style), text))


def _print_claims(claims: Sequence[Finding]) -> None:
    """Prints a block for each claim, because the texts are too long for columns."""
    from rich.table import Table
    from rich.text import Text

    blocks = Table.grid(padding=(0, 2, 0, 0))
    blocks.add_column(style="dim", justify="right", no_wrap=True)
    blocks.add_column(overflow="fold")
    for i, claim in enumerate(claims, 1):
        said = Table.grid(padding=(0, 2, 0, 0))
        said.add_column(style="dim", no_wrap=True)
        said.add_column(overflow="fold")
        for name, text in (
            ("paper", f"{claim.paper} ({claim.basis})"),
            ("ours", claim.ours),
            ("verdict", claim.verdict),
            ("decided", f"by {claim.decided_by}" if claim.decided_by else ""),
            ("why", claim.why),
        ):
            if text:
                said.add_row(name, Text(text))
        blocks.add_row(str(i), Text(claim.claim, style="bold"))
        blocks.add_row("", said)
    output.console().print(blocks)
