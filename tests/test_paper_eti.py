"""`floatgate paper eti`: verdicts as data, the stand-ins' models, and the command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from floatgate.papers import eti
from floatgate.papers.batch import Bench
from floatgate.papers.eti_claims import Evidence, judge
from floatgate.papers.eti_runs import (
    BLOCKS,
    CAPTURED,
    DEVICE,
    EXCERPT,
    STAND_IN,
    SYNTHETIC,
    TABLE_1,
    Extents,
    Point,
    blocks_for,
    generator,
    pages_of,
    sample_extents,
    simulate,
    stand_in,
)
from floatgate.papers.eti_schemes import FIGURE_4, MBF, MHF, SENSITIVITY, larger_filters
from floatgate.papers.paper import FAILS, HOLDS, PARTLY, UNCHECKED, Measured

TRACES = Path(__file__).resolve().parents[2] / "shared" / "traces"

WASTE = {"single": 4.0, "eti": 2.0, "direct": 2.1, "oracle": 1.2}
"""Write amplifications as the paper has it: ETI is 20% below both rivals."""


def _point(trace: str, line: str, waste: float, **numbers: Any) -> Point:
    known: dict[str, Any] = {
        "trace": trace,
        "kind": STAND_IN,
        "line": line,
        "victim": "greedy",
        "write_amplification": waste,
        "hot_share": 0.5,
        "victim_valid": 0.5,
        "memory_bytes": 0,
        "extents": None,
        "length": 2.0,
        "volumes": 2.0,
    }
    return Point(**(known | numbers))


def _trace(name: str, **numbers: Any) -> list[Point]:
    points = [_point(name, line, waste, **numbers) for line, waste in WASTE.items()]
    points += [_point(name, line, 2.5, **numbers) for line in MBF + MHF]
    points += [_point(name, scheme.key, 2.01, **numbers) for scheme in SENSITIVITY]
    return points + [_point(name, scheme.key, 2.4, **numbers) for scheme in larger_filters(1)]


def _hotness(extents: list[float], shares: list[float]) -> Any:
    merged = [
        SimpleNamespace(gap_pages=1 << n, extents=count, cold_writes_share=share)
        for n, (count, share) in enumerate(zip(extents, shares, strict=True))
    ]
    return SimpleNamespace(name="capture-made-up", extents=tuple(merged))


def _as_the_paper_says() -> Evidence:
    """Evidence of which every claim holds."""
    points = _trace("src2_0") + _trace("usr_0")
    long = _trace("SW1", length=21.6)
    points += [replace(p, write_amplification=p.write_amplification / 2) for p in long]
    points += [replace(p, kind=EXCERPT, memory_bytes=9232) for p in _trace("MSR window")]
    extents = [
        Extents("src2_0", STAND_IN, 2000.0, 2048, 2048),
        Extents("MSR window", EXCERPT, 2000.0, 2048, 2048),
        Extents("SW1", STAND_IN, 300.0, 400, 2048),
    ]
    hotness = [(CAPTURED, _hotness([1500.0, 700.0, 300.0], [0.0, 0.03, 0.2]))]
    return Evidence(points, hotness, extents)


def _verdicts(evidence: Evidence) -> dict[str, Measured]:
    return {claim.key: found for claim, found in judge(evidence)}


def test_all_holds_where_the_numbers_are_the_papers() -> None:
    found = _verdicts(_as_the_paper_says())
    assert {key: got.verdict for key, got in found.items()} == dict.fromkeys(found, HOLDS)
    assert found["src2_0"].on == "a stand-in"
    assert found["headline"].on == "stand-ins, excerpts in a loop"
    assert found["half"].on == "captured traces"
    assert found["headline"].number == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("trace", "line", "waste", "claim", "verdict"),
    [
        ("src2_0", "eti", 2.4, "src2_0", PARTLY),
        ("src2_0", "eti", 2.6, "src2_0", FAILS),
        ("usr_0", "mhf-2", 1.9, "mhf", PARTLY),
        ("usr_0", "mhf-2", 1.995, "mhf", HOLDS),
        ("usr_0", "mbf-2", 1.95, "mbf", HOLDS),
        ("usr_0", "mbf-2", 1.8, "mbf", PARTLY),
        ("usr_0", "mbf-1-x4", 1.9, "larger-filters", PARTLY),
        ("usr_0", "eti-beta-2", 2.1, "sensitivity", PARTLY),
        ("usr_0", "eti", 1.0, "extents", PARTLY),
    ],
)
def test_one_number_off(trace: str, line: str, waste: float, claim: str, verdict: str) -> None:
    evidence = _as_the_paper_says()
    points = [
        replace(p, write_amplification=waste) if (p.trace, p.line) == (trace, line) else p
        for p in evidence.points
    ]
    if claim == "extents":
        points = [replace(p, write_amplification=0.9) if p.trace == "src2_0" else p for p in points]
    found = _verdicts(replace(evidence, points=points))[claim]
    assert found.verdict == verdict


def test_a_trace_on_which_eti_tells_nothing_apart_is_no_evidence() -> None:
    evidence = _as_the_paper_says()
    silent = [replace(p, hot_share=0.0) if p.trace == "src2_0" else p for p in evidence.points]
    found = _verdicts(replace(evidence, points=silent))
    assert found["src2_0"].verdict == UNCHECKED
    assert "written evenly" in found["src2_0"].why
    assert "src2_0" not in found["headline"].ours
    assert found["headline"].why == "ETI takes less than 1% of the writes for hot on src2_0"


def test_what_is_not_there_cannot_be_checked() -> None:
    assert {found.verdict for _, found in judge(Evidence([]))} == {UNCHECKED}
    only = Evidence([_point("uniform", "eti", 6.9, kind=SYNTHETIC)])
    assert _verdicts(only)["headline"].verdict == UNCHECKED


@pytest.mark.parametrize(("counts", "verdict"), [([1500, 300], HOLDS), ([9000, 300], PARTLY)])
def test_how_few_hot_extents_there_are(counts: list[float], verdict: str) -> None:
    hotness = [(CAPTURED, _hotness(counts, [0.0, 0.01]))]
    assert _verdicts(Evidence([], hotness))["hot-extents"].verdict == verdict


def test_what_a_stand_in_has_by_construction_is_no_evidence() -> None:
    found = _verdicts(Evidence([], [(STAND_IN, _hotness([100, 50], [0.0, 0.0]))]))
    assert found["hot-extents"].verdict == found["half"].verdict == UNCHECKED


def test_a_drive_of_the_paper() -> None:
    assert pages_of(BLOCKS) == 3_900_702
    assert pages_of(blocks_for(100_000)) >= 100_000 > pages_of(blocks_for(100_000) - 1)


def test_a_model_has_less_of_everything() -> None:
    row = TABLE_1[2]
    assert generator(row, 1, 10) == "fitted:row=src2_0,writes=10"
    text = generator(row, 16, 10)
    assert "hot_pages=443," in text and "cold_writes=3437," in text and "length=1.9," in text
    whole, model = stand_in(row, 1), stand_in(row, 16)
    assert (whole.blocks, model.blocks) == (32_768, 2_048)
    assert whole.writes == pytest.approx(16 * (model.writes or 0), rel=1e-4)


def test_a_model_runs_with_its_own_sizes() -> None:
    work = stand_in(TABLE_1[0], 128)
    schemes = [scheme for scheme in FIGURE_4 if scheme.key in ("single", "eti")]
    schemes += larger_filters(1)[:1]
    found = simulate(Bench(DEVICE, None), [(work, scheme) for scheme in schemes], 128)
    for point, result in found:
        config = result.to_dict()["config"]
        assert point.write_amplification > 1
        assert point.volumes == pytest.approx(2, rel=0.05)
        assert config["flash"]["blocks"] == 256
        assert config["eti"]["extents"] == 16
    assert found[2][1].to_dict()["config"]["mbf"]["bits"] == 32
    [extents] = sample_extents(Bench(DEVICE, None), [work], 128, 2)
    assert 1 <= extents.mean <= extents.most <= extents.table == 16


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The experiment at a scale that shows its parts and nothing else."""
    monkeypatch.setattr(eti, "MODEL", 128)
    monkeypatch.setattr(eti, "CHECK_BLOCKS", 128)
    monkeypatch.setattr(eti, "GBS", 1)
    monkeypatch.setattr(eti, "TABLE_1", TABLE_1[2:4])


def test_the_document_has_every_part(small: None, tmp_path: Path) -> None:
    outcome = eti.reproduce(False, tmp_path, None)
    document = json.loads(json.dumps(outcome.document()))
    assert document["mode"] == "quick: a model at 1/128"
    assert [claim["id"] for claim in document["claims"]][:2] == ["src2_0", "headline"]
    assert set(document["figures"]) == {
        *("table-1", "figure-1", "figure-2", "figure-4", "write-amplification", "figure-5"),
        *("figure-6", "sensitivity", "closed-forms"),
    }
    lines = {row["line"] for row in document["figures"]["figure-4"]}
    assert lines == {scheme.key for scheme in FIGURE_4}
    assert {run["kind"] for run in document["runs"]} == {STAND_IN, SYNTHETIC}
    assert "msr-sample-rw20-80-10k.trace.zst" in document["warnings"][0]
    assert "stand-ins" in " ".join(document["notes"])


@pytest.mark.long
def test_quick_takes_no_traces_for_the_papers(cli, tmp_path: Path) -> None:
    done = cli("paper", "eti", "--json", "--quick", "--traces", tmp_path, "--out", "here")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    table = {row["trace"]: row for row in document["figures"]["table-1"]}
    assert set(table) == {row.name for row in TABLE_1}
    for row in table.values():
        for field in ("hot_pages", "cold_pages", "hot_writes", "cold_writes", "length"):
            assert row[field] == pytest.approx(row[f"{field}_paper"], rel=0.15)
    files = sorted(path.name for path in (tmp_path / "here").iterdir())
    assert files == ["numbers.csv", "numbers.parquet", "paper.html", "results.json"]
