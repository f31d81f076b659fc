"""`floatgate paper ncq`: verdicts as data, what is played, and the command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from floatgate._core import ConfigError
from floatgate.papers import ncq
from floatgate.papers.ncq_claims import judge
from floatgate.papers.ncq_runs import (
    FASTER,
    FIRST,
    MAIN,
    SECOND,
    SETUPS,
    SIZES,
    WORKLOADS,
    Point,
    played,
    ways,
)
from floatgate.papers.paper import FAILS, HOLDS, PARTLY, UNCHECKED, Measured

GAINS = {FIRST: (0.04, 0.05, 0.04), SECOND: (0.02, 0.02, 0.01)}


def _point(trace: str, line: str, size: int, **numbers: Any) -> Point:
    known: dict[str, Any] = {
        "trace": trace,
        "line": line,
        "setup": MAIN.key,
        "buffer_mib": size,
        "hit_ratio": 0.05,
        "write_mb_s": 160.0,
        "iops": 600.0,
        "hit_gain": 0.0,
        "bandwidth_gain": 0.0,
        "iops_gain": 0.0,
        "busy": 1.0,
        "waiting": 31.0,
        "write_amplification": 1.0,
        "switch": 100,
        "partial": 0,
        "full": 0,
    }
    return Point(**(known | numbers))


def _as_the_paper_says() -> list[Point]:
    """Points of which every claim holds: gains that are halved with each size."""
    points = []
    for trace, (hits, bandwidth, iops) in GAINS.items():
        for i, size in enumerate(SIZES):
            part = 0.5**i if size < SIZES[-1] else 0.0
            gains = {"hit_gain": hits * part, "bandwidth_gain": bandwidth * part}
            waiting = 31.0 * part
            points.append(_point(trace, "lru", size, hit_ratio=0.05))
            points.append(_point(trace, "ncq-move", size))
            points.append(
                _point(trace, "ncq", size, **gains, iops_gain=iops * part, waiting=waiting)
            )
    return points


def _verdicts(points: list[Point]) -> dict[str, Measured]:
    return {claim.key: found for claim, found in judge(points)}


def _changed(trace: str, size: int, **numbers: Any) -> list[Point]:
    return [
        replace(p, **numbers) if (p.trace, p.line, p.buffer_mib) == (trace, "ncq", size) else p
        for p in _as_the_paper_says()
    ]


def test_all_holds_where_the_numbers_are_the_papers() -> None:
    points = [
        replace(p, hit_gain=0.002) if p.line == "ncq" and 0 < p.hit_gain < 0.002 else p
        for p in _as_the_paper_says()
    ]
    found = _verdicts(points)
    # Workload 2 fills its queue with 32 MiB: with a gain of nothing there, not with 16.
    assert {key: got.verdict for key, got in found.items()} == dict.fromkeys(found, HOLDS)
    assert found["hit-1"].number == pytest.approx(0.04)
    assert found["iops-2"].number == pytest.approx(0.01)
    assert all(got.why == "" for got in found.values())


@pytest.mark.parametrize(
    ("trace", "size", "numbers", "claim", "verdict"),
    [
        (FIRST, 1, {"hit_gain": 0.02}, "hit-1", PARTLY),
        (FIRST, 1, {"hit_gain": -0.01}, "hit-1", FAILS),
        (SECOND, 1, {"bandwidth_gain": 0.05}, "bandwidth-2", PARTLY),
        (SECOND, 1, {"iops_gain": 0.02}, "iops-2", PARTLY),
        (FIRST, 8, {"hit_gain": 0.05}, "falls", PARTLY),
        (FIRST, 32, {"bandwidth_gain": 0.04}, "low", PARTLY),
        (SECOND, 32, {"waiting": 20.0}, "short-queue", PARTLY),
        (SECOND, 32, {"hit_gain": -0.0001}, "never-below", PARTLY),
        (FIRST, 1, {"hit_gain": 0.0}, "small-buffer", PARTLY),
    ],
)
def test_one_number_off(
    trace: str, size: int, numbers: dict[str, float], claim: str, verdict: str
) -> None:
    found = _verdicts(_changed(trace, size, **numbers))[claim]
    assert found.verdict == verdict
    assert found.why


def test_what_another_drive_does_is_told_and_not_judged() -> None:
    rising = [
        replace(p, hit_gain=0.001 * p.buffer_mib, bandwidth_gain=0.001 * p.buffer_mib)
        for p in _as_the_paper_says()
        if p.line == "ncq"
    ]
    faster = [replace(p, setup=FASTER.key) for p in _as_the_paper_says() if p.line == "ncq"]
    found = _verdicts(rising + faster)
    assert found["falls"].verdict == found["low"].verdict == FAILS
    assert "with 32 ways, which nearly keep up with Workload 1, its gains are +4.00" in (
        found["falls"].why
    )
    assert "with 32 ways" not in _verdicts(rising)["falls"].why


def test_never_below_is_held_against_every_setup() -> None:
    below = replace(_point(FIRST, "ncq", 4), setup="fast", hit_gain=-0.01)
    found = _verdicts([*_as_the_paper_says(), below])["never-below"]
    assert found.verdict == PARTLY
    assert found.why == "Workload 1, 4 MiB, fast"


def test_what_is_not_there_cannot_be_checked() -> None:
    assert {found.verdict for _, found in judge([])} == {UNCHECKED}


def test_what_is_played() -> None:
    first, second = WORKLOADS
    assert played(first, MAIN, 20).spec == (
        "iometer:span=256MiB,size=256KiB,requests=20,interarrival=0.83ms,arrivals=exponential"
    )
    setups = {setup.key: setup for setup in SETUPS}
    assert played(second, setups["full-queue"], 5).spec == (
        "iometer:span=256MiB,size=1024KiB,requests=5"
    )
    assert played(second, setups["align"], 5).spec.endswith("exponential,align=4KiB")
    assert len(setups) == len(SETUPS)
    for channels, dies in ((4, 4), (8, 4), (1, 1)):
        block = ways(channels, dies)
        assert int(block["flash.pages_per_block"]) * int(block["flash.superblock"]) == 32


def test_the_document_has_every_part(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ncq, "QUICK", ncq.Size(400, 150))
    document = json.loads(json.dumps(ncq.reproduce(False, tmp_path, None).document()))
    assert set(document) == {"paper", "mode", "claims", "figures", "warnings", "notes", "runs"}
    assert UNCHECKED not in {claim["verdict"] for claim in document["claims"]}
    figures = {*(f"figure-{n}" for n in (3, 4, 5)), "hits", "bandwidth", "waiting"}
    assert set(document["figures"]) == figures
    lines = {"lru", "ncq", "fab", "bplru", "clc", "belady"}
    assert {row["line"] for row in document["figures"]["figure-3"]} == lines
    for run in document["runs"]:
        config = run["config"]
        assert config["ftl"]["scheme"] == "bast"
        assert config["buffer"]["block_pages"] == 32
        assert config["buffer"]["capacity"] == f"{run['buffer_mib']}MiB"
        assert config["queue"]["dispatch"] == "serial"
        assert run["partial"] == run["full"] == 0, "whole blocks leave"


def test_a_directory_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not a directory"):
        ncq.reproduce(False, tmp_path / "nowhere", None)


@pytest.mark.long
def test_quick_judges_every_claim(cli, tmp_path: Path) -> None:
    done = cli("paper", "ncq", "--json", "--quick", "--out", "here")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    verdicts = {claim["id"]: claim["verdict"] for claim in document["claims"]}
    assert UNCHECKED not in verdicts.values()
    assert verdicts["hit-1"] == verdicts["hit-2"] == verdicts["never-below"] == HOLDS
    assert all(claim["why"] or claim["verdict"] == HOLDS for claim in document["claims"])
    hits = {
        (row["trace"], row["line"], row["buffer_mib"]): row["hit_ratio"]
        for row in document["figures"]["figure-3"]
    }
    for (trace, _, size), ratio in hits.items():
        assert ratio <= hits[trace, "belady", size]
        assert hits[trace, "lru", size] == pytest.approx(size / 256, rel=0.2, abs=0.002)
    numbers = pl.read_parquet(tmp_path / "here" / "numbers.parquet")
    assert numbers.height == len(document["runs"])


@pytest.mark.long
def test_full_has_every_setup() -> None:
    document = ncq.reproduce(True, None, None).document()
    assert {run["setup"] for run in document["runs"]} == {s.key for s in (MAIN, *SETUPS)}
    assert len(document["figures"]["hits"]) == 2 * (1 + 2 + len(SETUPS))
