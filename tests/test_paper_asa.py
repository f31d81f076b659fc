"""`floatgate paper asa`: verdicts as data, excerpts without gaps, and the command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from floatgate.papers import asa
from floatgate.papers.asa_claims import SYNTHS, judge
from floatgate.papers.asa_runs import CAMBRIDGE, FINANCIAL1, SYNTH, TPCC, Point
from floatgate.papers.batch import fold_pages
from floatgate.papers.paper import FAILS, HOLDS, PARTLY, UNCHECKED, Measured
from floatgate.traces import read_trace

TRACES = Path(__file__).resolve().parents[2] / "shared" / "traces"

needs_traces = pytest.mark.skipif(
    not all((TRACES / source.spec).is_file() for source in asa.EXCERPTS),
    reason="the paper's traces are not here",
)


def _point(trace: str, family: str, line: str, gc: float, mean: float) -> Point:
    return Point(
        trace=trace,
        family=family,
        line=line,
        spare=0.07,
        cached=0.25,
        arrivals="open",
        write_amplification=3.0,
        gc_reads=100,
        gc_writes=100,
        erases=10,
        mean_us=1000.0,
        gc_reads_ratio=gc,
        gc_writes_ratio=gc,
        erases_ratio=gc,
        mean_ratio=mean,
        volumes=10.0,
        hit_ratio=0.5,
    )


def _as_the_paper_says() -> list[Point]:
    """Points of which every claim holds."""
    rows = [
        ("Financial1, made up", FINANCIAL1, 0.67, 0.91),
        ("Cambridge, made up", CAMBRIDGE, 0.95, 0.99),
        ("TPCC, made up", TPCC, 0.95, 0.99),
        *zip(SYNTHS, [SYNTH] * 3, (0.67, 0.85, 1.005), (0.91, 0.95, 1.0), strict=True),
    ]
    points = []
    for trace, family, gc, mean in rows:
        points.append(_point(trace, family, "dftl", 1.0, 1.0))
        points += [
            _point(trace, family, line, gc, mean)
            for line in ("asa-bytes", "asa-entries", "asa-free")
        ]
        points.append(_point(trace, family, "oracle", 0.95, 0.99))
    return points


def _verdicts(points: list[Point]) -> dict[str, Measured]:
    return {claim.key: found for claim, found in judge(points)}


def test_all_holds_where_the_numbers_are_the_papers() -> None:
    found = _verdicts(_as_the_paper_says())
    assert {key: got.verdict for key, got in found.items()} == dict.fromkeys(found, HOLDS)
    assert found["gc-financial1"].number == pytest.approx(-0.33)
    assert found["gc-financial1"].on == "excerpts in a loop"
    assert found["gc-synth"].on == ""


@pytest.mark.parametrize(
    ("trace", "line", "gc", "claim", "verdict"),
    [
        ("Financial1, made up", "asa-bytes", 0.9, "gc-financial1", PARTLY),
        ("Financial1, made up", "asa-bytes", 1.1, "gc-financial1", FAILS),
        ("synth9/10", "asa-bytes", 1.0, "gc-synth", FAILS),
        ("Cambridge, made up", "asa-bytes", 0.7, "much-smaller", PARTLY),
        ("Financial1, made up", "asa-bytes", 1.1, "much-smaller", FAILS),
        ("synth7/10", "asa-bytes", 0.5, "ranking", PARTLY),
        ("synth5/10", "asa-entries", 1.1, "uniform", PARTLY),
        ("TPCC, made up", "oracle", 0.2, "cat", PARTLY),
    ],
)
def test_one_number_off(trace: str, line: str, gc: float, claim: str, verdict: str) -> None:
    points = [
        replace(p, gc_writes_ratio=gc) if (p.trace, p.line) == (trace, line) else p
        for p in _as_the_paper_says()
    ]
    found = _verdicts(points)[claim]
    assert found.verdict == verdict


def test_partitions_that_do_harm_to_uniform_writes_are_told_from_a_larger_map() -> None:
    def with_ratio(*lines: str) -> list[Point]:
        return [
            replace(p, gc_writes_ratio=1.1) if p.trace == "synth5/10" and p.line in lines else p
            for p in _as_the_paper_says()
        ]

    assert _verdicts(with_ratio("asa-entries"))["uniform"].verdict == PARTLY
    assert _verdicts(with_ratio("asa-entries", "asa-free"))["uniform"].verdict == FAILS


def test_what_is_not_there_cannot_be_checked() -> None:
    assert {found.verdict for _, found in judge([])} == {UNCHECKED}


def test_pages_that_are_not_touched_are_left_out() -> None:
    frame = pl.DataFrame(
        {
            "at_ns": [0, 1, 2, 3],
            "op": [1, 0, 1, 1],
            "offset": [1 << 30, 8192 + 512, 1 << 20, (1 << 30) + 4096],
            "length": [4096, 512, 8192, 100],
        }
    )
    folded, pages = fold_pages(read_trace(frame))
    assert pages == 5
    assert folded["offset"].to_list() == [3 * 4096, 512, 4096, 4 * 4096]
    assert folded["length"].to_list() == [4096, 512, 8192, 100]


def test_the_document_has_every_part(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(asa, "QUICK", asa.Size(rounds=2, span=16 << 20, volumes=2))
    document = json.loads(json.dumps(asa.reproduce(False, tmp_path, None).document()))
    assert set(document) == {"paper", "mode", "claims", "figures", "warnings", "notes", "runs"}
    verdicts = {claim["id"]: claim["verdict"] for claim in document["claims"]}
    assert verdicts["gc-financial1"] == verdicts["cat"] == UNCHECKED
    assert UNCHECKED not in (verdicts["ranking"], verdicts["uniform"], verdicts["gc-synth"])
    assert {run["trace"] for run in document["runs"]} == set(SYNTHS)
    assert "tpcc-7k.trace.zst" in document["warnings"][0]
    assert set(document["figures"]) == {*(f"figure-2-{n}" for n in (1, 2, 3, 4)), "gc-writes"}
    for run in document["runs"]:
        config = run["config"]
        assert config["cleaning"]["victim"] == "cat"
        # A quarter of 8,192 entries; ASA-FTL's take twice the memory.
        size = "32KiB" if run["line"] == "asa-entries" else "16KiB"
        assert config["mapping"]["cache"] == size


@pytest.mark.long
@needs_traces
def test_quick_judges_every_claim(cli, tmp_path: Path) -> None:
    done = cli("paper", "asa", "--json", "--quick", "--traces", TRACES, "--out", "here")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert UNCHECKED not in {claim["verdict"] for claim in document["claims"]}
    assert all(claim["why"] or claim["verdict"] == HOLDS for claim in document["claims"][:5])
    numbers = pl.read_parquet(tmp_path / "here" / "numbers.parquet")
    assert numbers.height == len(document["runs"])


def test_uniform_writes_are_as_good_in_partitions(cli) -> None:
    """At equal entries, with the map of DFTL: what the partitions do by themselves."""
    common = [
        "hotcold:span=256MiB,size=2KiB,r=0.5,f=0.5,writes=400k",
        "--device",
        "asa14",
        "--json",
    ]
    common += ["--set", "start.fill=random", "--set", "capacity.spare_factor=0.07"]
    common += ["--set", "mapping.scheme=ideal", "--vary", "placement.scheme=single,asa"]
    done = cli("compare", *common)
    assert done.returncode == 0, done.stderr
    one, three = (run["data_write_amplification"] for run in json.loads(done.stdout)["table"])
    assert three == pytest.approx(one, rel=0.01)
