"""docs/studies/handles.toml: the benefit of placement handles, and the claims of
docs/handles.md."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl
import pytest
from paths import ROOT

import floatgate as fg
import floatgate.studies
from floatgate.studies import report

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DOCS = ROOT / "docs"
FILE = DOCS / "studies" / "handles.toml"
WA = "write_amplification"

INITIALLY, PERSISTENTLY, SINGLE = "initially", "persistently", "no handles"

Point = tuple[int, int, float, str, str]
"""Number of random tenants, ratio, spare factor, victim policy, and isolation or SINGLE."""


class Found:
    """Mean write amplification and half of its interval at each point, for 1, 2 and 4 handles."""

    def __init__(self, study: fg.studies.Dataset) -> None:
        self.study = study
        assert study.counts()["failed"] == study.counts()["missing"] == 0
        self.points: dict[Point, dict[int, tuple[float, float]]] = {}
        for row in report.summary(study, [WA]).iter_rows(named=True):
            single = row["placement.scheme"] == "single"
            point = (
                row["trace.random"],
                row["trace.ratio"],
                row["capacity.spare_factor"],
                row["cleaning.victim"],
                SINGLE if single else row["placement.isolation"],
            )
            cells = self.points.setdefault(point, {})
            cells[row["trace.handles"]] = row[WA], row[f"{WA}.ci95"]

    def holds(
        self, claim: Callable[[Point], bool], random: set[int], **of: set[Any]
    ) -> tuple[int, int]:
        """Returns at how many of the points with handles a claim holds, and the number of these
        points."""
        kinds = of.get("kinds", {INITIALLY, PERSISTENTLY})
        points = [one for one in self.points if one[0] in random and one[4] in kinds]
        points = [one for one in points if one[1] in of.get("ratios", {1, 2, 3})]
        return sum(map(claim, points)), len(points)

    def at(
        self, random: int, kinds: tuple[str, ...] = (INITIALLY, PERSISTENTLY), **of: Any
    ) -> list[Point]:
        """Returns the points with `random` random tenants, and with these ratios, spare factor and
        victims."""
        return [
            one
            for one in self.points
            if one[0] == random
            and one[4] in kinds
            and one[1] in of.get("ratios", (1, 2, 3))
            and one[2] == of.get("spare", one[2])
            and one[3] == of.get("victim", one[3])
        ]

    def more(self, point: Point) -> float:
        """Returns how much more a handle for each tenant costs than one for all, as a share."""
        return self.mean(point, 4) / self.mean(point, 1) - 1

    def mean(self, point: Point, handles: int) -> float:
        return self.points[point][handles][0]

    def less(self, point: Point, handles: int, than: int) -> bool:
        """Returns whether the first mean is lower by more than both intervals."""
        (low, half), (high, other) = (self.points[point][one] for one in (handles, than))
        return low + half < high - other

    def costs_nothing(self, point: Point) -> bool:
        return self.mean(point, 4) <= 1.03

    def mixed_costs(self, point: Point) -> bool:
        return self.mean(point, 1) >= 1.2

    def more_is_better(self, point: Point) -> bool:
        return self.less(point, 4, 2) and self.less(point, 2, 1)

    def kept(self, point: Point) -> float:
        """Returns the share of the gain of four handles that two handles keep."""
        one, two, four = (self.mean(point, handles) for handles in (1, 2, 4))
        return (one - two) / (one - four)

    def is_spoilt(self, point: Point) -> bool:
        return self.kept(point) < 0.5

    def stricter_is_no_worse(self, point: Point) -> bool:
        """Returns whether persistent isolation is no worse, up to both intervals. The point must
        have persistent isolation."""
        (low, half), (high, other) = (
            self.points[(*point[:4], kind)][4] for kind in (PERSISTENTLY, INITIALLY)
        )
        return low - half <= high + other


def test_the_effect_is_there_in_a_small_form_of_the_study(tmp_path: Path) -> None:
    """A quarter of the span, quarter-size units and fewer points must show the same directions."""
    document = tomllib.loads(FILE.read_text("utf-8"))
    assert document["traces"] == ["tenants:span=64MiB,tenants=4,writes=800k"]
    document["traces"] = ["tenants:span=16MiB,tenants=4,writes=200k"]
    document["set"]["flash"]["pages_per_block"] = 16
    document["seeds"] = 2
    grid = document["grid"]
    grid["trace"]["ratio"], grid["capacity"]["spare_factor"] = [2], [0.15]
    grid["trace"]["random"] = [0, 1, 2]
    found = Found(fg.study(document, out=tmp_path / "out"))
    logs, noisy, both = ([one for one in found.points if one[0] == many] for many in (0, 1, 2))
    assert len(logs) == len(noisy) == len(both) == 6
    for point in logs:
        assert found.mixed_costs(point)
        assert found.costs_nothing(point) == (point[4] != SINGLE)
    for point in (one for one in noisy + both if one[4] != SINGLE):
        # A random tenant with its own handle costs less, but still more than logs alone.
        assert 1.03 < found.mean(point, 4) < found.mean(point, 1)
    # Each of two random tenants among four shares a handle with a log: almost no gain remains.
    for point in (one for one in both if one[4] != SINGLE):
        assert found.kept(point) < 0.3 and found.is_spoilt(point)
    for point, cells in found.points.items():
        if point[4] == SINGLE:
            # A scheme without handles is independent of their number. It equals a scheme with one
            # handle for all.
            assert cells[1] == cells[2] == cells[4]
            assert cells[1] == found.points[(*point[:4], PERSISTENTLY)][1]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Found:
    return Found(fg.study(FILE, out=tmp_path_factory.mktemp("whole") / "out"))


@pytest.mark.long
def test_the_tables_are_of_the_study(whole: Found) -> None:
    wrong, cells = wrong_cells(whole)
    assert wrong == [] and cells == 16 * 4 + 9 * 6


def wrong_cells(found: Found) -> tuple[list[str], int]:
    """Returns the wrong cells of both tables of the page, and the number of cells."""
    wrong, count = [], 0
    for line in (DOCS / "handles.md").read_text("utf-8").splitlines():
        words = [word.strip() for word in line.strip("|").split("|")]
        if re.fullmatch(r"\d of 4", words[0]):
            point = (int(words[0][0]), 2, 0.15, words[1])
            expected = [text_of(found.points[(*point, SINGLE)][1])]
            expected += [text_of(found.points[(*point, words[2])][many]) for many in (1, 2, 4)]
            shown = words[3:]
        elif re.fullmatch(r"0\.\d\d", words[0]):
            point = (1, int(words[1]), float(words[0]))
            expected = [
                text_of(found.points[(*point, victim, INITIALLY)][many])
                for victim in ("greedy", "cost_benefit")
                for many in (1, 2, 4)
            ]
            shown = words[2:]
        else:
            continue
        count += len(shown)
        pairs = zip(shown, expected, strict=True)
        wrong += [f"{line}: {own}, not {other}" for own, other in pairs if own != other]
    return wrong, count


def text_of(cell: tuple[float, float]) -> str:
    return f"{cell[0]:.3f} ± {cell[1]:.3f}"


@pytest.mark.long
def test_the_verdicts_are_of_the_study(whole: Found) -> None:
    text = (DOCS / "handles.md").read_text("utf-8")
    lines = [line for line in text.splitlines() if re.match(r"\| \d\. ", line)]
    assert [re.findall(r"(\d+) of (\d+)", line) for line in lines] == verdicts(whole)


def verdicts(found: Found) -> list[list[tuple[str, str]]]:
    """Returns where each claim of the file holds, as the page prints it."""
    everything = {INITIALLY, PERSISTENTLY, SINGLE}
    strict = {PERSISTENTLY}
    rows = [
        [found.holds(found.costs_nothing, {0})],
        [found.holds(found.mixed_costs, {0}, ratios={2, 3}, kinds=everything)],
        [found.holds(found.more_is_better, {many}) for many in (1, 2, 4)],
        [found.holds(found.is_spoilt, {1})],
        [found.holds(found.stricter_is_no_worse, {many}, kinds=strict) for many in (1, 2, 4)],
    ]
    return [[(str(held), str(all_)) for held, all_ in row] for row in rows]


@pytest.mark.long
def test_the_words_below_the_tables_are_of_the_study(whole: Found) -> None:
    text = " ".join((DOCS / "handles.md").read_text("utf-8").split())
    for told in [*gains(whole), *spoilt(whole), *costs(whole), *unsteady(whole.study)]:
        assert told in text


def gains(found: Found) -> list[str]:
    """Returns the page's statements about logs, and about one random tenant with its own handle."""
    assert {text_of(found.points[one][4])[:5] for one in found.at(0)} == {"1.000"}
    everything = (INITIALLY, PERSISTENTLY, SINGLE)
    mixed = [found.mean(one, 1) for one in found.at(0, everything, ratios=(2, 3))]
    [equal] = {f"{found.mean(one, 1):.3f}" for one in found.at(0, (SINGLE,), ratios=(1,))}
    better, all_ = found.holds(lambda one: found.less(one, 4, 1), {1})
    wide, tight = ([found.mean(one, 4) for one in found.at(1, spare=at)] for at in (0.28, 0.07))
    return [
        f"Mixed they are at {_ends(mixed)}.",
        f"there is nothing to gain, {equal} without handles, too",
        f"(beyond both intervals at {better} of {all_} points)",
        f"only at a spare factor of 0.28 ({_ends(wide)}); at 0.07 it is {_ends(tight)}.",
    ]


def spoilt(found: Found) -> list[str]:
    """Returns the page's statements about random tenants that share a handle with logs."""
    kept = [found.kept(one) for one in found.at(1)]
    unequal = [found.kept(one) for one in found.at(1, ratios=(2, 3))]
    less = [
        sum(map(found.is_spoilt, found.at(1, victim=victim)))
        for victim in ("greedy", "cost_benefit")
    ]
    gaining = [one for one in found.at(2) if found.less(one, 4, 1)]
    both = [found.kept(one) for one in gaining]
    gain = f"the {len(gaining)} of {len(found.at(2))} points where four handles gain"
    return [
        f"with two handles for four tenants, {100 * median(kept):.0f} % of it are left",
        f"at {less[0]} of 18 points with greedy victims and {less[1]} of 18 with cost-benefit",
        f"(at unequal rates {100 * min(unequal):.0f} to {100 * max(unequal):.0f} % are left)",
        f"{100 * median(both):.0f} % are left in the median of {gain}, and {100 * max(both):.0f} %",
    ]


def costs(found: Found) -> list[str]:
    """Returns the page's statements about isolation, and about handles that cost."""
    points = [one for many in (1, 2) for one in found.at(many, (INITIALLY,))]
    worse = [found.mean((*one[:4], PERSISTENTLY), 4) / found.mean(one, 4) for one in points]
    assert min(worse) > 1
    random = [found.more(one) for one in found.at(4, ratios=(1,))]
    noisy = [found.more(one) for one in found.at(2, ratios=(1,), spare=0.28, victim="greedy")]
    return [
        f"wherever logs are next to tenants at random**, by up to {max(worse):.1f} times",
        f"equal rates have {100 * min(random):.0f} to {100 * max(random):.0f} % more",
        f"greedy victims {100 * min(noisy):.0f} or {100 * max(noisy):.0f} % more",
    ]


def unsteady(study: fg.studies.Dataset) -> list[str]:
    """Returns the page's statement about runs that warn."""
    rows = study.frame(["warnings"])
    rows = rows.filter(
        pl.col("warnings").list.eval(pl.element().str.contains("not steady:")).list.any()
    )
    return [f"{rows.height} of the runs warn that they are not steady"]


def _ends(numbers: list[float]) -> str:
    return f"{min(numbers):.2f} to {max(numbers):.2f}"
