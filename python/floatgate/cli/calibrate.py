"""`floatgate calibrate`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options, output

if TYPE_CHECKING:
    from floatgate.calibrate import Calibration
    from floatgate.calibrate.study import Told

COLUMNS_MOST = 8

Data = Annotated[
    list[Path],
    typer.Argument(
        metavar="DATA...",
        help="Measurements of one drive: write amplification over volumes or latency under load "
        "as CSV, or fio's --output-format=json.",
    ),
]
Start = Annotated[
    str,
    typer.Option(
        "--device",
        metavar="NAME|START.toml",
        help="The drive to begin with, at its full size (flash.blocks).",
        autocompletion=options.presets,
    ),
]
Keys = Annotated[
    str,
    typer.Option(
        "--fit", metavar="KEY[=LOW..HIGH],...", help="Config keys to fit, and the ranges to search."
    ),
]
Runs = Annotated[
    str | None, typer.Option("--run", metavar="NAME,...", help="The runs of DATA to fit to.")
]
Holdout = Annotated[
    str,
    typer.Option(metavar="NAME,...|rest", help="The runs to predict, which are not fitted to."),
]
Scale = Annotated[
    str | None,
    typer.Option(
        metavar="1/N",
        help="How much smaller the simulated drive is (default: 1/256; for latency 1/1024).",
    ),
]
Noise = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="What repeated measurements differ by (default: what repeated runs of DATA do).",
    ),
]
Drive = Annotated[
    Path, typer.Option("--out", "-o", metavar="DRIVE.toml", help="The fitted drive to write.")
]


def calibrate(
    data: Data,
    *,
    device: Start,
    fit: Keys,
    out: Drive,
    run: Runs = None,
    holdout: Holdout = "rest",
    scale: Scale = None,
    noise: Noise = None,
    seed: options.Seed = 1,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Fit a drive to measurements of a real one, and predict the runs it was not fitted to.

    What is fitted explains the data best within this model; it is no fact of a product.
    """
    file = Path(device)
    inputs = [*data, file] if file.is_file() else data
    with output.staged_file(out, force=force, inputs=inputs) as part:
        from floatgate.calibrate import calibrate
        from floatgate.calibrate.drive_file import drive_toml

        with output.progress_bar(quiet) as progress:
            found = calibrate(
                data,
                device=device,
                fit_keys=_names("--fit", fit),
                run=None if run is None else _names("--run", run),
                holdout=holdout if holdout == "rest" else _names("--holdout", holdout),
                scale=_scale(scale),
                seed=seed,
                noise=noise,
                progress=progress,
            )
        start = file.read_text("utf-8") if file.is_file() else ""
        part.write_text(drive_toml(found, start), "utf-8")
    if json:
        output.print_json(found.document())
    else:
        _print(found)
    output.say(f"drive: {out}", quiet)


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
        key = one.key
        out.print(f"  {key.name} = {key.text(one.value)}", style="bold", end="")
        out.print(
            f"  ({key.text(one.low)} to {key.text(one.high)} explain the data as well; ", end=""
        )
        out.print(f"searched {key.text(key.low)} to {key.text(key.high)})")
    out.print(
        f"error {100 * fit.error:.2f} % rms in {fit.evaluations} simulations; repeated runs differ "
        f"by {100 * fit.noise:.2f} % ({found.noise_from})"
    )
    for text in fit.indistinct:
        out.print(f"not told by the data: {text}", style="yellow")
    _table(
        [("fitted", one) for one in found.on_fitted] + [("held out", one) for one in found.held_out]
    )
    for at, numbers in found.scales:
        told = ", ".join(
            f"{name.replace('_', ' ')} {_cell(name, numbers[name])}" for name in _shown(numbers)
        )
        out.print(f"at 1/{at:g}: {told}", style="dim")
    for name, why in found.left_out.items():
        out.print(f"left out: {name}: {why}", style="dim")


def _shown(names: Iterable[str]) -> list[str]:
    """The numbers that fit on a line; where there are many, those of errors say it."""
    all_names = list(names)
    if len(all_names) <= COLUMNS_MOST:
        return all_names
    return [name for name in all_names if not name.endswith(("_measured", "_simulated"))]


def _table(rows: list[tuple[str, Told]]) -> None:
    from rich.table import Table

    names = _shown(dict.fromkeys(name for _, one in rows for name in one.numbers))
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("run", overflow="fold")
    table.add_column("")
    for name in names:
        table.add_column(name.replace("_", " "), justify="right")
    for role, one in rows:
        cells = (_cell(name, one.numbers.get(name)) for name in names)
        table.add_row(one.run, role, *cells)
    output.console().print(table)


def _cell(name: str, value: float | None) -> str:
    if value is None:
        return ""
    if name.endswith("_error"):
        return f"{100 * value:+.1f} %"
    return f"{100 * value:.1f} %" if name.startswith("curve_") else f"{value:.4g}"
