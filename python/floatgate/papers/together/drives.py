"""Compares placements with measured Zipf runs of real drives: ours against SSD-iq's.

For one drive the write amplification under Zipf is known, for four others only host rates. How much
slower they serve Zipf than uniform writes stands for how much more they write; the data's own page
warns that a rate depends on more than that. docs/trust.md describes the drive and earlier attempts.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from floatgate.calibrate.measured import STEADY_SHARE, read_wa
from floatgate.papers.kit.batch import Played
from floatgate.papers.kit.claims import AnyClaim, Counts, Measured, Statement, change, own
from floatgate.papers.kit.exhibits import Column, Numbers, Row, columns_of
from floatgate.papers.kit.experiment import Axis, Experiment, Level, Line, Run, Workload
from floatgate.papers.kit.reproduce import runs_at
from floatgate.papers.kit.verdicts import AS_CLAIMED, LESS, STRADDLES, Estimate, Region, farthest
from floatgate.results.values import fixed

from .domain import ORACLE
from .reduce import amplified

if TYPE_CHECKING:
    from floatgate.results.result import Result

DEVICE = "classic"
"""Base preset. Without a clock, only the settings below matter: units, spare space, policies."""
UNITS, UNIT_PAGES = 512, 256
"""The drive has 2,147 units of 262,144 pages. Greedy cleaning of small units finds better victims
than cleaning of large units: uniform writes are 8 % below the measurement with 32 pages, and 2 %
with 128."""
PAGE = 4096
VOLUMES = 4
SAME = 0.025
"""A run is explained within this relative error. Two runs of the measured drive with equal uniform
writes end 2.5 % apart, and no model can be nearer to the drive than the drive is to itself."""
REGION = Region(-SAME, SAME)

QUICK_VICTIMS = ("greedy", "cost_benefit")
"""The best policy for uniform writes, and the usual policy that uses age."""
VICTIMS = (*QUICK_VICTIMS, *("fifo", "windowed", "d_choices", "random", "lfs_cost_benefit", "cat"))

PLACEMENTS = (
    *("single", "eti", "mbf", "mhf", "direct", "length", "lru_lists", "wdac"),
    *("asa", "dac", "sepbit", "autostream", "oracle"),
)
"""All placements that work without hints about hot pages."""

MEASURED = "measured drives"
THETAS = (0.2, 0.4, 0.6, 0.8, 1.0)
THETA = 0.8
DOUBTED = {("m0", 0.8), ("m0", 1.0)}
"""Runs in which requests to one page queue. The data's page states that their rates depend on more
than write amplification. The runs were excluded before any simulation; they are shown but not
judged."""


def _drive(spare: float) -> dict[str, str]:
    pages = span_pages(spare)
    return {
        "timing": "none",
        "flash.page": f"{PAGE}B",
        "flash.pages_per_block": str(UNIT_PAGES),
        "flash.blocks": str(UNITS),
        "start.fill": "sequential",
        # Half a page, so that rounding down finds the span.
        "capacity.spare_factor": str(1 - (pages + 0.5) / (UNITS * UNIT_PAGES)),
    }


def span_pages(spare: float) -> int:
    return round(UNITS * UNIT_PAGES * (1 - spare))


FITTED = "16.653%"
SPARES = {FITTED: 0.16653}
"""Fitted only to the uniform run of the drive (docs/trust.md)."""

AXES = (
    Axis(
        "spare",
        "the spare space of the measured drive",
        tuple(Level(key, _drive(share)) for key, share in SPARES.items()),
        "Fitted to uniform writes of the D7-P5520. The others sell as large a share of their "
        "flash, and nothing is known of theirs: they are compared by ratios.",
    ),
)


def zipf_name(theta: float) -> str:
    return f"Zipf {theta:g}, {MEASURED}"


UNIFORM = f"uniform, {MEASURED}"


def _workload(name: str, text: str) -> Workload:
    pages = span_pages(SPARES[FITTED])
    spec = f"{text},span={pages * PAGE}B,size={PAGE}B,writes={VOLUMES * pages}"
    return Workload(name, MEASURED, Played(spec.replace(":,", ":")), random=True)


WORKLOADS = (
    _workload(UNIFORM, "uniform:"),
    *(_workload(zipf_name(theta), f"zipf:theta={theta:g}") for theta in THETAS),
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
NAMES = [*LABELS, *(work.name for work in WORKLOADS)]
EXPERIMENT = Experiment(DEVICE, AXES, WORKLOADS, LINES, {name: name for name in NAMES})


def runs(full: bool) -> Iterable[Run]:
    """Returns every policy on every load. A quick reproduction has two victim policies, and 0.8 as
    the only skew."""
    quick = [work for work in WORKLOADS if work.name in (UNIFORM, zipf_name(THETA))]
    victims = VICTIMS if full else QUICK_VICTIMS
    lines = [key_of(placement, victim) for placement, victim in product(PLACEMENTS, victims)]
    points = EXPERIMENT.points((), True)
    return runs_at(EXPERIMENT, WORKLOADS if full else quick, points, lines, full)


def steady(result: Result) -> float:
    """Returns the write amplification over the last fifth of the pages that the host writes."""
    timeline = result.timeline
    return amplified(timeline, (1 - STEADY_SHARE) * float(timeline["host_pages"][-1]))


@dataclass(frozen=True)
class Measurements:
    zipf: float
    """Write amplification over base."""
    uniform: float
    ratios: Mapping[str, Mapping[float, float]]
    """Rate of uniform writes over the rate of Zipf writes, by drive and skew."""


def find_measurements(named: str = os.environ.get("FLOATGATE_DRIVES", "")) -> Measurements | None:
    """Returns the measurements if they are available. They are not part of the repository."""
    root = Path(__file__).resolve().parents[4]
    folder = Path(named) if named else root.parent / "shared" / "drives"
    start, rates = folder / "wa-p5520-start.csv", folder / "throughput-skew.csv"
    if not (start.is_file() and rates.is_file()):
        return None
    waste = {run.name: run.steady(run.wa) for run in read_wa(start)}
    ratios: dict[str, dict[float, float]] = {}
    with rates.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["pattern"] == "zipf" and row["uniform_over_this"]:
                theta = float(row["detail"].removeprefix("theta="))
                ratios.setdefault(row["drive"], {})[theta] = float(row["uniform_over_this"])
    return Measurements(waste["i1-seq-zipf"], waste["i1-seq-uniform"], ratios)


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


def errors(steady: Steady, truth: Measurements) -> dict[str, Errors]:
    """Returns the errors of each policy that was run on Zipf 0.8 and on uniform writes: relative
    errors for these two, and the distance to the rates of each drive."""
    policies: dict[str, Errors] = {}
    for line in LABELS:
        zipf, uniform = steady.get((zipf_name(THETA), line)), steady.get((UNIFORM, line))
        if zipf is not None and uniform is not None:
            policies[line] = {
                ON_ZIPF: Estimate.of([value / truth.zipf - 1 for value in zipf], True),
                ON_UNIFORM: Estimate.of([value / truth.uniform - 1 for value in uniform], True),
                **{_rates(d): distance(steady, r, d, line) for d, r in truth.ratios.items()},
            }
    return policies


def _rates(drive: str) -> str:
    return f"rates of {drive}"


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


EXPLAINS = {AS_CLAIMED: "yes", STRADDLES: "open", LESS: "no"}


def measured_table(steady: Steady, truth: Measurements) -> Numbers:
    """Compares every policy with the drive, the nearest to Zipf 0.8 first."""
    rows: list[tuple[float, Row]] = []
    for line, offs in errors(steady, truth).items():
        zipf, uniform = both = _of_one_drive(offs)
        wa = Estimate.of(steady[zipf_name(THETA), line], True)
        row: Row = {
            "policy": LABELS[line],
            "wa": f"{fixed(wa.mean, 3)} ± {fixed(wa.half, 3)}",
            "zipf": said(zipf),
            "uniform": said(uniform),
            "case": EXPLAINS[farthest(map(REGION.case, both))],
        }
        rows.append((abs(zipf.mean), row))
    near, chance, of = by_chance(steady, truth)
    return Numbers(
        key="measured-p5520",
        title="Policies against a measured Zipf run, and how many would meet it by chance",
        caption=(
            f"Solidigm D7-P5520: {truth.zipf:.3f} under Zipf {THETA:g}, {truth.uniform:.3f} under "
            "uniform writes (over base, last fifth). Spare factor fitted to the uniform run; all "
            "policies at their defaults; 95% intervals over seeds; nearest first. Of the "
            f"{of} that know no future {near} are within {SAME:.1%} of the Zipf run on average; "
            f"spread evenly over what all have, {chance:.1f} would be: one that explains it may "
            "do so by chance."
        ),
        rows=[row for _, row in sorted(rows, key=lambda one: one[0])],
        columns=[
            Column("Placement, victim", "policy"),
            Column(ON_ZIPF, "wa"),
            *columns_of(zipf="Against measured", uniform="Uniform, against measured"),
            Column(f"Both within {SAME:.1%}", "case"),
        ],
    )


def _of_one_drive(offs: Errors) -> tuple[Estimate, Estimate]:
    zipf, uniform = offs[ON_ZIPF], offs[ON_UNIFORM]
    assert zipf is not None and uniform is not None, "a policy without both has no errors"
    return zipf, uniform


def rates_table(steady: Steady, truth: Measurements) -> Numbers:
    """Compares every policy's rise under skew with the slowdown of four drives. The drives come
    first. Without rows if no policy was run for all skews, as --full does."""
    drives: list[Row] = [
        {"policy": f"{drive}, measured"}
        | {f"{theta:g}": fixed(ratio, 3) for theta, ratio in ratios.items()}
        for drive, ratios in truth.ratios.items()
    ]
    rows: list[Row] = []
    for line, offs in errors(steady, truth).items():
        uniform = steady[UNIFORM, line]
        zipf = {theta: steady.get((zipf_name(theta), line)) for theta in THETAS}
        if None in zipf.values():
            continue
        row: Row = {"policy": LABELS[line]}
        for theta, values in zipf.items():
            pairs = zip(values or (), uniform, strict=True)
            row[f"{theta:g}"] = fixed(sum(a / b for a, b in pairs) / len(uniform), 3)
        for drive in truth.ratios:
            off = offs[_rates(drive)]
            row[drive] = None if off is None else f"{off.mean:.1%} ± {off.half:.1%}"
        rows.append(row)
    return Numbers(
        key="measured-rates",
        title="Policies against the rates of four drives",
        caption=(
            "By Zipf's theta: write amplification over that of uniform writes, and of the drives "
            "the rate of uniform writes over this one. Right: the root mean square distance over "
            "all theta, of m0 without 0.8 and 1, where its rate is not write amplification alone."
        ),
        rows=[*drives, *rows] if rows else [],
        columns=[
            Column("Placement, victim", "policy"),
            *(Column(f"{theta:g}", f"{theta:g}") for theta in THETAS),
            *(Column(f"to {drive}", drive) for drive in truth.ratios),
        ],
        brief=False,
    )


def said(error: Estimate) -> str:
    return f"{change(error.mean)} ± {error.half:.1%}"


def by_chance(steady: Steady, truth: Measurements) -> tuple[int, float, int]:
    """Returns three numbers: the policies whose means come within `SAME` of the measured Zipf run,
    the number expected if the policies were spread evenly over their range, and the number of
    policies. Policies that know the future are excluded, because no drive knows it and their
    numbers are far from all others."""
    offs = [
        _of_one_drive(offs)[0].mean
        for line, offs in errors(steady, truth).items()
        if line.partition("/")[0] != ORACLE
    ]
    share = min(1.0, 2 * SAME / (max(offs) - min(offs))) if len(set(offs)) > 1 else 1.0
    return sum(abs(off) <= SAME for off in offs), share * len(offs), len(offs)


def judged(steady: Steady, truth: Measurements | None) -> list[AnyClaim]:
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
    """Judges whether one of the policies is near enough to all measurements. The largest error
    decides for a policy, and the best policy decides for all. A policy without a known failure that
    was not run for all measurements decides nothing."""
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
    case = REGION.case(off)
    row: Row = {
        "of": f"{LABELS[line]}: {name}",
        "ours": off.mean,
        "ci95": off.half,
        "seeds": off.runs,
        "random": True,
        "case": case,
        "case_at_once": case,
        "paper_within": None,
        "rejected": None,
    }
    ours = f"{LABELS[line]}: up to {said(off)} off ({name})"
    return Measured(ours, f"the best of {counts.points} policies: {counts}", off.mean, [row])


def _rank(off: Off) -> tuple[int, float]:
    return REGION.rank(off[1])
