"""`floatgate crash`."""

from __future__ import annotations

import json as json_text
import shlex
from typing import Annotated, Any

import typer

from floatgate.simulation.options import RunOptions

from . import options, output

Every = Annotated[
    int | None,
    typer.Option(metavar="N", help="Cut the power at every N-th moment (default: at most 20,000)."),
]
Point = Annotated[
    int | None, typer.Option(help="Cut the power at this moment only; the first is 0.")
]
Second = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Also cut the power during every N-th recovery (default: every 50th, at most 20,000).",
    ),
]


@options.takes_run_options("limit", "seed", "addresses", "format")
def crash(
    trace: Annotated[str, typer.Argument(metavar="TRACE", help=options.TRACE_HELP)],
    *,
    device: options.Device = None,
    set: options.Set = None,
    how: RunOptions,
    every: Every = None,
    point: Point = None,
    second: Second = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Cut the power at every program and erase of a trace, recover, and verify every page.

    Exits with status 1 if a recovered page has a version that is not allowed.
    """
    from floatgate.analysis.crash import crash

    settings = options.pairs("--set", set)
    with output.progress_bar(quiet) as progress:
        found = crash(
            trace,
            device=device,
            set=settings,
            every=every,
            point=point,
            second=second,
            progress=progress,
            **vars(how),
        )
    if found["first_loss"]:
        given = {"--device": device, "--limit": how.limit}
        given |= {"--addresses": how.addresses, "--format": how.format}
        words = ["floatgate", "crash", trace, "--seed", str(how.seed)]
        words += [word for key, value in given.items() if value for word in (key, str(value))]
        words += [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        found["again"] = shlex.join([*words, "--point", str(found["first_loss"]["point"])])
    if json:
        print(json_text.dumps(found, indent=2))
    else:
        _print(found)
    if found["lost"]:
        raise typer.Exit(1)


def _print(found: dict[str, Any]) -> None:
    out = output.console()
    points, moments, seconds = found["points"], found["moments"], found["second_cuts"]
    inside = found["recovery_moments"]
    out.print(
        f"{points:,} power losses: at {points - seconds:,} of the {moments:,} moments of "
        f"{found['requests']:,} requests, and at {seconds:,} of the {inside:,} of recoveries"
    )
    out.print(f"{found['torn_seen']:,} interrupted a program or an erase")
    out.print(
        f"{found['recoveries']:,} recoveries, {found['went_on']:,} of which continued the workload"
    )
    mean, most, programs = found["reads_mean"], found["reads_max"], found["programs_mean"]
    out.print(
        f"a recovery read {mean:,.1f} pages on average, {most:,} at most, and programmed "
        f"{programs:,.1f}: {found['mount_us_mean']:,.0f} \N{MICRO SIGN}s on dies that are evenly "
        "busy"
    )
    for note in found["notes"]:
        out.print(f"note: {note}", style="dim")
    if not found["lost"]:
        out.print("nothing was lost", style="bold green")
        return
    loss = found["first_loss"]
    out.print(f"{found['lost']:,} pages had a version that is not allowed", style="bold red")
    if loss:
        out.print(
            f"the first: page {loss['page']} had version {loss['found']}; "
            f"allowed: {loss['possible']}; to repeat: {found['again']}"
        )
