"""SHRD on the paper kit: its claims on evidence made by hand, and its runs."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from evidence import is_met, met_at
from evidence.shrd import EVIDENCE, WHOLE, losses, point
from exhibits import printed

from floatgate.papers import PAPERS
from floatgate.papers.kit.batch import Bench, Played
from floatgate.papers.kit.experiment import Experiment, Level, Workload
from floatgate.papers.kit.judging import domain_of, judge, runs_of
from floatgate.papers.kit.reproduce import reproduce
from floatgate.papers.kit.verdicts import AS_CLAIMED, LESS, STRADDLES
from floatgate.papers.shrd import crash as shrd_crash
from floatgate.papers.shrd.claims import CLAIMS, UNCHECKED
from floatgate.papers.shrd.crash import NONE_LEFT_OUT, RECOVERY
from floatgate.papers.shrd.domain import LINES
from floatgate.papers.shrd.figures import COLUMNS
from floatgate.papers.shrd.paper import PAPER
from floatgate.papers.shrd.reduce import BACKLOG, Point, backlogged, reduce
from floatgate.papers.shrd.workloads import (
    DFTL,
    FEW,
    LOG,
    OPEN,
    PGBENCH,
    POSTMARK,
    RANDOM,
    ROCKSDB,
    SHRD,
    SMALL,
    SOURCES,
    SPARSE,
    captured,
)
from floatgate.traces import read_trace
from floatgate.traces.model import WRITE

TRACES = Path(__file__).resolve().parents[3] / "shared" / "traces"

needs_traces = pytest.mark.skipif(
    not all((TRACES / source.spec).is_file() for source in SOURCES),
    reason="the captures are not here",
)

BY_KEY = {claim.key: claim for claim in CLAIMS}


def test_a_claim_that_holds_with_one_controller_says_with_which() -> None:
    """19 times on a drive in which only the dies are waited for."""
    claim = BY_KEY["thirty"]
    evidence = {
        run: point(run, **({"iops": 19_000.0} if _is_fast_shrd(run) else {}))
        for run in runs_of(WHOLE, [claim], full=True)
    }
    assert met_at(EVIDENCE.judged(claim, evidence, True), "controller") == {"prototype"}


def _is_fast_shrd(run: Any) -> bool:
    return run.line == "shrd" and run.at("controller") == "work-conserving"


def test_a_backlog_is_a_drive_that_serves_less_than_arrives() -> None:
    [run, *_] = runs_of(WHOLE, [BY_KEY["mixed"]], full=False)
    assert backlogged(point(run, offered=330.0, iops=313.0))
    assert not backlogged(point(run, offered=330.0, iops=314.0))
    assert not backlogged(point(run, offered=None, iops=1.0)), "each waits for another"


@pytest.mark.parametrize(
    ("lost", "case"),
    [((0, 0, 0), AS_CLAIMED), ((1, 1, 1), LESS), ((0, 0, 1), STRADDLES)],
)
def test_a_page_that_is_lost_is_one_too_many(lost: tuple[int, ...], case: str) -> None:
    experiment = shrd_crash.EXPERIMENT
    evidence = {run: losses(lost[run.seed - 1]) for run in runs_of(experiment, [RECOVERY], False)}
    found = judge(experiment, RECOVERY, evidence, False, NONE_LEFT_OUT)
    assert {row["case"] for row in found.rows} == {case}
    nothing = {run: replace(one, explored=0) for run, one in evidence.items()}
    found = judge(experiment, RECOVERY, nothing, False, NONE_LEFT_OUT)
    assert not found.is_checked, "no loss of power says nothing"


def test_power_is_cut_and_nothing_is_lost() -> None:
    runs = runs_of(shrd_crash.EXPERIMENT, [RECOVERY], False)
    found = shrd_crash.explore(runs[:1], False, Bench(shrd_crash.DEVICE, None))
    [crashes] = found.values()
    assert crashes.lost == 0 < crashes.explored


def test_no_loss_of_many_says_how_rare_one_is() -> None:
    """The rule of three, exactly: with 1.06 % of losses bad, 280 good ones are one chance in 20."""
    assert shrd_crash.at_most(280) == pytest.approx(3 / 280, rel=0.01)
    assert (1 - shrd_crash.at_most(280)) ** 280 == pytest.approx(0.05)
    runs = runs_of(shrd_crash.EXPERIMENT, [RECOVERY], False)
    none, some = ({run: losses(lost) for run in runs} for lost in (0, 1))
    found = judge(shrd_crash.EXPERIMENT, RECOVERY, none, False, NONE_LEFT_OUT)
    said = shrd_crash.bounded(found, [*none.values()])
    assert said.ours == "0 of 261 losses of power lost a page: at most 1.14% do (95%)"
    assert is_met(said)
    assert shrd_crash.bounded(found, [*some.values()]) == found
    assert shrd_crash.bounded(found, []) == found


def test_either_host_has_32_commands_in_the_drive() -> None:
    for line in LINES:
        if line.set.get("host.scheme") == "plain":
            assert line.set["queue.depth"] == "32"
    levels = WHOLE.points((), full=True)[0]
    settings = WHOLE.settings(WHOLE.run_of(levels, RANDOM, SHRD, 1), 1 << 20)
    assert settings["queue.depth"] == "128", "the rest are packed"
    assert (settings["controller.cores"], settings["controller.blocking"]) == ("2", "true")


def test_a_captures_cache_is_a_share_of_its_map() -> None:
    axis = WHOLE.axis("share")

    def sizes(pages: int) -> list[str]:
        chosen = [level.set for level in axis.levels]
        return [one(pages)["mapping.cache"] for one in chosen if callable(one)]

    # 4 bytes for each of 2^20 pages are 4 MiB.
    assert sizes(1 << 20) == ["524288B", "2097152B"]
    assert sizes(1 << 10) == ["131072B"] * 2, "as much as the authors' drive has"


MEAN_KIB = {PGBENCH: 14.6, ROCKSDB: 125.3, POSTMARK: 25.2}
"""Of the writes of a capture that are played."""


@needs_traces
def test_a_capture_is_played_from_its_first_tenth_on() -> None:
    """With each share of its map a capture also has another cache."""
    for source in SOURCES:
        trace = read_trace(TRACES / source.spec)
        work = captured(source, TRACES / source.spec)
        assert work.played.skip == trace.frame.height // 10
        pages = Bench("shrd17", None).footprint(work.played)
        caches = [level.set(pages) for level in WHOLE.axis("share").levels if callable(level.set)]
        sizes = {one["mapping.cache"] for one in caches}
        assert len(sizes) == len(WHOLE.axis("share").levels)
        writes = trace.frame.slice(work.played.skip, work.played.limit).filter(op=WRITE)["length"]
        assert writes.mean() / 1024 == pytest.approx(MEAN_KIB[source.name], rel=0.01)
    fio = replace(work.played, limit=30_000)
    assert Bench("shrd17", None).footprint(fio) * 4 / 1024 == pytest.approx(100, abs=1)


def test_the_prototypes_spare_space_is_the_first_choice() -> None:
    """The first level applies to all workloads, including captures, and to quick runs and figures.
    Half spare space is swept only with the slides' log."""
    [middle] = WHOLE.points((), full=True)
    points = domain_of(WHOLE, BY_KEY["thirty"], full=True)
    half = [levels for levels in points if levels["room"] == "50%"]
    assert {(levels["log"], levels["cache"]) for levels in half} == {("64 MiB", "128 KiB")}
    assert len(half) == 8, "controllers, the ends of the spans, and windows"
    for levels, share, shown in ((middle, "0.48", "48%"), (half[0], "0.5", "50%")):
        for workload in (RANDOM, POSTMARK):
            run = WHOLE.run_of(levels, workload, SHRD, 1)
            assert WHOLE.settings(run, 1 << 20)["capacity.spare_factor"] == share
        assert point(WHOLE.run_of(levels, RANDOM, SHRD, 1)).spare == shown


@pytest.mark.parametrize(
    "key", ["thirty", "bursts", "steady", "falls", "memory", "everywhere", "no-copy"]
)
def test_what_is_claimed_of_throughput_is_asked_with_either_spare_space(key: str) -> None:
    for full, rooms in ((False, {"48%"}), (True, {"48%", "50%"})):
        points = domain_of(WHOLE, BY_KEY[key], full)
        assert {levels["room"] for levels in points} == rooms


def test_few_small_writes_leave_the_log_in_windows_of_their_own() -> None:
    """Otherwise such a run would end before it remaps anything."""
    claim = BY_KEY["sequential"]
    runs = {run for run in runs_of(WHOLE, [claim], full=True) if run.workload.startswith(SPARSE)}
    assert {run.workload for run in runs} == {f"{SPARSE} {share}" for share in SMALL}
    for run in runs:
        settings = WHOLE.settings(run, 0)
        assert float(settings["shrd.remap_size"]) * LOG * 4 == FEW
        played = WHOLE.workload(run.workload).played
        assert f"writes={round(FEW / played.small)}" in played.spec


def test_small_writes_are_mixed_in_and_the_others_keep_their_order() -> None:
    bench = Bench("shrd17", None)
    played = Played("sequential:span=64MiB,size=128KiB,writes=2000", small=0.01)
    frames = [pl.DataFrame(b) for b in bench._load(played, 1).workload.batches(1 << 20)]
    requests = pl.concat(frames)
    small = requests.filter(length=4096)
    assert (requests.height, small.height) == (2000, 20)
    assert small["offset"].n_unique() > 15
    large = requests.filter(length=128 << 10)["offset"].to_list()
    assert large == [at * (128 << 10) % (64 << 20) for at in range(1980)]
    other = pl.concat([pl.DataFrame(b) for b in bench._load(played, 2).workload.batches(1 << 20)])
    assert not other.equals(requests)


def test_a_run_in_numbers() -> None:
    levels = WHOLE.points((), full=True)[0]
    run = WHOLE.run_of(levels, OPEN, SHRD, 2)
    found = reduce(WHOLE, run, _result())
    assert asdict(found) == {
        "trace": "mixed at a rate, 330/s, 4 GiB",
        "family": OPEN,
        "line": "shrd",
        "controller": "prototype",
        "log": "64 MiB",
        "window": "1/16",
        "cache": "128 KiB",
        "spare": "48%",
        "outstanding": "128",
        "share": None,
        "threshold": None,
        "remaps": None,
        "seed": 2,
        "span": "4 GiB",
        "cache_bytes": 128 << 10,
        "seconds": 600 / 320.5,
        "iops": 320.5,
        "mean_us": 100.0,
        "mean_read_us": 44.56,
        "mean_write_us": 7.891,
        "offered": 330.0,
        "commands": 0.25,
        # A map page is eight pages of 4 KiB: of 160 pages written, 96 and 64 were map traffic.
        "loads": 12 / 160,
        # 9 map pages of 312 pages programmed.
        "data_programs": 240 / 160,
        "copies": 0.25,
        "window_pages": 300.0,
        "map_pages": 130.0,
        "write_bytes": 160 * 4096 / 80,
        "in_log": 0.2,
    }
    # 32 pages are still in the log.
    assert found.settled_loads == pytest.approx(12 / 128)
    titles, row = printed(COLUMNS, [asdict(found)])
    shown = dict(zip(titles, row, strict=True))
    assert (shown["Map cache"], shown["Read, µs"], shown["Write, µs"]) == (
        *("128 KiB", "44.6"),
        "7.89",
    )
    assert shown["Pages per window"] == "300"


def _result() -> Any:
    def causes(**parts: int) -> Any:
        return SimpleNamespace(**parts, total=sum(parts.values()))

    mean = {"all": 100.0, "read": 44.56, "write": 7.891}
    return SimpleNamespace(
        config={"mapping": {"cache": "128KiB"}},
        workload=SimpleNamespace(requests=600, writes=80, write_pages=160, read_pages=40),
        throughput=SimpleNamespace(iops=320.5),
        latency=SimpleNamespace(
            **{name: SimpleNamespace(mean_us=value) for name, value in mean.items()}
        ),
        host=SimpleNamespace(
            commands=150,
            remapped_pages=900,
            windows=3,
            log_pages_used=32,
        ),
        mapping=SimpleNamespace(dirty_evictions=9),
        flash=SimpleNamespace(
            reads=causes(map=70, remap=26, host=1, gc=2),
            programs=causes(map=40, remap=24, host=200, gc=40, gc_map=8),
        ),
        drive=SimpleNamespace(translation_pages=1040),
    )


NARROW = 256 << 20


def _small() -> Experiment:
    """The experiment over 256 MiB with 64 map pages of 4 KiB, and a log of 4 MiB."""
    axes = tuple(
        replace(axis, levels=tuple(replace(c, workloads={}) for c in axis.levels))
        for axis in WHOLE.axes
        if axis.key not in ("log", "span")
    )
    work = Workload(
        RANDOM, RANDOM, Played(f"uniform:span={NARROW}B,size=4KiB,writes=8k"), random=True
    )
    log = {"host.log": "4MiB", "page_cache.entries": "1024", "mapping.cache": "32KiB"}
    lines = tuple(replace(line, set={**log, **line.set}) for line in LINES)
    return replace(WHOLE, axes=axes, workloads=(work,), lines=lines)


COUNTED = ("locality", "sorted", "commands")
TIMED = ("thirty", "steady")


def _verdicts(experiment: Experiment, keys: tuple[str, ...], **chosen: str) -> dict[str, str]:
    """Returns the verdicts of these claims at one point: the defaults, or `chosen`."""
    axes = tuple(
        replace(axis, levels=(axis.level(chosen.get(axis.key, axis.default)),))
        for axis in experiment.axes
    )
    one = replace(experiment, axes=axes)
    claims = [replace(BY_KEY[key], axes=()) for key in keys]
    results = one.simulate(Bench("shrd17", None), runs_of(one, claims, False))
    evidence: dict[Any, Point] = {run: reduce(one, run, result) for run, result in results.items()}
    return {
        claim.key: row["case"]
        for claim in claims
        for row in judge(one, claim, evidence, False, BACKLOG).rows
    }


WHOLE_PAGES = "50%"
"""Spare space with which no map page is a part, and random writes are 30 times as fast."""
WIDE = {"shrd.remap_threshold": "0.75", "shrd.remap_size": "0.75"}


def test_without_its_mechanisms_the_verdicts_that_depend_on_them_change() -> None:
    """A window of a slot has no order and no locality, and takes a command; so does a twrite of a
    page, which takes two."""
    on, slot, single = (
        _with_window(_small(), settings)
        for settings in (
            WIDE,
            WIDE | {"shrd.remap_size": "0.001"},
            WIDE | {"shrd.twrite_entries": "1"},
        )
    )
    assert _verdicts(on, COUNTED, room=WHOLE_PAGES) == dict.fromkeys(COUNTED, AS_CLAIMED)
    assert _verdicts(slot, COUNTED, room=WHOLE_PAGES) == dict.fromkeys(COUNTED, LESS)
    assert _verdicts(single, ("commands",), room=WHOLE_PAGES) == {"commands": LESS}


def test_without_windows_there_is_no_gain_and_it_is_not_steady() -> None:
    """On the prototype over 4 GiB, with 2 MiB as the large cache; a window of one slot of 16,384
    loads a map page for each page, as DFTL does."""
    on = _with_window(WHOLE, WIDE)
    slot = _with_window(WHOLE, WIDE | {"shrd.remap_size": "0.0001"})
    levels = {"top": "2 MiB", "room": WHOLE_PAGES}
    assert _verdicts(on, TIMED, **levels) == dict.fromkeys(TIMED, AS_CLAIMED)
    assert _verdicts(slot, TIMED, **levels) == dict.fromkeys(TIMED, LESS)


def _with_window(experiment: Experiment, settings: dict[str, str]) -> Experiment:
    window = replace(experiment.axis("window"), levels=(Level("one", settings),))
    axes = [window if axis.key == "window" else axis for axis in experiment.axes]
    return replace(experiment, axes=tuple(axes))


def test_a_quick_reproduction_without_traces(tmp_path: Path) -> None:
    """Sweeps two claims over one axis each. Claims on captures are not measured."""
    claims = [
        replace(BY_KEY["thirty"], axes=("window",)),
        replace(BY_KEY["f2fs"], axes=("share",)),
    ]
    some = replace(PAPER, claims=claims, shown=lambda *_: ())
    document = reproduce(some, PAPERS[0], False, tmp_path, None).document()
    thirty, f2fs, recovery, *others = document["claims"]
    assert [row["window"] for row in thirty["domain"]] == ["1/16", "3/4"]
    assert all(row["seeds"] == 3 and row["ci95"] is not None for row in thirty["domain"])
    assert f2fs["verdict"] == "not checked"
    assert f2fs["why"] == f"not run: {POSTMARK} with {DFTL}, {SHRD}"
    assert recovery["verdict"] == "3 of 3 as claimed"
    assert len(others) == len(UNCHECKED)
    assert {"domain", "gain"} <= set(document["figures"])
    assert any("Traces not found" in warning for warning in document["warnings"])


@pytest.mark.long
@needs_traces
def test_quick_judges_every_claim_and_again_from_the_cache(cli, tmp_path: Path) -> None:
    done = cli("paper", "shrd", "--json", "--quick", "--traces", TRACES, "--out", "here")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    keys = [*BY_KEY, RECOVERY.key, *(claim.key for claim, _ in UNCHECKED)]
    assert [claim["id"] for claim in document["claims"]] == keys
    judged_ones = document["claims"][: len(BY_KEY) + 1]
    assert all(claim["domain"] for claim in judged_ones)
    assert json.loads((tmp_path / "here" / "results.json").read_text("utf-8")) == document
    again = cli("paper", "shrd", "--json", "--quick", "--traces", TRACES)
    assert json.loads(again.stdout) == document
