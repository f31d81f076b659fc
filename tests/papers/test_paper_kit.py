"""The paper kit: which runs are made, and where a claim holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from evidence import met_at
from paper_kit import BUSY, EXPERIMENT, KitPoint, claim_of, judged_of

from floatgate.papers.kit.batch import Played
from floatgate.papers.kit.claims import Premise
from floatgate.papers.kit.drawing import cells_of, figure_of
from floatgate.papers.kit.experiment import Axis, Level, Run
from floatgate.papers.kit.judging import decided_by, judge, runs_of
from floatgate.papers.kit.verdict_tables import (
    axes_table,
    by_factor,
    by_level,
    map_of,
)
from floatgate.papers.kit.verdicts import AS_CLAIMED, LESS, STRADDLES, Region


def test_a_choice_may_leave_out_what_other_axes_have_beside_it() -> None:
    """The aged start is swept only with the middle cache. If the start is not swept, nothing is
    left out."""
    start = EXPERIMENT.axis("start")
    alone = replace(start.level("aged"), beside=frozenset({"cache"}))
    axes = (replace(start, levels=(start.level("fresh"), alone)), *EXPERIMENT.axes[1:])
    experiment = replace(EXPERIMENT, axes=axes)
    found = [(p["start"], p["cache"]) for p in experiment.points(("start", "cache"), full=True)]
    assert found == [
        *(("fresh", "small"), ("fresh", "middle"), ("fresh", "large")),
        ("aged", "middle"),
    ]
    assert len(experiment.points(("cache",), full=True)) == 3


def test_what_is_not_random_and_what_does_not_matter_is_run_once() -> None:
    def seeds(workload: str, line: str, **levels: str) -> int:
        at = {"start": "fresh", "cache": "small", "reading": "one"} | levels
        return len({EXPERIMENT.run_of(at, workload, line, seed) for seed in range(1, 6)})

    assert (seeds("W", "old"), seeds("W", "old", start="aged")) == (1, 5)
    assert seeds("R", "old", start="aged") == 1
    points = [{"start": "fresh", "cache": c, "reading": "one"} for c in ("small", "large")]
    assert len({EXPERIMENT.run_of(levels, "W", "off", 1) for levels in points}) == 1
    assert len({EXPERIMENT.run_of(levels, "W", "old", 1) for levels in points}) == 2


def test_the_settings_of_a_run_are_of_its_choices_and_its_line() -> None:
    levels = {"start": "aged", "cache": "large", "reading": "other"}
    run = EXPERIMENT.run_of(levels, "W", "new", 3)
    assert run == Run("w", "n2", (("start", "aged"), ("cache", "large")), 3)
    assert EXPERIMENT.settings(run, 10) == {"a": "1", "b": "40", "c": "new", "d": "1"}
    assert (run.at("start"), run.at("reading")) == ("aged", None)


def test_a_full_domain_is_every_combination_and_a_quick_one_moves_one_axis() -> None:
    every = ("start", "cache", "reading")
    assert len(EXPERIMENT.points(every, full=True)) == 2 * 3 * 2
    assert [tuple(levels.values()) for levels in EXPERIMENT.points(every, full=False)] == [
        ("fresh", "small", "one"),
        ("fresh", "middle", "one"),
        ("fresh", "large", "one"),
        ("aged", "middle", "one"),
    ]
    sizes = tuple(Level(size) for size in "abcde")
    of_five = replace(EXPERIMENT, axes=(Axis("five", "five", sizes, "sizes", ordered=True),))
    assert [levels["five"] for levels in of_five.points(("five",), full=False)] == ["a", "c", "e"]
    [only] = EXPERIMENT.points((), full=True)
    assert only == {"start": "fresh", "cache": "middle", "reading": "one"}


def test_a_slow_workload_has_only_the_middle_quickly() -> None:
    runs = runs_of(EXPERIMENT, [claim_of()], full=False)
    assert {(run.at("start"), run.at("cache")) for run in runs} == {
        *(("fresh", "middle"), ("aged", "middle")),
    }
    assert max(run.seed for run in runs) == 3
    assert max(run.seed for run in runs_of(EXPERIMENT, [claim_of()], full=True)) == 5


def test_a_workload_can_have_three_seeds_in_a_full_reproduction_too() -> None:
    work, *others = EXPERIMENT.workloads
    experiment = replace(EXPERIMENT, workloads=(replace(work, few_seeds=True), *others))
    full = runs_of(experiment, [claim_of()], full=True)
    assert {run.seed for run in full} == {1, 2, 3}
    points = {run: KitPoint(_value(run)) for run in full}
    rows = judge(experiment, claim_of(), points, True, BUSY).rows
    assert {row["start"]: row["seeds"] for row in rows} == {"fresh": 1, "aged": 3}


def _value(run: Run) -> float:
    """The new line is 1 more than the old on a fresh drive. On an aged drive the difference
    scatters by seed."""
    if run.line == "old":
        return 0.0
    return 1.0 if run.at("start") == "fresh" else 1.0 + 2.0 * (-1) ** run.seed


def test_a_verdict_is_a_map() -> None:
    found = judged_of(claim_of(), lambda run: KitPoint(_value(run)))
    assert found.verdict == "6 of 12 as claimed, 6 open"
    assert met_at(found, "start") == {"fresh"}
    assert found.ours == "+0.60 ± 2.72 to +1.00"
    assert found.number == 1.0
    fresh, aged = (next(r for r in found.rows if r["start"] == s) for s in ("fresh", "aged"))
    assert (fresh["case"], fresh["ci95"], fresh["seeds"]) == (AS_CLAIMED, None, 1)
    assert (aged["case"], aged["ours"], aged["seeds"]) == (STRADDLES, pytest.approx(0.6), 5)
    table = map_of(EXPERIMENT, claim_of(), found)
    assert [column.title for column in table.columns] == [
        *("the start", "the cache", "the reading", "decided by", "ours", "case")
    ]
    assert {row["interval"] for row in table.rows} == {"+1.00", "+0.60 ± 2.72"}
    # The start explains the whole verdict, so any other axis may be the second.
    assert table.sides[0] == ("start", "the start", ["fresh", "aged"])
    assert table.caption.endswith("6 of 12 as claimed, 6 open.")


def test_a_map_is_drawn_over_the_axes_that_explain_most() -> None:
    """The new line is more with a large cache and with the other reading. The start has no
    effect."""

    def point(run: Run) -> KitPoint:
        more = run.line == "n2" or (run.line == "n1" and run.at("cache") == "large")
        return KitPoint(float(more))

    claim = claim_of()
    table = map_of(EXPERIMENT, claim, judged_of(claim, point))
    assert [key for key, *_ in table.sides] == ["cache", "reading"]
    good = [("large", "one"), *((cache, "other") for cache in ("small", "middle", "large"))]
    cells = {(cell["x"], cell["y"]): cell["text"] for cell in cells_of(table)}
    assert cells == {
        (cache, reading): "2 of 2" if (cache, reading) in good else "0 of 2"
        for cache in ("small", "middle", "large")
        for reading in ("one", "other")
    }
    assert len(figure_of(table).drawings) == 1
    half = [row | {"score": 0.5 if row["start"] == "aged" else row["score"]} for row in table.rows]
    cells = {(c["x"], c["y"]): (c["met"], c["text"]) for c in cells_of(replace(table, rows=half))}
    assert cells["large", "one"] == (0.75, "1 of 2"), "what is open is drawn as a half"


def test_all_that_a_claim_compares_has_to_be_so() -> None:
    claim = claim_of(
        workloads=("W", "R"),
        measure=lambda at: {name: at(name, "new").value for name in ("W", "R")},
    )
    found = judged_of(claim, lambda run: KitPoint(9.0 if run.workload == "w" else -1.0))
    assert (found.counts.less, decided_by(found)) == (12, "R in 12")


def test_a_filter_is_applied_and_what_comes_out_without_it_stands_beside() -> None:
    found = judged_of(
        claim_of(),
        lambda run: KitPoint(
            float(run.line != "old" and run.at("cache") != "small"), run.at("cache") == "small"
        ),
    )
    assert found.verdict == "8 of 8 as claimed, 4 left out"
    assert found.why == "4 with a backlog"
    assert {row["case"] for row in found.rows if row["rejected"]} == {LESS}, "they are shown"
    nothing = judged_of(claim_of(), lambda run: KitPoint(float(run.line != "old"), True))
    assert (nothing.verdict, nothing.is_checked) == ("not checked, 12 left out", False)


def test_where_a_premise_is_not_sure_a_claim_cannot_be_checked() -> None:
    """The new line is 1 more than the old, but 0 with a small cache. The old line is 1 on a fresh
    drive, and scatters by seed on an aged drive."""

    def point(run: Run) -> KitPoint:
        old = 1.0 if run.at("start") == "fresh" else 1.0 + 2.0 * (-1) ** run.seed
        gain = 0.0 if run.line == "old" or run.at("cache") == "small" else 1.0
        return KitPoint(old + gain, run.at("cache") == "large" and run.at("start") == "aged")

    premise: Premise[KitPoint] = Premise(
        "with nothing old", lambda at: {"": at("W", "old").value}, Region(low=0.5)
    )
    found = judged_of(claim_of(premise=premise), point)
    assert met_at(found, "cache") == {"middle", "large"}
    assert found.why == "4 with nothing old and 2 with a backlog", (
        "what is both is what every claim leaves out"
    )
    assert {row["rejected"] for row in found.rows if row["start"] == "fresh"} == {None}
    never = replace(premise, region=Region(low=9.0))
    found = judged_of(claim_of(premise=never, axes=("cache",)), point)
    assert found.verdict == "not checked, 3 left out"
    assert [row["case"] for row in found.rows] == [LESS, AS_CLAIMED, AS_CLAIMED]


def test_the_papers_number_stands_beside_ours() -> None:
    claim = claim_of(axes=("cache",), region=Region.about(1.0))
    sizes = {"small": 0.5, "middle": 1.0, "large": 1.25}
    found = judged_of(
        claim, lambda run: KitPoint(0.0 if run.line == "old" else sizes[run.at("cache") or ""])
    )
    assert met_at(found, "cache") == {"middle", "large"}
    assert [row["paper_within"] for row in found.rows] == [False, True, False]


def test_each_choice_has_a_verdict_of_its_own() -> None:
    claim, other = claim_of(), claim_of(text="another", axes=("cache",))
    judged = [
        (one, judged_of(one, lambda run: KitPoint(_value(run), run.at("cache") == "small")))
        for one in (claim, other)
    ]
    table = by_level(EXPERIMENT, "start", judged)
    assert [column.title for column in table.columns] == ["claim", "paper", "fresh", "aged"]
    # Points that are left out have no verdict, and neither has a claim on which the axis has no
    # effect.
    assert table.rows == [
        {
            "claim": "new is more than old",
            "paper": "more",
            "fresh": "4 of 4 as claimed",
            "aged": "0 of 4 as claimed, 4 open",
        }
    ]


def test_what_was_not_run_is_no_part_of_the_map() -> None:
    claim = claim_of()
    points = {run: KitPoint(1.0) for run in runs_of(EXPERIMENT, [claim], True)}
    left = {run: point for run, point in points.items() if run.at("start") == "fresh"}
    assert len(judge(EXPERIMENT, claim, left, True, BUSY).rows) == 6
    nothing = judge(EXPERIMENT, claim, {}, True, BUSY)
    assert (nothing.verdict, nothing.why) == ("not checked", "not run: W with new, old")


def test_a_workload_that_is_not_here_is_not_asked_for() -> None:
    missing = replace(EXPERIMENT, workloads=EXPERIMENT.workloads[1:])
    assert runs_of(missing, [claim_of()], True) == []


def test_a_choice_may_change_what_a_generator_plays() -> None:
    spans = (
        Level("little", keys={"span": "1MiB"}),
        Level("much", {"a": "2"}, keys={"span": "2MiB"}),
    )
    of = replace(EXPERIMENT, axes=(*EXPERIMENT.axes, Axis("span", "the span", spans, "two")))
    levels = {"start": "fresh", "cache": "small", "reading": "one"}
    little, much = (of.run_of(levels | {"span": key}, "W", "old", 1) for key in ("little", "much"))
    assert (of.played(little).spec, of.played(much).spec) == ("w,span=1MiB", "w,span=2MiB")
    assert of.settings(little, 1).get("a") == "0", "keys are no settings"
    assert of.settings(much, 1)["a"] == "2"
    file = replace(of.workload("w"), ignores=frozenset({"span"}))
    assert of.played(of.run(file, of.line("old"), levels | {"span": "much"}, 1)).spec == "w"


class _Sized:
    """A bench that cannot run anything."""

    device = "classic"

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def footprint(self, played: Played) -> int:
        self.asked.append(played)
        return 10

    def run(self, tasks: Any) -> list[Any]:
        return [dict(task.set) for task in tasks]


def test_the_pages_that_are_touched_are_counted_where_a_drive_depends_on_them() -> None:
    bench: Any = _Sized()
    levels = {"start": "fresh", "cache": "large", "reading": "one"}
    off, new = (EXPERIMENT.run_of(levels, "W", line, 1) for line in ("off", "new"))
    assert EXPERIMENT.simulate(bench, [off, off]) == {off: {"a": "0", "c": "off"}}
    assert bench.asked == []
    found: dict[Any, Any] = EXPERIMENT.simulate(bench, [off, new])
    assert found[new] == {"a": "0", "b": "40", "c": "new"}
    assert bench.asked == [Played("w")]


def test_a_workload_may_fit_the_drive_to_its_size() -> None:
    halved = replace(
        EXPERIMENT.workloads[0], fit=lambda asked: {**asked, "b": str(int(asked["b"]) // 2)}
    )
    whole = replace(EXPERIMENT, workloads=(halved, *EXPERIMENT.workloads[1:]))
    levels = {"start": "fresh", "cache": "large", "reading": "one"}
    run = whole.run_of(levels, "W", "new", 1)
    assert EXPERIMENT.settings(run, 10)["b"] == "40"
    assert whole.settings(run, 10) == {"a": "0", "b": "20", "c": "new"}


def test_what_one_axis_says_a_later_one_may_say_more_of() -> None:
    """The first axis names the point of a workload, the second its kind there."""
    axes = (
        Axis("room", "the room", (Level("hall", workloads={"W": "W, hall"}),), "one"),
        Axis("kind", "the kind", (Level("loud", workloads={"W, hall": "w"}),), "one"),
    )
    found = replace(EXPERIMENT, axes=axes).run_of({"room": "hall", "kind": "loud"}, "W", "old", 1)
    assert found.workload == "w"


def test_an_axis_may_be_swept_in_full_alone() -> None:
    claim = claim_of(full_axes=frozenset({"start"}))
    starts = {
        full: {row["start"] for row in judged_of(claim, lambda run: KitPoint(1.0), full).rows}
        for full in (False, True)
    }
    assert starts == {False: {"fresh"}, True: {"fresh", "aged"}}


def test_the_table_of_axes_says_what_is_run_quickly() -> None:
    axes = (
        *EXPERIMENT.axes,
        Axis("only", "the only way", (Level("so"),), "there is no other"),
        Axis("other", "what else is so", (Level("this"), Level("that")), "a table of it"),
        Axis("five", "the five", tuple(Level(c) for c in "abcde"), "sizes", ordered=True),
    )
    of = replace(EXPERIMENT, axes=axes)
    swept, whole = ("start", "cache", "five"), frozenset({"start"})
    claims = [claim_of(axes=swept, full_axes=whole, workloads=("R",))]
    table = axes_table(of, claims)
    rows = {row["axis"]: (row["levels"], row["quick"], row["claims"]) for row in table.rows}
    assert rows == {
        "the start": ("fresh, aged", "fresh", 1),
        "the cache": ("small, middle, large", "small, middle, large", 1),
        "the reading": ("one, other", None, 0),
        "what else is so": ("this, that", None, 0),
        "the five": ("a, b, c, d, e", "a, c, e", 1),
    }


def test_verdicts_with_other_factors_stand_beside() -> None:
    sizes = {"small": 0.85, "middle": 1.0, "large": 1.9}

    def of(run: Run) -> KitPoint:
        return KitPoint(0.0 if run.line == "old" else sizes[run.at("cache") or ""])

    stated = claim_of(axes=("cache",), region=Region.about(1.0), text="it is 1")
    relative = replace(stated, region=Region(1 / 1.5, 1.5), text="it is as stated")
    others = [
        replace(stated, region=Region(low=0.5)),
        replace(stated, region=Region(-0.2, 0.2)),
        replace(stated, region=Region(2.0, 5.0, 3.0)),
    ]
    points = {run: of(run) for run in runs_of(EXPERIMENT, [stated], True)}
    claims = [stated, relative, *others]
    judged = [(one, judge(EXPERIMENT, one, points, True, BUSY)) for one in claims]
    judged.append((stated, judge(EXPERIMENT, stated, {}, True, BUSY)))
    table = by_factor(EXPERIMENT, judged, points, True, BUSY)
    assert [column.title for column in table.columns] == [
        *("claim", "paper", "1.1", "1.25", "1.5", "2.0"),
    ]
    # With a factor of 1.1 the small one is less, and up to 1.9 the large one more.
    verdicts = {
        "1.1": "1 of 3 as claimed, 1 more, 1 less",
        "1.25": "2 of 3 as claimed, 1 more",
        "1.5": "2 of 3 as claimed, 1 more",
        "2.0": "3 of 3 as claimed",
    }
    assert table.rows == [
        {"claim": "it is 1", "paper": "more"} | verdicts,
        # A region without a better side has nothing that is more.
        {"claim": "it is as stated", "paper": "more"}
        | {factor: text.replace("1 more, 1 less", "2 less") for factor, text in verdicts.items()}
        | dict.fromkeys(("1.25", "1.5"), "2 of 3 as claimed, 1 less"),
    ]
    assert judged[0][1].verdict == verdicts["1.5"]
