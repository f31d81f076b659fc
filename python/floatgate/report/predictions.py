"""What closed forms say about a run: only where it is what they are about.

The laws of `floatgate.models` take single-page writes that are aligned, no trims, a drive whose
every logical page is written, one write stream, no map on flash, and a drive that is warm.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from floatgate import _core, models
from floatgate.result import Result

from .frames import ROW
from .runs import Run
from .values import ratio

LAWS = {
    ("uniform", "greedy"): "greedy",
    ("uniform", "fifo"): "fifo",
    ("hotcold", "fifo"): "fifo, one log",
}
"""The law for a generator and a victim policy, by the name that it has in `models.predict`.

Greedy cleaning of one stream of hot and cold data has none.
"""

SPAN_TOLERANCE = 0.02
"""A workload that spans less of the drive leaves it more spare than the config says."""

DEFAULTS = {"size": "4KiB", "aligned": "true", "trim": "0", "r": "0.9", "f": "0.1"}
"""Keys of the generators that a law depends on, as the engine reads a text without them."""

_SCHEMA = ROW | {"value": pl.Float64, "law": pl.String, "source": pl.String, "label": pl.String}


@dataclass(frozen=True)
class Predicted:
    """The write amplification that a closed form gives for a run."""

    value: float
    """Data pages programmed per host page."""
    law: str
    source: str


def predicted(result: Result) -> Predicted | None:
    """The closed form for a run; None where its assumptions do not hold, or there is none."""
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
    """A row per run that has a closed form: `value`, `law`, `source`, and a `label` for a plot."""
    rows = []
    for run in runs:
        if found := predicted(run.result):
            label = f"predicted {ratio(found.value)} ({found.law})"
            rows.append((run.label, run.row, found.value, found.law, found.source, label))
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _generator(name: str) -> tuple[str, dict[str, str]]:
    """The generator's name and its keys, with the defaults; a recording's name has no keys."""
    generator, colon, text = name.partition(":")
    parts = [part.partition("=") for part in text.split(",") if part.strip()]
    if not colon or not all(equals for _, equals, _ in parts):
        return "", {}
    return generator.strip(), DEFAULTS | {key.strip(): value.strip() for key, _, value in parts}


def _simple_drive(result: Result) -> bool:
    """One stream on a page-mapped drive without buffer and map traffic, and full of data."""
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
    """Aligned writes of one page over the whole drive."""
    drive, workload = result.drive, result.workload
    span = _core.number(keys.get("span", ""))
    if span is None:
        return False
    whole = abs(span - drive.logical_bytes) <= SPAN_TOLERANCE * drive.logical_bytes
    single = _core.number(keys["size"]) == drive.page_bytes and keys["aligned"] == "true"
    return whole and single and not (workload.trims or workload.trimmed_pages)
