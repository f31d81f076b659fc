"""Tables of verdicts: a claim's map, verdicts taken otherwise, and what a paper leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .experiment import FULL_SEEDS, QUICK_SEEDS, Axis, Experiment, Run
from .judging import Filter, OpenClaim, Point, ask, judge_asked, places_of, verdict_of
from .paper import Column, Measured, Numbers, Row
from .reasons import counts_of, interval
from .verdicts import FACTORS, TOLERANCE, confidence_of_each


def map_of(experiment: Experiment, claim: OpenClaim[Any], found: Measured) -> Numbers:
    """The points of a claim's domain beside what we have there."""
    axes = [experiment.axis(key) for key in claim.axes]
    rows = [
        row | {"interval": interval(claim, row), "case": row["case"] + _rejected(row)}
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
            said = {k: verdict_of(experiment, claim, part) for k, part in parts.items() if part}
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
        asked = ask(experiment, claim, points, full, reject)
        verdicts = {
            factor: judge_asked(experiment, replace(claim, region=region), asked).verdict
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


def by_confidence(judged: Sequence[tuple[OpenClaim[Any], Measured]]) -> Numbers:
    """Of each claim the verdict with intervals of 95 % at each point, and with intervals that are
    so wide that all of them hold at once at 95 %."""
    known = [(claim, found) for claim, found in judged if found.at_once is not None]
    rows = [_at_once(claim, found) for claim, found in known]
    other = sum(found.at_once != found.verdict for _, found in known)
    return Numbers(
        key="by-confidence",
        title="Verdicts by whether intervals hold one by one or at once",
        caption="One in twenty intervals of 95% misses. With n of them each has 1 - 0.05/n at "
        "once, by Student's t over the seeds of its point (Bonferroni); points of which nothing is "
        f"random have none, and keep theirs. {other} of {len(rows)} verdicts differ.",
        rows=rows,
        columns=[
            Column("claim", "claim"),
            Column("paper", "paper"),
            Column("intervals", "intervals", str),
            Column("confidence of each at once", "confidence", "{:.4%}".format),
            *(Column(title, title) for title in (*EACH, *AT_ONCE)),
        ],
        brief=False,
    )


EACH, AT_ONCE = ("95% each", "points, each"), ("95% at once", "points, at once")
"""A verdict, and how many points of each case it is of."""


def _at_once(claim: OpenClaim[Any], found: Measured) -> Row:
    left = [row for row in found.rows if not row["rejected"]]
    intervals = sum(row["random"] for row in left) * claim.cases
    return {
        "claim": claim.text,
        "paper": claim.paper,
        "intervals": intervals,
        "confidence": confidence_of_each(intervals) if intervals else None,
        **dict(zip(EACH, (found.verdict, counts_of(left)), strict=True)),
        **dict(zip(AT_ONCE, (found.at_once, counts_of(left, "case_at_once")), strict=True)),
    }


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


def _rejected(row: Row) -> str:
    """What a map says of a point behind its case."""
    return " (left out)" if row["rejected"] else ""
