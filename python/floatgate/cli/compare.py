"""`floatgate compare`."""

from __future__ import annotations

import contextlib
import itertools
import json as json_text
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from floatgate.simulation.options import RunOptions

from . import options, output

if TYPE_CHECKING:
    import polars as pl

    from floatgate.results.comparison import Comparison

Vary = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=V1,V2,...",
        help="Values of a config key to compare; may be repeated. KEY1+KEY2=A1+A2,B1+B2 changes "
        "the keys together.",
    ),
]
Workers = Annotated[
    int | None, typer.Option(help="Number of runs in parallel (default: one per core).")
]
Seeds = Annotated[
    str | None,
    typer.Option(
        metavar="N|S1,S2,...",
        help="Repeat each run with N seeds from --seed on, or with these; adds 95 % intervals.",
    ),
]
Baseline = Annotated[
    str | None,
    typer.Option(
        metavar="KEY=VALUE,...",
        help="Show differences to the runs with these values (with --seeds, default: the first).",
    ),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume", help="Continue an interrupted comparison: keep the runs already in --out."
    ),
]

DEFAULT_OUT = Path("floatgate-compare")

REPORT = "report.html"

RUNS = "runs"
"""Directory in --out that stores each run as soon as it has ended."""


PRINTERS = {True: "floatgate.results.comparison", False: "floatgate.cli.summary"}
"""Module that prints the result, with and without --json."""


@options.takes_run_options()
def compare(
    traces: Annotated[list[str], typer.Argument(metavar="TRACE...", help=options.TRACE_HELP)],
    *,
    vary: Vary = None,
    device: options.Device = None,
    set: options.Set = None,
    lanes: options.Lanes = None,
    lanes_at: options.LanesAt = None,
    seeds: Seeds = None,
    baseline: Baseline = None,
    workers: Workers = None,
    latencies: options.Latencies = None,
    how: RunOptions,
    out: options.Out = None,
    force: options.Force = False,
    resume: Resume = False,
    pictures: options.Pictures = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Simulate every trace with every combination of values, in parallel.

    Writes a report, and the table as Parquet and CSV, into --out DIR (default: floatgate-compare,
    or the next free floatgate-compare-N; --json alone writes no files). Each run is stored there as
    soon as it has ended; --resume reuses it.
    """
    varied = _varied(vary, traces, seeds)
    keys = options.settings(set, latencies=latencies, lanes=lanes, lanes_at=lanes_at)
    base = _baseline(baseline, varied)
    if out is None and resume:
        out = _last_out()
    inputs = [*traces, device, *_values(varied).get("device", ())]
    with (
        output.folder(out, DEFAULT_OUT, force=force, is_written=bool(pictures) or not json) as out,
        output.staged(out, force=force or resume, inputs=inputs, quiet=quiet) as part,
    ):
        from floatgate import api

        with output.progress_bar(quiet) as bar, _kept(out, quiet) as keep:
            results = api.compare_results(
                traces,
                vary=varied,
                device=device,
                set=keys,
                seeds=_seeds(seeds),
                workers=workers,
                keep=keep,
                resume=resume,
                progress=output.importing(PRINTERS[json], bar),
                **vars(how),
            )
        tables = _tables(results, seeds is not None, base)
        document = _document(results, tables)
        if part:
            _write(results, document, tables, part, pictures, base)
    if json:
        output.print_json(document)
    else:
        _print(results, tables.get("summary"))
    _say(document["warnings"], out, quiet)


def _tables(
    results: Comparison, several: bool, base: Mapping[str, str] | None
) -> dict[str, pl.DataFrame]:
    """Returns the table of all runs, and with seeds or a baseline also means and differences."""
    tables = {"table": results.table()}
    if several or base:
        tables["summary"] = results.summary(base)
    return tables


def _say(warnings: Sequence[str], out: Path | None, quiet: bool) -> None:
    """Prints the warnings and the path of the report."""
    texts = [f"warning: {text}" for text in warnings]
    for text in [*texts, f"report: {out / REPORT}"] if out else texts:
        output.say(text, quiet)


def _last_out() -> Path:
    """Returns the default directory for --resume: the last unfinished one, else the last."""
    there = [*itertools.takewhile(Path.is_dir, output.numbered(DEFAULT_OUT))]
    unfinished = [folder for folder in there if not (folder / REPORT).exists()]
    return [DEFAULT_OUT, *there, *unfinished][-1]


def _document(results: Comparison, tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """Returns the document for `--json`: tables, keys that changed nothing, and all results."""
    from floatgate.results.table import idle_keys

    table = tables["table"]
    idle = [
        f"{key} changes nothing: runs that differ in it alone are equal"
        for key in idle_keys(table, results.keys)
    ]
    if "seed" in table.columns and idle_keys(table, ["seed"]):
        idle.append(
            "the seeds change nothing: runs that differ in the seed alone are equal, so an "
            "interval of 0 is meaningless; nothing in these runs is random (with --set "
            "start.fill=random, each seed gives the drive a different start)"
        )
    document: dict[str, Any] = {name: table.to_dicts() for name, table in tables.items()}
    return document | {"warnings": idle, "results": [result.to_dict() for result in results]}


def _seeds(text: str | None) -> int | list[int] | None:
    if text is None:
        return None
    try:
        found = [int(one) for one in text.split(",")]
    except ValueError:
        words = f"{text!r}; expected a number of seeds, or seeds between commas"
        raise typer.BadParameter(words, param_hint="'--seeds'") from None
    return found if "," in text else found[0]


def _values(varied: Mapping[Any, list[Any]]) -> dict[str, list[str]]:
    from floatgate.simulation import configs

    return configs.by_key(configs.axes(varied))


def _baseline(text: str | None, varied: Mapping[Any, list[Any]]) -> dict[str, str] | None:
    """Returns the baseline's values; raises for a wrong key or value before anything runs.

    If keys change together, one of them is enough, provided that its value occurs only once.
    """
    if text is None:
        return None
    base = options.pairs("--baseline", text.split(","))
    known = _values(varied)
    for key, value in base.items():
        if value not in known.get(key, []):
            values = ", ".join(dict.fromkeys(known.get(key, [])))
            words = f"={value}; expected one of {values}" if values else " does not vary"
            raise _wrong_baseline(f"{key}{words}")
    for keys, points in varied.items():
        if isinstance(keys, tuple) and base.keys() & {*keys}:
            pairs = [dict(zip(keys, point, strict=True)) for point in points]
            found = [one for one in pairs if one | base == base | one]
            if len(found) != 1:
                expected = " or ".join("+".join(point) for point in points)
                raise _wrong_baseline(f"{'+'.join(keys)}: expected the values of {expected}")
            base |= found[0]
    return base


def _wrong_baseline(words: str) -> typer.BadParameter:
    return typer.BadParameter(words, param_hint="'--baseline'")


@contextlib.contextmanager
def _kept(out: Path | None, quiet: bool) -> Iterator[Path | None]:
    """Yields the directory that stores the runs.

    If the comparison fails, prints how many runs the directory has, and how to continue.
    """
    if out is None:
        yield None
        return
    keep, made = out / RUNS, not out.exists()
    try:
        yield keep
    except BaseException:
        if ended := len([*keep.glob("*.json")]):
            runs = f"{ended} run{'s' * (ended > 1)}"
            output.say(f"note: {runs} kept in {keep}; --resume --out {out} continues there", quiet)
        # Removes directories that are still empty because no run could be written.
        for folder in (keep, out) if made else (keep,):
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


def _print(results: Comparison, summary: pl.DataFrame | None) -> None:
    if summary is None:
        from .summary import print_comparison

        print_comparison(results, results.keys)
    else:
        from .interval_summary import print_intervals

        print_intervals(summary, results.keys, results)


def _varied(texts: list[str] | None, traces: list[str], seeds: str | None) -> dict[Any, list[Any]]:
    """Returns the values of each key to vary.

    Without such a key, the call must have several traces or seeds.
    """
    varied = options.varied("--vary", texts)
    if not varied and len(traces) < 2 and seeds is None:
        raise typer.BadParameter(
            "nothing to compare: give --vary, --seeds, or more traces", param_hint="'--vary'"
        )
    return varied


def _write(
    results: Comparison,
    document: dict[str, Any],
    tables: Mapping[str, pl.DataFrame],
    directory: Path,
    pictures: options.PictureKind | None,
    baseline: Mapping[str, str] | None,
) -> None:
    """Writes results.json, tables as Parquet and CSV, report.html, and pictures if requested."""
    from floatgate.files.writing import write_table
    from floatgate.report import write_pictures, write_report
    from floatgate.results.table import latency_rows

    text = json_text.dumps(document, indent=2, ensure_ascii=False)
    (directory / "results.json").write_text(text + "\n", "utf-8")
    for name, table in tables.items():
        write_table(directory, name, table)
    if (latencies := latency_rows(results, results.keys)) is not None:
        write_table(directory, "latencies", latencies)
    write_report(results, directory / REPORT, baseline=baseline)
    if pictures:
        write_pictures(results, directory, pictures)
