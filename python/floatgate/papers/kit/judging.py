"""Judges each claim at every point of its domain, over seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from .claims import At, Claim, Filter, Measured, Point, Premise, Values
from .exhibits import Row
from .experiment import FULL_SEEDS, Experiment, Levels, Run
from .numbers import plus_minus
from .verdicts import AS_CLAIMED, Estimate, Region, confidence_of_each, farthest


def runs_of(experiment: Experiment, claims: Iterable[Claim[Any]], full: bool) -> list[Run]:
    needed = (
        run
        for claim in claims
        for levels in domain_of(experiment, claim, full)
        for workload in claim.workloads
        for line in claim.lines
        for run in experiment.runs_of(levels, workload, line, full)
    )
    return list(dict.fromkeys(needed))


def domain_of(experiment: Experiment, claim: Claim[Any], full: bool) -> list[Levels]:
    swept = [axis for axis in claim.axes if full or axis not in claim.full_axes]
    points = experiment.points(swept, full)
    played = [levels for levels in points if experiment.has(levels, claim.workloads)]
    return played if full else [p for p in played if experiment.is_quick(p, claim.workloads)]


def judge(
    experiment: Experiment,
    claim: Claim[Point],
    points: Mapping[Run, Point],
    full: bool,
    reject: Filter[Point],
) -> Measured:
    """Judges the claim at every point of its domain that was run."""
    return judge_evaluated(experiment, claim, evaluate(experiment, claim, points, full, reject))


def judge_evaluated(
    experiment: Experiment, claim: Claim[Any], evaluated: Sequence[Evaluation]
) -> Measured:
    """Judges the claim with values that were evaluated earlier, for any region."""
    intervals = sum(one.random for one in evaluated if not one.rejected)
    rows = [_row(claim, one, intervals) for one in evaluated]
    if not rows:
        needs = f"{', '.join(claim.workloads)} with {', '.join(claim.lines)}"
        return Measured(why=f"not run: {needs}"[:LONGEST])
    left = [row for row in rows if not row["rejected"]] or rows
    out = Counter(row["rejected"] for row in rows if row["rejected"])
    why = " and ".join(f"{n} {text}" for text, n in out.items())
    middle = _middle(experiment, left)
    if middle is None:
        return Measured(_ours(claim, left), why, None, rows)
    return Measured(_ours(claim, left), why, middle["ours"], rows, interval(claim, middle))


LONGEST = 120
"""Maximum number of characters in a cell of the table of claims, except for the quotation."""


@dataclass(frozen=True)
class Evaluation:
    """A claim's values at one point of its domain, independent of the claimed region."""

    levels: Levels
    named: Mapping[str, Estimate]
    random: bool
    rejected: str | None


def evaluate(
    experiment: Experiment,
    claim: Claim[Point],
    points: Mapping[Run, Point],
    full: bool,
    reject: Filter[Point],
) -> list[Evaluation]:
    """Returns the points of the claim's domain for which all runs exist."""
    evaluated = []
    pairs = list(product(claim.workloads, claim.lines))
    for levels in domain_of(experiment, claim, full):
        by_seed = {
            seed: [experiment.run_of(levels, work, line, seed) for work, line in pairs]
            for seed in range(1, 1 + FULL_SEEDS)
        }
        runs = {seed: each for seed, each in by_seed.items() if all(run in points for run in each)}
        if not runs:
            continue
        random = any(experiment.is_random(run) for run in by_seed[1])
        ats = [At(experiment, points, levels, seed) for seed in runs]
        filtered = any(reject.rejects(points[run]) for each in runs.values() for run in each)
        rejected = reject.text if filtered else _unmet(claim.premise, ats, random)
        named = _estimates([claim.measure(at) for at in ats], random)
        evaluated.append(Evaluation(levels, named, random, rejected))
    return evaluated


def _row(claim: Claim[Any], one: Evaluation, intervals: int) -> Row:
    """Returns a point with its case, and its case with `intervals` simultaneous intervals."""
    levels = {key: one.levels[key] for key in claim.axes}
    compared, at_once = (_compared(claim, one, many) for many in (1, intervals))
    return levels | row_of(claim.region, compared, at_once) | {"rejected": one.rejected}


def row_of(
    region: Region, compared: Mapping[str, Estimate], at_once: Mapping[str, Estimate]
) -> Row:
    """Returns a point that counts, by its estimates and by their wider intervals."""
    of, ours = min(compared.items(), key=lambda item: region.rank(item[1]))
    return {
        "of": of,
        "ours": ours.mean,
        "ci95": ours.half if ours.random and ours.runs > 1 else None,
        "seeds": ours.runs,
        "random": ours.random,
        "case": farthest(map(region.case, compared.values())),
        "case_at_once": farthest(map(region.case, at_once.values())),
        "paper_within": None if region.stated is None else ours.low <= region.stated <= ours.high,
        "rejected": None,
    }


def _unmet(premise: Premise[Point] | None, ats: Sequence[At[Point]], random: bool) -> str | None:
    """Returns why the point is left out if the claim's premise is not certain there."""
    if premise is None:
        return None
    named = _estimates([premise.measure(at) for at in ats], random)
    case = farthest(map(premise.region.case, named.values()))
    return None if case == AS_CLAIMED else premise.text


def _estimates(values: Sequence[Values], random: bool) -> dict[str, Estimate]:
    return {name: Estimate.of([each[name] for each in values], random) for name in values[0]}


def _compared(claim: Claim[Any], one: Evaluation, intervals: int) -> dict[str, Estimate]:
    """Returns the estimates that have to be in the region, with `intervals` simultaneous intervals:
    all values, or the best of each group if the claim has groups."""
    confidence = confidence_of_each(max(intervals, 1) * claim.cases)
    named = {name: estimate.at(confidence) for name, estimate in one.named.items()}
    return _best(claim.region, named, claim.of_each) if claim.of_each else named


def _best(
    region: Region, named: Mapping[str, Estimate], of_each: Callable[[str], str]
) -> dict[str, Estimate]:
    """Returns the best estimate of each group, with its own name: nearest to the region, or
    farthest inside it."""
    ranked = sorted(named.items(), key=lambda item: region.rank(item[1]))
    return dict({of_each(name): (name, estimate) for name, estimate in ranked}.values())


def _ours(claim: Claim[Any], rows: Sequence[Row]) -> str:
    least, most = (pick(rows, key=lambda row: row["ours"]) for pick in (min, max))
    if len(rows) == 1:
        return interval(claim, least)
    return f"{interval(claim, least)} to {interval(claim, most)}"


def interval(claim: Claim[Any], row: Row) -> str:
    """Formats the name of the deciding value, our number at a point, and half its interval."""
    of = f"{row['of']} " if row["of"] else ""
    return of + plus_minus(row["ours"], row["ci95"], claim.said)


def decided_by(measured: Measured) -> str:
    rows = [row for row in measured.rows if not row["rejected"]]
    names = Counter(row["of"] for row in rows if row["case"] != AS_CLAIMED and row["of"])
    text = ""
    for name, number in names.most_common():
        longer = f"{text}{', ' if text else ''}{name} in {number}"
        if len(longer) > LONGEST:
            break
        text = longer
    return text


def _middle(experiment: Experiment, rows: Sequence[Row]) -> Row | None:
    """Returns the point with every axis at its default."""
    defaults = {axis.key: axis.default for axis in experiment.axes}
    return next((r for r in rows if all(r.get(k, v) == v for k, v in defaults.items())), None)
