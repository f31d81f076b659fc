"""Several seeds: the intervals follow the textbook, and the differences are paired."""

from __future__ import annotations

import itertools
import json
import math
import statistics
from typing import Any

import polars as pl
import pytest
from scipy import stats

import floatgate as fg
from floatgate.cli.interval_summary import print_intervals
from floatgate.report.runs import label_runs
from floatgate.results.intervals import (
    mean_and_half_width,
    summary_table,
    t_quantile,
    what_seeds_change,
)
from floatgate.results.values import measured

SMALL = "uniform:span=8MiB,writes=4k"
OTHER = "zipf:span=8MiB,writes=4k"
VARY = {"mapping.scheme": ["ideal", "dftl"], "cleaning.victim": ["greedy", "fifo"]}
SET = {"queue.arrivals": "closed", "start.fill": "random", "mapping.cache": "4KiB"}
SEEDS = [3, 1, 8]
METRIC = "write_amplification"


@pytest.fixture(scope="module")
def results() -> fg.Comparison:
    return fg.compare_results([SMALL, OTHER], vary=VARY, set=SET, seeds=SEEDS)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 9, 30, 101])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_quantile_is_students(freedom: int, confidence: float) -> None:
    expected = stats.t.ppf((1 + confidence) / 2, freedom)
    assert t_quantile(freedom, confidence) == pytest.approx(expected, rel=1e-9)


def test_an_interval_by_hand() -> None:
    """Values 1, 2, 3: standard deviation 1, standard error 1/sqrt(3), t of two degrees 4.30265."""
    mean, half = mean_and_half_width([1.0, 2.0, 3.0])
    assert mean == 2
    assert half == pytest.approx(4.302652729911275 / math.sqrt(3))
    assert mean_and_half_width([5.0]) == (5, None)
    assert mean_and_half_width([5.0, None]) == (None, None)
    assert mean_and_half_width([4.0, 4.0, 4.0]) == (4, 0)


def test_nineteen_of_twenty_intervals_hold_the_mean() -> None:
    import random

    draw = random.Random(7)
    held = 0
    for _ in range(2000):
        mean, half = mean_and_half_width([draw.gauss(10, 2) for _ in range(4)])
        assert mean is not None and half is not None
        held += abs(mean - 10) <= half
    assert 0.935 <= held / 2000 <= 0.965


def test_the_order_is_traces_values_seeds(results: fg.Comparison) -> None:
    combinations = list(itertools.product([SMALL, OTHER], *VARY.values(), SEEDS))
    table = results.table()
    columns = ["trace", *VARY, "seed"]
    assert table.columns[:6] == [*columns, "drive", METRIC]
    assert table.select(columns).rows() == combinations
    for (trace, scheme, victim, seed), result in list(zip(combinations, results, strict=True))[::5]:
        options = {**SET, "mapping.scheme": scheme, "cleaning.victim": victim}
        alone = fg.run(trace, set=options, seed=seed)
        assert alone.flash == result.flash
        assert alone.latency == result.latency


def _rows(table: pl.DataFrame, trace: str, scheme: str, victim: str) -> pl.DataFrame:
    labels = {"trace": trace, "mapping.scheme": scheme, "cleaning.victim": victim}
    return table.filter(**labels)


def _row(table: pl.DataFrame, *labels: str) -> dict[str, Any]:
    found = _rows(table, *labels)
    assert found.height == 1
    return found.row(0, named=True)


@pytest.mark.parametrize("metric", [METRIC, "latency.all.p99_us", "flash.erases.gc"])
@pytest.mark.parametrize(
    ("baseline", "base_of"),
    [
        (None, lambda scheme, victim: ("ideal", "greedy")),
        ({"mapping.scheme": "dftl"}, lambda scheme, victim: ("dftl", victim)),
        (
            {"mapping.scheme": "ideal", "cleaning.victim": "fifo"},
            lambda scheme, victim: ("ideal", "fifo"),
        ),
    ],
)
def test_differences_are_paired_by_trace_and_seed(results, metric, baseline, base_of) -> None:
    table, summary = results.table(), results.summary(baseline)
    assert summary.height == 8
    assert set(summary["seeds"]) == {3}

    def values(*labels: str) -> list[float]:
        rows = _rows(table, *labels)
        return [rows.filter(seed=seed)[metric].item() for seed in SEEDS]

    for trace, scheme, victim in itertools.product([SMALL, OTHER], *VARY.values()):
        own, base = values(trace, scheme, victim), values(trace, *base_of(scheme, victim))
        row = _row(summary, trace, scheme, victim)
        t = stats.t.ppf(0.975, 2) / math.sqrt(3)
        assert row[metric] == pytest.approx(statistics.fmean(own))
        assert row[f"{metric}.ci95"] == pytest.approx(t * statistics.stdev(own))
        if (scheme, victim) == base_of(scheme, victim):
            assert row[f"{metric}.difference"] is None
            assert row[f"{metric}.difference_ci95"] is None
            continue
        gaps = [a - b for a, b in zip(own, base, strict=True)]
        assert row[f"{metric}.difference"] == pytest.approx(statistics.fmean(gaps))
        assert row[f"{metric}.difference_ci95"] == pytest.approx(t * statistics.stdev(gaps))


def test_one_seed_has_differences_and_no_intervals() -> None:
    runs = fg.compare_results(SMALL, vary={"capacity.spare_factor": [0.1, 0.2]}, set=SET)
    summary = runs.summary({"capacity.spare_factor": "0.10"})
    assert summary[f"{METRIC}.ci95"].to_list() == [None, None]
    first, second = (run.write_amplification for run in runs)
    assert first is not None and second is not None
    assert summary[f"{METRIC}.difference"].to_list() == [None, pytest.approx(second - first)]
    assert "seed" not in runs.table().columns


@pytest.mark.parametrize(
    ("baseline", "words"),
    [
        ({"queue.depth": 3}, "queue.depth does not vary; the keys that do: mapping.scheme"),
        ({"mapping.scheme": "tlllp"}, "no run has mapping.scheme=tlllp"),
    ],
)
def test_a_baseline_must_be_among_the_runs(results, baseline, words: str) -> None:
    with pytest.raises(fg.ConfigError, match=words):
        results.summary(baseline)


def test_runs_that_lack_a_seed_are_no_comparison(results) -> None:
    with pytest.raises(fg.ConfigError, match="each seed"):
        summary_table(results[1:], list(VARY))


def test_files_of_one_name_are_apart(cli, tmp_path) -> None:
    """Files of one name differ by content in the report, and in tables grouped by trace."""
    paths = [tmp_path / folder / "t.csv" for folder in ("one", "two")]
    for path, requests in zip(paths, (50, 90), strict=True):
        path.parent.mkdir()
        path.write_text("".join(f"{at},h,0,Write,{4096 * at},4096,0\n" for at in range(requests)))
    asked = ["compare", *paths, "--format", "msr", "--set", "timing=none", "--seeds", 2]
    done = cli(*asked, "--vary", "mapping.scheme=ideal,dftl", "--out", "out").ok()
    document = json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))
    workloads = [one["workload"] for one in document["results"]]
    hashes = {workload["requests"]: workload["hash"] for workload in workloads}
    names = [f"t.csv ({hashes[requests][:8]})" for requests in (50, 90)]
    for file in ("table", "summary"):
        table = pl.read_parquet(tmp_path / "out" / f"{file}.parquet")
        assert table["trace"].unique(maintain_order=True).to_list() == names
    assert all(name in done.stdout for name in names)
    # A generator makes other requests for each seed, all under one trace name.
    same = fg.compare_results(SMALL, vary={}, set={"timing": "none"}, seeds=2)
    assert same.table()["trace"].to_list() == [SMALL] * 2


@pytest.mark.parametrize(("seeds", "expected"), [(2, [5, 6]), ([9, 4], [9, 4])])
def test_seeds_are_counted_from_the_first_or_named(seeds, expected: list[int]) -> None:
    runs = fg.compare_results(SMALL, vary={}, seeds=seeds, seed=5, set=SET)
    assert [run.seed for run in runs] == expected
    assert len({run.workload.hash for run in runs}) == 2


@pytest.mark.parametrize("seeds", [0, -1, [], [1, 1]])
def test_wrong_seeds_are_named(seeds) -> None:
    with pytest.raises(fg.ConfigError, match="seeds: "):
        fg.compare_results(SMALL, vary={}, seeds=seeds)


def test_the_command_has_the_same_numbers(cli, tmp_path) -> None:
    call = ("compare", SMALL, "--vary", "mapping.scheme=ideal,dftl", "--seeds", "3,1,8")
    options = [word for key, value in SET.items() for word in ("--set", f"{key}={value}")]
    document = cli(
        *call, *options, "--json", "--out", "out", "--baseline", "mapping.scheme=dftl"
    ).document()
    vary = {"mapping.scheme": ["ideal", "dftl"]}
    expected = fg.compare_results(SMALL, vary=vary, set=SET, seeds=SEEDS)
    summary = expected.summary({"mapping.scheme": "dftl"})
    assert document["table"] == expected.table().to_dicts()
    assert document["summary"] == summary.to_dicts()
    assert pl.read_parquet(tmp_path / "out" / "summary.parquet").equals(summary)
    read = pl.read_csv(tmp_path / "out" / "summary.csv")
    assert read[f"{METRIC}.difference_ci95"][0] == summary[f"{METRIC}.difference_ci95"][0]
    shown = cli(*call[:4], "--seeds", "2", *options, "--resume", "--out", "out")
    assert "n = 2 seeds" in shown.stdout
    assert "95 % confidence" in shown.stdout
    assert "difference" in shown.stdout


SHOWN = {
    METRIC: 1.0,
    f"{METRIC}_last_quarter": 1.0,
    "mapping.hit_ratio": 0.01,
    "latency.all.mean_us": 1e3,
    "latency.all.p99_us": 1e3,
    "throughput.iops": 1.0,
}
"""Metrics on the terminal, and their factors for the printed units: percent, milliseconds."""


def test_the_terminal_shows_means_and_differences_in_per_cent(results, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "250")
    summary = results.summary({"mapping.scheme": "dftl"})
    print_intervals(summary, list(VARY), results)
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line]
    assert lines[0] == ["map", "hits", "mean", "p99"]
    titles = "trace mapping.scheme cleaning.victim drive WA last quarter % ms ms IOPS"
    assert lines[1] == titles.split()
    shown = iter(lines[2:])

    def difference(row: dict[str, Any], metric: str) -> str:
        mean = row[f"{metric}.difference_percent"]
        half = row[f"{metric}.difference_percent_ci95"]
        return f"{'+' * (mean > 0)}{measured(mean)} \u00b1 {measured(half)} %"

    for row in summary.rows(named=True):
        labels = [
            row["trace"],
            row["mapping.scheme"],
            row["cleaning.victim"],
            *row["drive"].split(),
        ]
        means = [
            f"{measured(row[metric] / unit)} \u00b1 {measured(row[f'{metric}.ci95'] / unit)}"
            for metric, unit in SHOWN.items()
        ]
        assert next(shown) == [*labels, *" ".join(means).split()]
        if row["mapping.scheme"] != "dftl":
            told = " ".join(difference(row, metric) for metric in SHOWN)
            assert next(shown) == ["difference", *told.split()]
    below = " ".join(" ".join(words) for words in shown)
    assert "n = 3 seeds" in below and "in per cent of it" in below
    assert "seeds draw the requests anew" in below
    # Warnings of the runs appear below the table of several seeds, too.
    assert "warning: only" in below


@pytest.mark.parametrize("metric", [METRIC, "latency.all.p99_us"])
def test_differences_in_per_cent_are_of_each_run_of_the_baseline(results, metric: str) -> None:
    table, summary = results.table(), results.summary()
    for trace in (SMALL, OTHER):
        rows, base = _rows(table, trace, "dftl", "fifo"), _rows(table, trace, "ideal", "greedy")
        shares = [100 * (a / b - 1) for a, b in zip(rows[metric], base[metric], strict=True)]
        row = _row(summary, trace, "dftl", "fifo")
        half = stats.t.ppf(0.975, 2) * statistics.stdev(shares) / math.sqrt(3)
        assert row[f"{metric}.difference_percent"] == pytest.approx(statistics.fmean(shares))
        assert row[f"{metric}.difference_percent_ci95"] == pytest.approx(half)


def test_what_a_seed_changes_depends_on_the_trace(results) -> None:
    requests = pl.DataFrame(
        {"op": [1] * 500, "offset": [4096 * (at * 7 % 200) for at in range(500)]}
    ).with_columns(at_ns=pl.int_range(500), length=pl.lit(4096))
    recorded = fg.compare_results(requests, vary={}, seeds=2)
    assert what_seeds_change(recorded).endswith("random choices; the trace is the same")
    assert what_seeds_change(results).startswith("seeds draw the requests anew")
    both = what_seeds_change([*recorded, *results])
    assert SMALL in both and "the requests of the other traces do not change" in both
    assert what_seeds_change(results[:1]) == ""


def test_a_narrow_table_names_no_trace_where_there_is_one(capsys) -> None:
    vary = {"capacity.spare_factor": [0.1, 0.2]}
    runs = fg.compare_results(SMALL, vary=vary, set=SET)
    print_intervals(runs.summary(), list(vary), runs)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("capacity.spare_factor")
    assert any("one seed, so no intervals" in line for line in lines)
    assert "\u00b1" not in "".join(lines)


def test_a_report_tells_drives_by_their_names() -> None:
    """A drive differs in dozens of keys that follow from its name. Labels give the name and other
    varied keys."""
    vary = {"device": ["classic", "small-nvme"], "queue.depth": [1, 2]}
    runs = fg.compare_results(SMALL, vary=vary)
    labels = [run.label for run in label_runs(runs)]
    drives, depths = vary.values()
    expected = [f"device={drive}, queue.depth={depth}" for drive in drives for depth in depths]
    assert labels == expected
