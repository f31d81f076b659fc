"""Options shared by several commands, and the parsing of KEY=VALUE."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from floatgate.simulation.options import RunOptions

TRACE_HELP = (
    "A trace file in any known format, plain or compressed, a directory of Parquet files, a URL, "
    "a fio job file (.fio), or a generator: NAME:key=value,... (floatgate trace generate --list)"
)


def presets(incomplete: str) -> list[str]:
    """Completes the names of drives for the shell."""
    import json

    from floatgate import _core

    names = [row["name"] for row in json.loads(_core.presets())]
    return [name for name in names if name.startswith(incomplete)]


Device = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|FILE.toml",
        help="The drive: a preset (default: classic) or a TOML file.",
        autocompletion=presets,
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Set a config key; may be repeated."),
]
Latencies = Annotated[
    Literal["summary", "full"] | None,
    typer.Option(
        help="Keep percentiles of the latencies, or all of them, by operation and by cause "
        "(latency.distribution)."
    ),
]
Lanes = Annotated[
    str | None,
    typer.Option(
        metavar="DURATION",
        help="Record what dies and channels do in a window of this length, such as 10ms, and draw "
        "it in the report.",
    ),
]
LanesAt = Annotated[
    str | None,
    typer.Option(
        metavar="worst|TIME",
        help="With --lanes: around the request that took longest (default), or around this time "
        "from the start of the run, such as 1.25s.",
    ),
]
Repeat = Annotated[int, typer.Option(help="Number of times to play the trace.")]
Limit = Annotated[
    int | None, typer.Option(help="Play only this many requests, from the start of the trace.")
]
Seed = Annotated[int, typer.Option(help="Seed of all random choices.")]
Addresses = Annotated[
    Literal["fold", "span", "modulo"],
    typer.Option(
        help="Drop untouched address ranges, keep them, or wrap onto a drive of flash.blocks."
    ),
]
TimeScale = Annotated[
    float, typer.Option(help="Factor on the times between requests; 0.5 plays twice as fast.")
]
Verify = Annotated[
    bool, typer.Option("--verify", help="Store and check the content of every page; slower.")
]
TraceFormat = Annotated[
    str | None,
    typer.Option(help="The format of the trace (default: detected); fio-jobs for a job file."),
]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Write the results into this directory.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace existing output files.")]
TimeUnit = Annotated[
    str | None, typer.Option(help="Unit of times in the file: ns, 100ns, us, ms or s.")
]
AddressUnit = Annotated[
    str | None,
    typer.Option(
        help="Unit of addresses in the file (not of lengths): bytes, sectors, pages, KiB or MiB."
    ),
]
LengthUnit = Annotated[
    str | None, typer.Option(help="Unit of lengths in the file: bytes, sectors, pages, KiB or MiB.")
]
CloseGaps = Annotated[
    str | None,
    typer.Option(
        metavar="DURATION", help="Shorten gaps between requests to at most this, such as 1h."
    ),
]
Streams = Annotated[
    Literal["trace", "device"],
    typer.Option(help="Source of placement handles: a column of the trace, or its devices."),
]
StartCache = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Store start states here, and reuse those of runs with the same drive and seed.",
    ),
]
Units = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Make erase units smaller until a drive without flash.blocks has about N "
        "(default for devices that name their class: 1024, or fewer of 256 pages).",
    ),
]
FullSize = Annotated[
    bool, typer.Option("--full-size", help="Keep the erase units of the device at full size.")
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="time=N,op=N,offset=N,length=N",
        help="Columns of delimited text, each by number or by name.",
    ),
]
PictureKind = Literal["svg", "png"]
Pictures = Annotated[
    PictureKind | None,
    typer.Option(help="Also write the report's figures as pictures."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no messages.")]


RUN: dict[str, Any] = {
    "repeat": Repeat,
    "limit": Limit,
    "seed": Seed,
    "addresses": Addresses,
    "time_scale": TimeScale,
    "verify": Verify,
    "format": TraceFormat,
    "close_gaps": CloseGaps,
    "streams": Streams,
    "start_cache": StartCache,
    "units": Units,
    "full_size": FullSize,
}
"""Command-line options for the fields of `RunOptions`."""


def takes_run_options(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replaces a command's parameter `how` by the options of a run, or by those in `names`.

    The command receives these options as `RunOptions`.
    """
    keyword = inspect.Parameter.KEYWORD_ONLY
    taken = [option for option in fields(RunOptions) if option.name in (names or RUN)]
    shared = [
        inspect.Parameter(one.name, keyword, annotation=RUN[one.name], default=one.default)
        for one in taken
    ]

    def give(command: Callable[..., None]) -> Callable[..., None]:
        parameters = []
        for own in inspect.signature(command, eval_str=True).parameters.values():
            parameters += shared if own.name == "how" else [own.replace(kind=keyword)]

        @functools.wraps(command)
        def call(**given: Any) -> None:
            how = RunOptions(**{one.name: given.pop(one.name) for one in taken})
            command(**given, how=how)

        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {one.name: one.annotation for one in parameters}
        return call

    return give


def pairs(option: str, texts: Sequence[str] | None) -> dict[str, str]:
    """Parses KEY=VALUE texts into a dict.

    Raises `BadParameter` for a key without value or a repeated key.
    """
    found: dict[str, str] = {}
    for text in texts or ():
        key, equals, value = (part.strip() for part in text.partition("="))
        if not (key and equals and value):
            raise typer.BadParameter(f"{text!r}; expected KEY=VALUE", param_hint=f"'{option}'")
        if key in found:
            raise typer.BadParameter(f"{key} is given twice", param_hint=f"'{option}'")
        found[key] = value
    return found


def settings(
    texts: Sequence[str] | None, *, latencies: str | None, lanes: str | None, lanes_at: str | None
) -> dict[str, str]:
    """Returns the config keys from --set and from the options that set a config key.

    Raises `BadParameter` if --set and such an option disagree.
    """
    found = pairs("--set", texts)
    own = {
        "latency.distribution": ("--latencies", latencies),
        "lanes.window": ("--lanes", lanes),
        "lanes.around": ("--lanes-at", lanes_at),
    }
    for key, (option, value) in own.items():
        if value is not None and found.get(key, value) != value:
            raise typer.BadParameter(f"--set {key} is {found[key]}", param_hint=f"'{option}'")
    return found | {key: value for key, (_, value) in own.items() if value is not None}


def varied(option: str, texts: Sequence[str] | None) -> dict[Any, list[Any]]:
    """Parses KEY=V1,V2,... and KEY1+KEY2=V1+V2,... texts into lists of values.

    Keys that change together become a tuple, and their values tuples. Raises `BadParameter` for an
    empty or repeated value, and for values that do not fit their keys.
    """
    found: dict[Any, list[Any]] = {}
    for key, text in pairs(option, texts).items():
        keys = tuple(part.strip() for part in key.split("+"))
        values = [value.strip() for value in text.split(",")]
        points = [tuple(part.strip() for part in value.split("+")) for value in values]
        is_tied = len(keys) > 1
        fits = not is_tied or all(len(one) == len(keys) and all(one) for one in points)
        if "" in values or len({*values}) < len(values) or not fits:
            expected = "different values between commas"
            if is_tied:
                expected += f", each of them {len(keys)} values with + between them"
            words = f"{key}={text!r}; expected {expected}"
            raise typer.BadParameter(words, param_hint=f"'{option}'")
        found[keys if is_tied else key] = points if is_tied else values
    return found


def units(time: str | None, address: str | None, length: str | None) -> dict[str, str]:
    """Returns the given units, by the quantity that they measure."""
    given = {"time": time, "address": address, "length": length}
    return {what: unit for what, unit in given.items() if unit is not None}
