"""`floatgate paper`: verdicts as data, and the command as a user calls it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from floatgate.papers.paper import FAILS, HOLDS, PARTLY, UNCHECKED, Measured, ordered, stated
from floatgate.papers.tlllp_claims import judge, pairs
from floatgate.papers.tlllp_runs import Lab, Point, cache_sizes

TRACES = Path(__file__).resolve().parents[2] / "shared" / "traces"
EXCERPTS = ("umass-*", "msr-sample-*")

needs_traces = pytest.mark.skipif(
    not all(any(TRACES.glob(pattern)) for pattern in EXCERPTS),
    reason="the paper's traces are not here",
)

LAB = Lab("tlllp17", entry_bytes=8, least_cache=4096, most_cache=1 << 20, every=1)


def _point(family: str, line: str, **numbers: Any) -> Point:
    known: dict[str, Any] = {
        "trace": family,
        "family": family,
        "line": line,
        "arrivals": "open",
        "cache_bytes": None if line == "none" else 4096,
        "hit_ratio": 0.5,
        "mean_us": 1000.0,
        "stdev_us": 1000.0,
        "utilization": 0.5,
        "queue_share": 0.0,
        "map_reads": 0.5,
        "map_programs": 0.1,
        "prefetch_used": None,
        "map_share": 0.2,
        "cleaning_share": 0.4,
    }
    return Point(**(known | numbers))


def _as_the_paper_says() -> list[Point]:
    """Points of which every claim holds."""
    rows = [
        ("Financial1", 0.60, 0.70, 1000 * (1 - 0.1664), 1100.0),
        ("WebSearch", 0.05, 0.50, 880.0, 850.0),
        ("MSR", 0.85, 0.90, 930.0, 850.0),
    ]
    points = []
    for family, before, after, mean, deviation in rows:
        points += [
            _point(family, "none", hit_ratio=0.0, mean_us=2000.0),
            _point(family, "dftl", hit_ratio=before),
            _point(family, "tlllp", hit_ratio=after, mean_us=mean, stdev_us=deviation),
        ]
    return points


def _verdicts(points: list[Point]) -> dict[str, Measured]:
    return {claim.key: found for claim, found in judge(points)}


def _changed(family: str, line: str, **numbers: Any) -> list[Point]:
    return [
        replace(point, **numbers) if (point.family, point.line) == (family, line) else point
        for point in _as_the_paper_says()
    ]


def test_all_holds_where_the_numbers_are_the_papers() -> None:
    found = _verdicts(_as_the_paper_says())
    assert {key: got.verdict for key, got in found.items()} == dict.fromkeys(found, HOLDS)
    assert found["mean-financial1"].number == pytest.approx(-0.1664)
    assert found["deviation"].number == pytest.approx(-0.15)
    assert all(got.why == "" for got in found.values())


@pytest.mark.parametrize(
    ("family", "line", "numbers", "claim", "verdict"),
    [
        ("MSR", "tlllp", {"hit_ratio": 0.8}, "hit-ratio", PARTLY),
        ("MSR", "tlllp", {"hit_ratio": 0.85}, "hit-ratio", PARTLY),
        ("WebSearch", "tlllp", {"hit_ratio": 0.13}, "websearch-gain", PARTLY),
        ("WebSearch", "tlllp", {"hit_ratio": 0.06}, "websearch-gain", FAILS),
        ("MSR", "dftl", {"hit_ratio": 0.65}, "msr-dftl", PARTLY),
        ("MSR", "dftl", {"hit_ratio": 0.3}, "msr-dftl", FAILS),
        ("WebSearch", "tlllp", {"mean_us": 200.0}, "mean", PARTLY),
        ("WebSearch", "tlllp", {"mean_us": 1900.0}, "mean", FAILS),
        ("Financial1", "tlllp", {"mean_us": 890.0}, "mean-financial1", PARTLY),
        ("Financial1", "tlllp", {"mean_us": 1001.0}, "mean-financial1", FAILS),
        ("MSR", "tlllp", {"stdev_us": 100.0}, "deviation", PARTLY),
        ("Financial1", "tlllp", {"stdev_us": 100.0}, "deviation", HOLDS),
        ("Financial1", "tlllp", {"stdev_us": 900.0}, "deviation-financial1", FAILS),
        ("MSR", "none", {"mean_us": 990.0}, "no-cache", PARTLY),
        ("MSR", "tlllp", {"mean_us": 10.0}, "cleaning", PARTLY),
    ],
)
def test_one_number_off(
    family: str, line: str, numbers: dict[str, float], claim: str, verdict: str
) -> None:
    found = _verdicts(_changed(family, line, **numbers))[claim]
    assert found.verdict == verdict
    assert found.why or verdict == HOLDS


def test_why_is_measured() -> None:
    points = _changed("WebSearch", "tlllp", mean_us=1900.0, map_reads=0.25, prefetch_used=0.125)
    why = _verdicts(points)["mean"].why
    assert "map reads 0.50 to 0.25" in why
    assert "12% of prefetched entries were used" in why


def test_what_is_not_there_cannot_be_checked() -> None:
    assert {found.verdict for _, found in judge([])} == {UNCHECKED}
    only = [point for point in _as_the_paper_says() if point.family == "WebSearch"]
    found = _verdicts(only)
    assert found["mean-financial1"].verdict == found["msr-dftl"].verdict == UNCHECKED
    assert found["websearch-gain"].verdict == UNCHECKED
    assert found["hit-ratio"].verdict == HOLDS


def test_other_traces_and_closed_loops_are_no_evidence() -> None:
    others = [_point("not in the paper", "dftl"), _point("not in the paper", "tlllp")]
    closed = [_point("MSR", line, arrivals="closed") for line in ("dftl", "tlllp")]
    assert pairs(others + closed) == []


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [
        (-0.12, HOLDS),
        (-0.081, HOLDS),
        (-0.079, PARTLY),
        (-0.179, HOLDS),
        (-0.2, PARTLY),
        (0, FAILS),
    ],
)
def test_a_stated_number(ours: float, verdict: str) -> None:
    assert stated(-0.12, ours) == verdict


@pytest.mark.parametrize(
    ("cases", "verdict"),
    [([True], HOLDS), ([True, False], PARTLY), ([True, False, False], FAILS), ([], UNCHECKED)],
)
def test_an_order(cases: list[bool], verdict: str) -> None:
    assert ordered(cases) == verdict


@pytest.mark.parametrize(
    ("whole", "sizes"),
    [
        (64 << 10, [4 << 10, 8 << 10, 16 << 10, 32 << 10]),
        (1 << 40, [4 << 10]),
        (16, [4 << 10]),
        (8 << 20, [1 << n for n in range(17, 21)]),
    ],
)
def test_cache_sizes(whole: int, sizes: list[int]) -> None:
    assert cache_sizes(LAB, whole) == sizes


def test_no_name_lists_the_papers(cli) -> None:
    done = cli("paper")
    assert done.returncode == 0
    assert "tlllp  Improve SSD performance by prefetch strategy" in done.stdout
    assert [paper["name"] for paper in json.loads(cli("paper", "--json").stdout)] == [
        *("tlllp", "eti", "asa", "ncq", "shrd"),
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nosuch",), "paper: 'nosuch' is not known; expected tlllp or eti or asa or ncq or shrd"),
        (("tlllp", "--traces", "nowhere"), "traces: nowhere is not a directory"),
    ],
    ids=["name", "traces"],
)
def test_wrong_calls(cli, tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    done = cli("paper", *arguments)
    assert done.returncode == 2
    assert done.stderr == f"floatgate: {words}\n"
    assert list(tmp_path.iterdir()) == []


def test_without_traces_stand_ins_are_run_and_nothing_is_judged(cli, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    done = cli("paper", "tlllp", "--json", "--traces", empty)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert {claim["verdict"] for claim in document["claims"]} == {UNCHECKED}
    assert all(run["trace"].startswith("stand-in: ") for run in document["runs"])
    assert "umass-websearch-25k.trace.zst" in document["warnings"][0]
    assert "synthetic stand-ins" in document["warnings"][1]
    assert list(tmp_path.iterdir()) == [empty]


@needs_traces
def test_quick_judges_every_claim(cli, tmp_path: Path) -> None:
    done = cli("paper", "tlllp", "--json", "--quick", "--traces", TRACES, "--out", "here")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert set(document) == {"paper", "mode", "claims", "figures", "warnings", "notes", "runs"}
    assert document["mode"] == "quick"
    assert len(document["claims"]) == 9
    for claim in document["claims"]:
        assert set(claim) == {
            *("id", "claim", "where", "paper", "ours", "number", "verdict", "on", "why"),
        }
        assert claim["verdict"] in (HOLDS, PARTLY, FAILS)
        assert claim["why"] or claim["verdict"] == HOLDS
    assert set(document["figures"]) == {"figure-2", "figure-3", "figure-4"}
    assert {row["line"] for row in document["figures"]["figure-2"]} >= {"dftl", "tlllp", "belady"}
    for run in document["runs"]:
        assert run["workload"]["hash"] and run["config"]["flash"]["page"] == "2KiB"
        assert run["config"]["dftl"]["evict_batch"] is False
    files = sorted(path.name for path in (tmp_path / "here").iterdir())
    assert files == ["numbers.csv", "numbers.parquet", "paper.html", "results.json"]
    assert json.loads((tmp_path / "here" / "results.json").read_text("utf-8")) == document
    assert pl.read_parquet(tmp_path / "here" / "numbers.parquet").height == len(document["runs"])


@needs_traces
def test_nothing_has_more_hits_than_the_bound(cli) -> None:
    document = json.loads(cli("paper", "tlllp", "--json", "--traces", TRACES).stdout)
    hits = {
        (row["trace"], row["line"], row["cache_bytes"]): row["hit_ratio"]
        for row in document["figures"]["figure-2"]
    }
    for (trace, line, size), ratio in hits.items():
        if line == "dftl":
            assert ratio <= hits[trace, "belady", size]


@pytest.mark.long
@needs_traces
def test_full_has_all_schemes_and_a_closed_loop(tmp_path: Path) -> None:
    from floatgate.papers import reproduce

    document = reproduce("tlllp", full=True, traces=TRACES, progress=None).document()
    lines = {run["line"] for run in document["runs"]}
    assert lines >= {"tlllp-prev", "tpftl", "sftl", "cdftl", "page_cache", "none", "ideal"}
    assert {run["arrivals"] for run in document["runs"]} == {"open", "closed"}
    assert "closed-loop" in document["figures"]
