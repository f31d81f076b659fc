"""What a run is reduced to: each number of a point, from results made by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from floatgate.papers import shrd_runs
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
