"""What a run is reduced to: each number of a point, from results made by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from floatgate.papers import asa_runs, ncq_runs, shrd_runs
from floatgate.papers.batch import Played


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


def _shrd(**host: Any) -> Any:
    known = {
        "commands": 150,
        "packed_requests": 120,
        "twrites": 4,
        "remapped_pages": 900,
        "windows": 3,
        "memory_bytes": 777,
    }
    return _result(
        {
            "mapping": {"cache": "128KiB"},
            "host": {"log": "64MiB", "threshold": "16KiB"},
        },
        workload={"requests": 600, "write_pages": 160, "read_pages": 40},
        throughput={"iops": 2345.0},
        latency={"read": {"mean_us": 110.0}, "write": {"mean_us": 90.0}},
        host=known | host,
        flash={
            "reads": {"map": 70, "remap": 26, "host": 1, "gc": 2},
            "programs": {"map": 40, "remap": 24, "host": 200, "gc": 40},
        },
        drive={
            "translation_pages": 1040,
            "logical_bytes": 5_000_000,
            "log_pages": 16,
            "page_bytes": 4096,
        },
    )


def test_shrd() -> None:
    work = shrd_runs.Workload("random writes", shrd_runs.RANDOM, Played("x"))
    # A map page is eight pages of 4 KiB; of 160 pages written, 96 and 64 were map traffic.
    assert shrd_runs.reduce(work, shrd_runs.SHRD, _shrd()) == shrd_runs.Point(
        trace="random writes",
        family="random writes",
        line="shrd",
        cache=128 << 10,
        log=64 << 20,
        threshold=16 << 10,
        iops=2345.0,
        mean_read_us=110.0,
        mean_write_us=90.0,
        commands=0.25,
        packed=30.0,
        loads=12 / 160,
        write_backs=8 / 160,
        data_programs=1.5,
        copies=0.25,
        window=300.0,
        map_pages=130.0,
        mapped_bytes=5_000_000 + 16 * 4096,
        host_memory=777,
        read_share=0.2,
    )
    plain = shrd_runs.reduce(work, shrd_runs.DFTL, _shrd(twrites=0, windows=0))
    assert (plain.packed, plain.window) == (None, None)


def test_shrd_every_line_has_every_cache_and_setting_but_the_whole_map() -> None:
    bench: Any = _Bench([_shrd(commands=60 * n) for n in range(1, 9)])
    work = shrd_runs.Workload("random writes", shrd_runs.RANDOM, Played("x"))
    logs = ({"host.log": "1MiB"}, {"host.log": "2MiB"})
    lines = (shrd_runs.DFTL, shrd_runs.WIDE, shrd_runs.IDEAL)
    found = shrd_runs.simulate(bench, [work], lines, (512, 1024), logs[:1])
    assert [(p.line, p.commands) for p, _ in found] == [
        *(("dftl", 0.1), ("dftl", 0.2), ("shrd-wide", 0.3), ("shrd-wide", 0.4)),
        ("ideal", 0.5),
    ]
    assert [task.set["mapping.cache"] for task in bench.tasks] == [
        *("512B", "1024B", "512B", "1024B"),
        "512B",
    ]
    assert {task.set["queue.arrivals"] for task in bench.tasks} == {"closed"}
    bench.tasks.clear()
    shrd_runs.simulate(bench, [work], lines[1:2], (512,), logs)
    assert [task.set["host.log"] for task in bench.tasks] == ["1MiB", "2MiB"]
    assert {task.set["shrd.remap_size"] for task in bench.tasks} == {"0.75"}
