"""`floatgate calibrate` with fio jobs: writes the recipe, and reads its results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from . import output

if TYPE_CHECKING:
    from floatgate.calibrate.jobs.identify import Identified

Recipe = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.fio",
        help="Write fio jobs that measure a drive of --size, and end. The jobs destroy its data.",
    ),
]
FromJobs = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Identify a drive from fio's --output-format=json+ of the recipe, in this directory; "
        "without DATA, --device and --fit.",
    ),
]


class Call(NamedTuple):
    """Options of a call with `--recipe` or `--from-jobs`."""

    recipe: Path | None
    from_jobs: Path | None
    size: str | None
    out: Path | None
    seed: int
    force: bool
    json: bool
    quiet: bool


def play(call: Call, others: Mapping[str, object]) -> None:
    """Writes the recipe, or identifies a drive; `others` are options without a meaning here."""
    if call.recipe is not None:
        _refuse({**others, "--from-jobs": call.from_jobs, "--out": call.out}, "--recipe")
        _write_recipe(call.recipe, call)
    elif call.from_jobs is not None:
        _refuse({**others, "--size": call.size}, "--from-jobs")
        _identify(call.from_jobs, call)


def _refuse(given: Mapping[str, object], option: str) -> None:
    for name, value in given.items():
        if value:
            raise typer.BadParameter(f"leave it out with {option}", param_hint=f"'{name}'")


def _write_recipe(file: Path, call: Call) -> None:
    if call.size is None:
        raise typer.BadParameter(
            "missing; expected the capacity of the drive, such as 1.92TB", param_hint="'--size'"
        )
    from floatgate import _core
    from floatgate.calibrate.jobs.recipe import recipe_text

    text = recipe_text(_core.parse_size("--size", call.size))
    with output.staged_file(file, force=call.force, option="--recipe") as part:
        part.write_text(text, "utf-8")
    output.say(f"recipe: {file}", call.quiet)


def _identify(directory: Path, call: Call) -> None:
    """Identifies a drive, prints its parameters, and writes the drive if the call has a file."""
    if call.out is None:
        _print_identified(directory, call)
        return
    from floatgate.calibrate.jobs.written import drive_toml

    inputs = sorted(directory.glob("*.json"))
    with output.staged_file(call.out, force=call.force, inputs=inputs) as part:
        part.write_text(drive_toml(_print_identified(directory, call)), "utf-8")
    output.say(f"drive: {call.out}", call.quiet)


def _print_identified(directory: Path, call: Call) -> Identified:
    from floatgate.calibrate.jobs.identify import identify

    with output.progress_lines(call.quiet) as progress:
        found = identify(directory, seed=call.seed, progress=progress)
    if call.json:
        output.print_json(_document(found))
    else:
        _print(found)
    return found


def _document(found: Identified) -> dict[str, Any]:
    rows = [
        {"name": one.name, "unit": one.unit, "value": one.value, "interval": [one.low, one.high]}
        | {"jobs": one.jobs, "note": one.why}
        for one in found.estimates
    ]
    return {"size": found.size, "parameters": rows, "assumed": list(found.assumed)}


def _print(found: Identified) -> None:
    from floatgate.calibrate.jobs.written import interval, quantity

    out = output.console()
    out.print(f"a drive of {found.size:,} bytes, from {found.directory}")
    cells = [
        (one.name, quantity(one.value, one.unit) or "not known", interval(one), one.jobs)
        for one in found.estimates
    ]
    widths = [max(len(row[at]) for row in cells) for at in range(4)]
    for row in cells:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        out.print(f"  {line.rstrip()}", soft_wrap=True, highlight=False)
    for one in found.estimates:
        if not one.is_known:
            out.print(f"cannot be told: {one.name}: {one.why}", style="yellow", soft_wrap=True)
    out.print(f"assumed: {', '.join(found.assumed)}", style="dim", soft_wrap=True)
