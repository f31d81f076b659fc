"""Damaged files of a study are detected, and so are two studies that start in one directory."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from conftest import Cli

import floatgate as fg
from floatgate.studies import Dataset, study
from floatgate.studies import store as store_file
from floatgate.studies.store import FAILED, Folder, forget_failed

STUDY = """
traces = ["uniform:span=1MiB,writes=500"]
seeds = 3
[set]
timing = "none"
flash.pages_per_block = 16
[grid]
mapping.scheme = ["ideal", "dftl"]
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of six runs, with its rows."""
    base = tmp_path_factory.mktemp("study")
    (base / "s.toml").write_text(STUDY)
    study(base / "s.toml", out=base / "out")
    return base


@pytest.fixture
def copied(whole: Path, tmp_path: Path) -> Path:
    """Copies the study, and returns its row file for a test to damage."""
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    (rows,) = (tmp_path / "out" / "runs").glob("*.parquet")
    return rows


def test_no_flipped_bit_of_the_rows_goes_unnoticed(copied: Path) -> None:
    """Polars alone would read wrong numbers, or panic."""
    content = copied.read_bytes()
    chosen = random.Random(7)
    for _ in range(200):
        damaged = bytearray(content)
        damaged[chosen.randrange(len(content))] ^= 1 << chosen.randrange(8)
        copied.write_bytes(damaged)
        with pytest.raises(fg.ConfigError, match="cannot be read") as raised:
            Dataset.open(copied.parents[1]).frame()
        assert str(copied) in str(raised.value) and "--resume" in str(raised.value)


@pytest.mark.parametrize("cut", [0, 3, 100, -1])
def test_a_cut_file_names_itself_and_what_to_do(copied: Path, cut: int) -> None:
    copied.write_bytes(copied.read_bytes()[:cut])
    with pytest.raises(fg.ConfigError, match="remove the file, and --resume runs its rows again"):
        Dataset.open(copied.parents[1]).frame()


@pytest.mark.parametrize("name", ["runs", "plan.parquet"])
def test_removing_the_damaged_file_has_its_rows_run_again(
    cli: Cli, copied: Path, whole: Path, name: str
) -> None:
    before = Dataset.open(whole / "out").frame(["run", "write_amplification"])
    damaged = copied if name == "runs" else copied.parents[1] / name
    damaged.write_bytes(b"\0" + damaged.read_bytes()[1:])
    for command in (("status", "out"), ("report", "out"), ("export", "out", "--out", "x.csv")):
        done = cli("study", *command)
        assert done.returncode == 2 and damaged.name in done.stderr, command
        assert "Traceback" not in done.stderr and "panicked" not in done.stderr
    damaged.unlink()
    assert cli("study", "s.toml", "--out", "out", "--resume", "-q").returncode == 0
    assert Dataset.open(copied.parents[1]).frame(before.columns).equals(before)


def test_a_column_of_another_type_is_refused_by_every_command(cli: Cli, copied: Path) -> None:
    rows = pl.read_parquet(copied)
    rows.with_columns(pl.col("write_amplification").cast(pl.String)).write_parquet(copied)
    for command in (
        *(("study", name, "out") for name in ("status", "report", "export")),
        ("study", "s.toml", "--out", "out", "--resume"),
    ):
        words = [*command, *(("--out", "x.csv") if "export" in command else ())]
        done = cli(*words)
        assert done.returncode == 2, words
        assert "column write_amplification is String; expected Float64" in " ".join(
            done.stderr.split()
        )
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["study.json", "s.toml"])
def test_what_is_nested_too_deeply_is_no_traceback(cli: Cli, copied: Path, name: str) -> None:
    base = copied.parents[2]
    (base / ("out/study.json" if name == "study.json" else name)).write_text("a=" + "[" * 100_000)
    if name == "study.json":
        (base / "out" / "study.json").write_text("[" * 100_000)
    done = cli("study", "s.toml", "--out", "out", "--resume")
    assert done.returncode == 2 and name in done.stderr
    assert "Traceback" not in done.stderr


def test_of_two_studies_that_begin_at_once_one_is_refused(tmp_path: Path) -> None:
    """Neither study may overwrite the other's plan and head, whichever comes first."""
    kinds = ("ideal", "dftl")
    for at, kind in enumerate(kinds):
        text = STUDY.replace('["ideal", "dftl"]', f'["{kind}"]')
        (tmp_path / f"{at}.toml").write_text(text)
    for turn in range(3):
        begun = [
            subprocess.Popen(
                [
                    *(sys.executable, "-m", "floatgate", "study", f"{at}.toml"),
                    *("--out", f"out{turn}", "-q"),
                ],
                cwd=tmp_path,
                stderr=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                text=True,
            )
            for at in range(2)
        ]
        errors = [process.communicate()[1] for process in begun]
        codes = [process.returncode for process in begun]
        assert sorted(codes) == [0, 2], errors
        refused = errors[codes.index(2)]
        assert "is not empty" in refused
        rows = Dataset.open(tmp_path / f"out{turn}")
        assert rows.counts()["done"] == 3 and rows.counts()["unplanned"] == 0
        assert set(rows.frame()["mapping.scheme"]) == {kinds[codes.index(0)]}


def test_a_head_is_created_once(tmp_path: Path) -> None:
    """The second creation must fail, even on a file system without links."""
    folder = Folder(tmp_path)
    assert folder.create("a.json", b"one") and not folder.create("a.json", b"two")
    with pytest.MonkeyPatch.context() as patch:

        def refuse(*_: object) -> None:
            raise PermissionError("no links here")

        patch.setattr(store_file.os, "link", refuse)
        assert folder.create("b.json", b"one") and not folder.create("b.json", b"two")
    memory = Folder("memory://damage")
    assert memory.create("c.json", b"one") and not memory.create("c.json", b"two")
    assert [folder.read(name) for name in ("a.json", "b.json")] == [b"one", b"one"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "b.json"]


@pytest.mark.parametrize("gone", [{0}, {1}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}])
def test_the_rows_of_runs_to_repeat_leave_their_file(tmp_path: Path, gone: set[int]) -> None:
    """A file is named after its first row. When that row goes, the file with the old name must go,
    too."""
    folder = Folder(tmp_path)
    runs = ["aa", "bb", "cc"]
    rows = pl.DataFrame({"run": runs, "status": [FAILED] * 3})
    folder.write(f"runs/{FAILED}-aa.parquet", store_file.encode(rows))
    kinds = {"run": "String", "status": "String"}
    forget_failed(folder, {runs[at] for at in gone}, kinds)
    left = [run for at, run in enumerate(runs) if at not in gone]
    assert folder.names("runs") == ([f"runs/{FAILED}-{left[0]}.parquet"] if left else [])
    assert sorted(store_file.status_of(folder, kinds)) == left


def test_a_changed_digit_of_a_kept_run_is_not_taken_over(cli: Cli, tmp_path: Path) -> None:
    words = (
        *("compare", "uniform:span=1MiB,writes=500", "--vary", "mapping.scheme=ideal,dftl"),
        *("--out", "out", "-q", "--set", "timing=none", "--set", "flash.pages_per_block=16"),
    )
    assert cli(*words).returncode == 0
    before = (tmp_path / "out" / "table.csv").read_text()
    kept = sorted((tmp_path / "out" / "runs").iterdir())
    assert len(kept) == 2
    for path in kept:
        text = path.read_text()
        changed = text.replace('"write_pages": 500', '"write_pages": 400')
        assert json.loads(text)["workload"]["write_pages"] == 500
        assert json.loads(changed)["workload"]["write_pages"] == 400
        path.write_text(changed)
    kept[0].write_text("[" * 100_000)
    assert cli(*words, "--resume").returncode == 0
    assert (tmp_path / "out" / "table.csv").read_text() == before
