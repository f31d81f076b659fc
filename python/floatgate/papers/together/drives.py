"""Compares placements with measured Zipf runs of real drives (SSD-iq).

SSD-iq measured the write amplification of one drive, and only host rates of four others. Their
slowdown from uniform to Zipf writes stands for the rise of write amplification; the data's page
warns that rates depend on more. docs/measured-drives.md describes the drive.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

from floatgate.calibrate.measured import STEADY_SHARE, SkewMeasurements
from floatgate.papers.kit.batch import Played
from floatgate.papers.kit.claims import AnyClaim, Counts, Measured, Statement, change, own
from floatgate.papers.kit.experiment import Axis, Experiment, Level, Line, Run, Workload
from floatgate.papers.kit.judging import row_of
from floatgate.papers.kit.numbers import plus_minus
from floatgate.papers.kit.reproduce import runs_at
from floatgate.papers.kit.verdicts import LESS, Estimate, Region

from .reduce import amplified

if TYPE_CHECKING:
    from floatgate.results.result import Result

DEVICE = "classic"
"""Base preset. Without a clock only the settings below matter."""
UNITS, UNIT_PAGES = 512, 256
"""The drive has 2,147 units of 262,144 pages. Greedy cleaning finds better victims among small
units: uniform writes are 8 % below the measurement with 32 pages, and 2 % with 128."""
PAGE = 4096
VOLUMES = 4
SAME = 0.025
"""A run is explained within this relative error: two runs of the drive with equal uniform writes
end 2.5 % apart."""
REGION = Region(-SAME, SAME)

GREEDY = "greedy"
"""The best policy for uniform writes. A quick reproduction has no other."""
VICTIMS = (
    *(GREEDY, "cost_benefit", "fifo", "windowed"),
    *("d_choices", "random", "lfs_cost_benefit", "cat"),
)

PLACEMENTS = (
    *("single", "eti", "mbf", "mhf", "direct", "length", "lru_lists", "wdac"),
    *("asa", "dac", "sepbit", "autostream", "oracle"),
)
"""All placements that work without hints about hot pages."""

MEASURED = "measured drives"
THETAS = (0.2, 0.4, 0.6, 0.8, 1.0)
THETA = 0.8
DOUBTED = {("m0", 0.8), ("m0", 1.0)}
"""Runs in which requests to one page queue. They were excluded before any simulation."""


SPARE = 0.16653
"""Fitted only to the uniform run of the drive (docs/measured-drives.md)."""
SPAN_PAGES = round(UNITS * UNIT_PAGES * (1 - SPARE))
DRIVE = {
    "timing": "none",
    "flash.page": f"{PAGE}B",
    "flash.pages_per_block": str(UNIT_PAGES),
    "flash.blocks": str(UNITS),
    "start.fill": "sequential",
    # Half a page, so that rounding down finds the span.
    "capacity.spare_factor": str(1 - (SPAN_PAGES + 0.5) / (UNITS * UNIT_PAGES)),
}

AXES = (
    Axis(
        "spare",
        "the spare space of the measured drive",
        (Level(f"{SPARE:.3%}", DRIVE),),
        "Fitted to uniform writes of the D7-P5520. The others sell as large a share of their "
        "flash, and nothing is known of theirs: they are compared by ratios.",
    ),
)


def zipf_name(theta: float) -> str:
    return f"Zipf {theta:g}, {MEASURED}"


UNIFORM = f"uniform, {MEASURED}"


def _workload(name: str, text: str) -> Workload:
    spec = f"{text}span={SPAN_PAGES * PAGE}B,size={PAGE}B,writes={VOLUMES * SPAN_PAGES}"
    return Workload(name, MEASURED, Played(spec), random=True)


WORKLOADS = (
    _workload(UNIFORM, "uniform:"),
    *(_workload(zipf_name(theta), f"zipf:theta={theta:g},") for theta in THETAS),
)


def key_of(placement: str, victim: str) -> str:
    return f"{placement}/{victim}"


LINES = tuple(
    Line(
        key_of(placement, victim),
        f"{placement}, {victim}",
        {"placement.scheme": placement, "cleaning.victim": victim},
    )
    for placement, victim in product(PLACEMENTS, VICTIMS)
)
LABELS = {line.key: line.label for line in LINES}
EXPERIMENT = Experiment(AXES, WORKLOADS, LINES)


def runs(full: bool) -> Iterable[Run]:
    """Returns every policy on every load; a quick reproduction has one victim policy and one skew.

    Three seeds are enough: their runs scatter by 0.1 % of the mean, and by 0.6 % at most.
    """
    quick = [work for work in WORKLOADS if work.name in (UNIFORM, zipf_name(THETA))]
    victims = VICTIMS if full else (GREEDY,)
    lines = [key_of(placement, victim) for placement, victim in product(PLACEMENTS, victims)]
    points = EXPERIMENT.points((), True)
    return runs_at(EXPERIMENT, WORKLOADS if full else quick, points, lines, full=False)


def steady(result: Result) -> float:
    """Returns the write amplification over the last fifth of the pages that the host writes."""
    timeline = result.timeline
    return amplified(timeline, (1 - STEADY_SHARE) * float(timeline["host_pages"][-1]))


Steady = Mapping[tuple[str, str], Sequence[float]]
"""Steady write amplification by workload and line, one number per seed."""
Errors = Mapping[str, Estimate | None]
"""Error of a policy by measurement. None where the policy was not run for the measurement."""


def by_seed(steadies: Mapping[Run, float]) -> dict[tuple[str, str], list[float]]:
    values: dict[tuple[str, str], list[float]] = {}
    for run, value in sorted(steadies.items(), key=lambda item: item[0].seed):
        values.setdefault((run.workload, run.line), []).append(value)
    return values


ON_ZIPF, ON_UNIFORM = f"Zipf {THETA:g}", "uniform"


def errors(steady: Steady, truth: SkewMeasurements) -> dict[str, Errors]:
    """Returns the errors of each policy that was run on Zipf 0.8 and on uniform writes: relative
    for these two, and the distance to the rates of each drive."""
    policies: dict[str, Errors] = {}
    for line in LABELS:
        zipf, uniform = steady.get((zipf_name(THETA), line)), steady.get((UNIFORM, line))
        if zipf is not None and uniform is not None:
            policies[line] = {
                ON_ZIPF: Estimate.of([value / truth.zipf - 1 for value in zipf], True),
                ON_UNIFORM: Estimate.of([value / truth.uniform - 1 for value in uniform], True),
                **{f"rates of {d}": distance(steady, r, d, line) for d, r in truth.ratios.items()},
            }
    return policies


def distance(
    steady: Steady, ratios: Mapping[float, float], drive: str, line: str
) -> Estimate | None:
    """Returns the root mean square of log(our rise under skew / the rise of the drive's rates),
    over the skews that are not in doubt."""
    uniform = steady.get((UNIFORM, line))
    judged = [theta for theta in ratios if (drive, theta) not in DOUBTED]
    ours = [steady.get((zipf_name(theta), line)) for theta in judged]
    if uniform is None or None in ours:
        return None
    values = []
    for i, base in enumerate(uniform):
        squares = [
            math.log((each or ())[i] / base / ratios[theta]) ** 2
            for theta, each in zip(judged, ours, strict=True)
        ]
        values.append(math.sqrt(sum(squares) / len(squares)))
    return Estimate.of(values, True)


def judged(steady: Steady, truth: SkewMeasurements | None) -> list[AnyClaim]:
    one = "One policy explains two runs of a drive, uniform and Zipf, and the rates of four others"
    single = "No separation explains the two runs of that drive, with some victim"
    of_all = errors(steady, truth) if truth else {}
    alone = {
        line: {name: offs[name] for name in (ON_ZIPF, ON_UNIFORM)}
        for line, offs in of_all.items()
        if line.partition("/")[0] == "single"
    }
    origin = own("on measured drives", f"within {SAME:.1%}")
    return [
        (Statement("measured-one", one, origin), _best(of_all)),
        (Statement("measured-single", single, origin), _best(alone)),
    ]


Off = tuple[str, Estimate]
"""Name of a measurement, and the error of a policy there."""


def _best(policies: Mapping[str, Errors]) -> Measured:
    """Judges the best policy by its largest error. A policy without a known failure that was not
    run for all measurements decides nothing."""
    largest: dict[str, Off] = {}
    for line, offs in policies.items():
        worst = min(((name, off) for name, off in offs.items() if off), key=_rank)
        if None not in offs.values() or REGION.case(worst[1]) == LESS:
            largest[line] = worst
    if not policies:
        return Measured(why="it takes the measurements of drives")
    counts = Counts.of(
        [{"case": REGION.case(off), "rejected": None} for _, off in largest.values()]
    )
    unknown = len(policies) - len(largest)
    if unknown and not counts.as_claimed:
        return Measured(why=f"{unknown} policies were not run at other skews, which --full has")
    line = max(largest, key=lambda line: _rank(largest[line]))
    name, off = largest[line]
    deciding = {f"{LABELS[line]}: {name}": off}
    row = row_of(REGION, deciding, deciding)
    ours = f"{LABELS[line]}: up to {plus_minus(off.mean, off.half, change)} off ({name})"
    return Measured(ours, f"the best of {counts.points} policies: {counts}", off.mean, [row])


def _rank(off: Off) -> tuple[int, float]:
    return REGION.rank(off[1])
