"""Latencies at full resolution: command line and plots, compared with the document."""

from __future__ import annotations

import bisect
import json
import math
from itertools import accumulate
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import Cli

import floatgate as fg
from floatgate.report import figures, runs, tables
from floatgate.report.figure import Figure
from floatgate.results.causes import BLAME
from floatgate.results.result import Result

SPEC = "hotcold:span=16MiB,r=0.9,f=0.1,writes=6k,reads=0.4"
DRIVE = {"start.fill": "random", "mapping.scheme": "dftl", "mapping.cache": "2KiB"}
FULL = {"latency.distribution": "full"}
SETS = [text for key, value in DRIVE.items() for text in ("--set", f"{key}={value}")]


@pytest.fixture(scope="module")
def kept() -> list[Result]:
    """Returns runs of two mapping schemes. With the whole map in memory, map pages take no time."""
    vary = {"mapping.scheme": ["dftl", "ideal"]}
    drive = {key: value for key, value in DRIVE.items() if key not in vary}
    return fg.compare_results(SPEC, vary=vary, set=drive | FULL)


def _each(result: Result, kind: str, cause: str) -> list[int]:
    """Returns the time of every request, as its bucket states it, in ascending order."""
    (one,) = (
        one
        for one in result.to_dict()["distributions"]
        if [one["operation"], one["cause"]] == [kind, cause]
    )
    found = [0] * one["none"]
    for ns, count in zip(one["ns"], one["counts"], strict=True):
        found += [ns] * count
    assert len(found) == one["requests"] and found == sorted(found)
    return found


def _figure(results: list[Result], key: str) -> Figure:
    found = figures.figures(runs.label_runs(results))
    (one,) = (figure for figure in found if figure.key == key)
    return one


def _points(drawing: Any) -> tuple[dict[str, Any], pl.DataFrame]:
    """Returns the spec of a plot, and the points that it draws."""
    spec = drawing.chart.to_dict()
    tables = [json.loads(rows) for rows in spec["datasets"].values()]
    (points,) = (rows for rows in tables if "time" in rows[0])
    return spec, pl.DataFrame(points)


def _time_axis(spec: dict[str, Any]) -> dict[str, Any]:
    """Returns the axis of time: the vertical one if percentiles are on the horizontal one."""
    encoding = spec["layer"][0]["encoding"]
    (axis,) = (encoding[side] for side in ("x", "y") if encoding[side]["field"] == "time")
    return {"title": axis["axis"]["title"], "scale": axis["scale"]}


def test_the_command_keeps_all_latencies(cli: Cli, tmp_path: Path) -> None:
    document = cli("run", SPEC, *SETS, "--latencies", "full", "--json", "--out", "out").document()
    assert document["config"]["latency"] == {"distribution": "full"}
    latency = document["latency"]
    written = pl.read_csv(tmp_path / "out" / "latencies.csv")
    assert written.equals(
        pl.read_parquet(tmp_path / "out" / "latencies.parquet").cast(dict(written.schema))
    )
    sums = written.group_by("operation", "cause").agg(pl.col("requests").sum())
    assert sums.height == 3 * 11
    for kind, _, requests in sums.rows():
        assert requests == latency[kind]["requests"]
    # Each time is within 0.1 %, and so are the sums.
    total = (pl.col("ns") * pl.col("requests")).sum()
    means = written.filter(pl.col("operation") == "all").group_by("cause").agg(total)
    for cause, ns in means.rows():
        exact = (latency["blame_us"] | {"response": latency["all"]["mean_us"]})[cause]
        mean = ns / latency["all"]["requests"] / 1000
        assert exact * (1 - 1e-9) <= mean <= exact * 1.001, cause
    for one in document["distributions"]:
        if one["operation"] == "all" and one["cause"] != "response":
            assert one["mean_us"] == latency["blame_us"][one["cause"]]
    told = cli("run", SPEC, *SETS, "--latencies", "full", "-q").stdout.splitlines()
    (row,) = (line.split() for line in told if line.startswith("write  cleaning"))
    assert len(row) == 10 and row[3] == "%"


def test_the_option_is_the_key(cli: Cli) -> None:
    key = ("--set", "latency.distribution=full")
    given = json.loads(cli("run", SPEC, *SETS, *key, "--json").stdout)
    same = json.loads(cli("run", SPEC, *SETS, *key, "--latencies", "full", "--json").stdout)
    assert given["distributions"] == same["distributions"] != []
    without = json.loads(cli("run", SPEC, *SETS, "--json").stdout)
    assert without["distributions"] == []
    assert without["latency"] == given["latency"], "keeping all changes nothing else"


def test_a_comparison_writes_them_with_what_varies(cli: Cli, tmp_path: Path) -> None:
    vary = ["--vary", "mapping.scheme=dftl,ideal", "--set", "start.fill=random"]
    done = cli("compare", SPEC, *vary, "--latencies", "full", "--json", "--out", "out").ok()
    written = pl.read_csv(tmp_path / "out" / "latencies.csv")
    for result in map(Result.from_dict, json.loads(done.stdout)["results"]):
        of = pl.col("mapping.scheme") == result.setting("mapping.scheme")
        own = written.filter(of).select(result.latencies.columns)
        assert own.cast({"ns": pl.UInt64, "requests": pl.UInt64}).equals(result.latencies)
    cli("compare", SPEC, *vary, "--out", "summary", "--json")
    assert not (tmp_path / "summary" / "latencies.csv").exists()


def test_shares_and_quantiles_are_those_of_the_list(kept: list[Result]) -> None:
    for one in kept[0].distributions:
        every = _each(kept[0], one.operation, one.cause)
        for share in (0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999, 1):
            rank = math.ceil(share * len(every) - 1e-6)
            assert one.quantile_us(share) == every[rank - 1] / 1000, (one.cause, share)
        for us in (0, 25, 199.9, 1000, 1e6):
            above = sum(ns > us * 1000 for ns in every) / len(every)
            assert one.share_above(us) == above, (one.cause, us)
        assert [share for _, share in one.cdf][-1] == 1
    summary = fg.run(SPEC)
    assert summary.distributions == ()
    with pytest.raises(ValueError, match=r'latency\.distribution = "full" keeps all'):
        _ = summary.latencies


def test_quantiles_of_no_requests_are_none() -> None:
    writes = fg.run("uniform:span=1MiB,writes=100", set=FULL)
    read = next(one for one in writes.distributions if one.operation == "read")
    assert (read.requests, read.mean_us, read.cdf) == (0, None, ())
    assert read.quantile_us(0.5) is None and read.share_above(1) is None
    assert "read" not in set(writes.latencies["operation"])


def _assert_drawn(points: pl.DataFrame, every: list[int], domain: list[float], us: float) -> None:
    """Checks that a line's points lie on the curve, are close together, and reach the longest
    time."""
    times, shares = points["time"].to_list(), points["share"].to_list()
    assert points["time"].is_sorted() and points["share"].is_sorted()
    # The line starts at the edge of the plot, at the share of requests that took no time.
    none = bisect.bisect_right(every, 0) / len(every)
    assert shares[:2] == [pytest.approx(none, rel=1e-5)] * 2
    assert times[0] == pytest.approx(domain[0]) and times[1] == times[2]
    ranks = [bisect.bisect_right(every, time * us * 1000 * (1 + 1e-5)) for time in times[2:]]
    assert shares[2:] == pytest.approx([rank / len(every) for rank in ranks], rel=1e-5)
    assert ranks[-1] == len(every) and every[-1] / 1000 == pytest.approx(times[-1] * us, rel=1e-5)
    for share, nines in points.select("share", "nines").rows()[:-1]:
        assert nines == pytest.approx(-math.log10(1 - share), rel=1e-3, abs=1e-5)
    assert points["nines"][-1] == pytest.approx(math.log10(len(every)), rel=1e-5)
    # Each omitted point lies within 0.0041 of the drawn line.
    curve = dict(zip(every, accumulate([1 / len(every)] * len(every)), strict=True))
    for ns, share in curve.items():
        if ns:
            at = bisect.bisect_right(times, ns / us / 1000 * (1 + 1e-5)) - 1
            assert share - shares[at] < 0.0041, ns


def _assert_line(points: pl.DataFrame, name: str, every: list[int], axis: dict[str, Any]) -> None:
    """Checks the line with this name. If all times are 0, there is none."""
    line = points.filter(pl.col("colour") == name)
    assert line.is_empty() == (every[-1] == 0), name
    if not line.is_empty():
        unit = {"Time, µs": 1, "Time, ms": 1000}[axis["title"]]
        _assert_drawn(line, every, axis["scale"]["domain"], unit)


def test_one_run_has_a_line_for_each_cause(kept: list[Result]) -> None:
    figure = _figure(kept[:1], "latency-causes")
    headings = [f"{kind}{tail}" for kind in ("Reads", "Writes") for tail in ("", ", tail")]
    assert [drawing.heading for drawing in figure.drawings] == headings
    assert [entry.text for entry in figure.legend] == ["flash itself", "cleaning", "map"]
    axes = []
    for drawing in figure.drawings:
        spec, points = _points(drawing)
        is_tail = "tail" in drawing.heading
        assert spec["layer"][0]["mark"]["interpolate"] == (
            "step-before" if is_tail else "step-after"
        )
        fields = {spec["layer"][0]["encoding"][side]["field"] for side in ("x", "y")}
        assert fields == {"time", "nines" if is_tail else "share"}
        axes.append(_time_axis(spec))
        kind = drawing.heading.split("s")[0].lower()
        for cause, text in BLAME.items():
            _assert_line(points, text, _each(kept[0], kind, cause), axes[-1])
    assert all(axis == axes[0] for axis in axes)


def test_several_runs_have_a_plot_for_each_cause(kept: list[Result]) -> None:
    figure = _figure(kept, "latency-causes")
    titles = ["Flash itself", "Cleaning", "Map"]
    headings = [f"{title}{tail}" for title in titles for tail in ("", ", tail")]
    assert [drawing.heading for drawing in figure.drawings] == headings
    assert [entry.text for entry in figure.legend] == ["dftl", "ideal"]
    axes = []
    for drawing in figure.drawings:
        spec, points = _points(drawing)
        axes.append(_time_axis(spec))
        text = drawing.heading.removesuffix(", tail").lower()
        (cause,) = (cause for cause, name in BLAME.items() if name == text)
        for result in kept:
            _assert_line(
                points, result.setting("mapping.scheme"), _each(result, "all", cause), axes[-1]
            )
    assert all(axis == axes[0] for axis in axes)


def test_response_times_are_drawn_cumulative(kept: list[Result]) -> None:
    figure = _figure(kept, "latency-cdf")
    assert [drawing.heading for drawing in figure.drawings] == ["Reads", "Writes"]
    for drawing in figure.drawings:
        spec, points = _points(drawing)
        encoding = spec["layer"][0]["encoding"]
        assert encoding["y"]["field"] == "share" and encoding["x"]["scale"]["type"] == "log"
        for result in kept:
            every = _each(result, drawing.heading.lower().removesuffix("s"), "response")
            _assert_line(points, result.setting("mapping.scheme"), every, _time_axis(spec))


def test_the_table_has_every_cause_of_every_run(kept: list[Result]) -> None:
    table = tables.cause_table(runs.label_runs(kept))
    titles = [title.split(",")[0] for title in table.columns]
    shares = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999, "Max": 1}
    assert titles == ["Run", "Kind", "Cause", "Requests with any", "Mean", *shares]
    units = {"µs": 1.0, "ms": 1e3, "s": 1e6}
    scales = [units.get(title[-2:].strip(), 0) for title in table.columns]
    names = {text: cause for cause, text in BLAME.items()} | {"response": "response"}
    by_scheme = {result.setting("mapping.scheme"): result for result in kept}
    for row in table.rows:
        run, kind, cause = (cell.text for cell in row[:3])
        every = _each(by_scheme[run], kind, names[cause])
        assert row[3].order == pytest.approx(sum(map(bool, every)) / len(every))
        for cell, share, scale in zip(row[5:], shares.values(), scales[5:], strict=True):
            rank = math.ceil(share * len(every) - 1e-6)
            assert cell.order * scale == pytest.approx(every[rank - 1] / 1000)
    # For each of three kinds of request: response, flash and cleaning of both runs, and map of one.
    assert len(table.rows) == 3 * 7


def test_a_report_of_summaries_has_none_of_it(kept: list[Result]) -> None:
    summary = fg.run(SPEC, set=DRIVE)
    keys = [figure.key for figure in figures.figures(runs.label_runs([summary]))]
    assert "latency" in keys and not {"latency-cdf", "latency-causes"} & {*keys}
    mixed = _figure([kept[0], summary], "latency-causes")
    (reason,) = mixed.reasons
    assert reason.startswith("Not drawn for ") and "kept a summary" in reason


def test_the_percentile_plot_is_at_full_resolution_too(kept: list[Result]) -> None:
    _, points = _points(_figure(kept[:1], "latency").drawings[1])
    every = _each(kept[0], "write", "response")
    shares = points["share"].to_list()
    counted = [round(share * len(every)) for share in shares]
    assert [rank / len(every) for rank in counted] == pytest.approx(shares, rel=1e-5)
    percentiles = {round(100 * share, 3) for share in shares[:-1]}
    assert any(share != round(share) for share in percentiles if share < 99)
