"""Claims with a domain: measured at every point of it, over seeds, and worded as one verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from .experiment import FULL_SEEDS, QUICK_SEEDS, Axis, Experiment, Place, Run
from .paper import HOLDS, UNCHECKED, Column, Measured, Numbers, Row
from .verdicts import AMBIGUOUS, CASES, FACTORS, FAILS_HERE, TOLERANCE, Estimate, Region, worded

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
    return _judged(experiment, claim, _asked(experiment, claim, points, full, reject))


def _judged(experiment: Experiment, claim: OpenClaim[Any], asked: Sequence[Asked]) -> Measured:
    rows = [_row(claim, one) for one in asked]
    if not rows:
        return Measured("not measured", UNCHECKED, f"it takes {_needs(claim)}")
    left = [row for row in rows if not row["rejected"]]
    beside = _verdict(experiment, claim, rows)
    verdict = _verdict(experiment, claim, left) if left else UNCHECKED
    kept = left or rows
    why = [_told(kept), *_against(claim, kept)]
    out = Counter(row["rejected"] for row in rows if row["rejected"])
    if not left:
        why = [f"all points are {' or '.join(out)}", *why]
    if out:
        told = " and ".join(f"{n} {text}" for text, n in out.items())
        why.append(f"without leaving out {told}: {beside}")
    return Measured(
        _ours(claim, kept), verdict, "; ".join(why), _middle(experiment, kept), rows=rows
    )


def map_of(experiment: Experiment, claim: OpenClaim[Any], found: Measured) -> Numbers:
    """The points of a claim's domain beside what we have there."""
    axes = [experiment.axis(key) for key in claim.axes]
    rows = [
        row | {"interval": _interval(claim, row), "case": row["case"] + _rejected(row)}
        for row in found.rows
    ]
    columns = [
        *(Column(axis.text, axis.key) for axis in axes),
        Column("decided by", "of"),
        Column("ours", "interval"),
        Column("case", "case"),
    ]
    return Numbers(
        key=f"map-{claim.key}",
        title=claim.text,
        caption=f"Paper: {claim.paper} ({claim.where}). {found.verdict}.",
        rows=rows,
        columns=columns,
        brief=False,
    )


def by_choice(
    experiment: Experiment, axis: str, judged: Sequence[tuple[OpenClaim[Any], Measured]]
) -> Numbers:
    """Of each claim that is asked on an axis, a verdict for each of its choices."""
    choices = [choice.key for choice in experiment.axis(axis).choices]
    rows: list[Row] = []
    for claim, found in judged:
        if axis in claim.axes and found.rows:
            asked = [row for row in found.rows if not row["rejected"]]
            parts = {key: [row for row in asked if row[axis] == key] for key in choices}
            said = {k: _verdict(experiment, claim, part) for k, part in parts.items() if part}
            rows.append({"claim": claim.text, "paper": claim.paper} | said)
    return Numbers(
        key=f"by-{axis}",
        title=f"Verdicts by {experiment.axis(axis).text}",
        caption="What is left out of verdicts is left out here.",
        rows=rows,
        columns=[
            *(Column(title, title) for title in ("claim", "paper")),
            *(Column(key, key) for key in choices),
        ],
        brief=False,
    )


def by_factor(
    experiment: Experiment,
    judged: Sequence[tuple[OpenClaim[Point], Measured]],
    points: Mapping[Run, Point],
    full: bool,
    reject: Filter[Point],
) -> Numbers:
    """Of each claim with a stated number, the verdicts if it had to be met more or less closely."""
    rows: list[Row] = []
    for claim, found in judged:
        regions = {str(factor): claim.region.within(factor) for factor in FACTORS}
        if not found.rows or not any(regions.values()):
            continue
        asked = _asked(experiment, claim, points, full, reject)
        verdicts = {
            factor: _judged(experiment, replace(claim, region=region), asked).verdict
            for factor, region in regions.items()
            if region
        }
        rows.append({"claim": claim.text, "paper": claim.paper} | verdicts)
    return Numbers(
        key="by-factor",
        title="Verdicts by the factor within which a stated number is met",
        caption=f"The claims have {TOLERANCE}; it decides where verdicts differ.",
        rows=rows,
        columns=[Column(title, title) for title in ("claim", "paper", *map(str, FACTORS))],
        brief=False,
    )


def axes_table(experiment: Experiment, claims: Sequence[OpenClaim[Any]]) -> Numbers:
    """What the paper leaves open, over which range it is swept, and why."""
    swept = [axis for axis in experiment.axes if len(axis.choices) > 1]
    rows = [
        {
            "axis": axis.text,
            "choices": ", ".join(choice.key for choice in axis.choices),
            "quick": ", ".join(_quick_choices(experiment, axis, claims)) or None,
            "paper": axis.paper or None,
            "reason": axis.reason,
            "claims": sum(axis.key in claim.axes for claim in claims),
        }
        for axis in swept
    ]
    titles = ("axis", "choices", "quick", "paper", "reason", "claims")
    return Numbers(
        key="domain",
        title="What the paper leaves open",
        caption=_asked_where(experiment, swept, claims),
        rows=rows,
        columns=[Column(title, title) for title in titles],
        brief=False,
    )


def _quick_choices(
    experiment: Experiment, axis: Axis, claims: Sequence[OpenClaim[Any]]
) -> list[str]:
    """Those with which a claim on the axis is asked quickly."""
    places = [
        place
        for claim in claims
        if axis.key in claim.axes
        for place in places_of(experiment, claim, full=False)
    ]
    found = {place[axis.key] for place in places}
    return [choice.key for choice in axis.choices if choice.key in found]


def _asked_where(
    experiment: Experiment, swept: Sequence[Axis], claims: Sequence[OpenClaim[Any]]
) -> str:
    """Which points of a domain are asked, of all that there are."""
    asked = {key for claim in claims for key in claim.axes}
    sizes = [axis.text for axis in swept if axis.ordered and axis.key in asked]
    told = [f"{FULL_SEEDS} seeds with --full, {QUICK_SEEDS} quickly, where anything is random."]
    if len(sizes) > 1:
        told.append(
            "With --full a claim is asked at every combination of its choices; quickly, where each "
            f"of its sizes ({', '.join(sizes)}) is the least or the largest, and where all are in "
            "the middle, which is no grid."
        )
    if any(work.slow for work in experiment.workloads):
        told.append("Workloads that take long have quickly only the middle of the sizes.")
    if any(axis.key not in asked for axis in swept):
        told.append("What is of no claim is swept in a table of its own.")
    return " ".join(told)


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


def _asked(
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


def _row(claim: OpenClaim[Any], asked: Asked) -> Row:
    """A point of the map."""
    named = {name: found.as_one_of(claim.cases) for name, found in asked.named.items()}
    named = _best(claim.region, named, claim.of_each) if claim.of_each else named
    of, ours = _deciding(claim.region, named)
    stated = claim.region.stated
    return {
        **{key: asked.place[key] for key in claim.axes},
        "of": of,
        "ours": ours.mean,
        "ci95": ours.half if ours.random and len(asked.seeds) > 1 else None,
        "seeds": ours.runs,
        "random": asked.random,
        "case": claim.region.case(ours),
        "paper_within": None if stated is None else ours.low <= stated <= ours.high,
        "rejected": asked.rejected,
    }


def _unmet(premise: Premise[Point] | None, ats: Sequence[At[Point]], random: bool) -> str | None:
    """What a place is left out as, if what the claim takes for granted is not sure there."""
    if premise is None:
        return None
    named = _estimates([premise.measure(at) for at in ats], random)
    _, found = _deciding(premise.region, named)
    return None if premise.region.case(found) == HOLDS else premise.text


def _estimates(values: Sequence[Values], random: bool) -> dict[str, Estimate]:
    """Of all that is compared, with a value for each seed."""
    return {name: Estimate.of([each[name] for each in values], random) for name in values[0]}


def _deciding(region: Region, named: Mapping[str, Estimate]) -> tuple[str, Estimate]:
    """Of all that is compared, the worst: a claim holds as far as that does."""
    return min(named.items(), key=lambda item: _rank(region, item[1]))


def _best(
    region: Region, named: Mapping[str, Estimate], of_each: Callable[[str], str]
) -> dict[str, Estimate]:
    ranked = sorted(named.items(), key=lambda item: _rank(region, item[1]))
    return dict({of_each(name): (name, found) for name, found in ranked}.values())


def _rank(region: Region, found: Estimate) -> tuple[int, float]:
    return CASES.index(region.case(found)), region.margin(found)


def _verdict(experiment: Experiment, claim: OpenClaim[Any], rows: Sequence[Row]) -> str:
    axes = [experiment.axis(key).named for key in claim.axes]
    return worded(axes, [({key: row[key] for key in claim.axes}, row["case"]) for row in rows])


def _ours(claim: OpenClaim[Any], rows: Sequence[Row]) -> str:
    """The least and the largest of our numbers, with where the paper's lies."""
    least, most = (pick(rows, key=lambda row: row["ours"]) for pick in (min, max))
    if len(rows) == 1:
        return _interval(claim, least)
    return f"{_interval(claim, least)} to {_interval(claim, most)}"


def _interval(claim: OpenClaim[Any], row: Row) -> str:
    of = f"{row['of']} " if row["of"] else ""
    if row["ci95"]:
        half = claim.said(row["ci95"]).lstrip("+")
        return f"{of}{claim.said(row['ours'])} ± {half}"
    return f"{of}{claim.said(row['ours'])}"


def _told(rows: Sequence[Row]) -> str:
    """How many points there are of each case, and of how many runs each number is."""
    cases = Counter(row["case"] for row in rows)
    counts = ", ".join(f"{cases[case]} {word}" for case, word in _WORDS if cases[case])
    fixed = sum(not row["random"] for row in rows)
    seeds = sorted({row["seeds"] for row in rows if row["random"]})
    means = f"means of {' or '.join(map(str, seeds))} seeds" if seeds else ""
    exact = "nothing is random" + (f" in {fixed}" if seeds else "") if fixed else ""
    said = "; ".join(filter(None, (means, exact)))
    if len(rows) == 1:
        return f"one point ({said})"
    return f"{len(rows)} points: {counts} ({said})"


_WORDS = ((HOLDS, "hold"), (AMBIGUOUS, "ambiguous"), (FAILS_HERE, "fail"))


def _against(claim: OpenClaim[Any], rows: Sequence[Row]) -> list[str]:
    """What decides where it does not hold, and where the paper's number lies."""
    found = []
    fails = Counter(row["of"] for row in rows if row["case"] != HOLDS and row["of"])
    if fails:
        found.append("decided by " + ", ".join(f"{of} in {n}" for of, n in fails.most_common()))
    stated = claim.region.stated
    if stated is not None:
        within = sum(row["paper_within"] for row in rows)
        span = [row["ours"] for row in rows]
        inside = "between" if min(span) <= stated <= max(span) else "not between"
        found.append(
            f"the paper's number is {inside} the least and the largest of ours, and in the "
            f"interval of {within}"
        )
    return found


def _middle(experiment: Experiment, rows: Sequence[Row]) -> float | None:
    """Our number where every axis is at its default, if that was run."""
    for row in rows:
        if all(row[a.key] == a.default for a in experiment.axes if a.key in row):
            value: float = row["ours"]
            return value
    return None


def _needs(claim: OpenClaim[Any]) -> str:
    return f"{', '.join(claim.lines)} on {', '.join(claim.workloads)}"


def _rejected(row: Row) -> str:
    return " (left out)" if row["rejected"] else ""
