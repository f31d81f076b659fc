"""`floatgate trace info`, `import` and `generate`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import info, lists, options, output
from .failure import OneLineErrors

if TYPE_CHECKING:
    import polars as pl

    from floatgate._core import Workload

app = typer.Typer(cls=OneLineErrors, no_args_is_help=True, add_completion=False)

BATCH = 1 << 17
"""Requests of a generator that are in memory at once."""

File = Annotated[str, typer.Argument(metavar="FILE", help="A trace file, directory or URL.")]
OutFile = Annotated[
    Path, typer.Option("--out", "-o", metavar="X.parquet", help="The Parquet file to write.")
]

app.command(epilog="Example: floatgate trace info financial.spc.zst --hotness")(info.info)


@app.command("import", epilog="Example: floatgate trace import usr_0.csv.gz -o usr_0.parquet")
def import_(
    file: File,
    out: OutFile,
    format: options.TraceFormat = None,
    time_unit: options.TimeUnit = None,
    address_unit: options.AddressUnit = None,
    length_unit: options.LengthUnit = None,
    columns: options.Columns = None,
    close_gaps: options.CloseGaps = None,
    quiet: options.Quiet = False,
) -> None:
    """Convert a trace to Parquet, which is read faster and says its units."""
    with output.staged_file(out) as part:
        from floatgate.traces import read_trace, write_parquet

        units = options.units(time_unit, address_unit, length_unit)
        trace = read_trace(file, format=format, units=units, close_gaps=close_gaps, columns=columns)
        write_parquet(trace, part)
    for note in (*trace.units.guessed, *trace.notes):
        output.say(f"note: {note}", quiet)
    output.say(f"wrote {trace.frame.height:,} requests to {out}", quiet)


@app.command(epilog="Example: floatgate trace generate zipf:span=1GiB,writes=1M -o zipf.parquet")
def generate(
    spec: Annotated[
        str | None,
        typer.Argument(
            metavar="SPEC", help="A generator: NAME:key=value,...; with --list, a NAME."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="X.parquet", help="The file to write.")
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="List the generators with their keys instead.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="The list as JSON.")] = False,
    seed: options.Seed = 1,
    quiet: options.Quiet = False,
) -> None:
    """Write the requests of a generator to a Parquet file."""
    if list_:
        lists.generators(spec, json)
        return
    for given, hint in ((spec, "'SPEC'"), (out, "'--out' / '-o'")):
        if given is None:
            raise typer.BadParameter("is missing; --list shows the generators", param_hint=hint)
    if json:
        raise typer.BadParameter("is for --list", param_hint="'--json'")
    assert spec is not None and out is not None
    with output.staged_file(out) as part:
        from floatgate._core import Workload

        workload = Workload.generator(spec, seed)
        with output.progress_bar(quiet) as progress:
            _sink(workload, part, seed, progress)
    output.say(f"wrote {workload.requests:,} requests to {out}", quiet)


def _sink(workload: Workload, path: Path, seed: int, progress: Any) -> None:
    """Streams the requests to `path`, a row group at a time."""
    import polars as pl
    from polars.io.plugins import register_io_source

    from floatgate.traces import Trace, Units
    from floatgate.traces.formats import parquet
    from floatgate.traces.model import SCHEMA

    def batches(*_: Any) -> Iterator[pl.DataFrame]:
        done = 0
        for batch in workload.batches(BATCH):
            frame = pl.DataFrame(batch)
            done += frame.height
            if progress is not None:
                progress("generate", done, workload.requests)
            yield frame

    schema = {name: kind for name, kind in SCHEMA.items() if name != "device"}
    units = Units("ns", "bytes", "bytes")
    notes = [f"generated from {workload.name}, seed {seed}"]
    about = Trace(workload.name, "generator", pl.DataFrame(schema=SCHEMA), units, notes=notes)
    lazy = register_io_source(batches, schema=schema)
    lazy.sink_parquet(path, metadata=parquet.metadata(about))
