"""Studies: their runs, the rows they store, and resuming."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from threading import Lock
from typing import Any

import polars as pl
import pytest
from conftest import Cli

import floatgate as fg
import floatgate.studies
from floatgate.studies.rows import HOST
from floatgate.studies.store import ROWS

QUICK = {"timing": "none", "start.fill": "random"}
SMALL = "uniform:span=1MiB,writes=300"
STUDY = {
    "traces": [SMALL, "hotcold:span=1MiB,writes=200,r=0.9,f=0.1"],
    "set": QUICK,
    "grid": {"mapping": {"scheme": ["ideal", "dftl"]}, "capacity.spare_factor": [0.1, 0.2]},
    "seeds": 2,
}

TOML = """
traces = ["uniform:span=1MiB,writes=300"]
seeds = 3
[set]
start.fill = "random"
timing = "none"
[grid]
capacity.spare_factor = [0.1, 0.2]
"""


def rows_of(found: fg.studies.Dataset) -> pl.DataFrame:
    """Returns all columns that do not depend on the machine, including the config."""
    everything = [name for name in found.head["columns"] if not name.startswith(HOST)]
    return found.frame(everything)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> fg.studies.Dataset:
    return fg.study(STUDY, out=tmp_path_factory.mktemp("whole"))


def test_a_row_is_what_run_says(whole: fg.studies.Dataset) -> None:
    rows = whole.frame()
    assert rows.height == 2 * 2 * 2 * 2
    assert rows["run"].n_unique() == rows.height
    assert rows["status"].unique().to_list() == ["done"]
    one = rows.filter(
        (pl.col("trace") == SMALL) & (pl.col("mapping.scheme") == "dftl") & (pl.col("seed") == 2)
    ).row(by_predicate=pl.col("capacity.spare_factor") == 0.2, named=True)
    keys = QUICK | {"mapping.scheme": "dftl", "capacity.spare_factor": 0.2}
    result = fg.run(SMALL, set=keys, seed=2)
    assert one["write_amplification"] == result.write_amplification
    assert one["flash.programs.gc"] == result.flash.programs.gc
    assert one["workload.hash"] == result.workload.hash
    assert one["warnings"] == [*result.warnings]
    text = whole.frame(["run", "config"]).filter(run=one["run"])["config"].item()
    assert json.loads(text) == result.config


def test_columns_have_the_types_of_the_result(whole: fg.studies.Dataset) -> None:
    types = whole.frame().schema
    assert types["seed"] == pl.UInt64
    assert types["capacity.spare_factor"] == pl.Float64
    assert types["mapping.scheme"] == pl.String
    assert types["flash.erases.gc"] == pl.Int64
    # Without a clock there are no latencies, but the column still has its type.
    assert types["latency.all.p99_us"] == pl.Float64
    assert types["start.settled"] == pl.Boolean
    assert types["notes"] == pl.List(pl.String)


def test_the_dataset_is_plain_parquet(whole: fg.studies.Dataset) -> None:
    files = f"{whole.folder.place}/runs/*.parquet"
    query = f"SELECT count(*), avg(write_amplification) FROM read_parquet('{files}')"
    # A separate process, because nanobind may report leaks as a process that loads DuckDB ends.
    code = "import duckdb, json, sys; print(json.dumps(duckdb.sql(sys.argv[1]).fetchall()))"
    done = subprocess.run([sys.executable, "-c", code, query], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    [(rows, mean)] = json.loads(done.stdout)
    assert rows == 16
    assert mean == pytest.approx(pl.scan_parquet(files).collect()["write_amplification"].mean())


def test_shards_are_together_the_whole_study(whole: fg.studies.Dataset, tmp_path: Path) -> None:
    sizes = []
    for part in range(1, 5):
        found = fg.study(STUDY, out=tmp_path, shard=f"{part}/4")
        sizes.append(found.counts()["done"] - sum(sizes))
    assert sum(sizes) == 16 and max(sizes) < 16
    assert rows_of(found).equals(rows_of(whole))
    assert found.counts()["missing"] == 0


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "1/0", "a/b", "-1/2", "1/2/3"])
def test_a_wrong_shard_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(fg.ConfigError, match=r"shard: .* expected I/N"):
        fg.study(STUDY, out=tmp_path / "out", shard=text)
    assert not (tmp_path / "out").exists()


def test_any_executor_will_do(whole: fg.studies.Dataset, tmp_path: Path) -> None:
    spawned = get_context("spawn")
    with ThreadPoolExecutor(3) as threads, ProcessPoolExecutor(2, spawned) as processes:
        for name, executor in (("threads", threads), ("processes", processes)):
            found = fg.study(STUDY, out=tmp_path / name, executor=executor)
            assert rows_of(found).equals(rows_of(whole)), name


class Counting(Executor):
    """Executor with one thread that counts its runs, and the largest number of waiting tasks."""

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(1)
        self.lock = Lock()
        self.waiting = self.most = self.runs = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        def work() -> Any:
            try:
                return fn(*args, **kwargs)
            finally:
                # Count before the future completes, because its waiter submits the next task at
                # once.
                self._count(-1)

        self.runs += 1
        self._count(1)
        return self.pool.submit(work)

    def _count(self, more: int) -> None:
        with self.lock:
            self.waiting += more
            self.most = max(self.most, self.waiting)


def test_a_bounded_number_is_in_flight(tmp_path: Path) -> None:
    executor = Counting()
    fg.study(STUDY, out=tmp_path, executor=executor, in_flight=3)
    assert executor.runs == 16
    assert executor.most <= 3


def test_resume_runs_only_what_is_missing(whole: fg.studies.Dataset, tmp_path: Path) -> None:
    fg.study(STUDY, out=tmp_path, shard="1/2")
    there = fg.studies.Dataset.open(tmp_path).counts()["done"]
    executor = Counting()
    found = fg.study(STUDY, out=tmp_path, executor=executor, resume=True)
    assert executor.runs == 16 - there
    assert rows_of(found).equals(rows_of(whole))
    executor.runs = 0
    fg.study(STUDY, out=tmp_path, executor=executor, resume=True)
    assert executor.runs == 0
    more = STUDY | {"seeds": 3}
    assert fg.study(more, out=tmp_path, executor=executor, resume=True).counts()["done"] == 24
    assert executor.runs == 8


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    fg.study(STUDY, out=tmp_path / "own", shard="1/2")
    with pytest.raises(fg.ConfigError, match="is not empty; --resume runs what is missing"):
        fg.study(STUDY, out=tmp_path / "own")
    with pytest.raises(fg.ConfigError, match="has runs of this part already"):
        fg.study(STUDY, out=tmp_path / "own", shard="1/2")
    with pytest.raises(fg.ConfigError, match="another set of varied keys"):
        fg.study(STUDY | {"grid": {"queue.depth": [1, 2]}}, out=tmp_path / "own", resume=True)
    head = tmp_path / "own" / "study.json"
    head.write_text(head.read_text("utf-8").replace('"build": "', '"build": "x'), "utf-8")
    with pytest.raises(fg.ConfigError, match="another build of the engine"):
        fg.study(STUDY, out=tmp_path / "own", resume=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("mine")
    with pytest.raises(fg.ConfigError, match="holds other files"):
        fg.study(STUDY, out=tmp_path / "other", resume=True)


def test_a_failed_run_is_a_row(tmp_path: Path) -> None:
    # On a drive with so few blocks the second workload does not fit.
    document = {
        "traces": [SMALL, "uniform:span=64MiB,writes=100"],
        "set": QUICK | {"flash.blocks": 16},
        "grid": {"capacity.spare_factor": [0.2, 0.3]},
    }
    found = fg.study(document, out=tmp_path)
    assert found.counts() == {"planned": 4, "done": 2, "failed": 2} | {
        "missing": 0,
        "unplanned": 0,
    }
    bad = found.frame().filter(status="failed")
    assert bad["trace"].unique().to_list() == [document["traces"][1]]
    assert bad["capacity.spare_factor"].to_list() == [0.2, 0.3]
    with pytest.raises((fg.ConfigError, fg.RunError)) as said:
        fg.run(document["traces"][1], set=document["set"] | {"capacity.spare_factor": 0.2})
    assert bad["error"][0] == " ".join(str(said.value).split())
    assert bad["write_amplification"].null_count() == 2
    # Failed runs have their own files, so that users can delete them and run them again.
    for file in (tmp_path / "runs").glob("failed-*.parquet"):
        file.unlink()
    assert found.counts()["missing"] == 2
    executor = Counting()
    fg.study(document, out=tmp_path, executor=executor, resume=True)
    assert executor.runs == 2


class Failing(Executor):
    """Executor that loses its second task."""

    def __init__(self) -> None:
        self.runs = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.runs += 1
        future: Future[Any] = Future()
        if self.runs == 2:
            future.set_exception(MemoryError("no more"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_a_run_whose_worker_fails_is_a_row(tmp_path: Path) -> None:
    found = fg.study(STUDY, out=tmp_path, executor=Failing())
    assert found.counts()["failed"] == 1
    errors = found.frame(["status", "error"]).filter(status="failed")["error"]
    assert errors.to_list() == ["MemoryError: no more"]


def test_files_of_the_dataset_are_bounded(tmp_path: Path) -> None:
    document = {"traces": [SMALL], "set": QUICK, "seeds": ROWS + 200}
    document["traces"] = ["uniform:span=256KiB,writes=1"]
    found = fg.study(document, out=tmp_path)
    heights = sorted(pl.read_parquet(file).height for file in (tmp_path / "runs").iterdir())
    assert heights == [200, ROWS]
    assert found.counts()["done"] == ROWS + 200


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)]
)
def test_the_driver_may_be_killed(
    number: signal.Signals, status: int, cli: Cli, tmp_path: Path
) -> None:
    """A resumed study does not repeat the rows that a killed study had written, and has no row
    twice."""
    file = tmp_path / "study.toml"
    file.write_text(TOML.replace("writes=300", "writes=300k").replace("seeds = 3", "seeds = 100"))
    command = [sys.executable, "-m", "floatgate", "study", str(file), "--out", "out"]
    # The first file comes some seconds after the first row. With all cores, that file might already
    # be the last.
    process = subprocess.Popen([*command, "--workers", "1"], cwd=tmp_path)
    runs = tmp_path / "out" / "runs"
    deadline = time.monotonic() + 300
    while not (runs.is_dir() and [*runs.glob("[0-9a-f]*.parquet")]):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(process.pid, number)
    assert process.wait() == status
    before = fg.studies.Dataset.open(tmp_path / "out").frame()
    assert 0 < before.height < 200, "it was killed in the middle"
    done = cli("study", file, "--out", "out", "--resume", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["done"] == 200
    after = fg.studies.Dataset.open(tmp_path / "out").frame()
    assert after.height == after["run"].n_unique() == 200
    # An existing run keeps its row, including the measurements of the machine that ran it.
    assert after.join(before, on=before.columns, nulls_equal=True, how="semi").height == (
        before.height
    )


def test_the_command_says_what_there_is(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text(TOML)
    done = cli("study", "sweep.toml")
    assert done.returncode == 0, done.stderr
    assert "6 of 6 runs done" in done.stderr
    again = cli("study", "sweep.toml")
    assert again.returncode == 2 and "--resume" in again.stderr
    for place in ("sweep.toml", "floatgate-study-sweep"):
        assert "6 of 6 runs done" in cli("study", "status", place).stdout
    table = cli("study", "report", "sweep.toml", "--metric", "write_amplification")
    assert "capacity.spare_factor" in table.stdout and "0.200" in table.stdout
    assert cli("study", "report", "sweep.toml", "--out", "sweep.html").returncode == 0
    page = (tmp_path / "sweep.html").read_text("utf-8")
    assert "Against capacity.spare_factor" in page and "http://" not in page.split("<script")[0]
    for form in ("csv", "json", "parquet"):
        assert cli("study", "export", "sweep.toml", "--out", f"rows.{form}").returncode == 0
    csv = pl.read_csv(tmp_path / "rows.csv")
    rows = json.loads((tmp_path / "rows.json").read_text("utf-8"))
    assert csv["run"].to_list() == [row["run"] for row in rows]
    assert pl.read_parquet(tmp_path / "rows.parquet").height == len(rows) == 6
    nothing = cli("study", "status", tmp_path / "nothing")
    assert nothing.returncode == 2 and "no study" in nothing.stderr
    wrong = cli("study", "report", "sweep.toml", "--metric", "trace")
    assert wrong.returncode == 2 and "expected a column of numbers" in wrong.stderr
    wrong = cli("study", "report", "sweep.toml", "--metric", "p99_us")
    assert "such as" in wrong.stderr and "latency.all.p99_us" in wrong.stderr
    form = cli("study", "export", "sweep.toml", "--out", "rows.txt")
    assert form.returncode == 2 and not (tmp_path / "rows.txt").exists()


def test_a_simulation_that_stops_is_a_failed_row(tmp_path: Path) -> None:
    """Cleaning cannot go on: two rows of a unit, and padding in six streams."""
    document = {
        "traces": ["uniform:span=16MiB,writes=8000"],
        "set": {
            "timing": "none",
            "flash.program_pages": 3,
            "flash.pages_per_block": 6,
            "flash.planes": 2,
            "flash.superblock": 2,
            "placement.scheme": "sepbit",
        },
        "grid": {"capacity.spare_factor": [0.07, 0.3]},
    }
    rows = fg.study(document, out=tmp_path / "out").frame()
    assert rows.sort("capacity.spare_factor")["status"].to_list() == ["failed", "done"]
    (error,) = rows.filter(status="failed")["error"]
    assert "the simulation stopped: cleaning frees no units: the drive has too little" in error
