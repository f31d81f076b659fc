"""All five on one drive: questions on evidence made by hand, the front, refusals, small runs."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from exhibits import by_key, cells
from hypothesis import given
from hypothesis import strategies as st

from floatgate import configs
from floatgate.papers import together_runs
from floatgate.papers.batch import Bench, Played
from floatgate.papers.experiment import Experiment, Run, Workload
from floatgate.papers.judging import judge, runs_of
from floatgate.papers.paper import HOLDS, Measured
from floatgate.papers.together_claims import QUESTIONS, claims_of, interaction
from floatgate.papers.together_figures import WEIGHED, at_defaults, dominates, exhibits, weigh
from floatgate.papers.together_runs import (
    ASA,
    BACKLOG,
    BASE,
    BELADY_MAP,
    BOUNDS,
    DFTL,
    ETI,
    FIVE,
    LABELS,
    LINES,
    LRU,
    NCQ,
    ORACLE,
    PAGES,
    PAIRS,
    PARTS,
    RECORDED,
    REFUSED,
    SHRD_CACHED,
    SPARE_28,
    SPARES,
    SYNTHETIC,
    SYNTHETICS,
    TLLLP,
    Excerpt,
    Point,
    backlogged,
    blocks,
    experiment_of,
    reduce,
    why_refused,
)
from floatgate.papers.verdicts import AMBIGUOUS, EVERYWHERE, FAILS_HERE

if TYPE_CHECKING:
    from floatgate.result import Result

WORK, TRACE = "load", "trace"
WHOLE = experiment_of(
    (
        Workload(WORK, SYNTHETIC, Played("uniform:span=1MiB"), random=True),
        Workload(TRACE, RECORDED, Played("trace"), random=True),
    )
)
CLAIMS = {claim.key: claim for claim in claims_of([WORK], [TRACE])}


def point(run: Run, **changed: Any) -> Point:
    """A run of nothing in particular."""
    known = Point(
        trace=run.workload,
        family=WHOLE.workload(run.workload).family,
        line=run.line,
        spare=run.at("spare"),
        arrivals=run.at("arrivals"),
        seed=run.seed,
        write_amplification=2.0,
        read_mean_us=100.0,
        read_p99_us=1000.0,
        write_mean_us=10.0,
        write_p99_us=20.0,
        map_bytes=1000,
        placement_bytes=0,
        buffer_bytes=0,
        host_bytes=0,
        map_hits=0.5,
        buffer_hits=0.5,
        map_traffic=1.0,
        utilization=0.5,
        queue_share=0.0,
    )
    return replace(known, **changed)


WA, READ, HITS, BUFFERED, TRAFFIC = (
    *("write_amplification", "read_mean_us"),
    *("map_hits", "buffer_hits", "map_traffic"),
)
CASES: dict[str, tuple[str, str, tuple[float, float, tuple[float, float]]]] = {
    # Question: line, number, and the values with which it holds, fails, and differs by seed.
    "eti": (ETI, WA, (1.9, 1.91, (1.85, 1.95))),
    "asa": (ASA, WA, (1.9, 1.91, (1.85, 1.95))),
    "oracle": (ORACLE, WA, (1.59, 1.61, (1.5, 1.7))),
    "spare": (SPARE_28, WA, (1.98, 2.0, (1.9, 2.1))),
    "buffer": (LRU, WA, (1.98, 2.0, (1.9, 2.1))),
    "cached-map": (DFTL, WA, (2.19, 2.21, (2.1, 2.3))),
    "map-bound": (BELADY_MAP, WA, (1.9, 1.91, (1.85, 1.95))),
    "tlllp-hits": (TLLLP, HITS, (0.5, 0.49, (0.48, 0.52))),
    "tlllp-reads": (TLLLP, READ, (100.0, 101.0, (90.0, 110.0))),
    "ncq-writes": (NCQ, WA, (2.0, 2.02, (1.9, 2.1))),
    "ncq-hits": (NCQ, BUFFERED, (0.52, 0.505, (0.45, 0.6))),
    "shrd-map": (SHRD_CACHED, TRAFFIC, (0.5, 0.51, (0.4, 0.6))),
    "shrd-reads": (SHRD_CACHED, READ, (109.0, 111.0, (100.0, 120.0))),
    "sum": ("eti+ncq", WA, (2.09, 2.11, (2.0, 2.2))),
}


def asked(key: str, line: str, name: str, values: tuple[float, float]) -> Measured:
    """The verdict on a question with a number of a line, which seeds have in turn."""
    claim = CLAIMS[key]
    evidence = {
        run: point(run, **({name: values[run.seed % 2]} if run.line == line else {}))
        for run in runs_of(WHOLE, [claim], full=False)
    }
    return judge(WHOLE, claim, evidence, False, BACKLOG)


@pytest.mark.parametrize("family", [SYNTHETIC, RECORDED])
@pytest.mark.parametrize("key", CASES)
def test_a_question_on_evidence_made_by_hand(key: str, family: str) -> None:
    line, name, (good, bad, apart) = CASES[key]
    for values, case in (((good, good), HOLDS), ((bad, bad), FAILS_HERE), (apart, AMBIGUOUS)):
        found = asked(f"{key}-{family}", line, name, values)
        assert {row["case"] for row in found.rows} == {case}, values


def test_every_question_is_asked_of_loads_and_of_traces() -> None:
    assert [question.key for question in QUESTIONS] == list(CASES)
    assert set(CLAIMS) == {f"{key}-{of}" for key in CASES for of in (SYNTHETIC, RECORDED)}
    assert all(CLAIMS[f"{key}-{RECORDED}"].workloads == (TRACE,) for key in CASES)


def test_the_worst_of_the_workloads_decides() -> None:
    works = [Workload(n, SYNTHETIC, Played(n), random=True) for n in ("good", "bad")]
    experiment = experiment_of(works)
    claim = next(c for c in claims_of(["good", "bad"], []) if c.key == f"eti-{SYNTHETIC}")
    wa = {("good", ETI): 1.0, ("bad", ETI): 1.99}
    evidence = {
        run: point(replace(run, workload=WORK), **{WA: wa.get((run.workload, run.line), 2.0)})
        for run in runs_of(experiment, [claim], full=False)
    }
    found = judge(experiment, claim, evidence, False, BACKLOG)
    assert {(row["of"], row["case"]) for row in found.rows} == {("bad", FAILS_HERE)}


def test_places_with_a_backlog_are_left_out_beside_the_verdict_with_them() -> None:
    claim = CLAIMS[f"eti-{SYNTHETIC}"]
    full = {"utilization": 1.0, "queue_share": 0.5}
    evidence = {
        run: point(
            run,
            **{WA: 1.0 if run.line == ETI else 2.0},
            **(full if run.at("spare") == "7%" else {}),
        )
        for run in runs_of(WHOLE, [claim], full=False)
    }
    found = judge(WHOLE, claim, evidence, False, BACKLOG)
    assert found.verdict == EVERYWHERE
    assert f"without leaving out 1 with a backlog: {EVERYWHERE}" in found.why


def test_a_full_queue_is_no_backlog() -> None:
    [run, *_] = runs_of(WHOLE, [CLAIMS[f"ncq-hits-{SYNTHETIC}"]], full=False)
    busy = point(run, utilization=1.0, queue_share=0.9)
    assert backlogged(replace(busy, arrivals="own times"))
    assert not backlogged(replace(busy, arrivals="a full queue"))
    assert not backlogged(point(run, utilization=0.94, queue_share=0.9, arrivals="own times"))


def test_interactions() -> None:
    assert interaction(4.0, 2.0, 3.0, 1.5) == 0, "a half and three quarters make 3/8"
    assert interaction(4.0, 2.0, 3.0, 3.0) == 1, "together twice what their parts say"


# The front


NUMBERS = st.lists(
    st.tuples(*[st.integers(0, 4) for _ in WEIGHED]), min_size=1, max_size=len(LINES)
)


@given(NUMBERS)
def test_nothing_on_the_front_is_beaten_and_all_else_is(numbers: list[tuple[int, ...]]) -> None:
    rows = [
        {"trace": "t", "line": line.key, **dict(zip(WEIGHED, each, strict=True))}
        for line, each in zip(LINES, numbers, strict=False)
    ]
    found = weigh(rows)
    rivals = [row for row in found if row["front"] is not None]
    front = [row for row in rivals if row["front"]]
    assert all(not dominates(one, other) for one in rivals for other in front)
    for row in rivals:
        if not row["front"]:
            assert any(dominates(one, row) for one in front)
            assert row["by"]
    left = [row["line"] for row in found if row["front"] is None]
    assert set(left) <= {*BOUNDS, SPARE_28}, "bounds, and more flash, are no rivals"


def test_other_workloads_are_no_rivals() -> None:
    worse = {"memory_bytes": 2, "write_amplification": 2.0, "read_p99_us": 2.0}
    better = {name: 1 for name in worse}
    rows = [
        {"trace": "a", "line": BASE, **worse},
        {"trace": "b", "line": BASE, **better},
        {"trace": "a", "line": ETI, **worse},
    ]
    assert [row["front"] for row in weigh(rows)] == [True, True, True]


# What is on the drive


def test_every_pair_of_the_five_is_run_or_refused() -> None:
    run = {frozenset(pair.key.split("+")) for pair in PAIRS}
    names = {label: key for key, (label, _) in PARTS.items()}
    refused = {
        frozenset((names.get(r.first, r.first), names.get(r.second, r.second))) for r in REFUSED
    }
    for two in itertools.combinations(FIVE, 2):
        assert (frozenset(two) in run) != (frozenset(two) in refused), two
    assert all(one.reason for one in REFUSED)


def test_a_refusal_is_the_engines() -> None:
    assert "buffer.scheme" in why_refused(PARTS[NCQ][1], PARTS["shrd"][1])
    assert why_refused(PARTS[ASA][1], PARTS[ETI][1]) == "both are a placement.scheme: asa and eti"
    assert why_refused(PARTS[TLLLP][1], PARTS[ETI][1]) == ""


@pytest.mark.parametrize("line", LINES, ids=[line.key for line in LINES])
def test_every_line_is_a_drive_of_the_same_flash(line: Any) -> None:
    [place] = WHOLE.places((), True)
    settings = WHOLE.settings(WHOLE.run_of(place, WORK, line.key, 1), 1)
    share = SPARES["28%"] if line.key == SPARE_28 else SPARES["15%"]
    assert settings["flash.blocks"] == str(blocks(share))
    configs.resolve(together_runs.DEVICE, settings)


@pytest.mark.parametrize("share", SPARES.values())
def test_the_drive_holds_the_span_and_no_more_units_than_that_takes(share: float) -> None:
    units = blocks(share) // 8
    pages = together_runs.SPAN // together_runs.PAGE
    assert int((1 - share) * units * together_runs.UNIT_PAGES) >= pages
    assert int((1 - share) * (units - 1) * together_runs.UNIT_PAGES) < pages


def test_why_an_excerpt_is_left_out() -> None:
    fits = together_runs.SPAN // together_runs.PAGE
    excerpt = Excerpt(together_runs.TRACES[0], Played("x"), fits, 2.0)
    assert excerpt.why_not == ""
    assert "less than 2 times" in replace(excerpt, overwrites=1.99).why_not
    assert "more than the drive holds" in replace(excerpt, pages=fits + 1).why_not


# Small runs


Small = tuple[Experiment, dict[Run, "Result"]]


@pytest.fixture(scope="module")
def simulated() -> Small:
    """Every line for a moment on the drive, with one seed."""
    work = replace(
        SYNTHETICS[2].workload,
        played=Played(
            "zipf:theta=0.99,span=64MiB,size=4KiB,requests=2k,reads=0.5,"
            "arrivals=exponential,interarrival=200us"
        ),
    )
    experiment = experiment_of([work])
    [place] = experiment.places((), True)
    runs = [experiment.run(work, line, place, 1) for line in LINES]
    return experiment, experiment.simulate(Bench(together_runs.DEVICE, None), runs)


@pytest.fixture(scope="module")
def small(simulated: Small) -> list[Point]:
    experiment, results = simulated
    return [reduce(experiment, run, one) for run, one in results.items()]


def test_all_lines_have_the_same_flash_and_the_same_part_of_it_for_the_host(
    simulated: Small,
) -> None:
    drives = {run.line: one.drive for run, one in simulated[1].items() if run.line != SPARE_28}
    assert len({(d.units, d.reserve_units, d.logical_pages) for d in drives.values()}) == 1
    assert all(drive.units_added == 0 for drive in drives.values())


def test_every_mechanism_is_at_work(simulated: Small) -> None:
    known = {run.line: one for run, one in simulated[1].items()}
    written = known[BASE].workload.write_pages
    for line in ("shrd", SHRD_CACHED, "dftl+shrd", "eti+shrd"):
        host = known[line].host
        assert host.packed_pages > 0.9 * written, "small writes go to the log"
        assert host.remapped_pages > 0.5 * host.packed_pages, "of which most are still valid later"
        assert host.log_full < 0.1 * written
    assert known[TLLLP].mapping.prefetched > 0
    assert known[NCQ].buffer.hits > 0
    assert all(
        sum(stream.host_pages > 0 for stream in known[line].placement.streams) > 1
        for line in (ETI, ORACLE)
    )


def test_memory_is_that_of_what_a_line_has(small: list[Point]) -> None:
    points = {point.line: point for point in small}
    assert set(points) == set(LABELS)
    cached = (DFTL, TLLLP, PAGES, BELADY_MAP, SHRD_CACHED)
    assert all(points[line].map_bytes <= together_runs.CACHE for line in cached)
    assert points[BASE].map_bytes >= 8 * 16_384, "8 bytes for each page"
    assert points[BASE].memory_bytes == points[BASE].map_bytes
    assert points[NCQ].buffer_bytes >= together_runs.BUFFER
    assert points[SHRD_CACHED].host_bytes > 0
    assert points["tlllp+eti"].placement_bytes == points[ETI].placement_bytes > 0


def test_the_exhibits_of_a_small_run(small: list[Point]) -> None:
    found = by_key(exhibits(small, []))
    assert len(cells(found["lines"])) == 1 + len(LINES)
    assert len(cells(found["interactions"])) == 1 + len(PAIRS)
    assert len(cells(found["refused"])) == 1 + len(REFUSED)
    on_front = [
        row["scheme"] for row in found["memory-write-amplification"].rows if "front" in row["line"]
    ]
    assert on_front
    assert not set(on_front) & {*BOUNDS, SPARE_28}


def test_points_in_the_middle_are_those_of_tables(
    small: list[Point],
) -> None:
    assert at_defaults(small) == small
    assert [p.line for p in at_defaults(small, spare="7%")] == [SPARE_28], "it is everywhere alike"
