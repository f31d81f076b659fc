"""The five on one drive: questions on hand-made evidence, the front, refusals, small runs."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from evidence import is_met
from evidence.together import CASES, CLAIMS, EVIDENCE, WA, WHOLE, WORK, point
from exhibits import by_key, cells

from floatgate.papers.kit.batch import Bench, Played
from floatgate.papers.kit.experiment import Experiment, Run, Workload
from floatgate.papers.kit.judging import judge, runs_of
from floatgate.papers.kit.verdict_tables import axes_table
from floatgate.papers.kit.verdicts import AS_CLAIMED, LESS
from floatgate.papers.together import domain as together_runs
from floatgate.papers.together.claims import claims_of, interaction
from floatgate.papers.together.domain import (
    ASA,
    BASE,
    BELADY_MAP,
    DFTL,
    ETI,
    LABELS,
    LINES,
    NCQ,
    ORACLE,
    PAGES,
    PAIRS,
    PARTS,
    READINGS,
    RECORDED,
    SHRD_CACHED,
    SPARE_28,
    SPARES,
    SYNTHETIC,
    TLLLP,
    blocks,
    experiment_of,
    why_refused,
)
from floatgate.papers.together.figures import figures
from floatgate.papers.together.reduce import BACKLOG, Point, backlogged, reduce
from floatgate.simulation import configs

if TYPE_CHECKING:
    from floatgate.results.result import Result


def test_a_question_has_a_verdict_on_each_workload_and_with_each_reading() -> None:
    works = [Workload(n, SYNTHETIC, Played(n), random=True) for n in ("good", "bad")]
    experiment = experiment_of(works)
    claim = next(c for c in claims_of([SYNTHETIC], full=True) if c.key == f"eti-{SYNTHETIC}")
    read, other = (reading for reading in READINGS if reading.of == ETI)
    wa = {("good", ETI): 1.0, ("bad", ETI): 1.99, ("bad", read.line.key): 1.0}
    evidence = {
        run: point(replace(run, workload=WORK), **{WA: wa.get((run.workload, run.line), 2.0)})
        for run in runs_of(experiment, [claim], full=True)
    }
    found = judge(experiment, claim, evidence, True, BACKLOG)
    assert {(row["load"], row[ETI], row["case"]) for row in found.rows} == {
        ("good", "default", AS_CLAIMED),
        ("good", read.name, LESS),
        ("good", other.name, LESS),
        ("bad", "default", LESS),
        ("bad", read.name, AS_CLAIMED),
        ("bad", other.name, LESS),
    }


def test_the_drive_is_no_axis_of_a_question() -> None:
    works = [
        Workload(f"{family} {i}", family, Played("x"), random=True)
        for family in (SYNTHETIC, RECORDED)
        for i in (1, 2)
    ]
    table = axes_table(experiment_of(works), list(CLAIMS.values()))
    assert {row["axis"]: row["claims"] for row in table.rows} == {
        **{"the load": len(CASES), "the trace": len(CASES)},
        **{"the spare space": 4, "the arrival": 6, "the reading of ETI placement": 6},
        **{"the reading of TLLLP": 4, "the reading of SHRD + LRU of map pages": 4},
    }


def test_places_with_a_backlog_are_left_out_beside_the_verdict_with_them() -> None:
    claim = CLAIMS[f"eti-{SYNTHETIC}"]
    full = {"utilization": 1.0, "queue_share": 0.5}
    evidence = {
        run: point(
            run,
            **{WA: 1.0 if run.line.startswith(ETI) else 2.0},
            **(full if run.at("spare") == "7%" else {}),
        )
        for run in runs_of(WHOLE, [claim], full=False)
    }
    found = EVIDENCE.judged(claim, evidence)
    assert is_met(found)
    assert found.why == "1 with a backlog"


def test_a_full_queue_is_no_backlog() -> None:
    [run, *_] = runs_of(WHOLE, [CLAIMS[f"ncq-hits-{SYNTHETIC}"]], full=False)
    busy = point(run, utilization=1.0, queue_share=0.9)
    assert backlogged(replace(busy, arrivals="own times"))
    assert not backlogged(replace(busy, arrivals="a full queue"))
    assert not backlogged(point(run, utilization=0.94, queue_share=0.9, arrivals="own times"))


def test_interactions() -> None:
    assert interaction(4.0, 2.0, 3.0, 1.5) == 0, "a half and three quarters make 3/8"
    assert interaction(4.0, 2.0, 3.0, 3.0) == 1, "together twice what their parts say"


# Content of the drive

SETTINGS = {line.key: line.set for line in PARTS}


def test_every_pair_of_the_five_is_run_or_refused() -> None:
    run = {pair.key for pair in PAIRS}
    for one, two in itertools.combinations(SETTINGS.keys() - {DFTL}, 2):
        refusal = why_refused(SETTINGS[one], SETTINGS[two])
        assert bool(refusal) != bool({f"{one}+{two}", f"{two}+{one}"} & run), (one, two)


def test_a_refusal_is_the_engines() -> None:
    assert "buffer.scheme" in why_refused(SETTINGS[NCQ], SETTINGS["shrd"])
    assert why_refused(SETTINGS[ASA], SETTINGS[ETI]) == "both are a placement.scheme: asa and eti"
    assert why_refused(SETTINGS[TLLLP], SETTINGS[ETI]) == ""


@pytest.mark.parametrize("line", LINES, ids=[line.key for line in LINES])
def test_every_line_is_a_drive_of_the_same_flash(line: Any) -> None:
    [levels] = WHOLE.points((), True)
    settings = WHOLE.settings(WHOLE.run_of(levels, WORK, line.key, 1), 1)
    share = SPARES["28%"] if line.key == SPARE_28 else SPARES["15%"]
    assert settings["flash.blocks"] == str(blocks(share))
    configs.resolve(together_runs.DEVICE, settings)


@pytest.mark.parametrize("share", SPARES.values())
def test_the_drive_holds_the_span_and_no_more_units_than_that_takes(share: float) -> None:
    units = blocks(share) // 8
    pages = together_runs.SPAN // together_runs.PAGE
    assert int((1 - share) * units * together_runs.UNIT_PAGES) >= pages
    assert int((1 - share) * (units - 1) * together_runs.UNIT_PAGES) < pages


# Small runs


Small = tuple[Experiment, dict[Run, "Result"]]


@pytest.fixture(scope="module")
def simulated() -> Small:
    """Runs every line for a moment on the drive, with one seed."""
    work = replace(
        together_runs.synthetic(together_runs.ZIPF),
        played=Played(
            "zipf:theta=0.99,span=64MiB,size=4KiB,requests=2k,reads=0.5,"
            "arrivals=exponential,interarrival=200us"
        ),
    )
    experiment = experiment_of([work])
    [levels] = experiment.points((), True)
    runs = [experiment.run(work, line, levels, 1) for line in LINES]
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
    found = by_key(figures(small, []))
    assert len(cells(found["lines"])) == 1 + len(LINES)
    assert len(cells(found["interactions"])) == 1 + len(PAIRS)
    states = {row["scheme"]: row["line"] for row in found["memory-write-amplification"].rows}
    assert states[ETI] == "not told apart from one that beats it", "one seed tells nothing"
    assert states[SPARE_28] == states[ORACLE] == "cannot be built so"
