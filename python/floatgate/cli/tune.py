"""`floatgate tune`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from floatgate.simulation.options import RunOptions

from . import options, output

if TYPE_CHECKING:
    from floatgate.tuning.outcome import Tuned

Objectives = Annotated[
    list[str] | None,
    typer.Option(
        "--objective",
        metavar="[min:|max:]METRIC",
        help="A number of the result, such as write_amplification or latency.read.p99_us; "
        "repeat it to search for the Pareto front.",
    ),
]
Vary = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=A,B,...|LOW..HIGH[:log]",
        help="Choices or a range of a config key; may be repeated.",
    ),
]
Trials = Annotated[int, typer.Option(help="Number of configs to try.")]
Sampler = Annotated[
    Literal["tpe", "random"],
    typer.Option(help="Method that proposes configs: a Parzen estimator, or chance."),
]
Prune = Annotated[
    bool,
    typer.Option(
        "--prune/--no-prune", help="Stop trials that are bad after a fifth of the requests."
    ),
]

DEFAULT_OUT = Path("floatgate-tune")


@options.takes_run_options(
    *("repeat", "limit", "seed", "addresses", "time_scale", "format", "units", "full_size")
)
def tune(
    trace: Annotated[str, typer.Argument(metavar="TRACE", help=options.TRACE_HELP)],
    *,
    objective: Objectives = None,
    vary: Vary = None,
    device: options.Device = None,
    set: options.Set = None,
    trials: Trials = 40,
    sampler: Sampler = "tpe",
    prune: Prune = True,
    how: RunOptions,
    out: options.Out = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Search for the best config for a trace.

    Writes the config as a TOML file for run --device, with the trials as Parquet and a page, into
    --out DIR (default: floatgate-tune, or the next free floatgate-tune-N; --json writes files only
    with --out).

    It needs Optuna: pip install 'floatgate\\[search]'.
    """
    for option, given in (("--objective", objective), ("--vary", vary)):
        if not given:
            raise typer.BadParameter("is missing; expected one or more", param_hint=f"'{option}'")
    varied = options.pairs("--vary", vary)
    keys = options.pairs("--set", set)
    with (
        output.folder(out, DEFAULT_OUT, force=force, is_written=not json) as out,
        output.staged(out, force=force, inputs=[trace, device], quiet=quiet) as part,
    ):
        from floatgate.tuning.search import tune as search

        with output.progress_bar(quiet) as progress:
            found = search(
                trace,
                objective=objective or (),
                vary=varied,
                device=device,
                set=keys,
                trials=trials,
                sampler=sampler,
                prune=prune,
                progress=progress,
                **vars(how),
            )
        if part is not None:
            from floatgate.report import write_tuned

            write_tuned(found, part)
    if json:
        output.print_json(found.to_dict())
    else:
        _print(found)
    if out:
        output.say(f"page: {out / 'tune.html'}", quiet)


def _print(found: Tuned) -> None:
    from floatgate.report.tuning import facts, front_table

    from .grids import fact_grid, print_messages
    from .summary import print_table

    out = output.console()
    out.print(fact_grid(facts(found)))
    print_table(out, front_table(found))
    print_messages(out, found.warnings, found.notes)
