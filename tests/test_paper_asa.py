"""`floatgate paper asa`: excerpts without gaps, and the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from verdicts import altered, measured, minus
from verdicts.asa import as_stated

from floatgate.papers import asa
from floatgate.papers.asa_claims import SYNTHS
from floatgate.papers.batch import fold_pages
from floatgate.papers.paper import HOLDS, UNCHECKED
from floatgate.traces import read_trace

TRACES = Path(__file__).resolve().parents[2] / "shared" / "traces"

needs_traces = pytest.mark.skipif(
    not all((TRACES / source.spec).is_file() for source in asa.EXCERPTS),
    reason="the paper's traces are not here",
)


def _apart() -> list[Any]:
    """Ratios to DFTL that are all different."""
    gc = {
        ("Financial1, one", "asa-bytes"): 0.80,
        ("Financial1, two", "asa-bytes"): 0.90,
        ("Financial1, one", "asa-entries"): 0.60,
        ("Financial1, two", "asa-entries"): 0.70,
        ("Cambridge, made up", "asa-bytes"): 0.94,
        ("TPCC, made up", "asa-bytes"): 1.03,
        ("Cambridge, made up", "oracle"): 0.25,
        ("TPCC, made up", "oracle"): 0.95,
        ("synth9/10", "asa-bytes"): 0.98,
        ("synth9/10", "asa-entries"): 0.75,
        ("synth9/10", "oracle"): 0.14,
        ("synth7/10", "asa-bytes"): 1.13,
        ("synth7/10", "asa-entries"): 1.05,
        ("synth5/10", "asa-bytes"): 1.18,
        ("synth5/10", "asa-entries"): 1.11,
        ("synth5/10", "asa-free"): 0.999,
    }
    mean = {
        ("Financial1, one", "asa-bytes"): 1.45,
        ("Financial1, two", "asa-bytes"): 1.05,
        ("Financial1, one", "asa-entries"): 1.15,
        ("Financial1, two", "asa-entries"): 0.95,
        ("synth9/10", "asa-bytes"): 0.97,
        ("synth9/10", "asa-entries"): 0.78,
    }
    wasted = {
        ("Financial1, one", "dftl"): 2.50,
        ("Financial1, one", "oracle"): 1.25,
        ("Financial1, two", "dftl"): 2.75,
        ("Financial1, two", "oracle"): 1.05,
        ("synth9/10", "dftl"): 6.10,
        ("synth9/10", "oracle"): 2.20,
    }
    points: list[Any] = as_stated()
    for metric, values in (
        ("gc_writes_ratio", gc),
        ("mean_ratio", mean),
        ("write_amplification", wasted),
    ):
        for (trace, line), value in values.items():
            points = altered(points, {"trace": trace, "line": line}, **{metric: value})
    return points


LOOP = "excerpts in a loop"
FINANCIAL1_CLEANING = (
    "write amplification without the map: Financial1, one: 2.50 with DFTL, 1.25 with lifetimes "
    "known; Financial1, two: 2.75 with DFTL, 1.05 with lifetimes known"
)
SYNTH_CLEANING = (
    "write amplification without the map: synth9/10: 6.10 with DFTL, 2.20 with lifetimes known"
)


@pytest.mark.parametrize(
    ("claim", "ours", "why", "number", "on"),
    [
        (
            "gc-financial1",
            (
                "-15.0% (Financial1, one -20.0%, Financial1, two -10.0%) with the same bytes, "
                "-35.0% with as many entries"
            ),
            FINANCIAL1_CLEANING,
            -0.15,
            LOOP,
        ),
        (
            "gc-synth",
            "-2.0% with the same bytes, -25.0% with as many entries",
            SYNTH_CLEANING,
            -0.02,
            "",
        ),
        (
            "response-financial1",
            (
                "+25.0% (Financial1, one +45.0%, Financial1, two +5.0%) with the same bytes, +5.0% "
                "with as many entries"
            ),
            FINANCIAL1_CLEANING,
            0.25,
            LOOP,
        ),
        (
            "response-synth",
            "-3.0% with the same bytes, -22.0% with as many entries",
            SYNTH_CLEANING,
            -0.03,
            "",
        ),
        # The largest gain beside Financial1's is of Cambridge.
        ("much-smaller", "Financial1 -15.0%; Cambridge -6.0%, TPCC +3.0%", "", -0.06, LOOP),
        (
            "ranking",
            (
                "-2.0%, +13.0%, +18.0% with the same bytes, -25.0%, +5.0%, +11.0% with as many "
                "entries (9/10, 7/10, 5/10)"
            ),
            "",
            -0.02,
            "",
        ),
        (
            "uniform",
            "+11.0% with as many entries, +18.0% with the same bytes, -0.1% with DFTL's map",
            "what is not the partitions is ASA-FTL's map, twice as large",
            0.11,
            "",
        ),
    ],
)
def test_what_is_said(claim: str, ours: str, why: str, number: float, on: str) -> None:
    found = measured("asa", _apart())[claim]
    assert (found.ours, found.why, found.on) == (minus(ours), why, on)
    assert found.number == pytest.approx(number)


def test_what_lifetimes_would_save() -> None:
    found = measured("asa", _apart())["cat"]
    assert found.ours == minus(
        "cleaning's programs with all lifetimes known: Cambridge -75.0%, TPCC -5.0%, "
        "synth9/10 -86.0%"
    )
    assert (found.number, found.on) == (pytest.approx(-0.75), LOOP)
    assert found.why.startswith("CAT chooses among blocks that one frontier keeps mixing")


def test_says_what_much_smaller_is_taken_for() -> None:
    lost = altered(_apart(), {"family": "Financial1", "line": "asa-bytes"}, gc_writes_ratio=1.25)
    found = measured("asa", lost)["much-smaller"]
    assert (found.why, found.number) == ("there is no gain on Financial1", pytest.approx(0.25))
    close = altered(_apart(), {"family": "Cambridge", "line": "asa-bytes"}, gc_writes_ratio=0.92)
    found = measured("asa", close)["much-smaller"]
    assert found.why == "much smaller is taken to be at most half of Financial1's"


def test_what_is_missing_is_named() -> None:
    found = measured("asa", [])
    assert found["gc-financial1"].why == "it takes Financial1"
    assert found["gc-synth"].why == "it takes synth9/10"


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
