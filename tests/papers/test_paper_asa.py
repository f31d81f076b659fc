"""ASA-FTL on the paper kit: its claims on hand-made evidence, and its runs."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from evidence import Case, is_met, met_at
from evidence.asa import ASA as ASA_KEY
from evidence.asa import EVIDENCE, WHOLE, point
from exhibits import printed

from floatgate.papers import PAPERS
from floatgate.papers.asa.claims import CLAIMS, UNCHECKED
from floatgate.papers.asa.domain import (
    ASA,
    CAMBRIDGE,
    DEVICE,
    DFTL,
    EXCERPTS,
    FINANCIAL1,
    SYNTH5,
    SYNTH9,
    TPCC,
    synthetic,
    workload_of,
)
from floatgate.papers.asa.figures import COLUMNS
from floatgate.papers.asa.paper import PAPER, experiment_of
from floatgate.papers.asa.reduce import LEFT_OUT, Round, is_left_out, reduce
from floatgate.papers.kit.batch import Bench
from floatgate.papers.kit.claims import Measured
from floatgate.papers.kit.experiment import Experiment, Run
from floatgate.papers.kit.judging import judge, runs_of
from floatgate.papers.kit.reproduce import Lab, reproduce

TRACES = Path(__file__).resolve().parents[3] / "shared" / "traces"
NAMES = [excerpt.spec for excerpt in EXCERPTS]
MIB = 1 << 20

needs_traces = pytest.mark.skipif(
    not all((TRACES / name).is_file() for name in NAMES), reason="the paper's traces are not here"
)

BY_KEY = {claim.key: claim for claim in CLAIMS}


def test_cleaning_reads_what_it_writes() -> None:
    """A claim on both counts each page once: with data and map, with and without ages, for every
    cache."""
    experiment = experiment_of(list(synthetic(full=False)))
    runs = [
        experiment.run_of(levels, load, line, 1)
        for levels in experiment.points(("equal", "cache"), True)
        for load in (SYNTH9, SYNTH5)
        for line in (DFTL, ASA)
    ]
    for result in experiment.simulate(Bench(DEVICE, None), runs).values():
        reads, programs = result.flash.reads, result.flash.programs
        assert (reads.gc, reads.gc_map) == (programs.gc, programs.gc_map)


def test_samples_are_counted_against_all_other_reads() -> None:
    run = WHOLE.run_of(WHOLE.points((), True)[0], SYNTH9, ASA, 1)
    for total, samples, share in ((280, 0, 0.0), (280, 14, 14 / 266), (70, 70, 1.0)):
        result = _result()
        result.flash.reads.total, result.placement.sample_reads = total, samples
        assert reduce(WHOLE, run, result, Round()).sample_reads == pytest.approx(share)


def test_where_nothing_is_gained_adapting_is_not_asked() -> None:
    same = Case("journal-adapts", "", "", {(SYNTH9, ASA_KEY): {"copies": 1 / 0.67}})
    found = EVIDENCE.at_one_point(same)
    assert not found.is_checked
    assert found.why == "1 without a sure gain on synth9/10"


def test_each_reading_of_the_equal_cache_is_asked() -> None:
    """Ages that take no room save a third of the copies. Ages that take room save nothing."""
    claim = BY_KEY["gc-writes-synth"]
    same = {"data_copies": 2000, "map_copies": 1000}
    evidence = {
        run: point(run, **({"data_copies": 1340, "map_copies": 670} if _is_free(run) else same))
        for run in runs_of(WHOLE, [claim], full=False)
    }
    assert met_at(EVIDENCE.judged(claim, evidence), "equal") == {"free"}


@pytest.mark.parametrize("name", [CAMBRIDGE, TPCC])
def test_the_papers_reasons_have_to_be_true_of_an_excerpt(name: str) -> None:
    """Writes as large as Financial1's, or as skewed, give no information on the sentence."""
    for claim in (claim for claim in CLAIMS if claim.premise and name in claim.workloads):
        evidence = EVIDENCE.stated(claim)
        assert is_met(EVIDENCE.judged(claim, evidence))
        for field in ("write_bytes", "gini"):
            alike = {run: replace(point, **{field: 1.0}) for run, point in evidence.items()}
            found = EVIDENCE.judged(claim, alike)
            assert found.why == f"{len(found.rows)} {claim.premise.text}"
            assert found.verdict == f"not checked, {len(found.rows)} left out"


def _is_free(run: Any) -> bool:
    return str(run.line).startswith("asa-free")


def test_translation_copies_are_told_from_data_copies() -> None:
    """A third of the data copies is saved, and the map has that many more."""
    claim = BY_KEY["gc-writes-financial1"]
    evidence = {
        run: point(run, data_copies=1340, map_copies=1660)
        if run.line != "dftl"
        else point(run, data_copies=2000, map_copies=1000)
        for run in runs_of(WHOLE, [claim], full=False)
    }
    assert met_at(EVIDENCE.judged(claim, evidence), "copies") == {"data alone"}


def test_what_is_left_out() -> None:
    run = next(run for run in runs_of(WHOLE, CLAIMS, full=False) if run.line == "dftl")
    assert not is_left_out(point(run, overwrites=2.0))
    assert is_left_out(point(run, overwrites=1.99))
    assert not is_left_out(point(run, overwrites=None)), "a generator has no rounds"
    assert is_left_out(point(run, utilization=0.95, queue_share=0.01))
    assert not is_left_out(point(run, utilization=0.94, queue_share=0.5))
    assert not is_left_out(point(run, utilization=1.0, queue_share=0.0))
    assert is_left_out(point(run, data_copies=0)), "there is nothing that could be less"
    other = Run("synth9/10", "asa-bytes", (), 1)
    assert not is_left_out(point(other, data_copies=0)), "that is what it is for"


def test_the_cache_is_a_share_of_the_entries_of_dftls_map() -> None:
    chosen = [level.set for level in WHOLE.axis("cache").levels]
    sizes = [one(1600)["mapping.cache"] for one in chosen if callable(one)]
    assert sizes == ["800B", "3200B", "12800B"], "100, 400 and all of 1,600 entries of 8 bytes"
    levels = WHOLE.points((), True)[0]
    drives = {}
    for reading in ("bytes", "entries", "free"):
        run = WHOLE.run_of(levels | {"equal": reading}, FINANCIAL1, ASA, 1)
        drives[reading] = WHOLE.settings(run, 1600)
    # Reading "bytes": an entry has 16, as in the preset, so the memory holds half the entries.
    assert {drive["mapping.cache"] for drive in drives.values()} == {"3200B"}
    assert "asa.entry_bytes" not in drives["bytes"]
    assert drives["entries"]["asa.entry_bytes"] == "8"
    assert drives["free"]["mapping.scheme"] == "dftl"
    assert {drive["asa.sample_source"] for drive in drives.values()} == {"random_lpn"}


def _result() -> Any:
    streams = [
        SimpleNamespace(host_pages=host, hot_pages=hot)
        for host, hot in ((40, 4), (30, 20), (30, 16))
    ]
    return SimpleNamespace(
        workload=SimpleNamespace(volumes_written=9.5),
        mapping=SimpleNamespace(hit_ratio=0.75),
        placement=SimpleNamespace(sample_reads=70, streams=streams),
        latency=SimpleNamespace(
            all=SimpleNamespace(mean_us=500.0), blame_us=SimpleNamespace(queue=125.0, gc=50.0)
        ),
        throughput=SimpleNamespace(utilization=0.625),
        cleaning=SimpleNamespace(foreground=40, emergency=10),
        flash=SimpleNamespace(
            reads=SimpleNamespace(total=280),
            programs=SimpleNamespace(gc=100, gc_map=20),
            erases=SimpleNamespace(total=44),
        ),
    )


def test_a_run_in_numbers() -> None:
    run = WHOLE.run_of(WHOLE.points((), True)[0], FINANCIAL1, ASA, 2)
    found = reduce(WHOLE, run, _result(), Round(5039.0, 0.5, 3.25))
    assert asdict(found) == {
        "trace": "Financial1, 10k requests",
        "family": FINANCIAL1,
        "line": "asa-bytes",
        "spare": "15%",
        "cache": "1/4",
        "start": "aged",
        "arrivals": "one at a time",
        "seed": 2,
        "data_copies": 100,
        "map_copies": 20,
        "erases": 44,
        "mean_us": 500.0,
        "hit_ratio": 0.75,
        "emergency": 0.25,
        "utilization": 0.625,
        "queue_share": 0.25,
        "cleaning_time": 0.1,
        "sample_reads": pytest.approx(70 / 210),
        "volumes": 9.5,
        "hot_as_hot": 0.4,
        "hot_as_warm": 0.5,
        "cold_as_hot": pytest.approx(14 / 60),
        "cold_as_warm": pytest.approx(10 / 60),
        "write_bytes": 5039.0,
        "gini": 0.5,
        "overwrites": 3.25,
    }
    synth = WHOLE.run_of(WHOLE.points((), True)[0], SYNTH9, ASA, 2)
    generated = _result()
    generated.placement.streams[0].hot_pages = 0
    generated.placement.streams = generated.placement.streams[:1]
    one_label = reduce(WHOLE, synth, generated, Round())
    assert (one_label.overwrites, one_label.hot_as_hot) == (None, None), "DFTL labels nothing"
    titles, row = printed(COLUMNS, [asdict(found)])
    shown = dict(zip(titles, row, strict=True))
    assert (shown["Cache"], shown["Map copies"], shown["Emergency cleans"]) == (
        "1/4",
        "20",
        "25.00\N{NO-BREAK SPACE}%",
    )


def _small(*, separated: bool) -> Experiment:
    """Returns the synthetic loads with criteria from k-means, or without criteria. Without them
    every write is cold and goes to one partition."""
    experiment = experiment_of(list(synthetic(full=False)))
    if separated:
        return experiment
    never = {"asa.update_period": "1000000000"}
    lines = [
        replace(line, set={**line.set, **never}) if line.key.startswith("asa-") else line
        for line in experiment.lines
    ]
    return replace(experiment, lines=tuple(lines))


def test_without_k_means_the_verdicts_that_depend_on_it_change() -> None:
    on, off = (_verdicts(_small(separated=separated)) for separated in (True, False))
    assert is_met(on["ranking"]) and not off["ranking"].counts.as_claimed
    assert on["gc-writes-synth"].counts.as_claimed + on["gc-writes-synth"].counts.open
    assert off["gc-writes-synth"].counts.less == off["gc-writes-synth"].counts.points


def _verdicts(experiment: Experiment) -> dict[str, Measured]:
    """Returns verdicts on two claims, at the middle of the domain and by the reading of the equal
    cache."""
    claims = [replace(BY_KEY[key], axes=("equal",)) for key in ("ranking", "gc-writes-synth")]
    results = experiment.simulate(Bench(DEVICE, None), runs_of(experiment, claims, False))
    evidence = {run: reduce(experiment, run, result, Round()) for run, result in results.items()}
    return {c.key: judge(experiment, c, evidence, False, LEFT_OUT) for c in claims}


def _brief(traces: Path, **axes: tuple[str, ...]) -> Any:
    """Reproduces the paper with these claims, over these axes, on loads of 8 MiB."""
    claims = [replace(BY_KEY[key.replace("_", "-")], axes=of) for key, of in axes.items()]

    def experiment(lab: Lab) -> Experiment:
        excerpts = [workload_of(*one, lab.bench, volumes=1) for one in lab.wanted(EXCERPTS)]
        return experiment_of([*excerpts, *synthetic(False, 8 * MIB, volumes=1)])

    some = replace(PAPER, claims=claims, shown=lambda *_: (), experiment=experiment)
    return reproduce(some, PAPERS[0], False, traces, None).document()


@needs_traces
def test_a_quick_reproduction_has_maps_and_runs() -> None:
    document = _brief(TRACES, ranking=("equal",), smaller_gc_tpcc=(), smaller_gc_cambridge=())
    ranking, tpcc, cambridge, *unknown = document["claims"]
    assert [row["equal"] for row in ranking["domain"]] == ["bytes", "entries", "free"]
    assert all(row["seeds"] == 3 and row["ci95"] for row in ranking["domain"])
    assert (tpcc["verdict"], tpcc["why"]) == ("not checked, 1 left out", f"1 {LEFT_OUT.text}")
    assert cambridge["why"].startswith("1 where Cambridge has no larger or"), "more skew"
    assert {claim["verdict"] for claim in unknown} == {"not checked"}
    families = {run["family"]: run for run in document["runs"]}
    assert families[TPCC]["overwrites"] < 2 < families[CAMBRIDGE]["overwrites"]
    assert families[FINANCIAL1]["write_bytes"] == pytest.approx(5039, abs=1)
    assert {run["config"]["cleaning"]["victim"] for run in document["runs"]} == {"cat"}
    shown = {"domain", "by-equal", "map-ranking", "labels", "skew"}
    assert shown <= set(document["figures"])
    gini = {row["trace"]: row["gini"] for row in document["figures"]["skew"]}
    assert gini["Cambridge, 20% reads"] == pytest.approx(0.580, abs=1e-3)
    assert gini["Financial1, 10k requests"] == pytest.approx(0.454, abs=1e-3)
    assert gini["synth9/10"] > gini["synth7/10"] > gini["synth5/10"]
    top = {row["trace"]: row["top0.01"] for row in document["figures"]["skew"]}
    assert top["Cambridge, 20% reads"] == pytest.approx(0.440, abs=1e-3)
    assert top["Financial1, 10k requests"] == pytest.approx(0.143, abs=1e-3)


def test_without_traces_only_synthetic_loads_are_judged(tmp_path: Path) -> None:
    document = _brief(tmp_path, ranking=(), gc_writes_financial1=())
    ranking, financial1, *_ = document["claims"]
    assert len(ranking["domain"]) == 1
    assert (financial1["verdict"], "domain" in financial1) == ("not checked", False)
    assert FINANCIAL1 in financial1["why"]
    ids = [claim["id"] for claim in document["claims"]]
    assert ids == ["ranking", "gc-writes-financial1", *(c.key for c, _ in UNCHECKED)]
    assert "tpcc-7k.trace.zst" in document["warnings"][0]


@pytest.mark.long
@needs_traces
def test_quick_judges_every_claim_and_again_from_the_cache(cli, tmp_path: Path) -> None:
    done = cli("paper", "asa", "--json", "--quick", "--traces", TRACES, "--out", "here")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    keys = [*BY_KEY, *(c.key for c, _ in UNCHECKED)]
    assert [claim["id"] for claim in document["claims"]] == keys
    numbers = pl.read_parquet(tmp_path / "here" / "numbers.parquet")
    assert numbers.height == len(document["runs"])
    again = cli("paper", "asa", "--json", "--quick", "--traces", TRACES)
    assert json.loads(again.stdout) == document


def test_uniform_writes_are_as_good_in_partitions(cli) -> None:
    """Isolates the effect of the partitions: the entries are equal, and both have DFTL's map."""
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
