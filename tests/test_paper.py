"""`floatgate paper`: what verdicts are, and the command as a user calls it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from verdicts import altered, measured, minus
from verdicts.tlllp import as_stated, point

from floatgate.papers.paper import FAILS, HOLDS, PARTLY, UNCHECKED, change, ordered, stated
from floatgate.papers.tlllp_claims import pairs
from floatgate.papers.tlllp_runs import Lab, cache_sizes

TRACES = Path(__file__).resolve().parents[2] / "shared" / "traces"
EXCERPTS = ("umass-*", "msr-sample-*")

needs_traces = pytest.mark.skipif(
    not all(any(TRACES.glob(pattern)) for pattern in EXCERPTS),
    reason="the paper's traces are not here",
)

NEXT = "\N{NARROW NO-BREAK SPACE}"
LAB = Lab("tlllp17", entry_bytes=8, least_cache=4096, most_cache=1 << 20, every=1)


def _apart() -> list[Any]:
    """Pairs of DFTL and TLLLP with different numbers: A falls by 10% with a small cache and by 30%
    with a large one, B by 40%; WebSearch, with one trace and one cache, by 8%."""
    rows = [
        ("A", "Financial1", 4096, (0.10, 0.30), (1000.0, 900.0), (800.0, 880.0), (0.5, 0.25)),
        ("A", "Financial1", 8192, (0.20, 0.60), (500.0, 350.0), (400.0, 480.0), (0.7, 0.35)),
        ("B", "Financial1", 4096, (0.45, 0.40), (250.0, 150.0), (200.0, 150.0), (0.9, 0.30)),
        ("C", "WebSearch", 4096, (0.15, 0.35), (2000.0, 1840.0), (100.0, 130.0), (1.1, 0.45)),
    ]
    points = []
    for (trace, family, cache, hits, means, deviations, reads), used in zip(
        rows, (0.125, 0.375, 0.25, 0.25), strict=True
    ):
        for line, i in (("dftl", 0), ("tlllp", 1)):
            points.append(
                point(
                    family,
                    line,
                    trace=trace,
                    cache_bytes=cache,
                    hit_ratio=hits[i],
                    mean_us=means[i],
                    stdev_us=deviations[i],
                    map_reads=reads[i],
                    map_programs=reads[i] / 10,
                    prefetch_used=None if line == "dftl" else used,
                    map_share=reads[i] / 2,
                    cleaning_share=(0.02, 0.08)[i],
                )
            )
    none = {"A": 950.0, "B": 260.0, "C": 1900.0}
    families = {"A": "Financial1", "B": "Financial1", "C": "WebSearch"}
    return points + [
        point(families[name], "none", trace=name, hit_ratio=0.0, mean_us=mean, map_reads=1.25)
        for name, mean in none.items()
    ]


FINANCIAL1_COST = (
    # Means over three pairs: (0.5 + 0.7 + 0.9) / 3 and (0.25 + 0.35 + 0.3) / 3.
    "map reads 0.70 to 0.30 and programs 0.07 to 0.03 a page access; of the flash's time, map "
    "35% to 15%, cleaning 2% to 8%; 25% of prefetched entries were used"
)
WEBSEARCH_COST = (
    "map reads 1.10 to 0.45 and programs 0.11 to 0.04 a page access; of the flash's time, map "
    "55% to 22%, cleaning 2% to 8%; 25% of prefetched entries were used"
)


@pytest.mark.parametrize(
    ("claim", "ours", "why", "number"),
    [
        (
            "hit-ratio",
            "above in 3 of 4 pairs; -5.0 points to +40.0 points",
            f"not on B at 4{NEXT}KiB: 25% of prefetched entries were used",
            3 / 4,
        ),
        # A gains (20 + 40) / 2, B -5: 12.5 on average. WebSearch gains 20.
        ("websearch-gain", "WebSearch +20.0 points, Financial1 +12.5 points", "", 0.20),
        # A falls by (10 + 30) / 2, B by 40: 30% on average, and 19 with the 8 of WebSearch.
        ("mean-financial1", "-30.0% (A -20.0%, B -40.0%)", FINANCIAL1_COST, -0.30),
        (
            "mean",
            "-19.0% (Financial1 -30.0%, WebSearch -8.0%)",
            f"Financial1: {FINANCIAL1_COST}; WebSearch: {WEBSEARCH_COST}",
            -0.19,
        ),
        ("deviation", "+30.0% (WebSearch +30.0%)", f"WebSearch: {WEBSEARCH_COST}", 0.30),
        # A rises by (10 + 20) / 2, B falls by 25.
        ("deviation-financial1", "-5.0% (A +15.0%, B -25.0%)", FINANCIAL1_COST, -0.05),
        (
            "no-cache",
            "worst in 2 of 4 (trace, cache) pairs",
            (
                f"A at 4{NEXT}KiB: DFTL takes 0.50 map reads and 0.05 programs a page access, no "
                f"cache 1.25 and 0.10; C at 4{NEXT}KiB: DFTL takes 1.10 map reads and 0.11 "
                "programs a page "
                "access, no cache 1.25 and 0.10"
            ),
            2 / 4,
        ),
        (
            "cleaning",
            # (12.5 + 20) / 2 points, (30 + 8) / 2 percent.
            (
                "hit ratio +16.2 points, mean response -19.0%; cleaning 8% of the flash's time "
                "with TLLLP"
            ),
            "cleaning takes of the flash's time: Financial1 8%, WebSearch 8%",
            0.08,
        ),
    ],
)
def test_what_is_said(claim: str, ours: str, why: str, number: float) -> None:
    found = measured("tlllp", _apart())[claim]
    signed = ours if claim == "no-cache" else minus(ours)
    assert (found.ours, found.why, found.on) == (signed, why, "")
    assert found.number == pytest.approx(number)


def test_windows_of_msr_are_told_apart() -> None:
    one = altered(as_stated(), {"family": "MSR"}, trace="first")
    two = [replace(p, trace="second", hit_ratio=0.25) for p in one if p.trace == "first"]
    found = measured("tlllp", one + two)["msr-dftl"]
    assert found.ours == "Financial1 60.0%, WebSearch 5.0%, MSR 55.0%"
    assert found.why == (
        "windows of 10,000 requests from volumes that are not named: first 85.0%, second 25.0%"
    )
    assert found.number == pytest.approx(0.55)


def test_a_window_of_msr_that_is_highest_and_not_high() -> None:
    high = measured("tlllp", as_stated())["msr-dftl"]
    low = altered(as_stated(), {"family": "MSR", "line": "dftl"}, hit_ratio=0.69)
    assert high.why == ""
    assert measured("tlllp", low)["msr-dftl"].why.endswith("that are not named: MSR 69.0%")


def test_as_many_hits_are_not_more() -> None:
    points = altered(as_stated(), {"family": "MSR", "line": "tlllp"}, hit_ratio=0.85)
    found = measured("tlllp", points)["hit-ratio"]
    assert found.ours == "above in 2 of 3 pairs; +0.0 points to +45.0 points"
    assert found.why == f"not on MSR at 4{NEXT}KiB: nothing was prefetched"
    assert found.number == pytest.approx(2 / 3)


def test_as_slow_as_no_cache_is_told() -> None:
    points = altered(as_stated(), {"family": "MSR", "line": "tlllp"}, mean_us=2000.0, map_reads=0.4)
    assert measured("tlllp", points)["no-cache"].why == (
        f"MSR at 4{NEXT}KiB: TLLLP takes 0.40 map reads and 0.10 programs a page access, no cache "
        "0.60 and 0.10"
    )


def test_who_gains_more_than_websearch() -> None:
    points = altered(as_stated(), {"family": "WebSearch", "line": "tlllp"}, hit_ratio=0.12)
    points = altered(points, {"family": "Financial1", "line": "tlllp"}, prefetch_used=0.375)
    found = measured("tlllp", points)["websearch-gain"]
    assert found.ours == "Financial1 +10.0 points, WebSearch +7.0 points, MSR +5.0 points"
    assert found.why == "Financial1 gains more: 38% of prefetched entries were used"


def test_other_traces_and_closed_loops_are_no_evidence() -> None:
    others = [point("not in the paper", "dftl"), point("not in the paper", "tlllp")]
    closed = [point("MSR", line, arrivals="closed") for line in ("dftl", "tlllp")]
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


@pytest.mark.parametrize(
    ("value", "text"), [(-0.1664, "-16.6%"), (0.1, "+10.0%"), (0.0, "+0.0%"), (2.5, "+250.0%")]
)
def test_a_change_has_a_sign(value: float, text: str) -> None:
    assert change(value) == minus(text)


def test_every_second_cache_size_from_the_largest_down() -> None:
    some = replace(LAB, every=2)
    assert cache_sizes(some, 64 << 10) == [8 << 10, 32 << 10]
    assert cache_sizes(some, 32 << 10) == [4 << 10, 16 << 10]
    assert cache_sizes(some, 16) == [4 << 10]


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


def test_without_traces_stand_ins_are_run_and_nothing_is_judged(
    cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "2000")
    empty = tmp_path / "empty"
    empty.mkdir()
    done = cli("paper", "tlllp", "--traces", empty, "--out", "here")
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "here" / "results.json").read_text("utf-8"))
    assert {claim["verdict"] for claim in document["claims"]} == {UNCHECKED}
    assert all(run["trace"].startswith("stand-in: ") for run in document["runs"])
    missing, stand_ins = document["warnings"]
    assert "umass-websearch-25k.trace.zst" in missing
    assert "synthetic stand-ins" in stand_ins
    # What is printed is what is written, and nothing is compared with a backlog that is not there.
    lines = [re.sub(" {2,}", " | ", line.strip()) for line in done.stdout.splitlines()]
    for i, claim in enumerate(document["claims"], 1):
        said = (str(i), claim["claim"], claim["paper"], claim["ours"], claim["verdict"])
        assert " | ".join(said) in lines
        assert f"{i}: {claim['why']}" in lines
    for kind in ("warning", "note"):
        printed = [line for line in lines if line.startswith(f"{kind}: ")]
        assert printed == [f"{kind}: {text}" for text in document[f"{kind}s"]]
    assert "up to 0%" not in done.stdout
    numbers = pl.read_csv(tmp_path / "here" / "numbers.csv", infer_schema_length=None)
    for row, run in zip(numbers.to_dicts(), document["runs"], strict=True):
        assert row == {name: pytest.approx(run[name]) for name in row}


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
