"""SHRD on the paper kit: its claims on evidence made by hand, and its runs."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from exhibits import by_key, cells, printed
from verdicts import HELD
from verdicts.shrd import CASES, RANDOM_ALL, WHOLE, Case, judged, losses, point

from floatgate.papers import shrd as paper
from floatgate.papers import shrd_crash, shrd_pattern
from floatgate.papers.batch import Bench, Played
from floatgate.papers.experiment import Choice, Experiment, Workload
from floatgate.papers.judging import judge, runs_of
from floatgate.papers.paper import HOLDS, UNCHECKED
from floatgate.papers.shrd_claims import CLAIMS, OUT_OF_REACH
from floatgate.papers.shrd_crash import NONE_LEFT_OUT, RECOVERY
from floatgate.papers.shrd_figures import exhibits
from floatgate.papers.shrd_points import Point, backlogged, reduce
from floatgate.papers.shrd_runs import (
    DFTL,
    LINES,
    OPEN,
    POSTMARK,
    RANDOM,
    SHRD,
    SOURCES,
)
from floatgate.papers.shrd_tables import COLUMNS, contour, expected_loads
from floatgate.papers.verdicts import AMBIGUOUS, AT_ONE, EVERYWHERE, FAILS_HERE, NOWHERE

TRACES = Path(__file__).resolve().parents[2] / "shared" / "traces"

needs_traces = pytest.mark.skipif(
    not all((TRACES / source.spec).is_file() for source in SOURCES),
    reason="the captures are not here",
)

BY_KEY = {claim.key: claim for claim in CLAIMS}


@pytest.mark.parametrize("case", CASES, ids=[f"{c.claim} {c.case}: {c.because}" for c in CASES])
def test_a_claim_on_evidence_made_by_hand(case: Case) -> None:
    claim = replace(BY_KEY[case.claim], axes=())
    found = judged(claim, case.points(claim), RANDOM_ALL)
    assert [row["case"] for row in found.rows] == [case.case]
    assert found.verdict == AT_ONE[case.case]


def test_every_claim_meets_evidence_for_each_case() -> None:
    met = {(case.claim, case.case) for case in CASES}
    assert met == {(key, case) for key in BY_KEY for case in (HOLDS, FAILS_HERE, AMBIGUOUS)}


@pytest.mark.parametrize("claim", CLAIMS, ids=[claim.key for claim in CLAIMS])
def test_a_claim_is_asked_over_its_whole_domain(claim: Any) -> None:
    evidence = {run: point(run) for run in runs_of(WHOLE, [claim], full=True)}
    quick = {run: point(run) for run in runs_of(WHOLE, [claim], full=False)}
    assert judged(claim, evidence, full=True).verdict in HELD
    assert judged(claim, quick).verdict in HELD
    assert quick.keys() <= evidence.keys()
    for name in claim.workloads:
        left = {run: one for run, one in quick.items() if not run.workload.startswith(name)}
        found = judged(claim, left)
        assert (found.verdict, found.rows) == (UNCHECKED, ())
        assert name in found.why


def test_a_claim_that_holds_with_one_controller_says_with_which() -> None:
    """19 times on a drive in which only the dies are waited for."""
    claim = BY_KEY["thirty"]
    evidence = {
        run: point(run, **({"iops": 19_000.0} if _is_fast_shrd(run) else {}))
        for run in runs_of(WHOLE, [claim], full=True)
    }
    verdict = judged(claim, evidence, full=True).verdict
    assert verdict == "holds where the controller is prototype"


def _is_fast_shrd(run: Any) -> bool:
    return run.line == "shrd" and run.at("controller") == "work-conserving"


def test_a_backlog_is_a_drive_that_serves_less_than_arrives() -> None:
    [run, *_] = runs_of(WHOLE, [BY_KEY["mixed"]], full=False)
    assert backlogged(point(run, offered=330.0, iops=313.0))
    assert not backlogged(point(run, offered=330.0, iops=314.0))
    assert not backlogged(point(run, offered=None, iops=1.0)), "each waits for another"


def test_points_with_a_backlog_are_left_out_of_all_claims() -> None:
    for claim in CLAIMS:
        evidence = {
            run: replace(point(run), offered=2.0 * point(run).iops + 1)
            for run in runs_of(WHOLE, [claim], full=False)
        }
        found = judged(claim, evidence)
        assert found.verdict == UNCHECKED
        assert any(f"with a backlog: {held}" in found.why for held in HELD)


def test_every_axis_has_a_reason_and_a_claim() -> None:
    assert all(axis.reason and len(axis.choices) > 1 for axis in WHOLE.axes)
    assert {axis for claim in CLAIMS for axis in claim.axes} == {axis.key for axis in WHOLE.axes}


def test_all_that_the_slides_claim_is_there() -> None:
    keys = {*BY_KEY, RECOVERY.key, *(claim.key for claim in OUT_OF_REACH)}
    assert len(keys) == len(CLAIMS) + 1 + len(OUT_OF_REACH)
    for claim in OUT_OF_REACH:
        found = claim.measure(None)
        assert (found.verdict, bool(found.why)) == (UNCHECKED, True)


@pytest.mark.parametrize(
    ("lost", "case"),
    [((0, 0, 0), HOLDS), ((1, 1, 1), FAILS_HERE), ((0, 0, 1), AMBIGUOUS)],
)
def test_a_page_that_is_lost_is_one_too_many(lost: tuple[int, ...], case: str) -> None:
    experiment = shrd_crash.EXPERIMENT
    evidence = {
        run: losses(run, lost[run.seed - 1]) for run in runs_of(experiment, [RECOVERY], False)
    }
    found = judge(experiment, RECOVERY, evidence, False, NONE_LEFT_OUT)
    assert {row["case"] for row in found.rows} == {case}
    nothing = {run: replace(one, explored=0) for run, one in evidence.items()}
    found = judge(experiment, RECOVERY, nothing, False, NONE_LEFT_OUT)
    assert found.verdict == UNCHECKED, "no loss of power says nothing"


def test_power_is_cut_and_nothing_is_lost() -> None:
    runs = runs_of(shrd_crash.EXPERIMENT, [RECOVERY], False)
    found = shrd_crash.explore(runs[:1], full=False)
    [crashes] = found.values()
    assert crashes.lost == 0 < crashes.explored < crashes.moments
    assert cells(shrd_crash.table([crashes]))[1][:3] == ["1/16", "dropped", "1"]


def test_either_host_has_32_commands_in_the_drive() -> None:
    for line in LINES:
        if line.set.get("host.scheme") == "plain":
            assert line.set["queue.depth"] == "32"
    place = WHOLE.places((), full=True)[0]
    settings = WHOLE.settings(WHOLE.run_of(place, RANDOM, SHRD, 1), 1 << 20)
    assert settings["queue.depth"] == "128", "the rest are packed"
    assert (settings["controller.cores"], settings["controller.blocking"]) == ("2", "true")


def test_a_captures_cache_is_a_share_of_its_map() -> None:
    axis = WHOLE.axis("share")

    def sizes(pages: int) -> list[str]:
        chosen = [choice.set for choice in axis.choices]
        return [one(pages)["mapping.cache"] for one in chosen if callable(one)]

    # 4 bytes for each of 2^20 pages are 4 MiB.
    assert sizes(1 << 20) == ["131072B", "524288B", "2097152B"]
    assert sizes(1 << 10) == ["131072B"] * 3, "as much as the authors' drive has"


def test_a_run_in_numbers() -> None:
    place = WHOLE.places((), full=True)[0]
    run = WHOLE.run_of(place, OPEN, SHRD, 2)
    found = reduce(WHOLE, run, _result())
    assert asdict(found) == {
        "trace": "mixed at a rate, 330/s, 4 GiB",
        "family": OPEN,
        "line": "shrd",
        "controller": "prototype",
        "log": "64 MiB",
        "window": "1/16",
        "cache": "128 KiB",
        "spare": "50%",
        "outstanding": "128",
        "share": None,
        "threshold": None,
        "seed": 2,
        "span": "4 GiB",
        "cache_bytes": 128 << 10,
        "iops": 320.5,
        "mean_us": 100.0,
        "mean_read_us": 44.56,
        "mean_write_us": 7.891,
        "offered": 330.0,
        "commands": 0.25,
        "packed": 30.0,
        # A map page is eight pages of 4 KiB: of 160 pages written, 96 and 64 were map traffic.
        "loads": 12 / 160,
        "write_backs": 8 / 160,
        # 9 map pages of 312 pages programmed.
        "data_programs": 240 / 160,
        "copies": 0.25,
        "window_pages": 300.0,
        "map_pages": 130.0,
        "host_memory": 777,
        "read_share": 0.2,
        "in_log": 0.2,
        "utilization": 0.5,
    }
    # 32 pages are in the log yet.
    assert found.settled_loads == pytest.approx(12 / 128)
    titles, row = printed(COLUMNS, [asdict(found)])
    shown = dict(zip(titles, row, strict=True))
    assert (shown["Map cache"], shown["Read, µs"], shown["Write, µs"]) == (
        *("128 KiB", "44.6"),
        "7.89",
    )
    assert (shown["Requests per twrite"], shown["Pages per window"]) == ("30.0", "300")


def _result() -> Any:
    def causes(**parts: int) -> Any:
        return SimpleNamespace(**parts, total=sum(parts.values()))

    mean = {"all": 100.0, "read": 44.56, "write": 7.891}
    return SimpleNamespace(
        config={"mapping": {"cache": "128KiB"}},
        workload=SimpleNamespace(requests=600, write_pages=160, read_pages=40),
        throughput=SimpleNamespace(iops=320.5, utilization=0.5),
        latency=SimpleNamespace(
            **{name: SimpleNamespace(mean_us=value) for name, value in mean.items()}
        ),
        host=SimpleNamespace(
            commands=150,
            packed_requests=120,
            twrites=4,
            remapped_pages=900,
            windows=3,
            memory_bytes=777,
            log_pages_used=32,
        ),
        mapping=SimpleNamespace(dirty_evictions=9),
        flash=SimpleNamespace(
            reads=causes(map=70, remap=26, host=1, gc=2),
            programs=causes(map=40, remap=24, host=200, gc=40, gc_map=8),
        ),
        drive=SimpleNamespace(translation_pages=1040),
    )


def _figures() -> dict[str, Any]:
    runs = [*runs_of(WHOLE, CLAIMS, full=True), *paper._shown(WHOLE, full=True)]
    return by_key(exhibits([point(run) for run in dict.fromkeys(runs)]))


def test_the_gain_is_drawn_with_the_slides_factor() -> None:
    found = _figures()
    gain = found["gain"]
    assert gain.rules == (("the slides", 30.0),)
    [row] = [
        row
        for row in gain.rows
        if (row["trace"], row["line"], row["span_gib"])
        == ("prototype controller, cache of 128 KiB", "64 MiB, 1/16", 32.0)
    ]
    assert (row["value"], row["half"]) == (pytest.approx(30.0), pytest.approx(0.0))
    assert {row["line"] for row in gain.rows} >= {"64 MiB, bursts", "the whole map in memory"}
    for key in ("throughput", "loads", "log", "threshold", "latency", "benchmarks"):
        assert found[key].spread == "half"
    assert {key: len(found[key].rows) > 0 for key in ("windows", "commands", "aged")} == {
        "windows": True,
        "commands": True,
        "aged": True,
    }


def test_where_it_is_30_times_lies_between_two_spans() -> None:
    def row(line: str, span: float, value: float) -> dict[str, Any]:
        return {"controller": "c", "cache": "k", "line": line, "span_gib": span, "value": value}

    table = cells(
        contour(
            [
                *(row("crosses", 4.0, 60.0), row("crosses", 16.0, 15.0)),
                *(row("below", 4.0, 20.0), row("below", 16.0, 10.0)),
                *(row("above", 4.0, 60.0), row("above", 16.0, 31.0)),
            ]
        )
    )
    # From 60 to 15 over two doublings: 30 is after the first.
    assert [line[2:] for line in table[1:]] == [
        ["crosses", "8.0 GiB", "60.0x"],
        ["below", "below 4 GiB, if anywhere", "20.0x"],
        ["above", "beyond 16 GiB", "60.0x"],
    ]


def test_the_closed_form_of_a_window() -> None:
    """1,024 pages over 1,024 map pages need 63 % of them (algorithms, 9.9)."""
    run = runs_of(WHOLE, [BY_KEY["thirty"]], full=False)[0]
    form = expected_loads(point(run, window_pages=1024.0, map_pages=1024.0))
    assert form == pytest.approx(0.632, abs=0.001)
    assert expected_loads(point(run, window_pages=None)) is None


def test_the_slides_worked_example_on_the_engine() -> None:
    assert cells(shrd_pattern.worked_example())[1:] == [
        ["32", "1024", "1024", "1", "1"],
        ["765", "1025", "1025", "3", "3"],
        ["128", "1026", "1026", "2", "2"],
        ["854", "1027", "1027", "4", "4"],
    ]


def test_shrd_pattern() -> None:
    """A map page is of 8,192 entries: 0, 1 and 8,191 are in the first, 8,192 and on in others."""

    class Found:
        def access_pattern(self, played: Played, limit: int) -> dict[str, Any]:
            assert limit == 1234
            return {
                "without": [0, 8192, 1, 30_000],
                "unsorted": [0, 1, 8191, 8192, 8193],
                "with": list(range(6000)),
                "user_pages": 20_000,
            }

    bench: Any = Found()
    picture, numbers = shrd_pattern.exhibits(bench, "postmark", Played("x"), 1234)
    assert cells(numbers) == [
        ["Order", "Entries changed", "Changes of the map page"],
        ["without SHRD", "4", "3"],
        ["with SHRD, windows as written", "5", "1"],
        ["with SHRD, windows sorted", "6,000", "0"],
    ]
    dots = [row for row in picture.rows if row["trace"] == "without SHRD"]
    assert [(row["at"], row["page"], row["line"]) for row in dots] == [
        (0, 0, "user"),
        (1, 8192, "user"),
        (2, 1, "user"),
        (3, 30_000, "log"),
    ]
    thinned = [row["at"] for row in picture.rows if row["trace"] == "with SHRD, windows sorted"]
    assert thinned == list(range(0, 6000, 2)), "every second of 6,000, for 2,500 or a few more"


SMALL = 256 << 20


def _small() -> Experiment:
    """The experiment over 256 MiB with 64 map pages of 4 KiB, and a log of 4 MiB."""
    axes = tuple(
        replace(axis, choices=tuple(replace(c, workloads={}) for c in axis.choices))
        for axis in WHOLE.axes
        if axis.key not in ("log", "span")
    )
    work = Workload(
        RANDOM, RANDOM, Played(f"uniform:span={SMALL}B,size=4KiB,writes=8k"), random=True
    )
    log = {"host.log": "4MiB", "page_cache.entries": "1024", "mapping.cache": "32KiB"}
    lines = tuple(replace(line, set={**log, **line.set}) for line in LINES)
    names = {**WHOLE.stands_for, RANDOM: RANDOM}
    return replace(WHOLE, axes=axes, workloads=(work,), lines=lines, stands_for=names)


def _verdicts(experiment: Experiment) -> dict[str, str]:
    claims = [replace(BY_KEY[key], axes=()) for key in ("locality", "sorted", "commands")]
    results = experiment.simulate(Bench("shrd17", None), runs_of(experiment, claims, False))
    evidence: dict[Any, Point] = {
        run: reduce(experiment, run, result) for run, result in results.items()
    }
    return {claim.key: judged(claim, evidence, experiment).verdict for claim in claims}


def test_without_its_mechanisms_the_verdicts_that_depend_on_them_change() -> None:
    """A window of a slot has no order and no locality, and takes a command; so does a twrite of a
    page, which takes two."""
    wide = {"shrd.remap_threshold": "0.75", "shrd.remap_size": "0.75"}
    on, slot, single = (
        _with_window(_small(), settings)
        for settings in (
            wide,
            wide | {"shrd.remap_size": "0.001"},
            wide | {"shrd.twrite_entries": "1"},
        )
    )
    assert _verdicts(on) == dict.fromkeys(("locality", "sorted", "commands"), EVERYWHERE)
    assert _verdicts(slot) == dict.fromkeys(("locality", "sorted", "commands"), NOWHERE)
    assert _verdicts(single)["commands"] == NOWHERE


def _with_window(experiment: Experiment, settings: dict[str, str]) -> Experiment:
    window = replace(experiment.axis("window"), choices=(Choice("one", settings),))
    axes = [window if axis.key == "window" else axis for axis in experiment.axes]
    return replace(experiment, axes=tuple(axes))


def test_a_quick_reproduction_without_traces(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Two claims over one axis each; what takes captures is not measured."""
    claims = [
        replace(BY_KEY["thirty"], axes=("window",)),
        replace(BY_KEY["f2fs"], axes=("share",)),
    ]
    monkeypatch.setattr(paper, "CLAIMS", claims)
    monkeypatch.setattr(paper, "_shown", lambda *_: ())
    tmp_path.joinpath("none").mkdir()
    outcome = paper.reproduce(False, tmp_path / "none", None)
    document = outcome.document()
    thirty, f2fs, recovery, *unchecked = document["claims"]
    assert [row["window"] for row in thirty["domain"]] == ["1/16", "3/4"]
    assert all(row["seeds"] == 3 and row["ci95"] is not None for row in thirty["domain"])
    assert (f2fs["verdict"], f2fs["why"]) == (UNCHECKED, f"it takes {DFTL}, {SHRD} on {POSTMARK}")
    assert recovery["verdict"] == EVERYWHERE
    assert len(unchecked) == len(OUT_OF_REACH)
    assert {"domain", "example", "losses", "gain", "contour"} <= set(document["figures"])
    assert any("Traces not found" in warning for warning in document["warnings"])


@pytest.mark.long
@needs_traces
def test_quick_judges_every_claim_and_again_from_the_cache(cli, tmp_path: Path) -> None:
    done = cli("paper", "shrd", "--json", "--quick", "--traces", TRACES, "--out", "here")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    keys = [*BY_KEY, RECOVERY.key, *(claim.key for claim in OUT_OF_REACH)]
    assert [claim["id"] for claim in document["claims"]] == keys
    judged_ones = document["claims"][: len(BY_KEY) + 1]
    assert all(claim["domain"] and claim["why"] for claim in judged_ones)
    assert json.loads((tmp_path / "here" / "results.json").read_text("utf-8")) == document
    again = cli("paper", "shrd", "--json", "--quick", "--traces", TRACES)
    assert json.loads(again.stdout) == document
