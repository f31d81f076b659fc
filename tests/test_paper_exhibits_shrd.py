"""Figures and tables of SHRD and ETI, from points made by hand."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from exhibits import by_key, cells
from verdicts import eti, shrd

from floatgate.models import alpha_from_spare_factor, fifo_mixed, oracle_greedy_same_pool
from floatgate.papers import eti_exhibits, shrd_pattern
from floatgate.papers import shrd as shrd_paper
from floatgate.papers.batch import Played
from floatgate.papers.eti_runs import CAPTURED, EXCERPT, STAND_IN, SYNTHETIC, Extents
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


def _hotness() -> Any:
    means = SimpleNamespace(
        hot_pages=7100.4,
        cold_pages=33_209.0,
        hot_writes=181_042.0,
        cold_writes=63_100.0,
        length_pages=1.94,
    )
    merged = [
        SimpleNamespace(gap_pages=1, extents=1868.0, cold_writes_share=None),
        SimpleNamespace(gap_pages=64, extents=150.0, cold_writes_share=0.027),
        SimpleNamespace(gap_pages=128, extents=None, cold_writes_share=None),
    ]
    return SimpleNamespace(means=means, extents=merged)


def test_eti_table_1() -> None:
    table = eti_exhibits.table_1([("src2_0", _hotness()), ("other", _hotness())])
    ours = ["7 100", "33 209", "181 042", "63 100", "1.9"]
    paper = ["7 100", "29 300", "157 800", "55 000", "1.9"]
    fields = ["hot pages", "cold pages", "hot writes", "cold writes", "length"]
    assert cells(table) == [
        ["", *(title for field in fields for title in (field, "paper"))],
        ["src2_0", *(text for pair in zip(ours, paper, strict=True) for text in pair)],
        ["other", *(text for own in ours for text in (own, "–"))],
    ]


def test_eti_figures_1_and_2() -> None:
    for figure, metric, values in zip(
        eti_exhibits.merged([("src2_0", _hotness())]),
        ("extents", "cold_writes_share"),
        ((1868.0, 150.0), (0.0, 0.027)),
        strict=True,
    ):
        assert figure.metric == metric
        assert [(row["gap_pages"], row[metric]) for row in figure.rows] == list(
            zip((1, 64), values, strict=True)
        )


def _eti_points() -> list[Any]:
    wastes = {"single": 4.1, "eti": 2.5, "mbf-1": 3.2, "mbf-1-x2": 3.1, "mbf-1-x4": 3.0}
    wastes |= {"mbf-2": 3.3, "mhf-1": 2.9, "eti-beta-2": 2.45, "eti-alpha-80": 2.6}
    wastes |= {"eti-long": 2.2}
    kinds = {"src2_0": STAND_IN, "pgbench": CAPTURED, "loop": EXCERPT, "uniform": SYNTHETIC}
    return [
        eti.point(trace, line, waste * 2**n, kind=kind)
        for n, (trace, kind) in enumerate(kinds.items())
        for line, waste in wastes.items()
    ]


def test_eti_figure_4() -> None:
    bars, table = eti_exhibits.figure_4(_eti_points(), "")
    own = ("single", "eti", "mbf-1", "mbf-2", "mhf-1")
    assert [row["line"] for row in bars.rows] == [*own] * 3, "no synthetic loads, no variants"
    assert [row["write_amplification"] for row in bars.rows[5:7]] == [8.2, 5.0]
    assert cells(table) == [
        ["", "src2_0", "pgbench", "loop"],
        ["no separation", "4.100", "8.200", "16.400"],
        ["ETI", "2.500", "5.000", "10.000"],
        ["MBF, crc32", "3.200", "6.400", "12.800"],
        ["MBF, crc32_halves", "3.300", "6.600", "13.200"],
        ["MHF, crc32", "2.900", "5.800", "11.600"],
        ["ETI, period 65,536", "2.200", "4.400", "8.800"],
    ]


def test_eti_figure_5() -> None:
    figure = eti_exhibits.figure_5(_eti_points())
    assert list(figure.labels) == ["eti", "mbf-1", "mbf-2", "mbf-3"]
    rows = figure.rows
    assert [(r["line"], r["times"], r["write_amplification"]) for r in rows[:4]] == [
        ("eti", None, 2.5),
        ("mbf-1", 1.0, 3.2),
        ("mbf-1", 2.0, 3.1),
        ("mbf-1", 4.0, 3.0),
    ]
    assert len(rows) == 3 * 4, "MBF only where its filters grow, and no synthetic loads"


def test_eti_figure_6() -> None:
    bars = eti_exhibits.figure_6([Extents("src2_0", STAND_IN, 64.0, 96, 128)])
    assert [(row["line"], row["extents"], row["share"]) for row in bars.rows] == [
        ("mean", 64.0, 0.5),
        ("most", 96.0, 0.75),
    ]


def test_eti_sensitivity() -> None:
    # 2.6 and 2.45 against 2.5.
    assert cells(eti_exhibits.sensitivity(_eti_points())) == [
        ["", "src2_0", "pgbench", "loop"],
        ["ETI, alpha 80%", "+4.00%", "+4.00%", "+4.00%"],
        ["ETI, beta 2", "-2.00%", "-2.00%", "-2.00%"],
    ]


def test_eti_closed_forms_have_the_synthetic_loads() -> None:
    bars = eti_exhibits.closed_forms(_eti_points(), "")
    assert {row["trace"] for row in bars.rows} == {"uniform"}
    [(name, value)] = bars.rules["uniform"]
    # 7% spare: greedy cleaning of many blocks, as tests/test_models_uniform.py holds it.
    assert (name, round(value, 3)) == ("greedy", 6.945)
    alpha = alpha_from_spare_factor(0.07)
    for load, writes, pages in (("80/20", 0.8, 0.2), ("90/10", 0.9, 0.1)):
        split = oracle_greedy_same_pool(alpha, 128, writes, pages, "cold")
        assert bars.rules[load] == [
            ("no error, greedy", split.write_amplification),
            ("uniform greedy", value),
            ("FIFO, mixed", fifo_mixed(alpha, writes, pages)),
        ]


def test_eti_every_placement() -> None:
    points = [
        eti.point(trace, line, waste + (10 if victim == "cost_benefit" else 0), victim=victim)
        for victim in ("cost_benefit", "greedy")
        for trace, line, waste in (
            ("src2_0", "single", 1.5),
            ("src2_0", "dac", 2.5),
            ("SW1", "single", 3.5),
        )
    ]
    assert cells(eti_exhibits.every_placement(points)) == [
        ["", "src2_0", "SW1"],
        ["single, greedy", "1.500", "3.500"],
        ["dac, greedy", "2.500", "–"],
        ["single, cost_benefit", "11.500", "13.500"],
        ["dac, cost_benefit", "12.500", "–"],
    ]
