"""`floatgate run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from floatgate.run_options import RunOptions

from . import options, output

if TYPE_CHECKING:
    from floatgate.result import Result


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
    with output.staged(out, force=force, inputs=[trace]) as part:
        from floatgate import api

        with output.progress_bar(quiet) as progress:
            result = api.run(trace, device=device, set=settings, progress=progress, **vars(how))
        if part is not None:
            _write(result, part, pictures)
    if json:
        print(result.to_json())
    else:
        from .summary import print_summary

        print_summary(result, device or api.DEFAULT_DEVICE)
    if out:
        output.say(f"report: {out / 'report.html'}", quiet)


def _write(result: Result, directory: Path, pictures: options.PictureKind | None) -> None:
    """result.json, timeline.parquet, report.html and, if asked for, the latencies and pictures."""
    from floatgate.report import write_pictures, write_report
    from floatgate.report.files import write_frame, write_table

    (directory / "result.json").write_text(result.to_json() + "\n", "utf-8")
    write_frame(directory / "timeline.parquet", result.timeline)
    if result.distributions:
        write_table(directory, "latencies", result.latencies)
    write_report([result], directory / "report.html")
    if pictures:
        write_pictures([result], directory, pictures)
