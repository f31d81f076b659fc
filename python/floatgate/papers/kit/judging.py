"""Claims with a domain: measured at every point of it, over seeds, and worded as one verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .experiment import FULL_SEEDS, QUICK_SEEDS, Experiment, Place, Run
from .paper import HOLDS, UNCHECKED, Measured, Row
from .reasons import against, ours, told
from .verdicts import CASES, Estimate, Region, confidence_of_each, worded

Point = TypeVar("Point")
"""What a run is reduced to."""


@dataclass(frozen=True)
class At(Generic[Point]):
    """What there is at a place of a domain, with one seed."""

    experiment: Experiment
    points: Mapping[Run, Point]
    place: Place
    seed: int

    def __call__(self, workload: str, line: str) -> Point:
        """One of the paper's lines on one of its workloads. Raises KeyError if it was not run."""
        return self.points[self.experiment.run_of(self.place, workload, line, self.seed)]


Values = dict[str, float]
"""What a claim compares, by what it is of: all of them have to be in its region."""


@dataclass(frozen=True)
class Premise(Generic[Point]):
    """What a claim takes for granted. Where that is not sure, the whole interval of it, there is
    nothing to ask, and the place is left out of the claim's verdict."""

    text: str
    """What is left out: "without a gain on Financial1"."""
    measure: Callable[[At[Point]], Values]
    """Of the lines and workloads of the claim."""
    region: Region


@dataclass(frozen=True)
class OpenClaim(Generic[Point]):
    """One statement of the paper, and where it is asked whether it is true."""

    key: str
    text: str
    where: str
    paper: str
    """What the paper states, in short."""
    axes: tuple[str, ...]
    """Of the experiment: what the statement leaves open."""
    workloads: tuple[str, ...]
    lines: tuple[str, ...]
    """Those of the paper that it compares."""
    measure: Callable[[At[Point]], Values]
    region: Region
    said: Callable[[float], str]
    """How a value is written."""
    full_axes: frozenset[str] = frozenset()
    """Of the axes, those that a quick reproduction leaves at their defaults."""
    premise: Premise[Point] | None = None
    of_each: Callable[[str], str] | None = None
    """What a value is a case of, by its name: of each the best case is enough ("in some cases")."""
    cases: int = 1
    """Of how many of each that one is the best: all intervals are widened for their number."""


@dataclass(frozen=True)
class Filter(Generic[Point]):
    """Runs that say nothing, chosen before any was made; it is applied to all claims alike."""

    text: str
    """What is left out: "places with a backlog"."""
    rejects: Callable[[Point], bool]


def runs_of(experiment: Experiment, claims: Iterable[OpenClaim[Any]], full: bool) -> list[Run]:
    """The runs that the claims need, each of them once."""
    seeds = range(1, 1 + (FULL_SEEDS if full else QUICK_SEEDS))
    found = (
        experiment.run_of(place, workload, line, seed)
        for claim in claims
        for place in places_of(experiment, claim, full)
        for workload in claim.workloads
        for line in claim.lines
        for seed in seeds
    )
    return list(dict.fromkeys(found))


def places_of(experiment: Experiment, claim: OpenClaim[Any], full: bool) -> list[dict[str, str]]:
    """The domain of a claim."""
    swept = [axis for axis in claim.axes if full or axis not in claim.full_axes]
    places = experiment.places(swept, full)
    found = [place for place in places if experiment.has(place, claim.workloads)]
    return found if full else [p for p in found if experiment.is_quick(p, claim.workloads)]


def judge(
    experiment: Experiment,
    claim: OpenClaim[Point],
    points: Mapping[Run, Point],
    full: bool,
    reject: Filter[Point],
) -> Measured:
    """The claim at every point of its domain that was run."""
    return judge_asked(experiment, claim, ask(experiment, claim, points, full, reject))


def judge_asked(experiment: Experiment, claim: OpenClaim[Any], asked: Sequence[Asked]) -> Measured:
    """The same, of points that were asked before: their numbers hang on no region."""
    intervals = sum(one.random for one in asked if not one.rejected)
    rows = [_row(claim, one, intervals) for one in asked]
    if not rows:
        return Measured("not measured", UNCHECKED, f"it takes {_needs(claim)}")
    left = [row for row in rows if not row["rejected"]]
    beside = verdict_of(experiment, claim, rows)
    verdict = verdict_of(experiment, claim, left) if left else UNCHECKED
    at_once = verdict_of(experiment, claim, left, "case_at_once") if left else UNCHECKED
    kept = left or rows
    why = [told(kept), *against(claim, kept)]
    out = Counter(row["rejected"] for row in rows if row["rejected"])
    if not left:
        why = [f"all points are {' or '.join(out)}", *why]
    if out:
        texts = " and ".join(f"{n} {text}" for text, n in out.items())
        why.append(f"without leaving out {texts}: {beside}")
    return Measured(
        ours(claim, kept), verdict, "; ".join(why), _middle(experiment, kept), rows, at_once
    )


@dataclass(frozen=True)
class Asked:
    """A point of a claim's domain: what was measured there, whatever is claimed of it."""

    place: Place
    named: Mapping[str, Estimate]
    """Of all that the claim compares."""
    seeds: Sequence[int]
    random: bool
    rejected: str | None
    """What it is left out as, if it is."""


def ask(
    experiment: Experiment,
    claim: OpenClaim[Point],
    points: Mapping[Run, Point],
    full: bool,
    reject: Filter[Point],
) -> list[Asked]:
    """The points of the claim's domain of which no run is missing."""
    found = (
        _ask(experiment, claim, points, place, reject)
        for place in places_of(experiment, claim, full)
    )
    return [asked for asked in found if asked]


def _ask(
    experiment: Experiment,
    claim: OpenClaim[Point],
    points: Mapping[Run, Point],
    place: Place,
    reject: Filter[Point],
) -> Asked | None:
    seeds = range(1, 1 + FULL_SEEDS)
    runs = [
        [experiment.run_of(place, work, line, seed) for seed in seeds]
        for work in claim.workloads
        for line in claim.lines
    ]
    known = [
        seed
        for seed, each in zip(seeds, zip(*runs, strict=True), strict=True)
        if all(run in points for run in each)
    ]
    if not known:
        return None
    random = any(experiment.is_random(one[0]) for one in runs)
    ats = [At(experiment, points, place, seed) for seed in known]
    filtered = any(reject.rejects(points[one[i - 1]]) for one in runs for i in known)
    return Asked(
        place=place,
        named=_estimates([claim.measure(at) for at in ats], random),
        seeds=known,
        random=random,
        rejected=reject.text if filtered else _unmet(claim.premise, ats, random),
    )


def _row(claim: OpenClaim[Any], asked: Asked, intervals: int) -> Row:
    """A point of the map; beside its case that with intervals so many of which hold at once."""
    of, found = _deciding(claim, _held_at_once(claim, asked, 1))
    wider = _held_at_once(claim, asked, intervals)
    stated = claim.region.stated
    return {
        **{key: asked.place[key] for key in claim.axes},
        "of": of,
        "ours": found.mean,
        "ci95": found.half if found.random and len(asked.seeds) > 1 else None,
        "seeds": found.runs,
        "random": asked.random,
        "case": claim.region.case(found),
        "case_at_once": claim.region.case(_deciding(claim, wider)[1]),
        "paper_within": None if stated is None else found.low <= stated <= found.high,
        "rejected": asked.rejected,
    }


def _unmet(premise: Premise[Point] | None, ats: Sequence[At[Point]], random: bool) -> str | None:
    """What a place is left out as, if what the claim takes for granted is not sure there."""
    if premise is None:
        return None
    named = _estimates([premise.measure(at) for at in ats], random)
    _, found = _worst(premise.region, named)
    return None if premise.region.case(found) == HOLDS else premise.text


def _estimates(values: Sequence[Values], random: bool) -> dict[str, Estimate]:
    """Of all that is compared, with a value for each seed."""
    return {name: Estimate.of([each[name] for each in values], random) for name in values[0]}


def _held_at_once(claim: OpenClaim[Any], asked: Asked, points: int) -> dict[str, Estimate]:
    """With intervals that hold at once: at so many points, and of the cases to pick from."""
    confidence = confidence_of_each(max(points, 1) * claim.cases)
    return {name: found.at(confidence) for name, found in asked.named.items()}


def _deciding(claim: OpenClaim[Any], named: Mapping[str, Estimate]) -> tuple[str, Estimate]:
    """What a claim holds as far as: the worst of all that it compares, or of the best cases."""
    compared = _best(claim.region, named, claim.of_each) if claim.of_each else named
    return _worst(claim.region, compared)


def _worst(region: Region, named: Mapping[str, Estimate]) -> tuple[str, Estimate]:
    """Of all that is compared, what is farthest from the region, with its name."""
    return min(named.items(), key=lambda item: _rank(region, item[1]))


def _best(
    region: Region, named: Mapping[str, Estimate], of_each: Callable[[str], str]
) -> dict[str, Estimate]:
    """Of each thing of which there are several cases, the case that is nearest to the region, or
    farthest inside it. It keeps its own name."""
    ranked = sorted(named.items(), key=lambda item: _rank(region, item[1]))
    return dict({of_each(name): (name, found) for name, found in ranked}.values())


def _rank(region: Region, found: Estimate) -> tuple[int, float]:
    return CASES.index(region.case(found)), region.margin(found)


def verdict_of(
    experiment: Experiment, claim: OpenClaim[Any], rows: Sequence[Row], case: str = "case"
) -> str:
    """In words, where of these points of its domain a claim holds; `case` is the column to ask."""
    axes = [experiment.axis(key).named for key in claim.axes]
    return worded(axes, [({key: row[key] for key in claim.axes}, row[case]) for row in rows])


def _middle(experiment: Experiment, rows: Sequence[Row]) -> float | None:
    """Our number where every axis is at its default, if that was run."""
    for row in rows:
        if all(row[a.key] == a.default for a in experiment.axes if a.key in row):
            value: float = row["ours"]
            return value
    return None


def _needs(claim: OpenClaim[Any]) -> str:
    return f"{', '.join(claim.lines)} on {', '.join(claim.workloads)}"
