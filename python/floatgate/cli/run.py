"""`floatgate run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from floatgate.simulation.options import RunOptions

from . import options, output
from .written import write_fio, write_run


@options.takes_run_options()
def run(
    trace: Annotated[str, typer.Argument(metavar="TRACE", help=options.TRACE_HELP)],
    *,
    device: options.Device = None,
    set: options.Set = None,
    latencies: options.Latencies = None,
    lanes: options.Lanes = None,
    lanes_at: options.LanesAt = None,
    how: RunOptions,
    out: options.Out = None,
    force: options.Force = False,
    pictures: options.Pictures = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Simulate one trace on one device."""
    if pictures and out is None:
        raise typer.BadParameter("pictures are written into --out DIR", param_hint="'--pictures'")
    settings = options.settings(set, latencies=latencies, lanes=lanes, lanes_at=lanes_at)
    with output.staged(out, force=force, inputs=[trace, device], quiet=quiet) as part:
        from floatgate import api

        needed = "floatgate.results.result" if json else "floatgate.cli.summary"
        with output.progress_bar(quiet) as bar:
            progress = output.importing(needed, bar)
            result = api.run(trace, device=device, set=settings, progress=progress, **vars(how))
        if part is not None:
            write_run(result, part, pictures)
            if result.jobs:
                write_fio(result, part, Path(trace))
    if json:
        print(result.to_json())
    else:
        from .summary import print_summary

        print_summary(result, device or api.DEFAULT_DEVICE)
    if out:
        output.say(f"report: {out / 'report.html'}", quiet)
