"""Studies that resume: rows of another study are never taken for rows of this one."""

from __future__ import annotations

import json
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import Cli

import floatgate as fg
import floatgate.studies
from floatgate.studies import report
from floatgate.studies.rows import HOST

WA = "write_amplification"
TRACE = "uniform:span=1MiB,writes=300"
STUDY: dict[str, Any] = {
    "traces": [TRACE],
    "set": {"timing": "none", "start.fill": "random"},
    "grid": {"capacity.spare_factor": [0.1, 0.2, 0.3]},
    "seeds": 2,
}


class Counting(Executor):
    """Executor that counts its runs, and loses the runs whose numbers are in `losing`."""

    def __init__(self, *losing: int) -> None:
        self.losing = losing
        self.runs = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.runs += 1
        future: Future[Any] = Future()
        if self.runs in self.losing:
            future.set_exception(MemoryError("lost"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def rows_of(found: fg.studies.Dataset) -> pl.DataFrame:
    return found.frame([name for name in found.head["columns"] if not name.startswith(HOST)])


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        (
            {},
            {"set": STUDY["set"] | {"start.fill": "sequential"}},
            'set.start.fill = "random", and now "sequential"',
        ),
        ({}, {"set": {"timing": "none"}}, 'set.start.fill = "random", and now null'),
        ({}, {"options": {"limit": 9}}, "options.limit = null, and now 9"),
        ({"device": "classic"}, {"device": "dftl09"}, 'device = "classic", and now "dftl09"'),
        (
            {},
            {"traces": [{"trace": TRACE, "limit": 9}, "uniform:span=2MiB,writes=9"]},
            rf'traces.{TRACE} = \[{{}}\], and now \[{{"limit": 9}}\]',
        ),
    ],
)
def test_another_study_is_refused(
    one: dict[str, Any], other: dict[str, Any], said: str, tmp_path: Path
) -> None:
    """Another study may neither resume this one nor be another shard of it."""
    fg.study(STUDY | one, out=tmp_path, shard="1/2")
    before = fg.studies.Dataset.open(tmp_path).frame()
    for how in ({"resume": True}, {"shard": "2/2"}, {"shard": "2/2", "resume": True}):
        with pytest.raises(fg.ConfigError, match=f"has runs with {said}; expected another --out"):
            fg.study(STUDY | other, out=tmp_path, **how)
    assert fg.studies.Dataset.open(tmp_path).frame().equals(before)


def test_another_device_under_the_same_name_is_refused(tmp_path: Path) -> None:
    drive = tmp_path / "mine.toml"
    drive.write_text('preset = "classic"\n')
    study = STUDY | {"device": str(drive)}
    fg.study(study, out=tmp_path / "out", shard="1/2")
    drive.write_text('preset = "dftl09"\n')
    with pytest.raises(fg.ConfigError, match=r"device = .*mine\.toml"):
        fg.study(study, out=tmp_path / "out", shard="2/2")


def test_start_states_may_be_kept_elsewhere(tmp_path: Path) -> None:
    fg.study(STUDY, out=tmp_path / "out", shard="1/2")
    more = STUDY | {"options": {"start_cache": str(tmp_path / "cache")}}
    assert fg.study(more, out=tmp_path / "out", resume=True).counts()["missing"] == 0


def test_rows_of_values_that_are_gone_are_left_out(cli: Cli, tmp_path: Path) -> None:
    place = tmp_path / "out"
    fg.study(STUDY, out=place)
    less = STUDY | {"grid": {"capacity.spare_factor": [0.1, 0.2]}}
    executor = Counting()
    found = fg.study(less, out=place, resume=True, executor=executor)
    counts = {"planned": 4, "done": 4, "failed": 0, "missing": 0, "unplanned": 2}
    assert (executor.runs, found.counts()) == (0, counts)
    alone = fg.study(less, out=tmp_path / "alone")
    assert rows_of(found).equals(rows_of(alone))
    assert report.summary(found, [WA]).equals(report.summary(alone, [WA]))
    said = "2 more rows are of runs that the study no longer has, and left out"
    assert f"4 of 4 runs done; {said}" in cli("study", "status", place).stdout
    assert json.loads(cli("study", "status", place, "--json").stdout)["unplanned"] == 2
    assert said in cli("study", "report", place, "--metric", WA).stderr
    assert said in report.page(found, report.summary(found, [WA]), [WA])
    for form in report.FORMS:
        report.export(found, tmp_path / f"rows.{form}", form)
    assert pl.read_csv(tmp_path / "rows.csv")["capacity.spare_factor"].max() == 0.2
    assert pl.read_parquet(tmp_path / "rows.parquet").height == 4
    assert len(json.loads((tmp_path / "rows.json").read_text("utf-8"))) == 4
    # The rows stay in the files. When the study has these values again, the rows return.
    assert fg.study(STUDY, out=place, resume=True, executor=executor).counts()["done"] == 6
    assert executor.runs == 0


def test_rows_of_a_trace_that_was_changed_are_left_out(tmp_path: Path) -> None:
    trace = tmp_path / "t.csv"
    study = STUDY | {"traces": [{"trace": str(trace), "format": "msr"}], "seeds": 1}
    for pages in (1, 2):
        trace.write_text(f"0,src,0,Write,0,{4096 * pages},0\n")
        found = fg.study(study, out=tmp_path / "out", resume=True)
        assert found.frame()["flash.programs.host"].to_list() == [pages] * 3
    assert found.counts()["unplanned"] == 3


def test_trials_of_another_search_are_left_out(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    keys = {"capacity.spare_factor": "0.05..0.5"}
    base = {key: STUDY[key] for key in ("traces", "set")}

    def search(seed: int) -> dict[str, Any]:
        return base | {"optuna": {"trials": 4, "batch": 2, "seed": seed, "keys": keys}}

    fg.study(search(1), out=tmp_path / "out")
    found = fg.study(search(2), out=tmp_path / "out", resume=True)
    assert found.counts() == {"planned": 4, "done": 4, "failed": 0, "missing": 0, "unplanned": 4}
    alone = fg.study(search(2), out=tmp_path / "alone")
    assert rows_of(found).equals(rows_of(alone))


GUESTS = {"placement.scheme": "python:2r", "cleaning.victim": "python:2r-fifo"}


@pytest.mark.parametrize("how", [{"resume": True}, {"shard": "1/2"}])
def test_nothing_is_taken_of_runs_with_policies_in_python(
    how: dict[str, Any], tmp_path: Path
) -> None:
    """The name of a Python policy does not identify its code."""
    guests = STUDY | {"set": STUDY["set"] | GUESTS}
    found = fg.study(guests, out=tmp_path / "whole")
    assert found.counts()["done"] == 6
    said = "nothing is kept of a run with a policy in Python, python:.*2r"
    with pytest.raises(fg.ConfigError, match=said):
        fg.study(guests, out=tmp_path / "whole", resume=True)
    with pytest.raises(fg.ConfigError, match=said):
        fg.study(guests, out=tmp_path / "out", **how)
    assert not (tmp_path / "out").exists()
    # Resuming is also refused if the study gets a Python policy later, or from a drive's file.
    fg.study(STUDY | {"grid": {"placement.scheme": ["single"]}}, out=tmp_path / "none")
    more = STUDY | {"grid": {"placement.scheme": ["single", "python:2r"]}}
    with pytest.raises(fg.ConfigError, match=said):
        fg.study(more, out=tmp_path / "none", resume=True)
    drive = tmp_path / "drive.toml"
    drive.write_text('preset = "classic"\n[placement]\nscheme = "python:2r"\n')
    with pytest.raises(fg.ConfigError, match=said):
        fg.study(STUDY | {"device": str(drive)}, out=tmp_path / "out", **how)


def test_a_search_takes_none_of_them_either(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    search = {"trials": 3, "keys": {"placement.scheme": ["python:2r"]}}
    study = {key: STUDY[key] for key in ("traces", "set")} | {"optuna": search}
    fg.study(study, out=tmp_path)
    with pytest.raises(fg.ConfigError, match="a policy in Python, python:2r"):
        fg.study(study, out=tmp_path, resume=True)


def test_what_has_failed_is_run_again(tmp_path: Path) -> None:
    whole = fg.study(STUDY, out=tmp_path / "whole")
    place = tmp_path / "out"
    assert fg.study(STUDY, out=place, executor=Counting(1, 3, 4)).counts()["failed"] == 3
    executor = Counting()
    assert fg.study(STUDY, out=place, executor=executor, resume=True).counts()["failed"] == 3
    assert executor.runs == 0
    with pytest.raises(fg.ConfigError, match="retry_failed: expected resume"):
        fg.study(STUDY, out=place, retry_failed=True)
    # Each shard retries its own failures. A run that fails again has exactly one row.
    failed = fg.studies.Dataset.open(place).frame().filter(status="failed")["run"]
    counts, runs = {"failed": 3}, 0
    for part in (1, 2):
        executor = Counting(1)
        mine = sum(int(run, 16) % 2 == part - 1 for run in failed)
        how = {"shard": f"{part}/2", "resume": True, "retry_failed": True}
        before = counts["failed"]
        counts = fg.study(STUDY, out=place, executor=executor, **how).counts()
        assert executor.runs == mine
        assert counts["failed"] == before - mine + min(mine, 1)
        runs += mine
    assert runs == 3 and counts["done"] + counts["failed"] == 6
    found = fg.study(STUDY, out=place, resume=True, retry_failed=True)
    assert rows_of(found).equals(rows_of(whole))
    assert not [*(place / "runs").glob("failed-*")]


def test_a_search_runs_again_what_has_failed(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    search = {"trials": 4, "keys": {"capacity.spare_factor": [0.1, 0.2, 0.3, 0.4]}}
    study = {key: STUDY[key] for key in ("traces", "set")} | {"optuna": search}
    runs = fg.study(study, out=tmp_path, executor=Counting(1)).counts()["planned"]
    found = fg.study(study, out=tmp_path, resume=True, retry_failed=True)
    assert found.counts()["done"] == found.counts()["planned"] == runs


def test_the_status_tells_whether_anything_has_run(cli: Cli, tmp_path: Path) -> None:
    text = """traces = ["uniform:writes=100"]
set.timing = "none"
set.flash.blocks = 16
grid.trace.span = ["64MiB"]
"""
    (tmp_path / "s.toml").write_text(text)
    assert cli("study", "s.toml", "--out", "all").returncode == 1
    (tmp_path / "s.toml").write_text(text.replace('["64', '["1MiB", "64'))
    assert cli("study", "s.toml", "--out", "some").returncode == 0
    done = cli("study", "s.toml", "--out", "some", "--resume", "--retry-failed", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["failed"] == 1
    wrong = cli("study", "s.toml", "--out", "new", "--retry-failed")
    assert wrong.returncode == 2 and "--resume" in wrong.stderr


def test_rows_are_exported_some_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = fg.study(STUDY, out=tmp_path / "out")
    whole = {}
    for form in report.FORMS:
        report.export(found, tmp_path / form, form)
        whole[form] = (tmp_path / form).read_bytes()
    assert pl.read_parquet(tmp_path / "parquet").equals(found.frame())
    monkeypatch.setattr("floatgate.studies.dataset.BATCH", 4)
    assert [frame.height for frame in found.batches()] == [4, 2]
    for form in report.FORMS:
        report.export(found, tmp_path / form, form)
        if form == "parquet":
            assert pl.read_parquet(tmp_path / form).equals(found.frame())
        else:
            assert (tmp_path / form).read_bytes() == whole[form]


def test_a_value_of_another_type_is_said_with_both(tmp_path: Path) -> None:
    reads = {"grid": {"trace.reads": [0], "capacity.spare_factor": [0.1]}, "seeds": 1}
    fg.study(STUDY | reads, out=tmp_path)
    more = STUDY | reads | {"grid": reads["grid"] | {"trace.reads": [0, 0.5]}}
    said = r"has runs whose trace\.reads is Int64, and now Float64; expected another --out"
    with pytest.raises(fg.ConfigError, match=said):
        fg.study(more, out=tmp_path, resume=True)
