"""`floatgate precondition`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from . import options, output

if TYPE_CHECKING:
    from floatgate.analysis.preconditioning import Preconditioned

Workload = Annotated[
    str,
    typer.Option(
        metavar="SPEC",
        help="A generator without its keys writes and requests, such as zipf:theta=0.8; without "
        "span it covers the whole drive.",
    ),
]
Repeat = Annotated[int, typer.Option(help="Number of seeds, from --seed on.")]
Budget = Annotated[
    int,
    typer.Option(
        metavar="16|32|64", help="Drive capacities that the workload may write until it is steady."
    ),
]
Workers = Annotated[
    int | None, typer.Option(help="Number of runs in parallel (default: one per core).")
]


def precondition(
    device: options.Device = None,
    workload: Workload = "uniform",
    set: options.Set = None,
    seed: options.Seed = 1,
    repeat: Repeat = 5,
    budget: Budget = 32,
    workers: Workers = None,
    units: options.Units = None,
    full_size: options.FullSize = False,
    out: options.Out = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show how close to its steady state each preconditioning recipe brings a drive."""
    settings = options.pairs("--set", set)
    with output.staged(out, force=force, inputs=[device], quiet=quiet) as part:
        from floatgate.analysis.preconditioning import precondition as measure

        with output.progress_bar(quiet) as progress:
            found = measure(
                device=device,
                workload=workload,
                set=settings,
                seed=seed,
                repeat=repeat,
                budget=budget,
                workers=workers,
                units=units,
                full_size=full_size,
                progress=progress,
            )
        if part is not None:
            from floatgate.report import write_precondition

            write_precondition(found, part)
    if json:
        output.print_json(found.to_dict())
    else:
        _print(found)
    if out:
        output.say(f"page: {out / 'precondition.html'}", quiet)


def _print(found: Preconditioned) -> None:
    from floatgate.analysis.precondition_tables import facts, recipes_table, shortest_table

    from .grids import fact_grid, print_messages
    from .summary import print_table

    out = output.console()
    out.print(fact_grid(facts(found)))
    print_table(out, recipes_table(found))
    print_table(out, shortest_table(found))
    print_messages(out, found.warnings, found.notes)
