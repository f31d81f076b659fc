"""External executors: accepted ones, and objects that are no executor."""

from __future__ import annotations

from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import pytest

import floatgate as fg
import floatgate.studies

STUDY: dict[str, Any] = {
    "traces": ["uniform:span=1MiB,writes=300"],
    "set": {"timing": "none", "start.fill": "random"},
    "grid": {"capacity.spare_factor": [0.1, 0.2, 0.3]},
    "seeds": 2,
}


class Asked(Executor):
    """Executor whose jobs must be polled, like the jobs of submitit."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        self.jobs.append(Job(lambda: fn(*args, **kwargs), len(self.jobs)))
        return self.jobs[-1]


class Job:
    """Job that completes after a number of polls, which is larger for later jobs. The fourth job is
    lost."""

    def __init__(self, work: Any, number: int) -> None:
        self.work = work
        self.number = number
        self.asked = 0
        self.cancelled = False

    def done(self) -> bool:
        self.asked += 1
        return self.asked > self.number

    def result(self) -> Any:
        if self.number == 3:
            raise TimeoutError("the job was lost")
        return self.work()

    def cancel(self) -> None:
        self.cancelled = True


def test_jobs_need_not_be_futures(tmp_path: Path) -> None:
    executor: Any = Asked()
    found = fg.study(STUDY, out=tmp_path, executor=executor, in_flight=2)
    assert found.counts()["done"] == 5
    assert found.frame()["error"].drop_nulls().to_list() == ["TimeoutError: the job was lost"]
    assert not any(job.cancelled for job in executor.jobs)


def test_jobs_are_cancelled_at_the_end(tmp_path: Path) -> None:
    executor: Any = Asked()

    def progress(_: str, done: int, __: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fg.study(STUDY, out=tmp_path, executor=executor, in_flight=3, progress=progress)
    assert [job.cancelled for job in executor.jobs] == [False, True, True]


@pytest.mark.parametrize("executor", ["x", 4, object()])
def test_what_is_no_executor_is_refused(executor: Any, tmp_path: Path) -> None:
    with pytest.raises(fg.ConfigError, match=r"executor: .* given; expected one with `submit`"):
        fg.study(STUDY, out=tmp_path / "out", executor=executor)
    assert not (tmp_path / "out").exists()
