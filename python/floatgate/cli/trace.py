"""`floatgate trace info`, `import` and `generate`."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import info, lists, options, output, paths
from .commands import App

if TYPE_CHECKING:
    import polars as pl

    from floatgate._core import Workload

app = App(add_completion=False)

BATCH = 1 << 17
"""Requests of a generator in memory at once."""

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="A trace file, directory or URL, or a fio job file (.fio)."
    ),
]
OUT = typer.Option(
    "--out",
    "-o",
    metavar="FILE",
    help="The file to write: .parquet, .csv, .csv.gz, .csv.zst, .csv.bz2 or .csv.xz; "
    "- is standard output, as Parquet.",
)

app.command(epilog="Example: floatgate trace info financial.spc.zst --hotness")(info.info)


@app.command("import", epilog="Example: floatgate trace import usr_0.csv.gz -o usr_0.parquet")
def import_(
    file: File,
    out: Annotated[Path, OUT],
    force: options.Force = False,
    format: options.TraceFormat = None,
    time_unit: options.TimeUnit = None,
    address_unit: options.AddressUnit = None,
    length_unit: options.LengthUnit = None,
    columns: options.Columns = None,
    close_gaps: options.CloseGaps = None,
    quiet: options.Quiet = False,
) -> None:
    """Convert a trace to Parquet, which is fast to read and records its units, or to CSV."""
    units = options.units(time_unit, address_unit, length_unit)
    with _staged(out, force, [file]) as (part, suffix):
        from floatgate.simulation.fio_jobs import is_job_file
        from floatgate.traces import Stream, open_trace, write_opened

        if is_job_file(file, format):
            given = {"units": units, "columns": columns, "close_gaps": close_gaps}
            requests = _import_jobs(file, format, given, (part, suffix), quiet)
            output.say(f"wrote {requests:,} requests to {out}", quiet)
            return
        read = open_trace(file, format=format, units=units, close_gaps=close_gaps, columns=columns)
        requests = write_opened(read, part, suffix)
        trace = read.about if isinstance(read, Stream) else read
    for note in (*trace.units.guessed, *trace.notes):
        output.say(f"note: {note}", quiet)
    if trace.unparsed_lines:
        from .summary import unread

        # The new file silently lacks these lines, so the warning is printed even with --quiet.
        output.say(f"warning: {unread(trace.unparsed_lines, trace.first_unparsed)}")
    output.say(f"wrote {requests:,} requests to {out}", quiet)


def _import_jobs(
    file: str, format: str | None, given: Mapping[str, Any], out: tuple[Path, str], quiet: bool
) -> int:
    """Writes the requests of a job file, whose outstanding requests take turns. Returns their
    number. `given` are options of traces.
    """
    from floatgate.analysis import map_curve

    map_curve.refuse_options(f"{file} is a job file", given)
    from floatgate.simulation import sources
    from floatgate.simulation.options import RunOptions

    how = RunOptions(format=format)
    source = sources.open_source(file, how)
    load = source.load(None)
    notes = [*load.notes, map_curve.made_note(source, how.seed)]
    with output.progress_bar(quiet) as progress:
        requests = _write(load.workload, out, notes, progress)
    for note in notes:
        output.say(f"note: {note}", quiet)
    return requests


@app.command(epilog="Example: floatgate trace generate zipf:span=1GiB,writes=1M -o zipf.parquet")
def generate(
    spec: Annotated[
        str | None,
        typer.Argument(
            metavar="SPEC", help="A generator: NAME:key=value,...; with --list, a NAME."
        ),
    ] = None,
    out: Annotated[Path | None, OUT] = None,
    force: options.Force = False,
    list_: Annotated[
        bool, typer.Option("--list", help="List the generators with their keys instead.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="The list as JSON.")] = False,
    seed: options.Seed = 1,
    quiet: options.Quiet = False,
) -> None:
    """Write the requests of a generator to a file."""
    if list_:
        lists.generators(spec, json)
        return
    for given, hint in ((spec, "'SPEC'"), (out, "'--out' / '-o'")):
        if given is None:
            raise typer.BadParameter("is missing; --list shows the generators", param_hint=hint)
    if json:
        raise typer.BadParameter("is for --list", param_hint="'--json'")
    assert spec is not None and out is not None
    with _staged(out, force) as (part, suffix):
        from floatgate._core import Workload

        workload = Workload.generator(spec, seed)
        with output.progress_bar(quiet) as progress:
            notes = [f"generated from {workload.name}, seed {seed}"]
            requests = _write(workload, (part, suffix), notes, progress)
    output.say(f"wrote {requests:,} requests to {out}", quiet)


@contextlib.contextmanager
def _staged(out: Path, force: bool, inputs: Sequence[str] = ()) -> Iterator[tuple[Path, str]]:
    """Yields the new file, and the suffix that selects its format."""
    with output.staged_file(out, force=force, inputs=inputs) as part:
        from floatgate.traces import TraceError, suffix_of

        try:
            suffix = suffix_of(out.name)
        except TraceError:
            # Names of standard output, devices and FIFOs select no format.
            if str(out) != "-" and not paths.is_special(out):
                raise
            suffix = ".parquet"
        if str(out) == "-" and sys.stdout.isatty():
            raise typer.BadParameter(
                "is a terminal, and Parquet is binary; expected a file or a pipe",
                param_hint="'--out'",
            )
        yield part, suffix


def _write(workload: Workload, out: tuple[Path, str], notes: list[str], progress: Any) -> int:
    """Writes the requests in batches to a path, on a thread, so that Ctrl-C works at any time.
    Returns their number. `out` also has the suffix that selects the format.
    """
    import polars as pl

    from floatgate._core import Cancelled
    from floatgate.simulation.watching import watched
    from floatgate.traces import Trace, Units, write_trace
    from floatgate.traces.model import SCHEMA, STREAM

    done, stopped = 0, False

    def batches() -> Iterator[pl.DataFrame]:
        nonlocal done
        for batch in workload.batches(BATCH):
            if stopped:
                raise Cancelled
            frame = pl.DataFrame(batch)
            done += frame.height
            yield frame

    def stop() -> None:
        nonlocal stopped
        stopped = True

    def tell() -> None:
        if progress is not None:
            progress("generate", done, workload.requests)

    kinds = SCHEMA | STREAM if workload.has_streams else SCHEMA
    columns = {name: kind for name, kind in kinds.items() if name != "device"}
    units = Units("ns", "bytes", "bytes")
    about = Trace(workload.name, "generator", pl.DataFrame(schema=columns), units, notes=notes)
    watched(lambda: write_trace(about, *out, batches()), stop, tell)
    return done
