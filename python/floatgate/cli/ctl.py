"""`floatgate ctl`: queries and controls a live drive."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options, output
from .commands import App

if TYPE_CHECKING:
    from floatgate.live import Live

app = App(add_completion=False)

WINDOW_MS_MAX = 1000.0

ANSWER_S = 60.0
"""Timeout for an answer of the drive, in seconds. Commands that may take long have no timeout."""


@app.callback(epilog="Example: floatgate ctl status")
def ctl(
    context: typer.Context,
    control: Annotated[
        Path | None,
        typer.Option(
            metavar="SOCKET",
            help="The control socket (default: the socket of floatgate serve without options).",
        ),
    ] = None,
) -> None:
    """Query and control a live drive that floatgate serve has started."""
    context.obj = control


@app.command(epilog="Example: floatgate ctl status --json")
def status(context: typer.Context, json: options.Json = False) -> None:
    """Show the drive's counters: write amplification, latency, map hits, wear, warnings."""
    with _live(context) as live:
        if json:
            output.print_json(live.ask("status"))
            return
        found = live.status()
    from .live_summary import print_status

    print_status(found)


@app.command(epilog="Example: floatgate ctl blocks --json")
def blocks(context: typer.Context, json: options.Json = False) -> None:
    """Show the erase units: how full of valid pages and how worn; --json has each of them."""
    with _live(context) as live:
        if json:
            output.print_json(live.ask("blocks"))
            return
        found = live.blocks()
    from .live_summary import print_blocks

    print_blocks(found)


@app.command(epilog="Example: floatgate ctl smart")
def smart(context: typer.Context, json: options.Json = False) -> None:
    """Show the drive's health log: bytes, spare, wear and warnings."""
    with _live(context) as live:
        if json:
            output.print_json(live.ask("smart"))
            return
        found = live.smart()
    from .live_summary import print_smart

    print_smart(found)


@app.command(epilog="Example: floatgate ctl plug")
def plug(context: typer.Context, json: options.Json = False, quiet: options.Quiet = False) -> None:
    """Pull the plug: data that is not durable is lost, then the drive recovers."""
    with _live(context, is_patient=True) as live:
        if json:
            output.print_json(live.ask("plug"))
            return
        power = live.plug()
    took = f"{power.mount.seconds:.3f} s, {power.mount.tag_reads:,} page tags read"
    output.say(f"the power was cut ({power.cuts:,} in all); the drive recovered in {took}", quiet)


@app.command(epilog="Example: floatgate ctl faults --read-error-share 0.001")
def faults(
    context: typer.Context,
    read_error_share: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="Share of reads that fail with an I/O error."),
    ] = None,
    read_only: Annotated[
        bool | None,
        typer.Option("--read-only/--read-write", help="Whether the drive refuses to write."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Show the injected faults, or change them; options left out change nothing."""
    given: dict[str, Any] = {"read_error_share": read_error_share, "read_only": read_only}
    wanted = {name: value for name, value in given.items() if value is not None}
    with _live(context) as live:
        found = live.ask("faults", **wanted) if wanted else live.ask("status")["faults"]
    if json:
        output.print_json(found)
    else:
        writes = "refused" if found["read_only"] else "taken"
        out = output.console()
        out.print(f"reads that fail     {100 * found['read_error_share']:g} %")
        out.print(f"writes              {writes}")


@app.command(epilog="Example: floatgate ctl snapshot copy.img")
def snapshot(
    context: typer.Context,
    to: Annotated[Path, typer.Argument(metavar="FILE", help="The copy; it must not exist.")],
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Copy the image as it is now; the copy can be opened like any image."""
    with _live(context, is_patient=True) as live:
        if json:
            output.print_json(live.ask("snapshot", to=str(to.absolute())))
            return
        made = live.snapshot(to)
    output.say(f"wrote {made.bytes:,} bytes to {made.path}", quiet)


@app.command(epilog="Example: floatgate ctl reset")
def reset(context: typer.Context, json: options.Json = False, quiet: options.Quiet = False) -> None:
    """Reset all counters; the drive and its data do not change."""
    with _live(context) as live:
        live.reset()
    _done("the counters start anew", json, quiet)


@app.command(epilog="Example: floatgate ctl check")
def check(context: typer.Context, json: options.Json = False, quiet: options.Quiet = False) -> None:
    """Let the drive verify its own invariants; exit status 1 if one is violated."""
    with _live(context, is_patient=True) as live:
        live.check()
    _done("no problems", json, quiet)


@app.command(epilog="Example: floatgate ctl lanes --window 20 --json")
def lanes(
    context: typer.Context,
    window: Annotated[
        float, typer.Option(min=0.001, max=WINDOW_MS_MAX, help="Length of the window, in ms.")
    ] = 10.0,
    json: options.Json = False,
) -> None:
    """Show the activity of dies and channels from now on; only with --timing simulated."""
    with _live(context) as live:
        if json:
            output.print_json(live.ask("lanes", window_ms=window))
            return
        found = live.lanes(window)
    from .live_summary import print_lanes

    print_lanes(found)


def _live(context: typer.Context, *, is_patient: bool = False) -> Live:
    from floatgate.live import Live

    return Live(context.obj, None if is_patient else ANSWER_S)


def _done(text: str, json: bool, quiet: bool) -> None:
    if json:
        output.print_json({})
    else:
        output.say(text, quiet)
