"""Predictions of closed forms for a run, where the run meets their assumptions.

The laws of `floatgate.models` assume aligned single-page writes, no trims, a drive on which every
logical page is written, one write stream, no map on flash, and a warm drive.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from floatgate import _core, models
from floatgate.results.result import Result
from floatgate.results.values import ratio

from .frames import ROW
from .runs import Run

LAWS = {
    ("uniform", "greedy"): "greedy",
    ("uniform", "fifo"): "fifo",
    ("hotcold", "fifo"): "fifo, one log",
}
"""Law for each pair of generator and victim policy, by the law's name in `models.predict`.

Greedy cleaning of one stream of hot and cold data has no law.
"""

SPAN_TOLERANCE = 0.02
"""Largest relative difference between the workload's span and the drive's logical size.

A smaller span would leave more spare space than the config states.
"""

DEFAULTS = {"size": "4KiB", "aligned": "true", "trim": "0", "r": "0.9", "f": "0.1"}
"""Generator keys that a law depends on, with the defaults of the engine."""

_SCHEMA = ROW | {"value": pl.Float64, "law": pl.String, "source": pl.String, "label": pl.String}


@dataclass(frozen=True)
class Predicted:
    """Write amplification of a run by a closed form."""

    value: float
    """Data pages programmed per host page."""
    law: str
    source: str


def predicted(result: Result) -> Predicted | None:
    """Returns the prediction for a run; None where no law exists or its assumptions do not hold."""
    name, keys = _generator(result.workload.name)
    law = LAWS.get((name, result.setting("cleaning.victim")))
    if law is None or not (_simple_drive(result) and _simple_writes(result, keys)):
        return None
    spare, pages = result.drive.spare_factor, result.drive.pages_per_unit
    try:
        hot = (float(keys["r"]), float(keys["f"])) if name == "hotcold" else None
        prediction = models.predict(spare_factor=spare, pages_per_block=pages, hot=hot)
    except ValueError:
        return None
    (row,) = (row for row in prediction.rows if row.policy == law)
    return Predicted(row.write_amplification, row.policy, row.source)


def prediction_frame(runs: Iterable[Run]) -> pl.DataFrame:
    """Returns `value`, `law`, `source` and a plot's `label` for each run with a prediction."""
    rows = []
    for run in runs:
        if found := predicted(run.result):
            label = f"predicted {ratio(found.value)} ({found.law})"
            rows.append((run.label, run.row, found.value, found.law, found.source, label))
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _generator(name: str) -> tuple[str, dict[str, str]]:
    """Returns the generator's name and its keys, with the defaults.

    Both are empty for the name of a recording, which has no keys.
    """
    generator, colon, text = name.partition(":")
    parts = [part.partition("=") for part in text.split(",") if part.strip()]
    if not colon or not all(equals for _, equals, _ in parts):
        return "", {}
    return generator.strip(), DEFAULTS | {key.strip(): value.strip() for key, _, value in parts}


def _simple_drive(result: Result) -> bool:
    """Returns whether the drive is page-mapped, warm and full, with one stream.

    Such a drive also has no buffer, no static wear levelling and no map traffic.
    """
    expected = {
        "ftl.scheme": "page",
        "placement.scheme": "single",
        "buffer.scheme": "none",
        "host.scheme": "plain",
    }
    simple = all(result.setting(key) == value for key, value in expected.items())
    simple = simple and result.setting("cleaning.wear_leveling") != "static"
    warm = result.setting("start.fill") in ("random", "steady")
    return simple and warm and result.drive.translation_pages == 0


def _simple_writes(result: Result, keys: dict[str, str]) -> bool:
    """Returns whether the workload only has aligned one-page writes over the whole drive.

    It must not have trims either.
    """
    drive, workload = result.drive, result.workload
    span = _core.number(keys.get("span", ""))
    if span is None:
        return False
    whole = abs(span - drive.logical_bytes) <= SPAN_TOLERANCE * drive.logical_bytes
    single = _core.number(keys["size"]) == drive.page_bytes and keys["aligned"] == "true"
    return whole and single and not (workload.trims or workload.trimmed_pages)
