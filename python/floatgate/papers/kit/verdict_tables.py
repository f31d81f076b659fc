"""Tables of verdicts: maps of claims, verdicts under other conditions, and the swept axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import fmean
from typing import Any

from .claims import Claim, Counts, Filter, Judged, Measured, Point
from .exhibits import Column, HeatMap, Numbers, Row
from .experiment import FULL_SEEDS, QUICK_SEEDS, Axis, Experiment, Run
from .judging import domain_of, evaluate, interval, judge_evaluated
from .verdicts import AS_CLAIMED, FACTORS, MORE, STRADDLES, TOLERANCE

SCORES = {AS_CLAIMED: 1.0, MORE: 1.0, STRADDLES: 0.5}
"""Score of a point by its case: how far it meets the claim. Other cases score 0."""


def map_of(experiment: Experiment, claim: Claim[Any], measured: Measured) -> HeatMap:
    """Draws the points of a claim's domain over the two axes that explain most of its verdict."""
    axes = [experiment.axis(key) for key in claim.axes]
    rows = [
        row
        | {
            "interval": interval(claim, row),
            "score": SCORES.get(row["case"], 0.0),
            "text": f"{row['case']} (left out)" if row["rejected"] else row["case"],
        }
        for row in measured.rows
    ]
    return HeatMap(
        key=f"map-{claim.key}",
        title=claim.text,
        caption=f"Paper: {claim.origin.paper} ({claim.origin.where}). {measured.verdict}.",
        rows=rows,
        columns=[
            *(Column(axis.text, axis.key) for axis in axes),
            Column("decided by", "of"),
            Column("ours", "interval"),
            Column("case", "text"),
        ],
        brief=False,
        sides=[
            (axis.key, axis.text, [level.key for level in axis.levels])
            for axis in _explaining(axes, rows)
        ],
    )


def _explaining(axes: Sequence[Axis], rows: Sequence[Row]) -> tuple[Axis, ...]:
    """Returns the two axes whose cells differ most in their scores, or fewer if fewer vary."""
    counted = [row for row in rows if not row["rejected"]] or rows
    whole = fmean(row["score"] for row in counted)

    def explained(pair: tuple[Axis, ...]) -> float:
        cells: dict[tuple[str, ...], list[float]] = {}
        for row in counted:
            cells.setdefault(tuple(row[axis.key] for axis in pair), []).append(row["score"])
        return sum(len(cell) * (fmean(cell) - whole) ** 2 for cell in cells.values())

    varied = [axis for axis in axes if len({row[axis.key] for row in rows}) > 1]
    return max(combinations(varied, min(2, len(varied))), key=explained)


def text_table(key: str, title: str, caption: str, rows: list[Row], *columns: str) -> Numbers:
    """Returns a table of texts, for the page alone. The title of a column is its field."""
    return Numbers(
        key=key,
        title=title,
        caption=caption,
        rows=rows,
        columns=[Column(title, title) for title in columns],
        brief=False,
    )


def by_level(experiment: Experiment, axis: str, judged: Sequence[Judged[Any]]) -> Numbers:
    """Returns each claim that is tested on an axis, with a verdict for each level on the axis."""
    rows: list[Row] = []
    levels = [level.key for level in experiment.axis(axis).levels]
    for claim, measured in judged:
        counted = [row for row in measured.rows if axis in claim.axes and not row["rejected"]]
        at = {level: [row for row in counted if row[axis] == level] for level in levels}
        if counted:
            verdicts = {level: str(Counts.of(there)) for level, there in at.items() if there}
            rows.append({"claim": claim.text, "paper": claim.origin.paper} | verdicts)
    return text_table(
        f"by-{axis}",
        f"Verdicts by {experiment.axis(axis).text}",
        "Points that verdicts leave out are left out here.",
        rows,
        *("claim", "paper", *levels),
    )


def by_factor(
    experiment: Experiment,
    judged: Sequence[Judged[Point]],
    points: Mapping[Run, Point],
    full: bool,
    reject: Filter[Point],
) -> Numbers:
    rows: list[Row] = []
    for claim, measured in judged:
        regions = {str(factor): claim.region.within(factor) for factor in FACTORS}
        if not measured.rows or not any(regions.values()):
            continue
        evaluated = evaluate(experiment, claim, points, full, reject)
        verdicts = {
            factor: judge_evaluated(experiment, replace(claim, region=region), evaluated).verdict
            for factor, region in regions.items()
            if region
        }
        rows.append({"claim": claim.text, "paper": claim.origin.paper} | verdicts)
    return text_table(
        "by-factor",
        "Verdicts by the factor within which a stated number is met",
        f"The claims allow a factor of {TOLERANCE:g}. "
        "Where the verdicts of a claim differ, the factor decides.",
        rows,
        *("claim", "paper", *map(str, FACTORS)),
    )


def met_at_once(
    experiment: Experiment, whole: Judged[Any], parts: Sequence[Judged[Any]], columns: Axis
) -> Numbers:
    """Counts the paper's numbers that are met at each point that all these claims share. The
    levels of one axis are the columns."""
    axes = [key for key in whole[0].axes if key != columns.key]
    table: dict[tuple[str, ...], Row] = {}
    for levels, cases in _cases_at(whole, parts):
        row = table.setdefault(
            tuple(levels[key] for key in axes), {key: levels[key] for key in axes}
        )
        sure, unclear = cases.count(AS_CLAIMED), cases.count(STRADDLES)
        met = f"{sure} to {sure + unclear}" if unclear else str(sure)
        row[levels[columns.key]] = met + (" (left out)" if levels["rejected"] else "")
    seen = {levels[columns.key] for levels in whole[1].rows}
    return Numbers(
        key="met",
        title="How many of the paper's numbers are met at once",
        caption=f"Of {len(parts)}, within a factor of 1.5; a range where intervals leave some "
        "open. What is left out of all verdicts is marked.",
        rows=list(table.values()),
        columns=[
            *(Column(experiment.axis(key).text, key) for key in axes),
            *(Column(one.key, one.key) for one in columns.levels if one.key in seen),
        ],
        brief=False,
    )


def _cases_at(whole: Judged[Any], parts: Sequence[Judged[Any]]) -> list[tuple[Row, list[str]]]:
    """Returns each point that all the claims share, with the case of each claim."""
    cases_of = [
        (claim.axes, {_at(row, claim.axes): row["case"] for row in measured.rows})
        for claim, measured in parts
    ]
    return [(row, [cases[_at(row, axes)] for axes, cases in cases_of]) for row in whole[1].rows]


def _at(row: Row, axes: Sequence[str]) -> tuple[str, ...]:
    return tuple(row[key] for key in axes)


TESTED = (
    f"With --full a claim is tested at every combination of its levels, with {FULL_SEEDS} seeds "
    f"where anything is random, or {QUICK_SEEDS} to save time. With --quick it is tested at the "
    f"default levels, and where one axis has another level, with {QUICK_SEEDS} seeds. "
    "Of sizes, the middle is the default, and the smallest and the largest are the other levels; "
    "slow workloads have the middle only."
)
"""Points at which the claims are tested."""


def axes_table(experiment: Experiment, claims: Sequence[Claim[Any]]) -> Numbers:
    rows = [
        {
            "axis": axis.text,
            "levels": ", ".join(level.key for level in axis.levels),
            "quick": ", ".join(_quick_levels(experiment, axis, claims)) or None,
            "paper": axis.paper or None,
            "reason": axis.reason,
            "claims": sum(axis.key in claim.axes for claim in claims),
        }
        for axis in experiment.axes
        if len(axis.levels) > 1
    ]
    columns = ("axis", "levels", "quick", "paper", "reason", "claims")
    return text_table("domain", "What the paper leaves open", TESTED, rows, *columns)


def _quick_levels(experiment: Experiment, axis: Axis, claims: Sequence[Claim[Any]]) -> list[str]:
    """Returns the levels with which a quick reproduction tests a claim on the axis."""
    tested = {
        levels[axis.key]
        for claim in claims
        if axis.key in claim.axes
        for levels in domain_of(experiment, claim, full=False)
    }
    return [level.key for level in axis.levels if level.key in tested]
