"""A fitted drive as a TOML file, in which a comment marks every fitted number."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .. import _core
from .calibration import Calibration
from .fit import Fitted

FITTED = "# Fitted, to "
"""Start of the comment above a fitted number."""


def drive_toml(found: Calibration, start: str = "") -> str:
    """Returns the config values that differ from the defaults, with comments on fitted numbers.

    `start` is the text of the drive that the fit began with; its comments on fitted numbers are
    kept.

    Raises `RunError` for a fit that explains nothing.
    """
    if found.refused:
        raise _core.RunError(f"no drive is written: {found.refused}")
    defaults = _core.Config.resolve(None, "", []).table()
    comments = _inherited(start)
    comments |= {one.key.name: _comment(found, one) for one in found.fit.fitted}
    runs = ", ".join(found.runs)
    summary = f"A drive fitted to measurements of {found.drive}; no data sheet of any product."
    source = f"floatgate calibrate, {found.kind} of {runs}; error {_percent(found.fit.error)}"
    lines = [
        "# Made by floatgate calibrate. Numbers that were fitted say so: each is what explains a",
        "# measurement best within this model, and no fact of a product.",
        "",
        "[about]",
        f"summary = {json.dumps(summary, ensure_ascii=False)}",
        f"source = {json.dumps(source, ensure_ascii=False)}",
    ]
    config: Mapping[str, Any] = found.config
    if config["timing"] != defaults["timing"]:
        lines[3:3] = [f"timing = {json.dumps(config['timing'])}", ""]
    for table, values in config.items():
        if isinstance(values, Mapping):
            lines += _table(table, values, defaults.get(table, {}), comments)
    return "\n".join(lines) + "\n"


def _table(
    name: str,
    values: Mapping[str, Any],
    defaults: Mapping[str, Any],
    comments: Mapping[str, list[str]],
) -> list[str]:
    lines = []
    for key, value in values.items():
        comment = comments.get(f"{name}.{key}", [])
        if value is None or (value == defaults.get(key) and not comment):
            continue
        lines += [*comment, f"{key} = {json.dumps(value, ensure_ascii=False)}"]
    return ["", f"[{name}]", *lines] if lines else []


def _comment(found: Calibration, one: Fitted) -> list[str]:
    key, interval = one.key, one.interval
    fitted = f"{FITTED}{', '.join(found.runs)}: error {_percent(found.fit.error)} (rms)."
    searched = f"# Searched from {key.text(key.low)} to {key.text(key.high)};"
    if interval is None:
        return [fitted, f"{searched} what explains the data as well was not sought."]
    if interval.is_open:
        return [fitted, f"{searched} the data do not fix it: any value explains them as well."]
    as_good = f"{key.text(interval.low)} to {key.text(interval.high)} explain the data as well."
    return [fitted, f"{searched} {as_good}"]


def _inherited(text: str) -> dict[str, list[str]]:
    """Returns the comments on numbers that an earlier calibration has fitted, by key."""
    comments: dict[str, list[str]] = {}
    table, above = "", list[str]()
    for line in text.splitlines():
        if line.startswith("["):
            table = line.strip("[] ")
        elif line.startswith("#"):
            above.append(line)
            continue
        elif above and above[0].startswith(FITTED):
            comments[f"{table}.{line.partition('=')[0].strip()}"] = above
        above = []
    return comments


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
