"""Makes the tables of docs/measured-fdp.md: two measured FDP drives, fitted and predicted.

    python tools/measured_fdp.py ../shared/drives/fdp     # rewrites the tables; takes minutes

The fit compares one stream with `onestream-profile.csv` and `summary.csv`, and the curves of
emulated drives stand next to `wa-emulated.csv`; the repository has none of them. The predictions
need no measurement except the one that pins the shares.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

import floatgate as fg
from floatgate.papers.warp.domain import LAWS, UNIFORM, ZIPF_12, ZIPF_22, ZONED, sized
from floatgate.papers.warp.streams import Job, Jobs, uniform
from floatgate.results.result import Result

PAGE = Path(__file__).resolve().parents[1] / "docs" / "measured-fdp.md"
SEEDS = (1, 2, 3)
PASSES = 4
"""Passes of one stream. The first begins on an empty drive and is not compared."""
PHASES = 50
VOLUMES = 4.397
"""Volumes at which the paper reads the cumulative write amplification: 4 x 7.68 TiB of 7.68 TB."""
HANDLES = {"FDP": 3, "mixed": 2, "no FDP": 1}
"""Handles of the drive. The jumper has handle 2, which is handle 0 on a drive with two."""
Shares = tuple[float, float, float]
"""Shares of the stream in order, the jumper and the random stream."""


def equal(in_order: float) -> Shares:
    """Returns the shares with which the jumper and the random stream are equally fast."""
    return in_order, (1 - in_order) / 2, (1 - in_order) / 2


def slow(in_order: float) -> Shares:
    """Returns the shares with a jumper that waits for its own few blocks."""
    return in_order, 0.01, 0.99 - in_order


SHARES = {"45 : 27.5 : 27.5": 0.45, "60 : 20 : 20": 0.6, "80 : 10 : 10": 0.8}
"""Shares of the stream in order. The other two are equally fast."""
PINS = {ZONED: (equal, "FDP", 1.69), ZIPF_22: (slow, "no FDP", 1.6)}
"""Published values of SSD_A that pin the shares: how they vary, the placement, the value. The other
laws have the shares of 80-20."""


@dataclass(frozen=True)
class Drive:
    """A drive with its fitted values."""

    name: str
    run: str
    """Run of one stream in the data."""
    capacity: int
    """Bytes of the namespace."""
    spare: float
    units: int
    """Reclaim units, those that stay free included."""
    unit_pages: int
    """Pages of a reclaim unit in the simulation."""
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def pages(self) -> int:
        """Pages of the namespace in the simulation: whole MiB, so that jobs can write tenths."""
        return int((1 - self.spare) * self.units * self.unit_pages / 1280) * 1280

    def config(self, handles: int) -> dict[str, str]:
        asked = {
            "flash.pages_per_block": str(self.unit_pages),
            "capacity.spare_factor": str(self.spare),
            "placement.scheme": "host",
            "placement.handles": str(handles),
            "mapping.scheme": "ideal",
            "timing": "none",
            "queue.arrivals": "closed",
            "start.fill": "none",
            **self.settings,
        }
        return dict(sized(self.pages, asked))


SSD_A = Drive("SSD_A", "ssd_a-1stream", 7_681_501_126_656, 0.158, 509, 1024)
SSD_B = Drive("SSD_B", "ssd_b-1stream", 3_840_755_982_336, 0.0835, 500, 1024)

CELLS = (
    *((SSD_A, law, placement) for law in (ZIPF_22, ZIPF_12, ZONED) for placement in HANDLES),
    (SSD_A, UNIFORM, "FDP"),
    *((SSD_B, law, placement) for law in (ZIPF_22, ZIPF_12, ZONED) for placement in HANDLES),
    (SSD_B, UNIFORM, "FDP"),
)
GIVEN = {
    ("SSD_A", ZIPF_22, "FDP"): 1.03,
    ("SSD_A", ZIPF_22, "mixed"): 1.03,
    ("SSD_A", ZIPF_22, "no FDP"): 1.6,
    ("SSD_A", ZONED, "FDP"): 1.69,
}
"""Published values that we knew before the predictions."""

GIB = 1 << 30
FOREGROUND = {"cleaning.foreground_below": "0.01"}
PERSISTENT = {"placement.isolation": "persistently", "placement.moved_pages": "apart"}
WARP_A2 = Drive("WARP_A2", "", 448 * GIB, 1 - 3584 / 4086, 4086, 128, FOREGROUND)
WARP_A = Drive("WARP_A", "", 224 * GIB, 1 - 896 / 985, 985, 512, FOREGROUND | PERSISTENT)
WARP_1 = Drive("WARP1", "", 128 * GIB, 1 - 1 / 1.1, 1126, 512, FOREGROUND)
WARP_2 = Drive("WARP2", "warp2-1stream", 256 * GIB, 1 - 1 / 1.1, 2253, 512, FOREGROUND)
WARP_3 = Drive("WARP3", "warp3-1stream", 256 * GIB, 1 - 1 / 1.1, 1126, 512, FOREGROUND)
WARP_4 = Drive("WARP4", "warp4-1stream", 256 * GIB, 1 - 1 / 1.1, 563, 1024, FOREGROUND)
WARP_7 = Drive("WARP7", "warp7-1stream", 448 * GIB, 1 - 1 / 1.14, 4086, 256, FOREGROUND)
ONE_STREAM = (WARP_1, WARP_2, WARP_3, WARP_4, WARP_7)
"""Emulated drives, from their labels. The emulator cleans in the foreground from 99 % full."""
LOGGED: Sequence[tuple[Drive, str, tuple[Shares, Shares, Shares]]] = (
    (WARP_A2, ZIPF_22, ((61.1, 18.9, 20.0), (60.0, 19.3, 20.6), (60.4, 19.2, 20.4))),
    (WARP_A2, ZIPF_12, ((60.1, 19.7, 20.2), (60.2, 19.6, 20.2), (59.2, 20.0, 20.8))),
    (WARP_A2, ZONED, ((58.2, 20.9, 20.8), (58.2, 21.1, 20.7), (57.5, 21.5, 21.0))),
    (WARP_A2, UNIFORM, ((57.2, 21.4, 21.4), (57.1, 21.3, 21.5), (56.9, 22.1, 20.9))),
    (WARP_A, ZIPF_22, ((81.8, 7.4, 10.7), (86.3, 7.8, 5.9), (81.8, 7.4, 10.7))),
    (WARP_A, ZIPF_12, ((81.6, 7.8, 10.6), (85.2, 8.2, 6.6), (81.6, 7.8, 10.6))),
    (WARP_A, ZONED, ((83.3, 7.3, 9.4), (85.1, 7.5, 7.4), (83.3, 7.3, 9.4))),
)
"""Shares of the streams on the emulators, by placement. On WARP_A the share of the jumper in the
first handle of mixed runs comes from the FDP run; runs without handles were not logged."""
READ_AT = (1.5, 2.0, 3.0, 4.0, 8.0)
"""Volumes at which a predicted curve is read."""
MEASURED_RUNS = {
    (WARP_A2.name, ZIPF_22, placement): f"warp_a2-3stream-zipf2.2-{run}"
    for placement, run in (("FDP", "fdp"), ("mixed", "mixed"), ("no FDP", "nofdp"))
}
"""Runs of three streams in `wa-emulated.csv`."""


class Fit(NamedTuple):
    """One stream, simulated and measured."""

    mean: float
    mean_measured: float
    onset: float
    onset_measured: float
    shape: float
    """Mean of the absolute differences over the phases of a pass, as a share of the pass mean."""
    profile: tuple[float, ...]


def one_stream(drive: Drive, folder: Path) -> Fit:
    """Returns the fit of one stream, as a mean over seeds."""
    measured = _profile(folder, drive.run)
    onset = float(_summary(folder)[drive.run]["cleaning_from_volumes"])
    work = f"shuffled:span={drive.pages * 4}KiB,writes={drive.pages * PASSES}"
    with ThreadPoolExecutor() as pool:
        runs = list(pool.map(lambda seed: fg.run(work, set=drive.config(1), seed=seed), SEEDS))
    profiles = np.array([_phases(run, drive.pages) for run in runs])
    ours = profiles.mean(axis=0)
    return Fit(
        float(ours.mean()),
        float(measured.mean()),
        float(np.mean([_onset(run, drive.pages) for run in runs])),
        onset,
        float(np.abs(ours - measured).mean() / measured.mean()),
        tuple(ours),
    )


def _curve(result: Result, pages: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the host's volumes at the ends of the windows, and the media's."""
    host = np.concatenate([[0], np.array(result.timeline["host_pages"]) / pages])
    waste = np.array(result.timeline["page_write_amplification"], float)
    return host, np.concatenate([[0], np.cumsum(waste * np.diff(host))])


def _phases(result: Result, pages: int) -> np.ndarray:
    """Returns the write amplification in each phase of a pass, over all passes but the first."""
    host, media = _curve(result, pages)
    phases = np.arange(PHASES + 1) / PHASES
    passes = [np.diff(np.interp(one + phases, host, media)) for one in range(1, PASSES)]
    wastes: np.ndarray = np.array(passes).mean(axis=0) * PHASES
    return wastes


def _onset(result: Result, pages: int) -> float:
    """Returns the volumes at which copies begin: the first window with copies, less its share."""
    host, media = _curve(result, pages)
    first = int(np.argmax(np.diff(media) > np.diff(host) * (1 + 1e-9)))
    (low, high), after = list(pairwise(host))[first], _waste(host, media, first + 1)
    return high - min(1.0, (_waste(host, media, first) - 1) / (after - 1)) * (high - low)


def _waste(host: np.ndarray, media: np.ndarray, window: int) -> float:
    programs, writes = (float(np.diff(column)[window]) for column in (media, host))
    return programs / writes


def _profile(folder: Path, run: str) -> np.ndarray:
    with (folder / "onestream-profile.csv").open(newline="") as file:
        return np.array([float(r["wa_mean"]) for r in csv.DictReader(file) if r["run"] == run])


def _summary(folder: Path) -> dict[str, dict[str, str]]:
    with (folder / "summary.csv").open(newline="") as file:
        return {row["run"]: row for row in csv.DictReader(file)}


def predicted(drive: Drive, law: str, placement: str, shares: Shares) -> float:
    """Returns the cumulative write amplification at `VOLUMES`, fill included; mean over seeds."""
    (found,) = curve(drive, law, placement, shares, (VOLUMES,))
    return found


def curve(
    drive: Drive,
    law: str,
    placement: str,
    shares: Shares,
    volumes: Sequence[float],
    seeds: Sequence[int] = SEEDS,
) -> list[float]:
    """Returns the cumulative write amplification at these volumes, the last one the run's end."""
    in_order, jumper, at_random = shares
    jobs = (
        Job(0.0, 0.9, in_order),
        Job(0.9, 1.0, at_random, uniform),
        Job(0.0, 0.9, jumper, LAWS[law], fills=False),
    )
    made = Jobs(drive.pages, drive.capacity / 4096, volumes[-1], jobs, fill=True)
    config = drive.config(HANDLES[placement])

    def one(seed: int) -> np.ndarray:
        return _cumulative(fg.run(made(seed), set=config, addresses="span"), drive.pages, volumes)

    with ThreadPoolExecutor() as pool:
        return [float(waste) for waste in np.mean(list(pool.map(one, seeds)), axis=0)]


def _cumulative(result: Result, pages: int, volumes: Sequence[float]) -> np.ndarray:
    host, media = _curve(result, pages)
    wastes: np.ndarray = np.interp(volumes, host, media) / np.minimum(volumes, host[-1])
    return wastes


def pinned(law: str) -> Shares:
    """Returns the shares with which SSD_A has the published value of the law."""
    shares, placement, published = PINS[law]
    low, high = 0.1, 0.9
    for _ in range(7):
        middle = (low + high) / 2
        if predicted(SSD_A, law, placement, shares(middle)) > published:
            low = middle
        else:
            high = middle
    return shares((low + high) / 2)


def fit_rows(folder: Path) -> list[list[str]]:
    rows = []
    for drive in (SSD_A, SSD_B):
        fit = one_stream(drive, folder)
        rows.append(
            [
                drive.name,
                *(f"{drive.spare:.4f}", str(drive.units)),
                *(f"{fit.mean_measured:.3f}", f"{fit.mean:.3f}"),
                f"{100 * (fit.mean / fit.mean_measured - 1):+.1f} %",
                *(f"{fit.onset_measured:.3f}", f"{fit.onset:.3f}"),
                f"{100 * (fit.onset / fit.onset_measured - 1):+.1f} %",
                f"{100 * fit.shape:.1f} %",
            ]
        )
        print(rows[-1], [f"{waste:.2f}" for waste in fit.profile], flush=True)
    return rows


def prediction_rows(pins: Mapping[str, Shares]) -> list[list[str]]:
    rows = []
    for drive, law, placement in CELLS:
        of_law = pins.get(law, pins[ZONED])
        shares = (of_law, *(equal(each) for each in SHARES.values()))
        values = [predicted(drive, law, placement, each) for each in shares]
        known = GIVEN.get((drive.name, law, placement))
        given = "" if known is None else f"{known:g}"
        rows.append([drive.name, law, placement, *(f"{value:.2f}" for value in values), given])
        print(rows[-1], flush=True)
    return rows


def emulated_rows(folder: Path) -> list[list[str]]:
    """Returns a row for each simulated curve, and below it the measured one if the data have it."""
    rows = []
    for drive, law, of_placement in LOGGED:
        for placement, shares in zip(HANDLES, of_placement, strict=True):
            simulated = curve(drive, law, placement, shares, READ_AT, SEEDS[:1])
            rows += _curve_rows((drive.name, law, placement), simulated, folder)
    for drive in ONE_STREAM:
        work = f"shuffled:span={drive.pages * 4}KiB,writes={int(drive.pages * READ_AT[-1])}"
        wastes = _cumulative(fg.run(work, set=drive.config(1)), drive.pages, READ_AT)
        rows += _curve_rows((drive.name, "one stream", ""), list(wastes), folder, drive.run)
    return rows


def _curve_rows(
    of: tuple[str, str, str], simulated: Sequence[float], folder: Path, run: str = ""
) -> list[list[str]]:
    rows = [[*of, "simulated", *(f"{waste:.2f}" for waste in simulated)]]
    if run := run or MEASURED_RUNS.get(of, ""):
        rows.append([*of, "measured", *(f"{waste:.2f}" for waste in _emulated(folder, run))])
    print(rows, flush=True)
    return rows


def _emulated(folder: Path, run: str) -> np.ndarray:
    """Returns the measured cumulative write amplification of an emulated drive at `READ_AT`."""
    with (folder / "wa-emulated.csv").open(newline="") as file:
        read = [row for row in csv.DictReader(file) if row["run"] == run]
    host = np.array([float(row["host_volumes"]) for row in read])
    media = host * [float(row["wa_cumulative"]) for row in read]
    wastes: np.ndarray = np.interp(READ_AT, [0, *host], [0, *media]) / READ_AT
    return wastes


def written(page: str, name: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns the page with the rows of a table. The table is between two comments."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    lines = [head, ["---"] * len(head), *rows]
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"{before}{begin}{table}{end}{after}"


FIT_HEAD = (
    *("drive", "spare factor", "units", "pass mean, measured", "simulated", "error"),
    *("cleaning from, measured", "simulated", "error", "shape"),
)


def main(folder: Path) -> None:
    page = PAGE.read_text("utf-8")
    page = written(page, "fit", FIT_HEAD, fit_rows(folder))
    pins = {law: pinned(law) for law in PINS}
    rows = [[law, " : ".join(f"{100 * share:.0f}" for share in pins[law])] for law in pins]
    page = written(page, "pins", ["jumper", "shares"], rows)
    head = ["drive", "jumper", "placement", "pinned", *SHARES, "published"]
    page = written(page, "predictions", head, prediction_rows(pins))
    volumes = (f"{read:g} volumes" for read in READ_AT)
    head = ["drive", "jumper", "placement", "", *volumes]
    page = written(page, "emulated", head, emulated_rows(folder))
    PAGE.write_text(page, "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
