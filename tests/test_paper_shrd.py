"""`floatgate paper shrd`: verdicts as data, and what a run is reduced to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from floatgate.papers import shrd
from floatgate.papers.batch import Bench, Played
from floatgate.papers.paper import FAILS, HOLDS, PARTLY, UNCHECKED, Measured
from floatgate.papers.shrd_claims import judge
from floatgate.papers.shrd_runs import (
    DFTL,
    IDEAL,
    MIXED,
    RANDOM,
    SEQUENTIAL,
    SHRD,
    TRACE,
    WIDE,
    Point,
    Workload,
    simulate,
)

SMALL, LARGE = 128 << 10, 64 << 20


def _point(trace: str, family: str, line: str, cache: int, iops: float) -> Point:
    packs = line.startswith("shrd")
    return Point(
        trace=trace,
        family=family,
        line=line,
        cache=cache,
        log=64 << 20,
        threshold=16 << 10,
        iops=iops,
        mean_read_us=1e6 / iops,
        mean_write_us=1e6 / iops,
        commands=0.03 if packs else 1.0,
        packed=100.0 if packs else None,
        loads=0.01 if packs else 0.99,
        write_backs=0.01 if packs else 0.99,
        data_programs=1.25,
        copies=0.25,
        window=1000.0 if packs else None,
        map_pages=1024.0,
        host_memory=1 << 20,
        read_share=0.0,
    )


def _as_the_slides_say() -> list[Point]:
    """Points of which every claim that can be checked holds."""
    points = [
        _point("random writes", RANDOM, line, cache, iops)
        for line, cache, iops in (
            ("dftl", SMALL, 1000.0),
            ("dftl", LARGE, 40_000.0),
            ("shrd", SMALL, 30_000.0),
            ("shrd", LARGE, 35_000.0),
            ("shrd-wide", SMALL, 34_000.0),
            ("shrd-wide", LARGE, 36_000.0),
            ("ideal", SMALL, 41_000.0),
        )
    ]
    for trace, family, gain in (
        ("mixed", MIXED, 4.0),
        ("sequential writes", SEQUENTIAL, 1.05),
        ("ext4, made up", TRACE, 2.0),
        ("f2fs, made up", TRACE, 1.5),
    ):
        points.append(_point(trace, family, "dftl", SMALL, 1000.0))
        points.append(_point(trace, family, "shrd", SMALL, 1000.0 * gain))
    return points


def _verdicts(points: list[Point]) -> dict[str, Measured]:
    return {claim.key: found for claim, found in judge(points)}


def test_all_holds_where_the_numbers_are_those_of_the_slides() -> None:
    found = _verdicts(_as_the_slides_say())
    unchecked = {key for key, got in found.items() if got.verdict == UNCHECKED}
    assert unchecked == {"ext4", "aged", "reads"}
    held = {key for key, got in found.items() if got.verdict == HOLDS}
    assert held == set(found) - unchecked
    assert found["thirty"].number == pytest.approx(30.0)
    assert "1,024 map pages" in found["thirty"].why


def test_a_slow_shrd_is_not_steady_and_not_thirty_times_as_fast() -> None:
    slow = [
        replace(point, iops=2000.0) if (point.line, point.cache) == ("shrd", SMALL) else point
        for point in _as_the_slides_say()
    ]
    found = _verdicts(slow)
    assert found["thirty"].verdict == PARTLY
    assert found["steady"].verdict == PARTLY, "the wide windows are steady"
    worse = [
        replace(point, iops=point.iops / 10) if point.trace == "mixed" else point for point in slow
    ]
    assert _verdicts(worse)["mixed"].verdict == HOLDS, "both became slower"


def test_what_is_missing_is_not_judged() -> None:
    found = _verdicts([point for point in _as_the_slides_say() if point.family == RANDOM])
    assert found["f2fs"].verdict == UNCHECKED
    assert found["everywhere"].verdict == UNCHECKED
    assert _verdicts([])["thirty"].verdict == UNCHECKED


def test_a_copy_would_be_seen() -> None:
    copied = [replace(point, data_programs=1.5) for point in _as_the_slides_say()]
    assert _verdicts(copied)["no-copy"].verdict == FAILS


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
