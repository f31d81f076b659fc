"""An identified drive as a TOML file, and its parameters as a table."""

from __future__ import annotations

import json
from collections.abc import Iterator

from .device import config
from .estimate import Estimate
from .identify import Identified

KEYS = {
    "capacity.spare_factor": "spare factor",
    "flash.pages_per_block": "cleaning unit",
    "flash.page": "flash page",
    "flash.channels": "channels",
    "flash.dies": "dies",
    "flash.read": "read",
    "flash.bus": "transfer",
    "flash.program": "program",
    "controller.write_memory": "write buffer",
    "mapping.cache": "map cache reach",
    "link.latency": "way",
}
"""Config keys, and the parameters that determine them."""
MEANT = {
    "flash.dies": "over all channels",
    "flash.pages_per_block": "of all dies and planes",
    "mapping.cache": "of data, whose entries the cache holds",
    "link.latency": "to the drive and back, with controller.command",
}
"""Meanings of parameters where config keys have other ones."""
LEFT_OUT = ("start",)
"""Tables that describe the simulation of the recipe, not the drive."""


def drive_toml(found: Identified) -> str:
    """Returns the drive as TOML, with the interval of a number, or its assumption, as a comment."""
    lines = [
        "# Made by floatgate calibrate --from-jobs. Each number explains the jobs best within this",
        "# model, and is no fact of a product.",
        "",
        "[about]",
        'summary = "A drive identified from fio jobs; no data sheet of any product."',
        f'source = "floatgate calibrate --from-jobs; {found.size:,} bytes"',
    ]
    for table, values in config(found.drive).items():
        if table not in LEFT_OUT:
            lines += ["", f"[{table}]", *_settings(table, values, found)]
    return "\n".join(lines) + "\n"


def _settings(table: str, values: dict[str, object], found: Identified) -> Iterator[str]:
    for key, value in values.items():
        if name := KEYS.get(f"{table}.{key}"):
            yield f"# {comment(found.named(name), MEANT.get(f'{table}.{key}', ''))}"
        yield f"{key} = {json.dumps(value)}"


def comment(one: Estimate, meant: str) -> str:
    """Returns a line on the source of a number; `meant` says what the parameter counts."""
    if not one.is_known:
        return f"Assumed, as {one.jobs} cannot tell the {one.name}: {one.why}."
    why = f" ({one.why})" if one.why else ""
    value = " ".join(filter(None, (quantity(one.value, one.unit), meant)))
    return f"From {one.jobs}: {one.name} {value}, {interval(one)}{why}."


def interval(one: Estimate) -> str:
    """Returns the interval of an estimate as text; empty if it is not known."""
    if not one.is_known or one.low == one.high:
        return "exact" if one.is_known else ""
    return f"{quantity(one.low, one.unit)} to {quantity(one.high, one.unit)}"


def quantity(value: float | None, unit: str) -> str:
    """Returns a number with three digits in a common unit: us, MiB or MB/s."""
    if value is None:
        return ""
    if unit == "ns":
        return f"{value / 1e3:.4g} us"
    if unit == "B/s":
        return f"{value / 1e6:.4g} MB/s"
    if unit == "B":
        return f"{value / 1024:.4g} KiB" if value < 1 << 20 else f"{value / (1 << 20):.4g} MiB"
    return f"{value:.4g}"
