"""ETI on the paper kit: its claims on hand-made evidence, the level of runs, and its runs."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from evidence import Case, is_met, met_at
from evidence.eti import (
    BY_HOT_KEY,
    EVIDENCE,
    WHOLE,
    WORKLOADS,
    as_stated,
    hotness,
    looked,
    point,
)
from exhibits import printed

from floatgate.papers import PAPERS
from floatgate.papers.eti.claims import claims_on
from floatgate.papers.eti.domain import (
    BLOCKS,
    DEVICE,
    HP,
    LEAST_HOT,
    REAL,
    REAL_TRACES,
    SCALE,
    SHORT,
    TABLE_1,
    blocks_for,
    experiment_of,
    generator,
    in_a_loop,
    looped,
    pages_of,
    real,
    stand_in,
)
from floatgate.papers.eti.figures import COLUMNS
from floatgate.papers.eti.hot import HOT_CLAIMS, LONG_TRACES
from floatgate.papers.eti.lines import ETI
from floatgate.papers.eti.paper import PAPER, more, played_on
from floatgate.papers.eti.reduce import HOT_ENOUGH, Traced, hot_writes, lacks_hot_data, reduce
from floatgate.papers.kit.batch import Bench, Played
from floatgate.papers.kit.claims import in_points
from floatgate.papers.kit.exhibits import Row
from floatgate.papers.kit.experiment import Experiment, Line
from floatgate.papers.kit.judging import judge, runs_of
from floatgate.papers.kit.reproduce import reproduce
from floatgate.papers.kit.verdicts import AS_CLAIMED, LESS, STRADDLES

TRACES = Path(__file__).resolve().parents[3] / "shared" / "traces"
QUICK = [trace for trace in REAL_TRACES if trace.quick]

needs_traces = pytest.mark.skipif(
    not all((TRACES / trace.spec).is_file() for trace in QUICK), reason="the traces are not here"
)

CLAIMS = EVIDENCE.claims
BY_KEY = {claim.key: claim for claim in CLAIMS}


@pytest.mark.parametrize("key", ["hashes", "hashes-real"])
def test_variants_that_scatter_and_do_not_differ_are_not_apart(key: str) -> None:
    """With each seed another variant is 8 % above the lowest, so two of them always differ."""
    claim = replace(BY_KEY[key], axes=())
    evidence = {
        run: point(run, write_amplification=2.5 + 0.1 * ((run.seed + int(run.line[-1])) % 3))
        for run in runs_of(WHOLE, [claim], full=False)
    }
    [row] = EVIDENCE.judged(claim, evidence).rows
    assert (row["case"], round(row["ours"], 2)) == (STRADDLES, 0.0)


@pytest.mark.parametrize("key", [*EVIDENCE.never, "once-partners"])
def test_what_takes_a_trace_that_nobody_has_cannot_be_checked(key: str) -> None:
    found = (
        EVIDENCE.judged(BY_KEY[key], {}) if key in BY_KEY else looked(BY_HOT_KEY[key], as_stated())
    )
    assert (found.is_checked, found.rows) == (False, ())
    assert "Hdp1B-R6Dv1" in found.why or "the partner's traces" in found.why


def test_without_traces_claims_on_them_cannot_be_checked() -> None:
    """The claims name the missing traces. The stand-ins still have verdicts."""
    made = experiment_of([work for work in WORKLOADS if work.family == "stand-in"])
    for claim in CLAIMS:
        evidence = {run: point(run) for run in runs_of(made, [claim], full=False)}
        found = judge(made, claim, evidence, False, HOT_ENOUGH)
        if {REAL, *SHORT} & set(claim.workloads):
            assert (found.is_checked, claim.workloads[0] in found.why) == (False, True)
        elif claim.key not in EVIDENCE.never:
            assert is_met(found)


def test_where_eti_gains_nothing_larger_filters_are_not_asked() -> None:
    nothing = {("proj_0", "eti"): {"write_amplification": 2.49}}
    gains_nothing = Case("larger-filters", "", "", nothing)
    found = EVIDENCE.at_one_point(gains_nothing)
    assert not found.is_checked
    assert "where ETI does not surely gain half a per cent over MBF" in found.why


def test_a_trace_with_few_ends_cannot_fill_the_table() -> None:
    for ends, checked in ((2_046, False), (2_047, True)):
        numbers = {(REAL, "eti"): {"extents_table": 0.42, "ends": ends}}
        found = EVIDENCE.at_one_point(Case("extents-msr-real", "", "", numbers))
        assert (found.is_checked, found.rows[0]["case"]) == (checked, LESS)


def test_the_papers_size_is_asked_with_each_reading_and_not_quickly() -> None:
    claim = BY_KEY["src2_0-full-size"]
    evidence = {
        run: point(run, **({"write_amplification": 2.5} if run.at("merge") == "highest" else {}))
        for run in runs_of(WHOLE, [claim], full=True)
    }
    assert {run.workload for run in evidence} == {"src2_0, the paper's size"}
    rows = judge(WHOLE, claim, evidence, True, HOT_ENOUGH).rows
    assert {row["merge"]: row["case"] for row in rows} == {
        "weighted mean": AS_CLAIMED,
        "highest": LESS,
        "plain mean": AS_CLAIMED,
        "lowest": AS_CLAIMED,
    }
    assert {row["seeds"] for row in rows} == {3}
    quick = experiment_of([work for work in WORKLOADS if "paper's size" not in work.name])
    assert runs_of(quick, [claim], full=False) == []
    found = judge(quick, claim, {}, False, HOT_ENOUGH)
    assert found.why == "not run: src2_0, the paper's size with ETI, mbf-1, mhf-1"


def test_rare_levels_are_judged_with_the_defaults_of_the_rest() -> None:
    """Each is combined with the skew, or with the reading of merged extents, or with nothing."""
    points = WHOLE.points(BY_KEY["src2_0"].axes, full=True)
    for axis, level, free in (
        ("merge", "lowest", set()),
        ("merge", "plain mean", {"skew"}),
        ("copies", "cold", {"skew", "merge"}),
        ("drift", "half", {"merge"}),
        ("mhf", "conservative", {"skew", "merge", "unit"}),
    ):
        others = [levels for levels in points if levels[axis] == level]
        varied = {key for key in points[0] if len({levels[key] for levels in others}) > 1}
        assert varied == free


def test_a_loop_is_a_place_of_the_traces_that_were_judged_so() -> None:
    claim = BY_KEY["lower-real"]
    full = runs_of(WHOLE, [claim], full=True)
    loops = {run.workload for run in full if run.workload.endswith("in a loop")}
    assert loops == {looped(trace.name) for trace in QUICK}
    assert not any("loop" in run.workload for run in runs_of(WHOLE, [claim], full=False))


def test_what_is_asked_of_several_traces_is_asked_of_those_that_are_here() -> None:
    asked = {claim.key: claim.workloads for claim in claims_on([HP])}
    assert (asked["headline-real"], asked["lower-real"]) == ((HP,), (REAL,))


def test_a_claim_that_needs_skew_says_so() -> None:
    """ETI gains 20 % where hot data are skewed, and nothing elsewhere."""
    claim = BY_KEY["src2_0"]
    evidence = {
        run: point(run, **({"write_amplification": 2.7} if run.at("skew") == "0" else {}))
        for run in runs_of(WHOLE, [claim], full=True)
    }
    assert met_at(EVIDENCE.judged(claim, evidence), "skew") == {"0.6", "1.2"}


def test_a_pair_of_hashes_is_a_place() -> None:
    claim = BY_KEY["lower-real"]
    full = {run.line for run in runs_of(WHOLE, [claim], full=True)}
    assert full == {"eti", *(f"{rival}-{n}" for rival in ("mbf", "mhf") for n in (1, 2, 3))}
    assert {run.line for run in runs_of(WHOLE, [claim], full=False)} == {"eti", "mbf-1", "mhf-1"}


def test_the_point_names_the_search_and_the_tracked_pages() -> None:
    """A search by halving from the extent found last takes more steps here, a walk fewer."""
    claim = BY_KEY["search"]
    more_steps = {"halving_from_last": 12.0}
    evidence = {run: point(run, **more_steps) for run in runs_of(WHOLE, [claim], full=True)}
    assert met_at(EVIDENCE.judged(claim, evidence), "search") == {"walk"}
    # 200 hot pages and 300 cold ones for 4 extents.
    found = looked(BY_HOT_KEY["page-tracking"], hotness([20.0, 4.0], [0.0], hot_pages=200.0))
    assert met_at(found, "tracked") == {"written"}


def test_what_cannot_matter_is_run_once() -> None:
    """ETI's period has no effect on its rivals, their period none on ETI, and the stream of copies
    none with one stream. Hot pages that have only the writes to be hot leave no room for skew."""
    (levels,) = WHOLE.points((), full=True)

    def other(axis: str, level: str, line: str, trace: str = "src2_0") -> bool:
        work, drawn = WHOLE.workload(trace), WHOLE.line(line)
        return WHOLE.run(work, drawn, levels, 1) != WHOLE.run(
            work, drawn, {**levels, axis: level}, 1
        )

    assert other("unit", "pages", "eti") and not other("unit", "pages", "mbf-1")
    assert other("merge", "highest", "eti") and not other("merge", "highest", "mhf-1")
    assert not other("search", "halving", "eti")
    assert other("mbf", "newest first", "mbf-1") and not other("mbf", "newest first", "mhf-1")
    assert other("mhf", "conservative", "mhf-1") and not other("mhf", "conservative", "eti")
    assert other("copies", "cold", "mbf-1") and not other("copies", "cold", "single")
    assert other("skew", "1.2", "eti") and not other("skew", "1.2", "eti", "SW1")
    assert not other("skew", "1.2", "eti", HP)
    assert other("drift", "half", "single") and not other("drift", "half", "single", HP)


def test_traces_with_little_hot_data_are_left_out_of_all_claims_alike() -> None:
    (run, *_) = runs_of(WHOLE, CLAIMS, full=False)
    # SW1 has 9,600 of 231,600 page writes.
    assert pytest.approx(0.04145, abs=1e-5) == LEAST_HOT
    assert lacks_hot_data(point(run, hot_writes=0.041))
    assert not lacks_hot_data(point(run, hot_writes=LEAST_HOT))


def test_the_share_of_hot_writes() -> None:
    assert hot_writes(hotness([1.0], [0.0], hot_writes=600.0)) == 0.6
    assert hot_writes(hotness([1.0], [0.0], hot_writes=0.0)) == 0.0


def test_a_drive_of_the_paper() -> None:
    assert pages_of(BLOCKS) == 3_900_702
    assert pages_of(blocks_for(100_000)) >= 100_000 > pages_of(blocks_for(100_000) - 1)


def test_a_model_has_less_of_everything() -> None:
    row = TABLE_1[2]
    assert generator(row, 1, 10) == "fitted:row=src2_0,writes=10"
    text = generator(row, 16, 10)
    assert "hot_pages=443," in text and "cold_writes=3437," in text and "length=1.9," in text
    (levels,) = WHOLE.points((), full=True)
    settings = WHOLE.settings(WHOLE.run_of(levels, "src2_0", "mbf-1-x4", 1), 0)
    assert SCALE == 32
    sizes = ("flash.blocks", "mbf.bits", "mbf.clear_every", "eti.extents")
    assert [settings[key] for key in sizes] == ["1024", str(4 * 64), "128", "64"]
    whole = stand_in(row, 1)
    assert whole.played.spec == f"fitted:row=src2_0,writes={round(2 * 3_900_702 / 1.9)}"
    assert whole.fit is not None and whole.fit({})["eti.extents"] == "2048"


def test_what_a_row_leaves_open_is_in_the_text_that_is_played() -> None:
    levels = {axis.key: axis.default for axis in WHOLE.axes} | {"skew": "1.2", "cold": "streams"}
    played = WHOLE.played(WHOLE.run_of(levels, "src2_0", ETI, 1))
    assert played.spec.endswith(",skew=1.2,cold_stream=64")
    other = WHOLE.run_of(levels | {"trace": "HP hplajw"}, REAL, ETI, 1)
    assert WHOLE.played(other).spec == "hp-hplajw-1week-45k.srt.zst"


def test_a_real_trace_is_played_whole_or_for_two_volumes() -> None:
    mib = 1 << 20
    short = real(REAL_TRACES[2], "file", 16_384, 10 * mib)
    assert short.played == Played("file", repeat=13, windows=100), "2 x 64 of 10 MiB"
    loop = in_a_loop(short)
    assert (loop.name, loop.family) == ("HP hplajw, in a loop", "excerpt in a loop")
    assert loop.played == Played("file", repeat=13)
    whole = real(next(t for t in REAL_TRACES if t.name == "pgbench"), "file", 16_384, 10 * mib)
    assert whole.played == Played("file", 656_291)
    assert whole.set == {"flash.blocks": str(blocks_for(16_384))}


def test_a_run_in_numbers() -> None:
    (levels,) = WHOLE.points((), full=True)
    run = WHOLE.run_of(levels, "src2_0", ETI, 2)
    pages = [SimpleNamespace(host_pages=count) for count in (750, 150, 100)]
    search = SimpleNamespace(
        commands=400, in_last=100, walk=30.0, walk_from_last=9.0, halving=6.0, halving_from_last=4.0
    )
    result: Any = SimpleNamespace(
        page_write_amplification=2.75,
        placement=SimpleNamespace(
            memory_bytes=304, extents_mean=48.0, extent_search=search, streams=pages
        ),
        cleaning=SimpleNamespace(victim_valid_mean=0.4375),
        setting={"eti.extents": 64}.get,
    )
    found = reduce(WHOLE, run, result, Traced(0.74))
    assert asdict(found) == {
        "trace": "src2_0",
        "kind": "stand-in",
        "line": "eti",
        "skew": "0.6",
        "cold": "scattered",
        "drift": None,
        "copies": "their own",
        "unit": "commands",
        "merge": "weighted mean",
        "mbf": None,
        "mhf": None,
        "seed": 2,
        "write_amplification": 2.75,
        "hot_share": 0.25,
        "hot_writes": 0.74,
        "ends": None,
        "victim_valid": 0.4375,
        "memory_bytes": 304,
        "extents_table": 0.75,
        "in_last": 0.25,
        "walk": 30.0,
        "walk_from_last": 9.0,
        "halving": 6.0,
        "halving_from_last": 4.0,
    }
    titles, row = printed(COLUMNS, [asdict(found)])
    shown = dict(zip(titles, row, strict=True))
    assert (shown["Skew"], shown["Hot"], shown["Extents in use"]) == (
        "0.6",
        "25.00\N{NO-BREAK SPACE}%",
        "75.00\N{NO-BREAK SPACE}%",
    )
    assert in_points(-0.0125) == "\N{MINUS SIGN}1.2 points"


def test_a_quick_reproduction_without_traces(tmp_path: Path) -> None:
    claims = [
        replace(BY_KEY["waste"], axes=("merge",)),
        replace(BY_KEY["headline-real"], axes=()),
    ]
    some = replace(PAPER, claims=claims, shown=lambda *_: (), more=partial(more, looked_gbs=1))
    outcome = reproduce(some, PAPERS[0], False, tmp_path, None)
    document = json.loads(json.dumps(outcome.document()))
    first, other, *hot, memory = document["claims"]
    assert [row["merge"] for row in first["domain"]] == ["weighted mean", "highest"]
    assert {(row["seeds"], row["random"]) for row in first["domain"]} == {(3, True)}
    assert other["verdict"] == "not checked"
    assert (memory["ours"], memory["verdict"]) == ("9,232 bytes", "not checked")
    assert [claim["id"] for claim in hot] == [claim.key for claim in HOT_CLAIMS]
    assert hot[0]["verdict"] == "not checked"
    assert {"domain", "domain-hot", "figure-1"} <= set(document["figures"])
    assert "msr-sample-rw20-80-10k.trace.zst" in document["warnings"][0]


def _without_splits(whole: Experiment, extents: int) -> Experiment:
    """Returns an experiment whose settings ask for `extents` extents. A drive of this size then has
    one."""
    set = {"placement.scheme": "eti", "eti.extents": str(extents)}
    off, lines = Line("off", "ETI that splits nothing", set), {ETI: "off"}
    hashes = whole.axis("hashes")
    levels = tuple(replace(one, lines={**one.lines, **lines}) for one in hashes.levels)
    axes = [replace(hashes, levels=levels) if a.key == "hashes" else a for a in whole.axes]
    return replace(whole, axes=tuple(axes), lines=(*whole.lines, off))


def _found(experiment: Experiment, key: str, **levels: str) -> Row:
    """Returns a claim's row at one point."""
    at = [
        replace(axis, levels=(axis.level(levels[axis.key]),)) if axis.key in levels else axis
        for axis in experiment.axes
    ]
    experiment, claim = replace(experiment, axes=tuple(at)), replace(BY_KEY[key], axes=())
    results = experiment.simulate(Bench(DEVICE, None), runs_of(experiment, [claim], False))
    evidence = {run: reduce(experiment, run, one, Traced(0.7)) for run, one in results.items()}
    [row] = judge(experiment, claim, evidence, False, HOT_ENOUGH).rows
    return row


def test_without_splits_eti_gains_nothing_on_skewed_hot_data() -> None:
    """ETI has the paper's number, within its factor, and without splits far less."""
    skewed = {"skew": "1.2", "merge": "highest"}
    on = _found(WHOLE, "src2_0", **skewed)
    off = _found(_without_splits(WHOLE, SCALE), "src2_0", **skewed)
    assert (on["case"], off["case"]) == (AS_CLAIMED, LESS)


@needs_traces
def test_without_splits_eti_is_not_lower_on_a_real_trace() -> None:
    trace = next(trace for trace in QUICK if trace.name == HP)
    work = played_on(Bench(DEVICE, None), trace, TRACES / trace.spec)
    whole = experiment_of([work])
    on = _found(whole, "lower-real", trace=HP)
    off = _found(_without_splits(whole, 1), "lower-real", trace=HP)
    assert (on["case"], off["case"]) == (AS_CLAIMED, LESS)


@pytest.mark.long
@needs_traces
def test_quick_judges_every_claim(cli, tmp_path: Path) -> None:
    done = cli("paper", "eti", "--json", "--quick", "--traces", TRACES, "--out", "here")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    ids = [claim["id"] for claim in document["claims"]]
    assert ids == [*BY_KEY, *BY_HOT_KEY, "memory"]
    unchecked = {c["id"] for c in document["claims"] if c["verdict"].startswith("not checked")}
    assert {*EVIDENCE.never, "memory", "once-partners", "extents-msr-real"} <= unchecked
    files = {path.name for path in (tmp_path / "here").iterdir()}
    tables = {name for name in files if name.endswith(".tex")}
    assert files - tables == {
        *("domain.csv", "domain.parquet", "numbers.csv", "numbers.parquet"),
        *("paper.html", "results.json"),
    }
    assert {"claims.tex", "domain.tex"} < tables
    assert pl.read_parquet(tmp_path / "here" / "numbers.parquet").height == len(document["runs"])
    figures = {"figure-4", "figure-6", "readings", "skew", "search", "search-steps"}
    assert figures <= document["figures"].keys()


def test_real_traces_are_named_once() -> None:
    names = [trace.name for trace in REAL_TRACES]
    assert len(set(names)) == len(names)
    assert len({trace.spec for trace in LONG_TRACES}) == len(LONG_TRACES)
