"""What `floatgate study report` says: means, intervals, and tables with a key across."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean

import pytest
from conftest import Cli

import floatgate as fg
import floatgate.studies
from floatgate.intervals import mean_and_half_width
from floatgate.studies import report

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


def test_one_seed_has_no_interval(tmp_path: Path) -> None:
    alone = fg.study(STUDY | {"seeds": 1}, out=tmp_path)
    table = report.summary(alone, [WA])
    assert table[f"{WA}.ci95"].null_count() == table.height == 4
    cells = [row[-1] for row in report.grid(table, [WA]).rows]
    assert [float(cell) for cell in cells] == pytest.approx(table[WA].to_list(), abs=0.0005)


def test_a_key_goes_across(found: fg.studies.Dataset) -> None:
    table = report.summary(found, [WA, ERASES])
    plain = report.grid(table, [WA])
    assert plain.heads == ["trace", "capacity.spare_factor", "cleaning.victim", "runs", WA]
    cells = {(row[1], row[2]): row[-1] for row in plain.rows}
    across = report.grid(table, [WA], "cleaning.victim")
    # The trace has one value, which says nothing.
    assert across.heads == [
        "capacity.spare_factor",
        "cleaning.victim = fifo",
        "cleaning.victim = greedy",
    ]
    assert across.names == 1
    assert across.rows == [
        [spare, cells[spare, "fifo"], cells[spare, "greedy"]] for spare in ("0.100", "0.300")
    ]
    assert all(" ± " in cell for cell in cells.values())
    both = report.grid(table, [WA, ERASES], "cleaning.victim")
    assert both.names == 2 and [row[1] for row in both.rows] == [WA, ERASES] * 2
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
    rows = {row[0]: row[1:] for row in report.grid(table, [WA], "queue.depth").rows}
    assert rows["greedy"][1] == "–"
    assert "–" not in (rows["greedy"][0], *rows["fifo"])


def test_failures_are_seen_across(tmp_path: Path) -> None:
    # On a drive of so few blocks the greater span has no room.
    document = {
        "traces": ["uniform:writes=300"],
        "set": STUDY["set"] | {"flash.blocks": 16},
        "grid": {"trace.span": ["1MiB", "64MiB"], "capacity.spare_factor": [0.2, 0.3]},
    }
    table = report.summary(fg.study(document, out=tmp_path), [WA])
    grid = report.grid(table, [WA], "trace.span")
    assert grid.heads[:2] == ["capacity.spare_factor", "failed"]
    assert [(row[1], row[3]) for row in grid.rows] == [("1", "–")] * 2


def test_the_command_has_a_key_across(cli: Cli, found: fg.studies.Dataset, tmp_path: Path) -> None:
    asked = ["study", "report", found.folder.place, "--metric", WA]
    done = cli(*asked, "--columns", "cleaning.victim")
    assert (done.returncode, done.stderr) == (0, "")
    grid = report.grid(report.summary(found, [WA]), [WA], "cleaning.victim")
    for cell in (*grid.heads, *(cell for row in grid.rows for cell in row)):
        assert cell in done.stdout
    assert "95 % confidence interval" in done.stdout
    page = cli(*asked, "--columns", "cleaning.victim", "--out", "page.html")
    assert page.returncode == 0, page.stderr
    text = (tmp_path / "page.html").read_text("utf-8")
    assert "cleaning.victim = greedy" in text and grid.rows[0][1] in text
    rows = json.loads(cli(*asked, "--json").stdout)
    assert rows[0][f"{WA}.ci95"] > 0
    for wrong, said in (
        (("--columns", "seed"), "columns: seed given; expected what varies"),
        (("--columns", "cleaning.victim", "--json"), "JSON has every key"),
    ):
        done = cli(*asked, *wrong)
        assert done.returncode == 2 and said in done.stderr and done.stdout == ""
