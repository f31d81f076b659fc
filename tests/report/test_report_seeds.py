"""A report of several seeds: one row and one bar per combination, with intervals and dots."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import floatgate as fg
from floatgate.report import write_report
from floatgate.report.figures import figures
from floatgate.report.runs import combined_runs, label_runs
from floatgate.report.units import units_of
from floatgate.results.intervals import mean_and_half_width

GENERATED = "hotcold:span=8MiB,writes=4k"
VARY = {"placement.scheme": ["single", "sepbit", "dac"]}
SEEDS = 3


@pytest.fixture(scope="module")
def results() -> fg.Comparison:
    return fg.compare_results(GENERATED, vary=VARY, seeds=SEEDS)


def _rows(page: str, title: str) -> list[list[str]]:
    """Returns the cells of the table with this title."""
    (table,) = re.findall(rf"<caption><div><span[^>]*>{title}.*?</table>", page, re.DOTALL)
    rows = [
        [
            re.sub(r"<[^>]*>|\s+", " ", cell).strip()
            for cell in re.findall(r"<t[hd].*?</t[hd]>", row)
        ]
        for row in re.findall(r"<tr>\n(.*?)</tr>", table.replace("\n <", " <"), re.DOTALL)
    ]
    return rows[1:]


def _data(chart: Any) -> list[pl.DataFrame]:
    """Returns the data of each layer that has its own data."""
    own = [pl.read_json(chart.data.values.encode())] if hasattr(chart.data, "values") else []
    return own + [table for layer in getattr(chart, "layer", ()) for table in _data(layer)]


def test_each_combination_is_one_run_though_each_seed_has_its_own_requests(results: Any) -> None:
    runs = combined_runs(results)
    assert [run.name for run in runs] == VARY["placement.scheme"]
    assert [[one.seed for one in run.seeds] for run in runs] == [[1, 2, 3]] * 3
    # Each combination must have one set of plots, not one set per seed.
    drawn = sum(len(figure.drawings) for figure in figures(runs))
    assert drawn == sum(len(figure.drawings) for figure in figures(label_runs(results[::SEEDS])))


def test_a_bar_is_the_mean_with_a_whisker_and_a_dot_per_seed(results: Any) -> None:
    runs = combined_runs(results)
    found = {figure.key: figure for figure in figures(runs)}
    _, unit = units_of(results).time
    for key, of in (
        ("write-amplification", lambda one: one.write_amplification),
        ("blame", lambda one: one.latency.all.mean_us / unit),
    ):
        bars, _, whiskers, dots = _data(found[key].drawings[0].chart)[:4]
        for run in runs:
            values = [of(one) for one in run.seeds]
            mean, half = mean_and_half_width(values)
            assert mean is not None and half is not None
            (spread,) = whiskers.filter(row=run.row).iter_rows(named=True)
            assert bars.filter(row=run.row)["value"].sum() == pytest.approx(mean, rel=1e-4)
            assert spread["low"] == pytest.approx(mean - half, rel=1e-4)
            assert spread["high"] == pytest.approx(mean + half, rel=1e-4)
            assert dots.filter(row=run.row)["value"].to_list() == pytest.approx(values, rel=1e-4)
        assert "Means of 3 seeds" in found[key].caption
    assert found["latency"].reasons[-1] == "Of the runs with seed 1, one of 3 seeds."


def test_the_page_has_means_and_differences_with_intervals(results: Any, tmp_path: Path) -> None:
    page = write_report(results, tmp_path / "report.html").read_text("utf-8")
    summary = results.summary().to_dicts()
    means = _rows(page, "Means of 3 seeds")
    assert [row[0] for row in means] == VARY["placement.scheme"]
    assert re.fullmatch(r"\d\.\d\d ± \d\.\d+", means[0][1])
    against = _rows(page, "Differences to single, in per cent")
    assert [row[0] for row in against] == ["sepbit", "dac"]
    percent = summary[1]["write_amplification.difference_percent"]
    assert float(against[0][1].split()[0].replace("\N{MINUS SIGN}", "-")) == pytest.approx(
        percent, rel=0.01
    )
    assert "seeds draw the requests anew" in page
    based = write_report(results, tmp_path / "b.html", baseline={"placement.scheme": "dac"})
    rows = _rows(based.read_text("utf-8"), "Differences to dac, in per cent")
    assert [row[0] for row in rows] == ["single", "sepbit"]


def test_a_sweep_over_seeds_has_intervals() -> None:
    vary = {"capacity.spare_factor": [0.1, 0.2, 0.3]}
    runs = combined_runs(fg.compare_results(GENERATED, vary=vary, seeds=2))
    (figure,) = (figure for figure in figures(runs) if figure.key == "sweep")
    tables = _data(figure.drawings[0].chart)
    assert tables[0].height == 3
    assert any({"low", "high"} <= {*table.columns} for table in tables)


def test_runs_that_have_not_all_seeds_are_rows_of_their_own(results: Any, tmp_path: Path) -> None:
    some = results[:-1]
    assert len(combined_runs(some)) == len(some)
    page = write_report(some, tmp_path / "report.html").read_text("utf-8")
    assert "Main metrics" in page and "Differences to" not in page


def test_one_seed_with_a_baseline_has_differences(tmp_path: Path) -> None:
    runs = fg.compare_results(GENERATED, vary=VARY)
    page = write_report(runs, tmp_path / "r.html", baseline={"placement.scheme": "sepbit"})
    text = page.read_text("utf-8")
    assert [row[0] for row in _rows(text, "Differences to sepbit")] == ["single", "dac"]
    assert "Main metrics" in text
