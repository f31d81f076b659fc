"""`floatgate trace info`, `import` and `generate`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options, output
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
TimeUnit = Annotated[
    str | None, typer.Option(help="Unit of times in the file: ns, 100ns, us, ms or s.")
]
AddressUnit = Annotated[
    str | None, typer.Option(help="Unit of addresses in the file: bytes, sectors or pages.")
]
LengthUnit = Annotated[
    str | None, typer.Option(help="Unit of lengths in the file: bytes, sectors or pages.")
]


@app.command(epilog="Example: floatgate trace info financial.spc.zst")
def info(
    file: File,
    format: options.TraceFormat = None,
    time_unit: TimeUnit = None,
    address_unit: AddressUnit = None,
    length_unit: LengthUnit = None,
    json: options.Json = False,
) -> None:
    """Show what is in a trace, and in which units it was read."""
    from floatgate.traces import read_trace, trace_info

    units = _units(time_unit, address_unit, length_unit)
    document = trace_info(read_trace(file, format=format, units=units))
    if json:
        output.print_json(document)
    else:
        from .summary import print_trace

        print_trace(document)


@app.command("import", epilog="Example: floatgate trace import usr_0.csv.gz -o usr_0.parquet")
def import_(
    file: File,
    out: OutFile,
    format: options.TraceFormat = None,
    time_unit: TimeUnit = None,
    address_unit: AddressUnit = None,
    length_unit: LengthUnit = None,
    quiet: options.Quiet = False,
) -> None:
    """Convert a trace to Parquet, which is read faster and says its units."""
    with output.staged_file(out) as part:
        from floatgate.traces import read_trace, write_parquet

        units = _units(time_unit, address_unit, length_unit)
        trace = read_trace(file, format=format, units=units)
        write_parquet(trace, part)
    for note in (*trace.units.guessed, *trace.notes):
        output.say(f"note: {note}", quiet)
    output.say(f"wrote {trace.frame.height:,} requests to {out}", quiet)


@app.command(epilog="Example: floatgate trace generate zipf:span=1GiB,writes=1M -o zipf.parquet")
def generate(
    spec: Annotated[str, typer.Argument(help="A generator: NAME:key=value,...")],
    out: OutFile,
    seed: options.Seed = 1,
    quiet: options.Quiet = False,
) -> None:
    """Write the requests of a generator to a Parquet file."""
    with output.staged_file(out) as part:
        from floatgate._core import Workload

        workload = Workload.generator(spec, seed)
        with output.progress_bar(quiet) as progress:
            _sink(workload, part, spec, seed, progress)
    output.say(f"wrote {workload.requests:,} requests to {out}", quiet)


def _units(time: str | None, address: str | None, length: str | None) -> dict[str, str]:
    given = {"time": time, "address": address, "length": length}
    return {what: unit for what, unit in given.items() if unit is not None}


def _sink(workload: Workload, path: Path, spec: str, seed: int, progress: Any) -> None:
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
    notes = [f"generated from {spec}, seed {seed}"]
    about = Trace(spec, "generator", pl.DataFrame(schema=SCHEMA), units, notes=notes)
    lazy = register_io_source(batches, schema=schema)
    lazy.sink_parquet(path, metadata=parquet.metadata(about))
