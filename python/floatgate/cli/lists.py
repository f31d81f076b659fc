"""`floatgate devices`, `policies`, `schema`, `predict`: lists of choices, and closed forms."""

from __future__ import annotations

import json as json_text
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from . import options, output

Measure = Annotated[
    bool,
    typer.Option(
        "--measure", help="Print a data sheet, measured on the model; NAME may be a TOML file."
    ),
]
Quick = Annotated[
    bool, typer.Option("--quick", help="For --measure: a smaller drive and shorter runs.")
]


def devices(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="The preset to show.")
    ] = None,
    measure: Measure = False,
    quick: Quick = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """List the preset drives, print one as TOML, or measure its data sheet."""
    from floatgate import _core

    if measure:
        _measure(name, quick, json, quiet)
        return
    if quick:
        raise typer.BadParameter("is for --measure", param_hint="'--quick'")
    presets = json_text.loads(_core.presets())
    if name is not None:
        presets = [preset for preset in presets if preset["name"] == name]
        if not presets:
            _core.Config.resolve(name, None, [])  # raises an error that lists the names
    if json:
        output.print_json(presets if name is None else presets[0])
    elif name is not None:
        sys.stdout.write(presets[0]["toml"])
    else:
        keys = ("name", "summary", "source")
        _table([[preset[key] for key in keys] for preset in presets], keys, has_titles=False)


def _measure(name: str | None, quick: bool, json: bool, quiet: bool) -> None:
    if name is None:
        raise typer.BadParameter("needs the name of a device", param_hint="'--measure'")
    from floatgate.analysis.datasheet import measure_device

    with output.progress_bar(quiet) as progress:
        sheet = measure_device(name, quick=quick, progress=progress)
    if json:
        output.print_json(sheet.to_dict())
    else:
        from .datasheet import print_sheet

        print_sheet(sheet)


def policies(
    name: Annotated[
        str | None, typer.Argument(help="The policy to show, or python:FILE.py.")
    ] = None,
    json: options.Json = False,
) -> None:
    """List the policies of each axis with their sources, or show one with its parameters."""
    from floatgate.guests.registry import listed, named

    axes = listed() if name is None else named(name)
    if json:
        output.print_json(axes)
        return
    out = output.console()
    for axis, rows in axes.items():
        out.print(axis, style="bold")
        if name is None:
            found = [["  " + row["name"], row["doc"], row["source"]] for row in rows]
            _table(found, ["policy", "summary", "source"], has_titles=False)
        else:
            for row in rows:
                _policy(row)
        out.print()


def schema(
    result: Annotated[
        bool,
        typer.Option(
            "--result", help="Print the schema of results instead: every field, its unit."
        ),
    ] = False,
) -> None:
    """Print the JSON Schema of the config: every key, its default, its range."""
    from floatgate import _core

    output.print_json(json_text.loads(_core.result_schema() if result else _core.schema()))


def predict(
    spare_factor: Annotated[
        float, typer.Option(help="Spare factor (T-U)/T: T physical and U logical pages.")
    ] = 0.07,
    pages_per_block: Annotated[int, typer.Option(help="Pages in an erase unit.")] = 128,
    hot: Annotated[
        str | None,
        typer.Option(metavar="R/F", help="Share R of the writes goes to share F of the pages."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Predict write amplification from closed forms, without a simulation."""
    from floatgate import models

    mix = None if hot is None else models.parse_hot(hot)
    prediction = models.predict(spare_factor=spare_factor, pages_per_block=pages_per_block, hot=mix)
    if json:
        output.print_json(prediction.to_dict())
        return
    spare, over = prediction.spare_factor, prediction.over_provisioning
    print(f"spare factor {spare:.4g}, that is over-provisioning {over:.4g}")
    print(f"{prediction.pages_per_block} pages per erase unit; WA is write amplification\n")
    rows = [
        [row.policy, f"{row.write_amplification:.4f}", row.assumption, row.source]
        for row in prediction.rows
    ]
    _table(rows, ["cleaning", "WA", "holds for", "source"], numbers=[1])


def generators(name: str | None, json: bool) -> None:
    """Prints the generators with their keys, or only the named generator."""
    from floatgate import _core

    rows = json_text.loads(_core.generators())
    if name is not None:
        name = name.partition(":")[0]
        rows = [row for row in rows if row["name"] == name]
        if not rows:
            _core.Workload.generator(name, 0)  # raises an error that lists the names
    if json:
        output.print_json(rows)
        return
    out = output.console()
    for row in rows:
        own = row["keys"] if name else _own(row, rows)
        out.print(row["name"], style="bold")
        out.print(f"  {row['doc']}")
        out.print(f"  example: {row['example']}")
        out.print(f"  source: {row['source']}")
        if own:
            _keys(own)
        out.print()
    if name is None:
        for names, keys in _shared(rows).items():
            others = [row["name"] for row in rows if row["name"] not in names]
            but = f", but not of {' and '.join(others)}" if others else ""
            out.print(f"keys of all{but}", style="bold")
            _keys(keys)
            out.print()


def _own(row: dict[str, Any], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the keys of a generator that no other generator has with the same meaning."""
    return [key for key in row["keys"] if sum(key in other["keys"] for other in rows) == 1]


def _shared(rows: list[dict[str, Any]]) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    """Returns the keys that several generators share, by the names of these generators."""
    shared: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    seen: list[dict[str, Any]] = []
    for key in (key for row in rows for key in row["keys"]):
        names = tuple(row["name"] for row in rows if key in row["keys"])
        if len(names) > 1 and key not in seen:
            seen.append(key)
            shared.setdefault(names, []).append(key)
    return shared


def _keys(keys: list[dict[str, Any]]) -> None:
    rows = [["  " + key["name"], key["default"] or "-", key["doc"]] for key in keys]
    _table(rows, ["  key", "default", "meaning"])


def _policy(row: dict[str, Any]) -> None:
    out = output.console()
    out.print(f"  {row['name']}: {row['doc']}")
    out.print(f"  source: {row['source']}")
    if row["parameters"]:
        keys = [
            [
                "  " + key["name"],
                _value(key["default"]),
                key["expected"],
                " ".join(key["doc"].split()),
            ]
            for key in row["parameters"]
        ]
        _table(keys, ["  key", "default", "expected", "meaning"])


def _value(default: Any) -> str:
    return default if isinstance(default, str) else json_text.dumps(default)


def _table(
    rows: list[list[str]],
    headers: Sequence[str],
    numbers: Sequence[int] = (),
    has_titles: bool = True,
) -> None:
    """Prints rows in columns without lines; the columns `numbers` are aligned right."""
    from .columns import Column, label, print_columns, prose

    columns = []
    for at, title in enumerate(headers):
        cells = [row[at] for row in rows]
        shown = title if has_titles else ""
        if at == 0:
            columns.append(label(shown, cells))
        elif at in numbers:
            columns.append(Column(shown, cells, name=title.strip()))
        else:
            columns.append(prose(shown, cells, title))
    print_columns(output.console(), columns)
