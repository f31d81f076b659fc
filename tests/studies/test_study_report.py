"""`floatgate study report`: means, intervals, and tables with one key in the columns."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import Any

import polars as pl
import pytest
from browser import check_drawn
from conftest import Cli
from markupsafe import escape

import floatgate as fg
import floatgate.studies
from floatgate.report.templates import typeset
from floatgate.results.intervals import mean_and_half_width
from floatgate.results.tables import Table
from floatgate.studies import facets, report
from floatgate.studies.said import SHOWN, told

WA, ERASES = "write_amplification", "flash.erases.gc"
STUDY = {
    "traces": ["uniform:span=1MiB,writes=1000"],
    "set": {"timing": "none", "start.fill": "random"},
    "grid": {"capacity.spare_factor": [0.1, 0.3], "cleaning.victim": ["greedy", "fifo"]},
    "seeds": 3,
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> fg.studies.Dataset:
    return fg.study(STUDY, out=tmp_path_factory.mktemp("study"))


def test_a_summary_has_means_and_intervals_over_seeds(found: fg.studies.Dataset) -> None:
    [row] = (
        report.summary(found, [WA, ERASES])
        .filter(**{"capacity.spare_factor": 0.1, "cleaning.victim": "fifo"})
        .iter_rows(named=True)
    )
    keys = STUDY["set"] | {"capacity.spare_factor": 0.1, "cleaning.victim": "fifo"}
    runs = [fg.run(STUDY["traces"][0], set=keys, seed=seed) for seed in (1, 2, 3)]
    mean, half = mean_and_half_width([run.write_amplification for run in runs])
    assert row["runs"] == 3 and half > 0
    assert row[WA] == pytest.approx(mean, rel=1e-12)
    assert row[f"{WA}.ci95"] == pytest.approx(half, rel=1e-9)
    assert row[ERASES] == pytest.approx(fmean(run.flash.erases.gc for run in runs))


def texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def test_one_seed_has_no_interval(tmp_path: Path) -> None:
    alone = fg.study(STUDY | {"seeds": 1}, out=tmp_path)
    table = report.summary(alone, [WA])
    assert table[f"{WA}.ci95"].null_count() == table.height == 4
    cells = [row[-1] for row in texts(report.grid(table, [WA]))]
    assert [float(cell) for cell in cells] == pytest.approx(table[WA].to_list(), abs=0.0005)


def test_a_key_goes_across(found: fg.studies.Dataset) -> None:
    table = report.summary(found, [WA, ERASES])
    plain = report.grid(table, [WA])
    assert plain.columns == ["trace", "capacity.spare_factor", "cleaning.victim", "runs", WA]
    cells = {(row[1], row[2]): row[-1] for row in texts(plain)}
    across = report.grid(table, [WA], "cleaning.victim")
    # The trace has only one value, so it needs no column.
    assert across.columns == [
        "capacity.spare_factor",
        "cleaning.victim = fifo",
        "cleaning.victim = greedy",
    ]
    assert across.text_columns == {0}
    assert texts(across) == [
        [spare, cells[spare, "fifo"], cells[spare, "greedy"]] for spare in ("0.100", "0.300")
    ]
    assert all(" ± " in cell for cell in cells.values())
    both = report.grid(table, [WA, ERASES], "cleaning.victim")
    assert both.text_columns == {0, 1} and [row[1] for row in texts(both)] == [WA, ERASES] * 2
    with pytest.raises(fg.ConfigError, match=r"columns: trace given; expected what varies: cap"):
        report.grid(table, [WA], "trace")


def test_a_combination_that_there_is_not_is_left_open(tmp_path: Path) -> None:
    points = [
        {"cleaning.victim": "greedy", "queue.depth": 1},
        {"cleaning.victim": "fifo", "queue.depth": 1},
        {"cleaning.victim": "fifo", "queue.depth": 2},
    ]
    document = {key: STUDY[key] for key in ("traces", "set")} | {"list": points}
    table = report.summary(fg.study(document, out=tmp_path), [WA])
    rows = {row[0]: row[1:] for row in texts(report.grid(table, [WA], "queue.depth"))}
    assert rows["greedy"][1] == "–"
    assert "–" not in (rows["greedy"][0], *rows["fifo"])


def test_failures_are_seen_across(tmp_path: Path) -> None:
    # On a drive with so few blocks, the larger span does not fit.
    document = {
        "traces": ["uniform:writes=300"],
        "set": STUDY["set"] | {"flash.blocks": 16},
        "grid": {"trace.span": ["1MiB", "64MiB"], "capacity.spare_factor": [0.2, 0.3]},
    }
    table = report.summary(fg.study(document, out=tmp_path), [WA])
    grid = report.grid(table, [WA], "trace.span")
    assert grid.columns[:2] == ["capacity.spare_factor", "failed"]
    assert [(row[1], row[3]) for row in texts(grid)] == [("1", "–")] * 2


def test_the_command_has_a_key_across(cli: Cli, found: fg.studies.Dataset, tmp_path: Path) -> None:
    asked = ["study", "report", found.folder.place, "--metric", WA]
    done = cli(*asked, "--columns", "cleaning.victim")
    assert (done.returncode, done.stderr) == (0, "")
    grid = report.grid(report.summary(found, [WA]), [WA], "cleaning.victim")
    for cell in (*grid.columns, *(cell for row in texts(grid) for cell in row)):
        assert cell in done.stdout
    assert "95 % confidence interval" in done.stdout
    page = cli(*asked, "--columns", "cleaning.victim", "--out", "page.html")
    assert page.returncode == 0, page.stderr
    text = (tmp_path / "page.html").read_text("utf-8")
    assert "cleaning.victim = greedy" in text and typeset(texts(grid)[0][1]) in text
    rows = json.loads(cli(*asked, "--json").stdout)
    assert rows[0][f"{WA}.ci95"] > 0
    for wrong, said in (
        (("--columns", "seed"), "columns: seed given; expected what varies"),
        (("--columns", "cleaning.victim", "--json"), "JSON has every key"),
    ):
        done = cli(*asked, *wrong)
        assert done.returncode == 2 and said in done.stderr and done.stdout == ""


def test_a_page_is_drawn_in_a_browser(
    browser: Any, found: fg.studies.Dataset, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    page.write_text(report.page(found, report.summary(found, [WA]), [WA]), "utf-8")
    check_drawn(browser, page, {"axis-capacity-spare_factor-0": 4, "axis-cleaning-victim-0": 4})


def test_what_runs_warn_of_is_said_once(cli: Cli, tmp_path: Path) -> None:
    """A warning names the number of runs that have it. Warnings that differ only in numbers are
    merged."""
    trace = tmp_path / "t.csv"
    lines = [f"{at},src,0,Write,{4096 * at},4096,0" for at in range(120)]
    trace.write_text("\n".join([*lines[:60], "no request", *lines[60:]]) + "\n")
    traces = [{"trace": str(trace), "format": "msr"}, "uniform:span=2MiB,writes=1000"]
    found = fg.study(STUDY | {"traces": traces}, out=tmp_path / "out")
    place = found.folder.place
    few = "erase units: with fewer than 128 cleaning has few victims to choose from"
    note = "1 line of the trace could not be read, the first: line 61: 'no request' (12 of 24 runs)"
    warnings, notes = told(found, "warnings"), told(found, "notes")
    assert note in notes and sum(few in text for text in warnings) == 1
    enlarged = sum("enlarged" in " ".join(texts) for texts in found.frame()["warnings"])
    assert any(f"({enlarged} of 24 runs)" in text for text in warnings if "enlarged" in text)
    page = report.page(found, report.summary(found, [WA]), [WA])
    status = " ".join(cli("study", "status", place).stdout.split())
    table = " ".join(cli("study", "report", place, "--metric", WA).stdout.split())
    for kind, texts in (("warning", warnings), ("note", notes)):
        for text in texts:
            assert f"{kind}: {' '.join(text.split())}" in status
            assert f"{kind}: {' '.join(text.split())}" in table
            assert str(escape(text)) in page


def test_the_rest_is_counted(cli: Cli, tmp_path: Path) -> None:
    spans = [f"{size}MiB" for size in range(64, 76)]
    document = {
        "traces": ["uniform:writes=300"],
        "set": STUDY["set"] | {"flash.blocks": 16},
        "grid": {"trace.span": spans},
    }
    found = fg.study(document, out=tmp_path / "out")
    assert found.frame()["error"].n_unique() == 12
    status = cli("study", "status", found.folder.place).stdout
    assert status.count("\nwarning: ") == SHOWN + 1
    assert status.endswith("\nwarning: 2 more errors\n")


def test_a_level_has_its_mean_and_its_interval_over_seeds(found: fg.studies.Dataset) -> None:
    """Nothing is a mean over the other key, and a bar is no range from least to most."""
    rows = found.frame([*found.axes, "seed", "status", WA])
    shown = facets.facets(rows, ["capacity.spare_factor", "cleaning.victim"], "cleaning.victim")
    assert shown == facets.Facets("capacity.spare_factor", [], ())
    levels = facets.levels(rows, "cleaning.victim", shown, WA)
    assert levels.height == 4 and set(levels["colour"]) == {"10 % spare", "30 % spare"}
    own = rows.filter(pl.col("capacity.spare_factor") == 0.1, pl.col("cleaning.victim") == "fifo")
    mean, half = mean_and_half_width(own[WA].to_list())
    [row] = levels.filter(at="fifo", colour="10 % spare").iter_rows(named=True)
    assert [row["value"], row["low"], row["high"]] == pytest.approx(
        [mean, mean - half, mean + half]
    )
    several = ["cleaning.victim", "capacity.spare_factor"]
    [figure, other] = facets.axis_figures(rows, several, {WA: "Write amplification"})
    assert "A bar is the 95 % confidence interval of a mean over seeds" in figure.caption
    assert [entry.text for entry in figure.legend] == ["10 % spare", "30 % spare"]
    colours = [entry.colour for one in (figure, other) for entry in one.legend]
    assert len(set(colours)) == len(colours) == 4, "no colour has two meanings on the page"


def test_a_level_with_one_seed_has_no_bar() -> None:
    rows = pl.DataFrame(
        {"victim": ["a", "a", "b"], "seed": [1, 2, 1], "status": ["done"] * 3, WA: [2.0, 3.0, 4.0]}
    )
    levels = facets.levels(rows, "victim", facets.facets(rows, ["victim"], "victim"), WA)
    assert levels["low"].is_null().to_list() == [False, True]
    [figure] = facets.axis_figures(rows, ["victim"], {WA: WA})
    assert figure.caption.endswith("(Student's t); a level with a single seed has none.")
    [alone] = facets.axis_figures(rows.filter(seed=1), ["victim"], {WA: WA})
    assert alone.caption.endswith("Each level has a single seed, so there are no bars.")
    marks = [layer["mark"]["type"] for layer in alone.drawings[0].chart.to_dict()["layer"]]
    assert marks == ["point"]


def test_many_combinations_are_averaged_seed_by_seed() -> None:
    """The interval is over the seeds, and the other keys do not widen it."""
    every = [
        (a, b, c, seed) for a in (1, 2) for b in range(20) for c in range(20) for seed in (1, 2)
    ]
    names = ["a.x", "b.y", "c.z", "seed"]
    rows = pl.DataFrame(every, schema=names, orient="row").with_columns(
        (pl.col("a.x") * 100 + pl.col("b.y") + pl.col("c.z") + pl.col("seed")).alias(WA)
    )
    shown = facets.facets(rows, names[:3], "b.y")
    assert shown == facets.Facets("a.x", (), ["c.z"])
    level = facets.levels(rows, "b.y", shown, WA).filter(at=0, colour="x 1").row(0, named=True)
    mean, half = mean_and_half_width([100 + 9.5 + seed for seed in (1, 2)])
    assert [level["value"], level["high"]] == pytest.approx([mean, mean + half])
    few = facets.facets(rows.filter(pl.col("c.z") < 3), names[:3], "b.y")
    assert few == facets.Facets("c.z", ["a.x"], ())


def test_names_that_are_not_drawn_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facets, "POINTS", 3)
    spares = [0.1, 0.15, 0.2, 0.25, 0.3]
    names = ["greedy", "fifo", "cost_benefit", "d_choices"]
    grid = {"cleaning.victim": names, "capacity.spare_factor": spares}
    found = fg.study(STUDY | {"grid": grid, "seeds": 1}, out=tmp_path)
    page = report.page(found, report.summary(found, [WA]), [WA])
    # Numbers share a plot in groups, so none of them is left out.
    assert page.count("are drawn.") == 1 and "The first 3 of 4 are drawn." in page
