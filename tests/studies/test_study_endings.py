"""Studies that get a signal: they end as fast as other commands, and keep their completed rows."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import floatgate as fg
import floatgate.studies

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")

SMALL = '"uniform:span=1MiB,writes=300"'
HUGE = '"uniform:span=64MiB,writes=4000000000"'
READ_LONG = '{trace = "uniform:span=64MiB,writes=4000000000", limit = 3000000000}'

SOON_S = 60
"""Limit for the end of a study. It takes half a second, and a little longer on a busy machine. Each
of the three runs of `HUGE` takes more than ten minutes."""


def signalled(
    folder: Path, traces: str, number: int, ready: Callable[[], bool], *more: str
) -> tuple[int, str]:
    """Returns status and standard error of a study that gets a signal once it is `ready`."""
    text = f'traces = [{traces}]\nseeds = 3\nset.timing = "none"\nset.start.fill = "random"\n'
    (folder / "s.toml").write_text(text)
    process = subprocess.Popen(
        [sys.executable, "-m", "floatgate", "study", "s.toml", "--out", "out", *more],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 120
        while not ready():
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(number)
        _, stderr = process.communicate(timeout=SOON_S)
    finally:
        process.kill()
    return process.returncode, stderr


@pytest.mark.parametrize(
    ("number", "said", "more"),
    [
        (signal.SIGINT, "interrupted", ()),
        (signal.SIGTERM, "ended by SIGTERM", ()),
        (signal.SIGTERM, "ended by SIGTERM", ("--workers", "2")),
    ],
)
def test_a_signal_ends_the_runs_under_way(
    number: int, said: str, more: tuple[str, ...], tmp_path: Path
) -> None:
    runs = tmp_path / "out" / "runs"

    def ready() -> bool:
        return runs.is_dir() and any(runs.glob("[0-9a-f]*.parquet"))

    status, stderr = signalled(tmp_path, f"{SMALL}, {HUGE}", number, ready, *more)
    assert (status, stderr) == (128 + number, f"floatgate: {said}\n")
    counts = fg.studies.Dataset.open(tmp_path / "out").counts()
    assert counts == {"planned": 6, "done": 3, "failed": 0, "missing": 3, "unplanned": 0}


def test_a_signal_ends_the_reading_of_a_trace(tmp_path: Path) -> None:
    def ready() -> bool:
        begun = (tmp_path / "out" / "study.json").exists()
        time.sleep(begun)
        return begun

    status, stderr = signalled(tmp_path, READ_LONG, signal.SIGTERM, ready)
    assert (status, stderr) == (143, "floatgate: ended by SIGTERM\n")


class Full(ThreadPoolExecutor):
    """Executor that accepts two tasks and refuses all others."""

    taken = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.taken += 1
        if self.taken > 2:
            raise ArithmeticError("full")
        return super().submit(fn, *args, **kwargs)


def test_what_is_raised_ends_the_runs_in_any_threads(tmp_path: Path) -> None:
    huge = {"traces": [HUGE.strip('"')], "set": {"timing": "none"}, "seeds": 3}
    began = time.monotonic()
    with Full(2) as executor, pytest.raises(ArithmeticError):
        fg.study(huge, out=tmp_path, executor=executor)
    assert time.monotonic() - began < SOON_S


class Away(Executor):
    """Executor that runs each task while a file is missing."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        there = self.file.rename(self.file.with_suffix(".away"))
        future.set_result(fn(*args, **kwargs))
        there.rename(self.file)
        return future


def test_a_trace_that_could_not_be_opened_is_opened_again(tmp_path: Path) -> None:
    """The same process opens the trace again, because a file server may have been away for a
    moment."""
    trace = tmp_path / "t.csv"
    trace.write_text("0,src,0,Write,0,4096,0\n")
    study = {"traces": [{"trace": str(trace), "format": "msr"}], "set": {"timing": "none"}}
    place = tmp_path / "out"
    found = fg.study(study, out=place, executor=Away(trace))
    assert "no such file" in found.frame()["error"].item()
    found = fg.study(study, out=place, resume=True, retry_failed=True)
    assert found.frame()["status"].to_list() == ["done"]
