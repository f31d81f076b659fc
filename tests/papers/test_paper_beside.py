"""`floatgate paper all` as processes: their output, their end, and the files that remain."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from paper_site import TWO, outcome_of

from floatgate._core import ConfigError
from floatgate.papers.kit.outcome import summary_of
from floatgate.papers.kit.parallel import Asked, reproduce_all

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")

ASKED = Asked(full=False, traces=None, cached=False, document=True)
CALL = [sys.executable, "-m", "floatgate", "paper", "all", "--no-cache", "--out", "site"]
ENDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "ended by SIGTERM"}

MADE_UP = """
import os, time
from pathlib import Path
import floatgate.papers as papers
from floatgate._core import ConfigError
from paper_site import TWO, outcome_of

def reproduce(name, *, full, traces, progress, kept):
    if traces is not None and name == TWO[1]:
        raise ConfigError(f"traces: {traces} has none of {name}")
    if kept is not None:
        kept.document(["made up", name], dict)
    if progress is not None:
        progress("run", 1, len(name))
    if begun := os.environ.get("FOR_EVER"):
        Path(begun, name).touch()
        time.sleep(3600)
    return outcome_of(name)

papers.PAPERS = tuple(papers.Listed(name, f"Title of {name}", "who") for name in TWO)
papers.reproduce = reproduce
"""
"""Each process imports this module first. It has two hand-made papers."""


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a directory, with two papers in all processes that the test starts."""
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "sitecustomize.py").write_text(MADE_UP)
    path = (str(tmp_path / "path"), str(Path(__file__).parent), os.environ.get("PYTHONPATH", ""))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, path)))
    (tmp_path / "empty").mkdir()
    return tmp_path / "empty"


def _until(condition: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def _children(pid: int) -> set[int]:
    """Returns the process's children and their descendants."""
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
        if int(parent) == pid:
            found |= {int(entry.name)} | _children(int(entry.name))
    return found


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _default_signals() -> None:
    """A test runner in the background ignores SIGINT, and its children would inherit that."""
    for number in ENDS:
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture
def underway(
    empty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[subprocess.Popen[str], set[int]]]:
    """Yields the command in the middle of two papers, and the processes that it has started."""
    (begun := tmp_path / "begun").mkdir()
    monkeypatch.setenv("FOR_EVER", str(begun))
    process = subprocess.Popen(
        CALL,
        cwd=empty,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_default_signals,
    )
    try:
        _until(lambda: any(begun.iterdir()))
        yield process, _children(process.pid)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", ENDS)
@pytest.mark.parametrize("group", [False, True], ids=["one", "all"])
def test_a_signal_ends_all_processes_and_leaves_nothing(
    underway: tuple[subprocess.Popen[str], set[int]], empty: Path, number: int, group: bool
) -> None:
    """Ctrl-C in a terminal reaches all processes. A signal from a user reaches only the first."""
    process, others = underway
    (os.killpg if group else os.kill)(process.pid, number)
    stdout, stderr = process.communicate(timeout=60)
    said = f"floatgate: {ENDS[signal.Signals(number)]}\n"
    assert (process.returncode, stdout, stderr) == (128 + number, "", said)
    _until(lambda: not any(map(_lives, others)), 10)
    assert list(empty.iterdir()) == []


def test_processes_end_with_the_one_that_began_them(
    underway: tuple[subprocess.Popen[str], set[int]],
) -> None:
    process, others = underway
    assert others
    process.kill()
    _until(lambda: not any(map(_lives, others)), 10)


def test_a_process_that_is_killed_is_an_error(
    underway: tuple[subprocess.Popen[str], set[int]], empty: Path
) -> None:
    """Simulates a kill by the system when memory is short."""
    process, others = underway
    # In addition to the processes with a paper, one process tracks shared resources.
    for pid in others:
        if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(pid, signal.SIGKILL)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (1, "")
    assert stderr.startswith("floatgate: a process that reproduced a paper was ended")
    assert stderr.count("\n") == 1
    assert list(empty.iterdir()) == []


def test_the_command_makes_a_site_of_all_papers(empty: Path) -> None:
    done = subprocess.run(CALL, cwd=empty, capture_output=True, text=True, timeout=60, check=True)
    points = [done.stdout.index(f"Title of {name}") for name in TWO]
    assert points == sorted(points)
    for name in TWO:
        document = json.loads((empty / "site" / name / "results.json").read_text())
        assert document == json.loads(json.dumps(outcome_of(name).document()))
    assert f"claim 2 of {TWO[1]}" in (empty / "site" / "index.html").read_text()


def test_papers_come_in_the_order_in_which_they_were_asked_for() -> None:
    heard: list[tuple[str, str, int, int]] = []
    names = [*reversed(TWO), TWO[0]]
    found = reproduce_all(names, ASKED, None, lambda *at: heard.append(at), print)
    assert [one.summary for one in found] == [summary_of(outcome_of(name)) for name in names]
    assert [one.document for one in found] == [outcome_of(name).document() for name in names]
    assert sorted(heard) == sorted((name, "run", 1, len(name)) for name in names)


def test_an_error_of_a_paper_is_raised_as_it_was(tmp_path: Path) -> None:
    asked = Asked(full=False, traces=tmp_path, cached=False, document=False)
    with pytest.raises(ConfigError, match=f"traces: {tmp_path} has none of {TWO[1]}"):
        reproduce_all(TWO, asked, None, None, print)


def test_a_cache_that_cannot_be_written_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "floatgate").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    said: list[str] = []
    asked = Asked(full=False, traces=None, cached=True, document=False)
    reproduce_all(TWO, asked, None, None, said.append)
    assert len(said) == 1
    assert "runs are not kept" in said[0]
