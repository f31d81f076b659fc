"""`floatgate paper`."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from . import options, output

if TYPE_CHECKING:
    from floatgate.papers.paper import Numbers, Outcome

Full = Annotated[
    bool,
    typer.Option(
        "--full/--quick", help="All schemes, sizes and traces, or a subset that runs in a minute."
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
    typer.Option(
        help="Take runs that were made before, with this engine, from the cache; keep new ones."
    ),
]


ALL = "all"
"""The name of all of them."""


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
    """Reproduce a paper: its figures, and its claims beside our numbers, with verdicts.

    Writes a page, the numbers and all configs into --out DIR (default: floatgate-paper-NAME; with
    --json nothing, unless --out is given). "all" does so for every paper, with a page of all claims
    and verdicts before them. Results of runs are kept in the user's cache.
    """
    if name is None:
        _list(json)
        return
    if out is None and not json:
        out = Path(f"floatgate-paper-{Path(name).name}")
    with _uncollected(), output.staged(out, force=force) as part:
        from floatgate import papers
        from floatgate.papers.cache import run_cache

        if part:
            from floatgate.report.page import begin_script

            begin_script()
        kept = run_cache(lambda text: output.say(text, quiet)) if cache else None
        names = [listed.name for listed in papers.PAPERS] if name == ALL else [name]
        outcomes = []
        for one in names:
            with output.progress_bar(quiet) as progress:
                found = papers.reproduce(
                    one, full=full, traces=traces, progress=progress, kept=kept
                )
            outcomes.append(found)
        documents = [outcome.document() for outcome in outcomes]
        if part and name == ALL:
            from floatgate.papers.site import write_site

            write_site(outcomes, documents, part)
        elif part:
            from floatgate.papers.page import write_outcome

            write_outcome(outcomes[0], documents[0], part)
    if json:
        output.print_json({"papers": documents} if name == ALL else documents[0])
    else:
        for outcome in outcomes:
            _print(outcome)
    if out:
        output.say(f"page: {out / ('index.html' if name == ALL else 'paper.html')}", quiet)


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Thousands of results stay until the end: looking for some to let go takes a tenth of the
    time."""
    gc.disable()
    try:
        yield
    finally:
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


def _print_numbers(exhibit: Numbers) -> None:
    from rich.table import Table
    from rich.text import Text

    from floatgate.papers.drawing import number_table

    numbers = number_table(exhibit.title, exhibit.columns, exhibit.rows)
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for i, title in enumerate(numbers.columns):
        justify: Literal["left", "right"] = "left" if i in numbers.text_columns else "right"
        table.add_column(title, justify=justify, overflow="fold")
    for row in numbers.rows:
        table.add_row(*(Text(cell.text) for cell in row))
    out = output.console()
    out.print(Text(f"\n{exhibit.title}. {exhibit.caption}"))
    out.print(table)
    out.print()


def _print(outcome: Outcome) -> None:
    """The claims, a block each, tables of numbers, and what is to be known."""
    from rich.text import Text

    from floatgate.papers.paper import Numbers

    out = output.console()
    out.print(f"{outcome.title} ({outcome.citation}), {outcome.mode}\n")
    _print_claims(outcome)
    for exhibit in outcome.exhibits:
        if isinstance(exhibit, Numbers) and exhibit.brief and exhibit.rows:
            _print_numbers(exhibit)
    for kind, style, texts in (
        ("warning", "bold yellow", outcome.warnings),
        ("note", "dim", outcome.notes),
    ):
        for text in texts:
            out.print(Text.assemble((f"{kind}: ", style), text))


def _print_claims(outcome: Outcome) -> None:
    """A block for each claim: side by side, such texts leave each other no room."""
    from rich.table import Table
    from rich.text import Text

    blocks = Table.grid(padding=(0, 2, 0, 0))
    blocks.add_column(style="dim", justify="right", no_wrap=True)
    blocks.add_column(overflow="fold")
    for i, (claim, found) in enumerate(outcome.claims, 1):
        said = Table.grid(padding=(0, 2, 0, 0))
        said.add_column(style="dim", no_wrap=True)
        said.add_column(overflow="fold")
        for name, text in (
            ("paper", claim.paper),
            ("ours", found.ours),
            ("verdict", found.verdict),
            ("why", found.why),
        ):
            if text:
                said.add_row(name, Text(text))
        blocks.add_row(str(i), Text(claim.text, style="bold"))
        blocks.add_row("", said)
    output.console().print(blocks)
