"""`floatgate trace info`, `import` and `generate`."""

from __future__ import annotations

import contextlib
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
Source = Annotated[str, typer.Argument(metavar="TRACE", help=options.TRACE_HELP)]
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


@app.command(epilog="Example: floatgate trace info financial.spc.zst --map-curve")
def info(
    trace: Source,
    format: options.TraceFormat = None,
    time_unit: TimeUnit = None,
    address_unit: AddressUnit = None,
    length_unit: LengthUnit = None,
    map_curve: Annotated[
        bool, typer.Option("--map-curve", help="Show how much map memory the trace needs.")
    ] = False,
    page: Annotated[str, typer.Option(metavar="SIZE", help="The curve's page size.")] = "4KiB",
    sample: Annotated[
        str | None,
        typer.Option(
            metavar="RATE|exact",
            help="Make the curve from this share of the pages, or from all; else whichever fits.",
        ),
    ] = None,
    seed: options.Seed = 1,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the curve into this directory, as page and SVG."),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show what is in a trace, and in which units it was read."""
    for option, given in (("--out", out), ("--sample", sample)):
        if given is not None and not map_curve:
            raise typer.BadParameter("is for --map-curve", param_hint=f"'{option}'")
    with output.staged(out) if out else contextlib.nullcontext() as part:
        from floatgate import curves
        from floatgate.traces import trace_info

        page_bytes, rate = curves.parse_options(page, sample)
        with output.progress_bar(quiet) as progress:
            units = _units(time_unit, address_unit, length_unit)
            source, read = curves.read_source(trace, format=format, units=units, seed=seed)
            document = trace_info(read)
            if map_curve:
                curve = curves.curve_of(source, page_bytes, rate, progress)
                document["map_curve"] = curve
        if part is not None:
            from floatgate.report import write_map_curve

            write_map_curve(curve, part)
    if json:
        output.print_json(document)
    else:
        from .summary import print_map_curve, print_trace

        print_trace(document)
        if map_curve:
            print_map_curve(curve, [*document["guessed"], *document["notes"]])
    if out:
        output.say(f"curve: {out / 'map-curve.html'}", quiet)


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
