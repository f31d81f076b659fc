"""`floatgate compare`."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options, output

if TYPE_CHECKING:
    import polars as pl

Vary = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=V1,V2,...", help="Values of a config key; may be repeated."),
]
Workers = Annotated[int | None, typer.Option(help="Runs at a time (default: one per core).")]

DEFAULT_OUT = Path("floatgate-compare")


def compare(
    traces: Annotated[list[str], typer.Argument(metavar="TRACE...", help=options.TRACE_HELP)],
    vary: Vary = None,
    device: options.Device = None,
    set: options.Set = None,
    workers: Workers = None,
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
    """Simulate every trace with every combination of values, in parallel.

    Writes a report, and the table as Parquet and CSV, into --out DIR (default:
    floatgate-compare; with --json nothing, unless --out is given).
    """
    varied = _varied(vary, traces)
    settings = options.pairs("--set", set)
    if out is None and (pictures or not json):
        out = DEFAULT_OUT
    with output.staged(out, force=force, inputs=traces) as part:
        from floatgate import api

        with output.progress_bar(quiet) as progress:
            results = api.compare_results(
                traces,
                vary=varied,
                device=device,
                set=settings,
                workers=workers,
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
        table = api.comparison_table(results, list(varied))
        document = {"table": table.to_dicts(), "results": [r.to_dict() for r in results]}
        if part:
            _write(document, table, part, pictures)
    if json:
        output.print_json(document)
    else:
        from .summary import print_comparison

        print_comparison(results, list(varied))
    if out:
        output.say(f"report: {out / 'report.html'}", quiet)


def _varied(texts: list[str] | None, traces: list[str]) -> dict[str, list[str]]:
    """The values of each key that varies; without one, there must be several traces."""
    varied = options.lists("--vary", texts)
    if not varied and len(traces) < 2:
        raise typer.BadParameter(
            "nothing to compare: give --vary, or more traces", param_hint="'--vary'"
        )
    return varied


def _write(
    document: dict[str, Any],
    table: pl.DataFrame,
    directory: Path,
    pictures: options.PictureKind | None,
) -> None:
    """results.json, table.parquet, table.csv, report.html and, if asked for, the pictures."""
    from floatgate.report import write_pictures, write_report

    text = json_text.dumps(document, indent=2, ensure_ascii=False)
    (directory / "results.json").write_text(text + "\n", "utf-8")
    table.write_parquet(directory / "table.parquet")
    table.write_csv(directory / "table.csv")
    write_report(document["results"], directory / "report.html")
    if pictures:
        write_pictures(document["results"], directory, pictures)
