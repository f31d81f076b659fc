"""SHRD's recovery: power fails at moments of a workload, and every page must be right afterwards.

The drive is a small one, so that many moments can be explored. Neither time nor size changes
whether data is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from floatgate.analysis import crash
from floatgate.papers.kit.batch import Bench, Played
from floatgate.papers.kit.claims import Claim, Filter, Judged, Measured, stated
from floatgate.papers.kit.experiment import Axis, Experiment, Level, Line, Run, Workload
from floatgate.papers.kit.judging import judge, runs_of
from floatgate.papers.kit.verdicts import Region
from floatgate.simulation import configs

from .domain import DEVICE, WINDOWS
from .workloads import SHRD

LOSSES = "losses of power"
EVERY = {False: 250, True: 25}
"""Number n of which one in n moments is explored, in a quick and in a full reproduction."""
PLAYED = "hotcold:span=4MiB,r=0.9,f=0.05,size=4KiB,requests=3k,reads=0.1,trim=0.02,flush=0.02"
"""Two and a half times the drive's capacity, so that the drive cleans. Most writes go to a
twentieth of the pages, so that much of the log is out of date. Some requests are of other kinds."""
DRIVE = {
    "flash.superblock": "8",
    "flash.pages_per_block": "16",
    "capacity.spare_factor": "0.3",
    "host.log": "1MiB",
    "shrd.contiguous": "16",
    "shrd.exclude_below": "0B",
}
"""The prototype with 4 MiB. An erase unit is half of the log."""

AXES = (
    Axis(
        "window",
        "the window",
        WINDOWS,
        "How much of the log waits to be remapped when power fails.",
    ),
    Axis(
        "stale",
        "what is out of date in the log",
        Level.each("shrd.lazy_stale", {"dropped": "false", "kept": "true"}),
        "The authors' drive keeps it until its slot is written again; then recovery must tell old "
        "from new.",
    ),
)


@dataclass(frozen=True)
class Crashes:
    """Results of the power losses in one run."""

    explored: int
    """Number of power losses."""
    lost: int
    """Pages with a version that they must not have."""


EXPERIMENT = Experiment(
    AXES, (Workload(LOSSES, LOSSES, Played(PLAYED), random=True),), (Line(SHRD, SHRD, DRIVE),)
)

RECOVERY: Claim[Crashes] = Claim(
    "recovery",
    "No page is lost when power fails: what was not remapped yet is found by its second address",
    stated(
        "solves POR / GC issues of address remapping; GC & power off recovery",
        "solved",
        "Non-remapped data will be auto-remapped at POR - by scanning the OOB area of RWLB blocks",
    ),
    ("window", "stale"),
    (LOSSES,),
    (SHRD,),
    lambda at: {"": at(LOSSES, SHRD).lost},
    Region(high=0.0),
    "{:.0f} pages lost".format,
)

NONE_LEFT_OUT: Filter[Crashes] = Filter(
    "without a loss of power", lambda crashes: not crashes.explored
)


def explore(runs: Sequence[Run], full: bool, bench: Bench) -> dict[Run, Crashes]:
    crashes = {}
    for run in runs:
        options: dict[str, Any] = {"seed": run.seed, "every": EVERY[full]}
        sets = EXPERIMENT.settings(run, 0)
        cut = partial(
            crash.crash, PLAYED, device=DEVICE, set=sets, progress=bench.progress, **options
        )
        made_of = ("crash", configs.resolve(DEVICE, sets).text, PLAYED, options)
        report = bench.document(made_of, cut)
        crashes[run] = Crashes(report["points"], report["lost"])
    return crashes


def judged(full: bool, bench: Bench) -> Judged[Crashes]:
    """Judges the claim that no run with a clock can test."""
    crashes = explore(runs_of(EXPERIMENT, [RECOVERY], full), full, bench)
    measured = judge(EXPERIMENT, RECOVERY, crashes, full, NONE_LEFT_OUT)
    return RECOVERY, bounded(measured, list(crashes.values()))


def at_most(losses: int) -> float:
    """Returns the 95 % upper bound on the share of power losses that lose a page, if none of
    `losses` did. It is the exact form of the rule of three."""
    return 1.0 - float(0.05 ** (1 / losses))


def bounded(measured: Measured, points: Sequence[Crashes]) -> Measured:
    """Adds an upper bound if nothing was lost, because the mean of zeros has no interval."""
    losses = sum(point.explored for point in points)
    if not losses or any(point.lost for point in points):
        return measured
    ours = f"0 of {losses:,} losses of power lost a page: at most {at_most(losses):.2%} do (95%)"
    return replace(measured, ours=ours)
