"""`floatgate study`: large sweeps, and views of their results."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from . import options, output
from .commands import App
from .failure import RUN_FAILED, OneLineErrors

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from floatgate.results.tables import Table
    from floatgate.studies import Dataset

RUN = "run"
"""Default command of the group."""


class _RunsFiles(OneLineErrors):
    """Group whose first argument may be a study file."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses as for any group; a first argument that names no command calls `run`."""
        if args and args[0] not in {*self.commands, "-h", "--help"}:
            args = [RUN, *args]
        return super().parse_args(ctx, args)


app = App(
    cls=_RunsFiles,
    epilog="Example: floatgate study sweep.toml --out sweep; floatgate study status sweep",
)

File = Annotated[Path, typer.Argument(metavar="FILE.toml", help="The study.")]
Place = Annotated[
    str, typer.Argument(metavar="DIR|FILE.toml", help="A study's --out, or its file.")
]
Out = Annotated[
    str | None,
    typer.Option(
        metavar="DIR|URL",
        help="Directory or URL for the runs (default: floatgate-study-FILE without its suffix).",
    ),
]
Shard = Annotated[
    str | None,
    typer.Option(metavar="I/N", help="Run part I of N; all parts may share one --out."),
]
Engine = Annotated[
    Literal["local", "ray"],
    typer.Option(help="This machine, or the Ray cluster at RAY_ADDRESS (without it, a local one)."),
]
Resume = Annotated[bool, typer.Option("--resume", help="Run only the runs missing in --out.")]
RetryFailed = Annotated[
    bool, typer.Option("--retry-failed", help="With --resume: also repeat failed runs.")
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Number of runs in parallel (default: one per core).")
]


@app.command(RUN, epilog="Example: floatgate study sweep.toml --out sweep --shard 1/4")
def run(
    file: File,
    *,
    shard: Shard = None,
    engine: Engine = "local",
    workers: Workers = None,
    resume: Resume = False,
    retry_failed: RetryFailed = False,
    out: Out = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run every trace with every combination of values and every seed (the default command).

    Each run is a row of a Parquet dataset, DIR/runs; the row of a failed run has its error. The
    exit status is 1 if all runs have failed.
    """
    if retry_failed and not resume:
        raise typer.BadParameter("is for --resume", param_hint="'--retry-failed'")
    if workers is not None and engine != "local":
        raise typer.BadParameter("is for --engine local", param_hint="'--workers'")
    target = out or _default_out(file)
    if target.startswith("memory://"):
        raise typer.BadParameter(
            f"{target}: its rows would end with this process; expected a directory or another URL",
            param_hint="'--out'",
        )
    with output.progress_bar(quiet) as progress:
        from floatgate import studies

        study = studies.Study.read(file)
        with _executor(engine, workers, study.spec.memory) as (executor, in_flight):
            found = studies.study(
                study,
                out=target,
                executor=executor,
                shard=shard,
                resume=resume,
                retry_failed=retry_failed,
                in_flight=in_flight,
                progress=progress,
            )
    _tell(found, target, json, quiet)


@app.command("status", epilog="Example: floatgate study status sweep")
def status(place: Place, *, json: options.Json = False) -> None:
    """Show how many runs of a study are done, have failed and are missing."""
    found, target = _open(place)
    counts = found.counts()
    if json:
        output.print_json({"out": target, **counts})
        return
    from floatgate.studies import said

    from .grids import print_messages

    print(f"{target}: {_words(counts)}")
    warnings = said.told(found, "warnings")
    if counts["failed"]:
        rows = found.frame(["status", "error"])
        errors = rows.filter(status="failed")["error"].value_counts(sort=True, name="runs")
        texts = [f"{runs} failed: {error}" for error, runs in errors.iter_rows()]
        warnings = [*said.shortened(texts, "errors"), *warnings]
    print_messages(output.console(), warnings, [*found.notes, *said.told(found, "notes")])


@app.command("report", epilog="Example: floatgate study report sweep --columns mapping.scheme")
def report(
    place: Place,
    *,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column of the results; may be repeated."),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="Have a column for each value of this key."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Write a page with plots.")
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Show means of combinations and intervals over seeds, as a table or as a page with plots."""
    if json and columns is not None and out is None:
        raise typer.BadParameter("is for tables; JSON has every key", param_hint="'--columns'")
    from floatgate.studies import report as reports
    from floatgate.studies import said
    from floatgate.studies.dataset import doubts

    found, target = _open(place)
    metrics = list(dict.fromkeys(metric or reports.METRICS))
    table = reports.summary(found, metrics)
    shown = reports.grid(table, metrics, columns)
    if out is not None:
        with output.staged_file(out, force=force, inputs=[target, place]) as part:
            part.write_text(reports.page(found, table, metrics, columns), "utf-8")
    if json:
        output.print_json(table.to_dicts())
    elif out is None:
        notes = [*found.notes, *said.told(found, "notes")]
        _print_table(shown, said.told(found, "warnings"), notes)
    for doubt in doubts(found.counts()):
        output.say(f"warning: {doubt}")


@app.command("export", epilog="Example: floatgate study export sweep --out sweep.csv")
def export(
    place: Place,
    *,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="A .csv, .json or .parquet; - prints CSV.")
    ],
    force: options.Force = False,
) -> None:
    """Write all rows into one file. In CSV, lists of texts are JSON."""
    from floatgate.studies import report as reports

    form = "csv" if str(out) == "-" else out.suffix.removeprefix(".")
    if form not in reports.FORMS:
        known = ", ".join(f".{one}" for one in reports.FORMS)
        raise typer.BadParameter(f"{out}: expected a name with {known}", param_hint="'--out'")
    found, target = _open(place)
    with output.staged_file(out, force=force, inputs=[target, place]) as part:
        reports.export(found, part, form)


def _default_out(file: Path) -> str:
    return f"floatgate-study-{file.stem}"


def _open(place: str) -> tuple[Dataset, str]:
    """Opens a dataset by its directory or study file; returns the dataset and its location."""
    from floatgate.studies import Dataset

    target = _default_out(Path(place)) if place.endswith(".toml") else place
    return Dataset.open(target), target


@contextlib.contextmanager
def _executor(
    engine: str, workers: int | None, memory: int | None
) -> Iterator[tuple[Executor | None, int | None]]:
    """Yields the executor for the runs and the number of runs in flight.

    Both are None where the study chooses them.
    """
    if engine == "ray":
        from floatgate.studies.on_ray import RayExecutor

        with RayExecutor(os.environ.get("RAY_ADDRESS"), memory) as ray:
            yield ray, ray.in_flight()
    elif workers is not None:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(workers) as pool:
            yield pool, 4 * workers
    else:
        yield None, None


def _tell(found: Dataset, target: str, json: bool, quiet: bool) -> None:
    counts = found.counts()
    if json:
        output.print_json({"out": target, **counts})
    else:
        output.say(f"{target}: {_words(counts)}", quiet)
    for note in found.notes:
        output.say(f"note: {note}", quiet)
    if counts["failed"] and not quiet:
        output.say(f"warning: {counts['failed']} failed; floatgate study status {target} shows why")
    if counts["failed"] and not counts["done"]:
        raise typer.Exit(RUN_FAILED)


def _words(counts: dict[str, int]) -> str:
    parts = [f"{counts['done']:,} of {counts['planned']:,} runs done"]
    parts += [f"{counts[name]:,} {name}" for name in ("failed", "missing") if counts[name]]
    from floatgate.studies.dataset import left_out

    return "; ".join([", ".join(parts), *filter(None, [left_out(counts)])])


def _print_table(table: Table, warnings: list[str], notes: list[str]) -> None:
    from rich.text import Text

    from .columns import print_columns
    from .grids import print_messages
    from .summary import columns_of

    out = output.console()
    print_columns(out, columns_of(table))
    out.print()
    out.print(Text(table.title, style="dim"))
    print_messages(out, warnings, notes)
