"""`floatgate paper shrd`: what a run is reduced to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from verdicts import altered, measured
from verdicts.shrd import EXT4, LARGE, SMALL, as_stated

from floatgate.papers import shrd
from floatgate.papers.batch import Bench, Played
from floatgate.papers.shrd_runs import DFTL, IDEAL, RANDOM, SHRD, WIDE, Workload, simulate


def _apart() -> list[Any]:
    """Numbers of which no two are equal."""
    small, large = {"cache": SMALL}, {"cache": LARGE}
    by_line = {
        "dftl": (1000.0, 50_000.0, 0.9, 1.0),
        "shrd": (15_000.0, 30_000.0, 0.6, 0.25),
        "shrd-wide": (24_000.0, 32_000.0, 0.1, 0.125),
        "ideal": (41_000.0, 0.0, 0.0, 1.0),
    }
    points: list[Any] = as_stated()
    for line, (slow, fast, loads, commands) in by_line.items():
        where = {"trace": "random writes", "line": line}
        points = altered(points, where | small, iops=slow, loads=loads, commands=commands)
        points = altered(points, where | large, iops=fast)
    own = {"trace": "random writes", "line": "shrd"} | small
    points = altered(points, own, packed=117.0, window=1024.0)
    [first] = [p for p in points if (p.trace, p.line, p.cache) == ("random writes", "shrd", SMALL)]
    mixed = {"trace": "mixed"}
    points = altered(
        points, mixed | {"line": "dftl"}, mean_read_us=64_250.0, mean_write_us=66_500.0
    )
    points = altered(
        points, mixed | {"line": "shrd"}, mean_read_us=44_750.0, mean_write_us=43_125.0
    )
    slower = {"trace": EXT4, "line": "shrd"}
    points = altered(points, slower, iops=990.0, loads=0.5, commands=1.5)
    points = altered(points, {"trace": EXT4, "line": "dftl"}, loads=0.25, commands=1.25)
    points = altered(points, {"line": "shrd-wide"}, data_programs=1.45)
    return [*points, replace(first, cache=1 << 20, iops=16_500.0)]


@pytest.mark.parametrize(
    ("claim", "ours", "why", "number", "on"),
    [
        (
            "thirty",
            "15.0x; 24.0x with windows of 3/4 of the log; 41.0x at best",
            (
                "a window has 1,024 pages and the map 1,026 map pages, so that a write still takes "
                "0.60 loads; the bound is the whole map in memory"
            ),
            15.0,
            "",
        ),
        (
            "steady",
            # 15,000 of 30,000 and 24,000 of 32,000.
            "50% of the throughput with the whole map, 75% with windows of 3/4 of the log",
            (
                "a window must hold many pages of each map page; with less than the whole map it "
                "is 15,000 to 16,500 a second"
            ),
            0.5,
            "",
        ),
        ("falls", "2% of the throughput with the whole map", "", 0.02, ""),
        (
            "everywhere",
            (
                "random writes 15.00x, mixed 4.00x, sequential writes 1.05x, ext4, made up 0.99x, "
                "f2fs, made up 1.50x"
            ),
            (
                "ext4, made up: 0.50 map loads a write against 0.25, 1.50 commands a request "
                "against 1.25"
            ),
            0.99,
            "",
        ),
        ("sequential", "1.050x on sequential writes of 128 KiB", "", 1.05, ""),
        (
            "mixed",
            "reads 44,750 against 64,250 µs, writes 43,125 against 66,500 µs",
            "means, DFTL second",
            None,
            "",
        ),
        ("commands", "0.250 commands a request, 117 requests packed", "", 0.25, ""),
        (
            "locality",
            "0.900 loads a write with DFTL, 0.600 with SHRD, 0.100 with windows of 3/4 of the log",
            "sorting helps as far as a window has several pages of a map page",
            0.6,
            "",
        ),
        (
            "no-copy",
            # 1.45 programs a write, of which one is the host's and 0.25 are cleaning's.
            "2e-01 data programs a write beyond the host's and cleaning's",
            "",
            0.2,
            "",
        ),
        (
            "table",
            "1.00 MiB",
            "a hash table and a ring; the driver's tree has 64 bytes an entry",
            1.0,
            "",
        ),
        # 1,026 pages of 32 KiB for 32 GiB and 64 MiB, which is 1,024 times as much.
        ("dram", "7.8 GB", "4.0 bytes of map for each page of 4,096 bytes", 8000 / 1024, ""),
        (
            "f2fs",
            "1.50x",
            "one capture of f2fs under load; how full and how aged it was is not varied",
            1.5,
            "one capture",
        ),
    ],
)
def test_what_is_said(claim: str, ours: str, why: str, number: float | None, on: str) -> None:
    found = measured("shrd", _apart())[claim]
    assert (found.ours, found.why, found.on) == (ours, why, on)
    assert found.number == (None if number is None else pytest.approx(number))


def test_one_small_cache_has_no_range() -> None:
    slow = altered(as_stated(), {"family": RANDOM, "cache": SMALL}, iops=1000.0)
    found = measured("shrd", slow)["steady"]
    assert found.why == "a window must hold many pages of each map page"


def test_small_runs_are_reduced_to_points_and_drawn() -> None:
    bench = Bench("shrd17", None)
    work = Workload("random writes", RANDOM, Played("uniform:span=256MiB,size=4KiB,writes=20k"))
    runs = simulate(bench, [work], (DFTL, SHRD, WIDE, IDEAL), (SMALL, 1 << 20))
    points = [point for point, _ in runs]
    assert [point.line for point in points].count("ideal") == 1, "its cache does not matter"
    first = {point.line: point for point in points if point.cache == SMALL}
    assert first["shrd"].commands < 0.5 < first["dftl"].commands == 1.0
    assert first["shrd"].loads < first["dftl"].loads
    assert first["shrd"].data_programs == pytest.approx(1 + first["shrd"].copies)
    outcome = shrd._outcome(False, runs, [], [], [], [])
    keys = {exhibit.key for exhibit in outcome.exhibits}
    assert {"throughput", "loads", "commands", "log"} <= keys
    assert len(outcome.document()["claims"]) == 15
