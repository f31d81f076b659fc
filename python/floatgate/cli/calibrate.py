"""`floatgate calibrate`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import calibrate_jobs, options, output

if TYPE_CHECKING:
    from rich.console import Console

    from floatgate.calibrate import Calibration, Forecast
    from floatgate.calibrate.study import Told

Column = tuple[str, list[str]]
"""Title and cells."""

COLUMNS_MOST = 8
WHOLE_FROM = 1000
"""From this value on, numbers are printed without decimals."""
LABELS = 2
"""Number of columns that name a row."""
GAP = 2
"""Blanks between two columns of a table."""

Data = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="DATA...",
        help="Measurements of one drive: write amplification over volumes as CSV (columns run, "
        "namespace_gib, phase, host_volumes, wa), latency under load as CSV (drive, group, "
        "rate_iops, ...; docs/fitting.md lists all), or fio's --output-format=json.",
    ),
]
Start = Annotated[
    str | None,
    typer.Option(
        "--device",
        metavar="NAME|START.toml",
        help="The drive to start from, at its full size (flash.blocks, or --size).",
        autocompletion=options.presets,
    ),
]
Size = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Capacity of the measured drive for the host, such as 1.92TB; it determines "
        "flash.blocks, which presets do not set.",
    ),
]
Keys = Annotated[
    str | None,
    typer.Option(
        "--fit", metavar="KEY[=LOW..HIGH],...", help="Config keys to fit, and the ranges to search."
    ),
]
Predict = Annotated[
    bool,
    typer.Option("--predict", help="Fit nothing; simulate the runs on the drive as given."),
]
Runs = Annotated[
    str | None,
    typer.Option(
        "--run",
        metavar="NAME,...",
        help="Runs of DATA to fit to, or to simulate with --predict (default: all). The name of a "
        "fio job selects all of its runs.",
    ),
]
Holdout = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,...|rest",
        help="Runs to predict, which the fit does not use (default: rest).",
    ),
]
Scale = Annotated[
    str | None,
    typer.Option(
        metavar="1/N",
        help="Size of the simulated drive relative to the measured drive (default: 1/256; for "
        "latency 1/1024).",
    ),
]
Noise = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="Relative difference between repeated measurements (default: from repeated runs of "
        "DATA).",
    ),
]
NoIntervals = Annotated[
    bool,
    typer.Option(
        "--no-intervals",
        help="Find only the best values, not the intervals that explain the data as well; faster.",
    ),
]
Drive = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="DRIVE.toml", help="The fitted drive to write."),
]


def calibrate(
    data: Data = None,
    *,
    device: Start = None,
    size: Size = None,
    set: options.Set = None,
    fit: Keys = None,
    predict: Predict = False,
    out: Drive = None,
    run: Runs = None,
    holdout: Holdout = None,
    scale: Scale = None,
    noise: Noise = None,
    no_intervals: NoIntervals = False,
    recipe: calibrate_jobs.Recipe = None,
    from_jobs: calibrate_jobs.FromJobs = None,
    seed: options.Seed = 1,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Fit a drive to measurements of a real one, and predict the runs it was not fitted to.

    The fitted values explain the data best within this model; they are not facts about a product. A
    fit that explains nothing is printed and refused: exit status 1, and no drive is written. With
    --predict nothing is fitted, and the runs are compared with the drive as given.

    --recipe and --from-jobs do without a drive to start from: fio runs the jobs of the recipe, and
    their results determine the drive's parameters, each with an interval or the reason why not.
    """
    if recipe or from_jobs:
        others: dict[str, object] = {"DATA": data, "--device": device, "--fit": fit, "--set": set}
        others |= {"--predict": predict, "--run": run, "--holdout": holdout, "--scale": scale}
        others |= {"--noise": noise is not None, "--no-intervals": no_intervals}
        call = calibrate_jobs.Call(recipe, from_jobs, size, out, seed, force, json, quiet)
        calibrate_jobs.play(call, others)
        return
    if not data or device is None:
        raise typer.BadParameter(
            "missing; expected DATA and --device, or --recipe or --from-jobs",
            param_hint="'DATA'" if not data else "'--device'",
        )
    common: dict[str, Any] = {
        "device": device,
        "set": options.pairs("--set", set),
        "size": size,
        "run": None if run is None else _names("--run", run),
        "scale": _scale(scale),
        "seed": seed,
    }
    if predict:
        of_fits = {"--fit": fit, "--out": out, "--holdout": holdout, "--noise": noise}
        _refuse_beside_predict(of_fits | {"--no-intervals": no_intervals or None})
        _predict(data, common, json=json, quiet=quiet)
        return
    if fit is None or out is None:
        raise _missing({"--fit": fit, "--out": out})
    common |= {"noise": noise, "intervals": not no_intervals}
    _fit(data, common, fit, holdout, out, force=force, json=json, quiet=quiet)


def _missing(needed: Mapping[str, object]) -> typer.BadParameter:
    missing = [f"'{name}'" for name, value in needed.items() if value is None]
    return typer.BadParameter(
        "missing; expected --fit KEY,... and --out DRIVE.toml, or --predict to fit nothing",
        param_hint=" and ".join(missing),
    )


def _refuse_beside_predict(given: Mapping[str, object]) -> None:
    for option, value in given.items():
        if value is not None:
            raise typer.BadParameter(
                "is of a fit; leave it out with --predict, which fits nothing",
                param_hint=f"'{option}'",
            )


def _fit(
    data: list[Path],
    common: Mapping[str, Any],
    fit: str,
    holdout: str | None,
    out: Path,
    *,
    force: bool,
    json: bool,
    quiet: bool,
) -> None:
    file = Path(common["device"])
    inputs = [*data, file] if file.is_file() else data
    with output.staged_file(out, force=force, inputs=inputs) as part:
        from floatgate.calibrate import calibrate
        from floatgate.calibrate.drive_file import drive_toml

        with output.progress_lines(quiet) as progress:
            found = calibrate(
                data,
                fit_keys=_names("--fit", fit),
                holdout="rest" if holdout in (None, "rest") else _names("--holdout", holdout),
                progress=progress,
                **common,
            )
        if json:
            output.print_json(found.document())
        else:
            _print(found)
        start = file.read_text("utf-8") if file.is_file() else ""
        part.write_text(drive_toml(found, start), "utf-8")
    output.say(f"drive: {out}", quiet)


def _predict(data: list[Path], common: Mapping[str, Any], *, json: bool, quiet: bool) -> None:
    from floatgate.calibrate import predict

    with output.progress_lines(quiet) as progress:
        found = predict(data, progress=progress, **common)
    if json:
        output.print_json(found.document())
        return
    out = output.console()
    out.print(f"{found.drive}: {found.kind}, nothing fitted; pages at 1/{found.scale:g}")
    _print_runs(out, [("predicted", one) for one in found.predicted], found)


def _names(option: str, text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if "" in names:
        raise typer.BadParameter(
            f"{text!r}; expected names between commas", param_hint=f"'{option}'"
        )
    return names


def _scale(text: str | None) -> float | None:
    if text is None:
        return None
    one, _, by = text.partition("/")
    if one.strip() != "1" or not by.strip().isdecimal() or int(by) < 1:
        raise typer.BadParameter(f"{text!r}; expected 1/N", param_hint="'--scale'")
    return float(by)


def _print(found: Calibration) -> None:
    out = output.console()
    fit = found.fit
    runs = ", ".join(found.runs)
    out.print(f"{found.drive}: {found.kind}, fitted to {runs}; pages at 1/{found.scale:g}")
    for one in fit.fitted:
        key, interval = one.key, one.interval
        as_good = (
            f"{key.text(interval.low)} to {key.text(interval.high)} explain the data as well"
            if interval
            else "interval not computed"
        )
        out.print(f"  {key.name} = {key.text(one.value)}", style="bold", end="")
        out.print(f"  ({as_good}; searched {key.text(key.low)} to {key.text(key.high)})")
    out.print(
        f"error {100 * fit.error:.2f} % rms in {fit.evaluations} simulations; repeated runs differ "
        f"by {100 * fit.noise:.2f} % ({found.noise_from})"
    )
    for text in fit.indistinct:
        out.print(f"the data do not determine: {text}", style="yellow")
    rows = [("fitted", one) for one in found.on_fitted]
    _print_runs(out, rows + [("held out", one) for one in found.held_out], found)


def _print_runs(out: Console, rows: list[tuple[str, Told]], found: Calibration | Forecast) -> None:
    """Prints the runs next to their simulations, the runs at other scales, and the notes."""
    rows += [(f"at 1/{one.scale:g}", one.told) for one in found.scales]
    for head, lines in _tables(rows, out.width):
        out.print(head, style="dim", soft_wrap=True)
        out.print(lines, soft_wrap=True)
    for why in dict.fromkeys(found.left_out.values()):
        names = ", ".join(name for name, reason in found.left_out.items() if reason == why)
        out.print(f"left out: {names}: {why}", style="dim")
    for note in found.notes:
        out.print(f"note: {note}", style="dim")


def _shown(names: Iterable[str]) -> list[str]:
    """Returns the columns to print; of too many, leaves out measured and simulated values."""
    all_names = list(names)
    if len(all_names) <= COLUMNS_MOST:
        return all_names
    return [name for name in all_names if not name.endswith(("_measured", "_simulated"))]


def _tables(rows: list[tuple[str, Told]], width: int) -> Iterator[tuple[str, str]]:
    """Splits the table into parts, one below the other, each with as many columns as fit `width`.

    Yields the head and the rows of each part as text. Labels and numbers are never shortened or
    wrapped, whatever the width.
    """
    columns = [
        (name.replace("_", " "), [_cell(name, one.numbers.get(name)) for _, one in rows])
        for name in _shown(dict.fromkeys(name for _, one in rows for name in one.numbers))
    ]
    labels = [("run", [one.run for _, one in rows]), ("", [role for role, _ in rows])]
    room = width - sum(_width(*one) + GAP for one in labels)
    for part in _parts(columns, room):
        shown = [*labels, *part]
        titles = [textwrap.wrap(title, _width(title, cells)) for title, cells in shown]
        heads = zip_longest(*titles, fillvalue="")
        body = zip(*(cells for _, cells in shown), strict=True)
        widths = [_width(*one) for one in shown]
        yield _text(heads, widths), _text(body, widths)


def _text(lines: Iterable[Iterable[str]], widths: Sequence[int]) -> str:
    """Aligns lines of cells: the first two are labels, to the left; numbers are to the right."""
    gap = " " * GAP
    return "\n".join(
        gap.join(
            cell.ljust(width) if i < LABELS else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def _parts(columns: Sequence[Column], room: int) -> Iterator[list[Column]]:
    """Groups the columns so that each group fits side by side; a group has at least one column."""
    part: list[Column] = []
    left = room
    for column in columns:
        needed = _width(*column) + GAP
        if part and needed > left:
            yield part
            part, left = [], room
        part.append(column)
        left -= needed
    if part:
        yield part


def _width(title: str, cells: Sequence[str]) -> int:
    """Returns the width of a column: cells stay whole, and titles wrap between words."""
    return max(map(len, ["", *title.split(), *cells]))


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return ""
    if name.endswith("_error"):
        return f"{100 * value:+.1f} %"
    if name.startswith("curve_"):
        return f"{100 * value:.1f} %"
    return f"{value:.0f}" if abs(value) >= WHOLE_FROM else f"{value:.4g}"
