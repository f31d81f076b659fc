"""`floatgate run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options, output

if TYPE_CHECKING:
    from floatgate.result import Result


def run(
    trace: Annotated[str, typer.Argument(metavar="TRACE", help=options.TRACE_HELP)],
    device: options.Device = None,
    set: options.Set = None,
    repeat: options.Repeat = 1,
    limit: options.Limit = None,
    seed: options.Seed = 1,
    addresses: options.Addresses = "fold",
    time_scale: options.TimeScale = 1.0,
    verify: options.Verify = False,
    format: options.TraceFormat = None,
    close_gaps: options.CloseGaps = None,
    out: options.Out = None,
    force: options.Force = False,
    pictures: options.Pictures = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Simulate one trace on one device."""
    if pictures and out is None:
        raise typer.BadParameter("pictures are written into --out DIR", param_hint="'--pictures'")
    settings = options.pairs("--set", set)
    with output.staged(out, force=force, inputs=[trace]) as part:
        from floatgate import api

        with output.progress_bar(quiet) as progress:
            result = api.run(
                trace,
                device=device,
                set=settings,
                repeat=repeat,
                limit=limit,
                seed=seed,
                addresses=addresses,
                time_scale=time_scale,
                verify=verify,
                format=format,
                close_gaps=close_gaps,
                progress=progress,
            )
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
    """result.json, timeline.parquet, report.html and, if asked for, the pictures."""
    from floatgate.report import write_pictures, write_report

    document = result.to_dict()
    (directory / "result.json").write_text(result.to_json() + "\n", "utf-8")
    result.timeline.write_parquet(directory / "timeline.parquet")
    write_report([document], directory / "report.html")
    if pictures:
        write_pictures([document], directory, pictures)
