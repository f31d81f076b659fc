"""`floatgate trace info`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from . import options, output

if TYPE_CHECKING:
    from floatgate.analysis.hotness import Hotness

Source = Annotated[str, typer.Argument(metavar="TRACE", help=options.TRACE_HELP)]
MapCurve = Annotated[
    bool, typer.Option("--map-curve", help="Show the hit ratio of a map cache by its size.")
]
Page = Annotated[
    str | None, typer.Option(metavar="SIZE", help="The curve's page size (default: 4KiB).")
]
Sample = Annotated[
    str | None,
    typer.Option(
        metavar="RATE|exact",
        help="Share of the pages to sample, or exact for all (default: sample long traces).",
    ),
]
HotnessFlag = Annotated[
    bool, typer.Option("--hotness", help="Show hot data, skew, overwrites and sequentiality.")
]
Gb = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE", help="Bytes written per sequence of --hotness (default: 1GB, 10^9 B)."
    ),
]
HotFrom = Annotated[
    int | None, typer.Option(help="A page is hot from this many writes in a sequence (default: 4).")
]
Rounding = Annotated[
    Literal["cover", "truncate"] | None,
    typer.Option(
        help="Count every page that a write touches (default), or only pages written whole."
    ),
]
Partial = Annotated[
    bool,
    typer.Option("--partial", help="Count the last sequence too, if it is incomplete."),
]
Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Write curve and hotness into DIR, as HTML and SVG."),
]


def info(
    trace: Source,
    format: options.TraceFormat = None,
    time_unit: options.TimeUnit = None,
    address_unit: options.AddressUnit = None,
    length_unit: options.LengthUnit = None,
    columns: options.Columns = None,
    close_gaps: options.CloseGaps = None,
    map_curve: MapCurve = False,
    page: Page = None,
    sample: Sample = None,
    hotness: HotnessFlag = False,
    gb: Gb = None,
    hot_from: HotFrom = None,
    rounding: Rounding = None,
    partial: Partial = False,
    seed: options.Seed = 1,
    out: Out = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show a trace: its requests, footprint, devices, and the units assumed."""
    _belong("--map-curve", map_curve, {"--page": page, "--sample": sample})
    how = {"gb": gb, "hot_from": hot_from, "rounding": rounding, "partial": partial or None}
    _belong("--hotness", hotness, {f"--{key.replace('_', '-')}": how[key] for key in how})
    _belong("--map-curve or --hotness", map_curve or hotness, {"--out": out})
    with output.staged(out, force=force, inputs=[trace], quiet=quiet) as part:
        from floatgate.analysis import hotness as hot_data
        from floatgate.analysis import map_curve as curves
        from floatgate.traces import trace_info

        curve_options = curves.parse_options(page or "4KiB", sample)
        hot_options = hot_data.parse_options(**_given(how))
        with output.progress_bar(quiet) as progress:
            units = options.units(time_unit, address_unit, length_unit)
            source, read = curves.read_source(
                trace,
                seed=seed,
                format=format,
                units=units,
                columns=columns,
                close_gaps=close_gaps,
            )
            document = trace_info(read)
            found = hot_data.hotness_of(source, hot_options, progress) if hotness else None
            if found:
                document["hotness"] = found.to_dict()
            if map_curve:
                document["map_curve"] = curves.curve_of(source, *curve_options, progress)
        pages = [] if part is None else _write(document.get("map_curve"), found, part)
    if json:
        output.print_json(document)
    else:
        _print(document, found)
    for name in pages:
        output.say(f"page: {out / name}" if out else "", quiet)


def _belong(owner: str, given: bool, belongings: Mapping[str, Any]) -> None:
    """Raises `BadParameter` for an option without the option that it belongs to."""
    for option, value in belongings.items():
        if value is not None and not given:
            raise typer.BadParameter(f"is for {owner}", param_hint=f"'{option}'")


def _given(how: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the given options, with defaults for the others."""
    defaults = {"gb": "1GB", "hot_from": 4, "rounding": "cover", "partial": False}
    return defaults | {key: value for key, value in how.items() if value is not None}


def _write(curve: dict[str, Any] | None, found: Hotness | None, directory: Path) -> list[str]:
    """Writes the pages with their figures; returns the names of the pages."""
    from floatgate.report import write_hotness, write_map_curve

    written = []
    if curve is not None:
        written += write_map_curve(curve, directory)
    if found is not None:
        written += write_hotness(found, directory)
    return [path.name for path in written if path.suffix == ".html"]


def _print(document: Mapping[str, Any], found: Hotness | None) -> None:
    from .hot_summary import print_hotness
    from .summary import print_map_curve, print_trace

    print_trace(document)
    told = [*document["guessed"], *document["notes"]]
    if found is not None:
        print_hotness(found, told)
    if "map_curve" in document:
        print_map_curve(document["map_curve"], told)
