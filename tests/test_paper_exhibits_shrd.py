"""Figures and tables of SHRD, from points made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from exhibits import by_key, cells
from verdicts import shrd

from floatgate.papers import shrd as shrd_paper
from floatgate.papers import shrd_pattern
from floatgate.papers.batch import Played
from floatgate.papers.shrd_runs import MIXED, TRACE


def _shrd_runs() -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """Sweep, rest, logs and thresholds."""
    small, large = 131_072, 8 << 20

    def run(trace: str, family: str, line: str, cache: int, iops: float, **numbers: Any) -> Any:
        return replace(shrd.point(trace, family, line, cache, iops), **numbers)

    lines = ("dftl", "shrd", "shrd-wide", "ideal")
    sweep = [
        run("random", "random writes", line, small, 1000.0 * 4**n, loads=0.1 * n)
        for n, line in enumerate(lines)
    ]
    sweep += [
        run("random", "random writes", line, large, 3000.0 + n, loads=0.01 * n)
        for n, line in enumerate(lines[:3])
    ]
    rest = [
        run("mixed", MIXED, "dftl", small, 500.0, mean_read_us=64.0, mean_write_us=66.0),
        run("mixed", MIXED, "shrd", small, 600.0, mean_read_us=44.0, mean_write_us=43.0),
        run("captured", TRACE, "dftl", small, 800.0),
        run(
            *("captured", TRACE, "shrd", small, 700.0),
            commands=0.1234,
            packed=12.34,
            loads=0.01236,
            write_backs=0.02345,
            data_programs=1.2345,
        ),
    ]
    logs = [run("random", "random writes", "shrd", small, 4500.0, log=16 << 20)]
    thresholds = [run("captured", TRACE, "shrd", small, 650.0, threshold=4096)]
    return sweep, rest, logs, thresholds


def test_shrd_figures() -> None:
    labels = {"dftl": "DFTL", "shrd": "SHRD", "shrd-wide": "wide", "ideal": "all"}
    found = by_key(shrd_paper._exhibits(*_shrd_runs(), labels))

    def data(key: str, x: str, y: str) -> list[tuple[Any, ...]]:
        return [(row["line"], row[x], row[y]) for row in found[key].rows]

    small, large = 131_072, 8 << 20
    assert data("throughput", "cache", "iops") == [
        *(("dftl", small, 1000.0), ("shrd", small, 4000.0), ("shrd-wide", small, 16_000.0)),
        ("ideal", None, 64_000.0),
        *(("dftl", large, 3000.0), ("shrd", large, 3001.0), ("shrd-wide", large, 3002.0)),
    ]
    assert data("loads", "cache", "loads")[:3] == [
        ("dftl", small, 0.0),
        ("shrd", small, 0.1),
        ("shrd-wide", small, 0.2),
    ]
    assert data("latency", "trace", "mean_us") == [
        *(("dftl", "reads", 64.0), ("shrd", "reads", 44.0)),
        *(("dftl", "writes", 66.0), ("shrd", "writes", 43.0)),
    ]
    assert data("benchmarks", "trace", "gain") == [
        *(("shrd", "random", 4.0), ("shrd-wide", "random", 16.0), ("ideal", "random", 64.0)),
        *(("shrd", "mixed", 1.2), ("shrd", "captured", 0.875)),
    ]
    assert data("log", "log", "iops") == [
        *(("shrd", 64 << 20, 4000.0), ("shrd-wide", 64 << 20, 16_000.0)),
        ("shrd", 16 << 20, 4500.0),
    ]
    assert data("threshold", "threshold", "iops") == [
        *(("shrd", 16 << 10, 700.0), ("shrd", 4096, 650.0)),
    ]


def test_shrd_commands_and_map_traffic() -> None:
    labels = {"dftl": "DFTL", "shrd": "SHRD", "shrd-wide": "wide", "ideal": "all"}
    found = by_key(shrd_paper._exhibits(*_shrd_runs(), labels))
    table = cells(found["commands"])
    assert table[0] == [
        *("Workload", "Scheme", "Commands per request", "Requests per twrite"),
        *("Map loads per write", "Map write-backs per write", "Data programs per write"),
    ]
    assert len(table) == 1 + 4 + 4, "the smallest cache, and the other workloads"
    assert table[1] == ["random", "DFTL", "1.000", "–", "0.0000", "0.9800", "1.250"]
    assert table[-1] == ["captured", "SHRD", "0.123", "12.3", "0.0124", "0.0234", "1.234"]


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
