"""Makes the tables of paced cleaning and of discarded zones in docs/measured-drives.md.

    python tools/trust_writes.py ../shared/drives     # rewrites them; takes some minutes

The measurements are not part of the repository.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import trust
import trust_summary
from trust_latency import microseconds, percent

from floatgate.calibrate.latency import LatencyStudy
from floatgate.calibrate.study import Told


@dataclass(frozen=True)
class Saturated:
    """Highest measured rate of a drive, and the model to compare it with."""

    config: str
    scale: int
    rate: str
    head_of_line: bool = False
    fitted: str = ""
    """What the rate was fitted with."""


SATURATED = {
    "h0": Saturated("latency-pe8110", 512, "200000", head_of_line=True),
    "i0": Saturated("writes-p5520", 1024, "200000", fitted="rate"),
    "k4": Saturated("latency-cm7", 2048, "500000"),
    "k5": Saturated("latency-cm7", 2048, "500000"),
    "m0": Saturated("writes-7450pro", 512, "200000", fitted="rate"),
}
COLUMNS = {"iops": "rate", "w_mean_us": "mean", "w_p50_us": "p50", "w_p99_us": "p99"}
HEAD = [
    *("drive", "pacing", "fitted"),
    *(cell for name in COLUMNS.values() for cell in (name, "modelled", "error")),
]

FLUSH_AFTER = ("", "600us")
"""Values of `controller.flush_after` for the P5520."""
PLATEAU = ("10000", "20000", "40000", "80000")
PLATEAU_HEAD = ["rate", "read p50", *(f"flush after {after or 'unset'}" for after in FLUSH_AFTER)]

APART = {"placement.scheme": "length", "placement.gc_destination": "cold"}
ZONES = trust.FILES["micron7450max"][1]
DISCARDS_HEAD = ["run", "measured", "no discard", "error", "discard", "error", "and apart", "error"]


def paced(name: str, *, is_paced: bool = True, flush_after: str = "") -> dict[str, Any]:
    """Returns the config of a drive with or without paced cleaning."""
    drive = SATURATED[name]
    settings = {"controller.flush_after": flush_after} if flush_after else {}
    found = trust.config(drive.config, settings)
    cleaning = {k: v for k, v in found["cleaning"].items() if k != "copies_per_write"}
    if not is_paced:
        return found | {"cleaning": found["cleaning"] | {"pacing": "none"}}
    return found | {
        "cleaning": cleaning | {"pacing": "proportional"},
        "queue": found["queue"] | {"head_of_line": drive.head_of_line},
    }


def tell(name: str, folder: Path, rate: str, config: dict[str, Any]) -> Told:
    study = LatencyStudy([folder / f"latency-{name}.csv"], config)
    return study.tell(f"{name}-{rate}", config, SATURATED[name].scale, trust.SEED)


def row(name: str, folder: Path, *, is_paced: bool) -> list[str]:
    drive = SATURATED[name]
    numbers = tell(name, folder, drive.rate, paced(name, is_paced=is_paced)).numbers
    cells = [name, "proportional" if is_paced else "none", drive.fitted]
    for key in COLUMNS:
        text = "{:.0f}".format if key == "iops" else microseconds
        cells += [text(numbers[f"{key}_{kind}"]) for kind in ("measured", "simulated")]
        cells.append(percent(numbers[f"{key}_error"]))
    return cells


def plateau_row(folder: Path, rate: str) -> list[str]:
    """Returns the median of reads on the P5520, measured and modelled."""
    told = [
        tell("i0", folder, rate, paced("i0", flush_after=after)).numbers for after in FLUSH_AFTER
    ]
    ours = [microseconds(numbers["r_p50_us_simulated"]) for numbers in told]
    return [rate, microseconds(told[0]["r_p50_us_measured"]), *ours]


def discard_rows(folder: Path, runs: Sequence[str] = ()) -> list[list[str]]:
    """Returns rows for zones that the host overwrites, that it discards first, and that it discards
    first on a drive that keeps copies apart from host writes."""
    name, scale = ZONES
    plain, discarding = (trust.study("micron7450max", folder / name) for _ in range(2))
    discarding.runs = {
        run: replace(measured, discards=True) for run, measured in plain.runs.items()
    }
    ways = [
        (study, trust.config("micron7450max", settings))
        for study, settings in ((plain, {}), (discarding, {}), (discarding, APART))
    ]
    rows = []
    for run in runs or plain.names:
        told = [study.tell(run, config, scale, trust.SEED).numbers for study, config in ways]
        cells = [f"`{run}`", f"{told[0]['steady_measured']:.3f}"]
        for numbers in told:
            cells += [f"{numbers['steady_simulated']:.3f}", percent(numbers["steady_error"])]
        rows.append(cells)
    return rows


def main() -> None:
    folder = Path(sys.argv[1])
    tables = {
        "writes": (
            HEAD,
            [row(name, folder, is_paced=on) for name in SATURATED for on in (False, True)],
        ),
        "plateau": (PLATEAU_HEAD, [plateau_row(folder, rate) for rate in PLATEAU]),
        "discards": (DISCARDS_HEAD, discard_rows(folder)),
    }
    text = trust_summary.PAGE.read_text("utf-8")
    for name, (head, rows) in tables.items():
        text = trust.replace(text, name, trust.markdown(head, rows))
    trust_summary.PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
