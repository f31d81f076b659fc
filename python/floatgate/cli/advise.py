"""`floatgate advise`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from . import options, output

if TYPE_CHECKING:
    from rich.console import Console

    from floatgate.advising.lines import Advice

Drive = Annotated[
    str,
    typer.Option(
        metavar="NAME|FILE.toml",
        help="Drive that sets the times and the endurance: a preset or a TOML file.",
        autocompletion=options.presets,
    ),
]


def advise(
    trace: Annotated[str, typer.Argument(metavar="TRACE", help=options.TRACE_HELP)],
    device: Drive = "tlc-enterprise",
    limit: options.Limit = None,
    format: options.TraceFormat = None,
    close_gaps: options.CloseGaps = None,
    seed: options.Seed = 1,
    out: options.Out = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Summarise on one page what a trace demands of a drive: cleaning, map, life, tail, streams."""
    with output.staged(out, force=force, inputs=[trace, device], quiet=quiet) as part:
        from floatgate.advising.advice import advise as ask

        with output.progress_bar(quiet) as progress:
            found = ask(
                trace,
                device=device,
                limit=limit,
                format=format,
                close_gaps=close_gaps,
                seed=seed,
                progress=progress,
            )
        if part is not None:
            from floatgate.report import write_advice

            write_advice(found, part)
    if json:
        output.print_json(found.to_dict())
    else:
        _print(found)
    if out:
        output.say(f"page: {out / 'advice.html'}", quiet)


def _print(found: Advice) -> None:
    """Prints each question with its answer and the doubts about the answer."""
    from rich.text import Text

    from .grids import fact_grid, print_messages

    out = output.console()
    out.print(Text(found.name, style="bold"))
    for line in found.lines:
        out.print()
        out.print(Text(line.question, style="bold"))
        found_by = " ".join((f"{line.found}.", *line.method[:1]))
        facts = [("", line.answer), ("found", found_by)]
        facts += [("but", doubt) for doubt in line.doubts]
        out.print(fact_grid([*facts, ("next", line.next)]))
        if line.key == "life" and line.numbers:
            _print_lives(out, found)
        for command in line.commands:
            # Commands are not wrapped, so that users can copy them.
            out.print(Text(f"$ {command}"), soft_wrap=True)
    print_messages(out, (), found.notes)


def _print_lives(out: Console, found: Advice) -> None:
    from floatgate.advising.tables import life_table
    from floatgate.results.values import space_percent

    from .columns import Column, label, print_columns

    table = life_table(found)
    drives, *numbers = zip(*table.rows, strict=True)
    columns = [
        Column(title, [cell.text for cell in cells])
        for title, cells in zip(table.columns[1:], numbers, strict=True)
    ]
    print_columns(out, [label("drive", [space_percent(cell.text) for cell in drives]), *columns])
