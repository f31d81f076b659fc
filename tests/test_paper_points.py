"""What a run is reduced to: each number of a point, from results made by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from floatgate.papers import asa_runs, eti_runs, ncq_runs
from floatgate.papers.batch import Played
from floatgate.papers.eti_runs import CAPTURED, EXCERPT, STAND_IN, Scheme


def _result(config: dict[str, Any] | None = None, **parts: Any) -> Any:
    """A result with these parts, by name as far down as they go."""
    document = {"config": config or {}}
    return SimpleNamespace(config=config, to_dict=lambda: document, **_names(parts))


def _names(parts: dict[str, Any]) -> dict[str, Any]:
    return {
        name: SimpleNamespace(**_names(part)) if isinstance(part, dict) else part
        for name, part in parts.items()
    }


READS = {"host": 40, "map": 6, "remap": 10, "gc": 11, "gc_map": 3}
PROGRAMS = {"host": 20, "map": 3, "remap": 5, "gc": 5, "gc_map": 2}


def _asa(factor: int, mean: float) -> Any:
    return _result(
        {"capacity": {"spare_factor": 0.07}, "queue": {"arrivals": "closed"}},
        workload={"write_pages": 1200},
        drive={"logical_pages": 400},
        mapping={"hit_ratio": 0.625},
        latency={"all": {"mean_us": mean}},
        data_write_amplification=2.25,
        flash={
            "reads": {"gc": 11 * factor, "gc_map": 3 * factor, "host": 7, "map": 9},
            "programs": {"gc": 5 * factor, "gc_map": 2 * factor, "host": 1, "map": 4},
            "erases": {"total": 13 * factor * factor},
        },
    )


def test_asa_ratios_are_to_the_first_line() -> None:
    work = asa_runs.Workload("a trace", "TPCC", Played("x"), 100, {})
    line = asa_runs.LINES[1]
    # 3 times DFTL's reads and writes of cleaning, 9 times its erasures, and 30 in place of 40 us.
    assert asa_runs.reduce(work, line, 0.5, _asa(3, 30.0), _asa(1, 40.0)) == asa_runs.Point(
        trace="a trace",
        family="TPCC",
        line="asa-bytes",
        spare=0.07,
        cached=0.5,
        arrivals="closed",
        write_amplification=2.25,
        gc_reads=42,
        gc_writes=21,
        erases=117,
        mean_us=30.0,
        gc_reads_ratio=3.0,
        gc_writes_ratio=3.0,
        erases_ratio=9.0,
        mean_ratio=0.75,
        volumes=3.0,
        hit_ratio=0.625,
    )


def test_asa_there_is_no_ratio_to_nothing() -> None:
    work = asa_runs.Workload("a trace", "TPCC", Played("x"), 100, {})
    point = asa_runs.reduce(work, asa_runs.LINES[1], 0.25, _asa(3, 30.0), _asa(0, 0.0))
    ratios = (point.gc_reads_ratio, point.gc_writes_ratio, point.erases_ratio, point.mean_ratio)
    assert ratios == (None, None, None, None)


class _Bench:
    """Gives out results in turn, and keeps what was asked for."""

    def __init__(self, results: list[Any]) -> None:
        self.results = results
        self.tasks: list[Any] = []

    def run(self, tasks: list[Any]) -> list[Any]:
        self.tasks += tasks
        given, self.results = self.results[: len(tasks)], self.results[len(tasks) :]
        return given


def test_asa_every_workload_has_its_own_base() -> None:
    works = [
        asa_runs.Workload(name, "TPCC", Played(name), pages, {"start.fill": name})
        for name, pages in (("one", 100), ("two", 400))
    ]
    bench: Any = _Bench([_asa(1, 10.0), _asa(2, 30.0), _asa(4, 50.0), _asa(6, 20.0)])
    lines = [asa_runs.LINES[0], asa_runs.LINES[2]]
    found = [point for point, _ in asa_runs.simulate(bench, works, lines, "0.15", 0.5)]
    assert [(p.trace, p.line) for p in found] == [
        ("one", "dftl"),
        ("one", "asa-entries"),
        ("two", "dftl"),
        ("two", "asa-entries"),
    ]
    assert [p.gc_writes_ratio for p in found] == [1.0, 2.0, 1.0, 1.5]
    assert [p.mean_ratio for p in found] == [1.0, 3.0, 1.0, 0.4]
    # Half of the pages, 8 bytes an entry for DFTL and 16 for ASA-FTL.
    assert [task.set["mapping.cache"] for task in bench.tasks] == ["400B", "800B", "1600B", "3200B"]
    assert {task.set["capacity.spare_factor"] for task in bench.tasks} == {"0.15"}
    assert [task.set["start.fill"] for task in bench.tasks] == ["one", "one", "two", "two"]


def _ncq(hits: float, mb_s: float, iops: float, mean: float, queue: float) -> Any:
    return _result(
        {"queue": {"depth": 32}},
        buffer={"hit_ratio": hits},
        throughput={"write_mb_s": mb_s, "iops": iops},
        latency={"all": {"mean_us": mean}, "blame_us": {"queue": queue}},
        write_amplification=1.125,
        merges={"switch": 17, "partial": 5, "full": 3},
    )


def test_ncq_gains_are_over_the_first_line() -> None:
    work, setup, line = ncq_runs.WORKLOADS[0], ncq_runs.SETUPS[0], ncq_runs.LINES[1]
    base = _ncq(0.05, 160.0, 640.0, 9000.0, 8000.0)
    ours = _ncq(0.08, 200.0, 1000.0, 5000.0, 4250.0)
    point = ncq_runs._reduce(work, setup, 4, line, ours, base)
    assert (point.trace, point.line, point.setup, point.buffer_mib) == (
        "Workload 1",
        "ncq",
        "ways-32",
        4,
    )
    assert (point.hit_ratio, point.write_mb_s, point.iops) == (0.08, 200.0, 1000.0)
    assert point.hit_gain == pytest.approx(0.03), "a difference"
    assert point.bandwidth_gain == pytest.approx(0.25)
    assert point.iops_gain == pytest.approx(0.5625)
    # 1,000 commands a second are served for 750 us each, and wait for 4,250.
    assert point.busy == pytest.approx(0.75)
    assert point.waiting == pytest.approx(4.25)
    assert (point.write_amplification, point.switch, point.partial, point.full) == (1.125, 17, 5, 3)
    backlog = ncq_runs._reduce(work, setup, 4, line, _ncq(0.1, 1.0, 1000.0, 1e6, 9e5), base)
    assert backlog.waiting == 31, "the queue holds no more"


def test_ncq_every_size_has_its_own_base() -> None:
    results = [_ncq(n / 100, 100.0 + n, 10.0 + n, 1.0, 0.0) for n in (0, 1, 3, 6, 10, 15, 21, 28)]
    bench: Any = _Bench(results)
    commands = {work.name: 10 for work in ncq_runs.WORKLOADS}
    found = ncq_runs.simulate(bench, commands, ncq_runs.MAIN, ncq_runs.PAIR, (2, 8))
    points = [point for point, _ in found]
    assert [(p.trace[-1], p.buffer_mib, p.line) for p in points] == [
        (trace, size, line) for trace in "12" for size in (2, 8) for line in ("lru", "ncq")
    ]
    gains = [round(100 * p.hit_gain) for p in points]
    assert gains == [0, 1, 0, 3, 0, 5, 0, 7]
    assert {task.set["buffer.capacity"] for task in bench.tasks} == {"2MiB", "8MiB"}


def _eti(streams: list[int], extents: int | None = 900) -> Any:
    pages = [SimpleNamespace(host_pages=count) for count in streams]
    return _result(
        write_amplification=2.75,
        placement={"memory_bytes": 9232, "extents": extents, "streams": pages},
        cleaning={"victim_valid_mean": 0.4375},
        workload={"write_pages": 5000, "writes": 400},
        drive={"logical_pages": 2000},
    )


def test_eti() -> None:
    work = eti_runs.Workload("src2_0", STAND_IN, Played("x"), 64, 400)
    scheme = Scheme("eti", "ETI", "ETI", "eti")
    assert eti_runs.reduce(work, scheme, "greedy", _eti([750, 150, 100])) == eti_runs.Point(
        trace="src2_0",
        kind=STAND_IN,
        line="eti",
        victim="greedy",
        write_amplification=2.75,
        hot_share=0.25,
        victim_valid=0.4375,
        memory_bytes=9232,
        extents=900,
        length=12.5,
        volumes=2.5,
    )
    for streams in ([1000], [0, 0]):
        point = eti_runs.reduce(work, scheme, "greedy", _eti(streams))
        assert point.hot_share is None, "nothing is told apart, or nothing written"


def test_eti_a_model_has_a_part_of_everything_and_a_real_trace_all_of_it() -> None:
    model = eti_runs.Workload("src2_0", STAND_IN, Played("made"), 64, 400)
    real = eti_runs.Workload("HP", EXCERPT, Played("file"), 99)
    scheme = Scheme("mbf-1-x2", "", "MBF", "mbf", {"mbf.bits": "4096", "mbf.hashes": "crc16"})
    bench: Any = _Bench([_eti([1, 1])] * 4)
    cases = [(model, scheme), (real, scheme)]
    eti_runs.simulate(bench, cases, 16, victim="cost_benefit")
    parts = {
        "eti.extents": "128",
        "eti.decay_period": "256",
        "mbf.clear_every": "256",
        "mhf.counters": "128",
        "mhf.decay_period": "256",
        "direct.decay_period": "256",
        "lru_lists.hot": "32",
        "lru_lists.candidates": "64",
    }
    chosen = {
        "cleaning.victim": "cost_benefit",
        "placement.scheme": "mbf",
        "mbf.hashes": "crc16",
    }
    of_model, of_real = (task.set for task in bench.tasks)
    assert of_model == chosen | parts | {"flash.blocks": "64", "mbf.bits": "256"}
    assert of_real == chosen | {"flash.blocks": "99", "mbf.bits": "4096"}
    bench.tasks.clear()
    eti_runs.simulate(bench, cases[:1])
    whole = {"flash.blocks": "64", "mbf.bits": "4096", "cleaning.victim": "greedy"}
    assert bench.tasks[0].set == chosen | whole


def test_eti_extents_are_counted_at_moments_of_the_second_half() -> None:
    """Two moments of each workload: at 5/8 and 7/8 of it."""
    works = [
        eti_runs.Workload("made", STAND_IN, Played("fitted:row=made,writes=800"), 64, 800),
        eti_runs.Workload("whole", CAPTURED, Played("file", 1600), 64),
        eti_runs.Workload("loop", EXCERPT, Played("file", None, 16), 64),
    ]
    bench: Any = _Bench([_eti([1, 1], n) for n in (60, 100, 500, 400, 7, 8)])
    found = eti_runs.sample_extents(bench, works, 16, 2)
    assert found == [
        eti_runs.Extents("made", STAND_IN, 80.0, 100, 2048 // 16),
        eti_runs.Extents("whole", CAPTURED, 450.0, 500, 2048),
        eti_runs.Extents("loop", EXCERPT, 7.5, 8, 2048),
    ]
    played = [(task.played.spec, task.played.limit, task.played.repeat) for task in bench.tasks]
    assert played == [
        ("fitted:row=made,writes=500", None, 1),
        ("fitted:row=made,writes=700", None, 1),
        ("file", 1000, 1),
        ("file", 1400, 1),
        ("file", None, 10),
        ("file", None, 14),
    ]
