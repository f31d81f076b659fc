"""Unfinished files: a sweep removes the files of killed processes, and no others."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from floatgate.files import parts
from floatgate.files.writing import write_whole

if sys.platform == "win32":
    pytest.skip("no locks of files", allow_module_level=True)

LONG = "uniform:span=64MiB,writes=200M"
SHORT = "uniform:span=16MiB,writes=2k"

HOLD = """
import sys, time
from pathlib import Path
from floatgate.files import parts
made = [parts.file(Path(".")), parts.folder(Path("."))]
(made[1].path / "result.json").touch()
print(flush=True)
time.sleep(600)
"""


def _parts(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.name.endswith(parts.SUFFIX)}


@pytest.fixture
def other(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Starts a process that makes an unfinished file and folder in the test's directory."""
    command = [sys.executable, "-c", HOLD]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def test_parts_of_a_process_that_runs_stay_and_of_one_that_is_gone_go(
    tmp_path: Path, other: subprocess.Popen[str]
) -> None:
    made = _parts(tmp_path)
    assert len(made) == 2
    parts.sweep(tmp_path)
    assert _parts(tmp_path) == made
    mine = parts.file(tmp_path)
    other.kill()
    other.wait()
    parts.sweep(tmp_path)
    assert _parts(tmp_path) == {mine.path}, "not even its owner removes a part that is in use"
    mine.end()
    assert _parts(tmp_path) == set()


def test_nothing_else_is_swept(tmp_path: Path) -> None:
    """The name alone does not mark a file as unfinished output: users may choose such names."""
    for name in ("x.part", ".x.part", ".floatgate-x", "floatgate-x.part"):
        (tmp_path / name).write_text("mine")
    os.mkfifo(tmp_path / ".floatgate-fifo.part")
    (tmp_path / ".floatgate-link.part").symlink_to(tmp_path / "x.part")
    before = sorted(tmp_path.iterdir())
    parts.sweep(tmp_path)
    parts.sweep(tmp_path / "no such folder")
    assert sorted(tmp_path.iterdir()) == before


def test_a_part_that_is_taken_for_a_left_one_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between creating and locking the file, another process may sweep it away."""
    made: list[Path] = []

    def swept(path: Path) -> None:
        path.touch()
        made.append(path)
        if len(made) == 1:
            parts.sweep(tmp_path)

    part = parts.Part(tmp_path, swept)
    assert (len(made), part.path.exists()) == (2, True)
    part.end()


def test_a_long_name_has_room_for_its_part(tmp_path: Path) -> None:
    write_whole(tmp_path / ("x" * 255), b"content")
    assert [path.name for path in tmp_path.iterdir()] == ["x" * 255]


def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as error:
        write_whole(tmp_path / "no" / "x", b"")
    assert error.value.filename == str(tmp_path / "no" / "x")


def _killed(folder: Path, *words: str) -> None:
    """Runs a command until it has begun to write, and kills it."""
    command = [sys.executable, "-m", "floatgate", *words]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + 60
        while not _parts(folder) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        process.kill()
    assert _parts(folder)


@pytest.mark.parametrize(
    "words",
    [("trace", "generate", "-o", "x.parquet"), ("run", "--out", "new/x")],
    ids=["a file", "a folder"],
)
def test_a_later_run_takes_away_what_a_killed_one_left(
    cli, tmp_path: Path, words: tuple[str, ...]
) -> None:
    *command, option, out = words
    _killed(tmp_path, *command, LONG, option, out)
    done = cli(*command, SHORT, option, out)
    assert done.returncode == 0, done.stderr
    assert _parts(tmp_path) == set()
    assert (tmp_path / out).exists()


def test_a_comparison_takes_away_parts_of_its_runs(cli, tmp_path: Path) -> None:
    runs = tmp_path / "out" / "runs"
    runs.mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "out", runs):
        (folder / f"{parts.PREFIX}dead{parts.SUFFIX}").mkdir()
        (folder / f"{parts.PREFIX}gone{parts.SUFFIX}").touch()
    words = (SHORT, "--vary", "queue.depth=1,2", "--out", "out", "--resume")
    done = cli("compare", *words)
    assert done.returncode == 0, done.stderr
    assert _parts(tmp_path) == set()
