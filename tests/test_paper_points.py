"""What a run is reduced to: each number of a point, from results made by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from floatgate.papers import eti_runs, shrd_runs
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


class _Bench:
    """Gives out results in turn, and keeps what was asked for."""

    def __init__(self, results: list[Any]) -> None:
        self.results = results
        self.tasks: list[Any] = []

    def run(self, tasks: list[Any]) -> list[Any]:
        self.tasks += tasks
        given, self.results = self.results[: len(tasks)], self.results[len(tasks) :]
        return given


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
