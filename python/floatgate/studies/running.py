"""Plans a study, runs it on an executor, stores its rows as a dataset, and resumes it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from floatgate import _core
from floatgate.simulation import pool
from floatgate.simulation.builds import build
from floatgate.simulation.watching import Progress

from . import spec as specs
from . import volumes
from .dataset import Dataset
from .execution import check, execute
from .plan import OF_TRACE, Plan, Shard, differences
from .planned import Task
from .rows import FAILED, Row, Schema, check_metric, schema
from .search import Trials
from .spec import StudySpec
from .store import (
    PLAN,
    Folder,
    Store,
    claim,
    forget_failed,
    frames,
    head_of,
    status_of,
    write_head,
    write_plan,
)

AHEAD = 4
"""Runs in flight for each core, so that no worker waits for its next run."""


@dataclass(frozen=True)
class Study:
    """The content of a study file, and the directory to which its paths are relative."""

    spec: StudySpec
    base: Path

    @classmethod
    def read(cls, path: str | Path) -> Study:
        """Reads the study in a TOML file. Raises ConfigError."""
        path = Path(path)
        return cls(specs.read(path), path.parent.absolute())

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> Study:
        """Parses a document as TOML has it; paths are relative to the working directory."""
        return cls(specs.parse(document), Path.cwd())

    @property
    def columns(self) -> Schema:
        """Columns of the rows of the study, with their Polars types."""
        return schema(self.spec.varied)


def study(
    what: Study | Mapping[str, Any] | str | Path,
    *,
    out: str | Path,
    executor: Executor | None = None,
    shard: str | None = None,
    resume: bool = False,
    retry_failed: bool = False,
    in_flight: int | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """Runs a study and returns its rows, which it stores in `out`, a directory or a URL.

    `what` is a `Study`, a document as in a study file, or the path of a study file. `executor` is
    an executor of `concurrent.futures` or one like them; the default has a thread per core.
    `in_flight` limits the runs that are submitted and unfinished (default: four per core). `shard`,
    "I/N", runs the I-th of N parts, which may share one `out`. `resume` keeps the existing rows and
    executes only missing runs; with `retry_failed` it also repeats failed runs. `resume` and
    `shard` refuse runs with a policy in Python.

    A run that fails is a row with its error. Raises ConfigError or TraceError for mistakes in the
    study or in `out`, RunError if the executor breaks, OSError if `out` cannot be written.
    """
    found = what if isinstance(what, Study) else _study_of(what)
    if in_flight is not None and in_flight < 1:
        raise _core.ConfigError(f"in_flight: {in_flight} given; expected at least 1")
    if executor is not None:
        check(executor)
    if retry_failed and not resume:
        raise _core.ConfigError("retry_failed: expected resume with it")
    part = None if shard is None else Shard.parse(shard)
    how = _How(part, resume, retry_failed)
    runner = _Runner(found, Folder(out), how, progress or (lambda *_: None))
    runner.begin()
    with ExitStack() as stack:
        chosen = executor or stack.enter_context(ThreadPoolExecutor(pool.cores()))
        runner.run(chosen, in_flight or AHEAD * pool.cores())
    return Dataset(runner.folder, runner.head)


def _study_of(what: Mapping[str, Any] | str | Path) -> Study:
    return Study.parse(what) if isinstance(what, Mapping) else Study.read(what)


@dataclass(frozen=True)
class _How:
    """Options that select the runs of a call."""

    shard: Shard | None
    resume: bool
    retry_failed: bool

    def takes(self, task: Task) -> bool:
        """Returns whether the run belongs to this part."""
        return self.shard is None or self.shard.has(task.digest)

    def check(self, task: Task) -> None:
        """Raises ConfigError for a policy in Python if `out` may hold rows of other calls.

        Another call may have used another policy of the same name.
        """
        if task.drive and task.drive.guests and (self.resume or self.shard):
            names = ", ".join(policy.name for policy in task.drive.guests.policies.values())
            raise _core.ConfigError(
                f"resume, shard: nothing is kept of a run with a policy in Python, python:{names}, "
                "because its name does not identify its code; run the whole study with an --out of "
                "its own"
            )


class _Runner:
    """One call of `study`: its runs and its progress."""

    def __init__(self, study: Study, folder: Folder, how: _How, progress: Progress) -> None:
        self.folder = folder
        self.head: dict[str, Any] = {}
        self._study = study
        self._how = how
        self._progress = progress
        self._plan = Plan(study.spec, study.base, partial(volumes.split, folder))
        self._store = Store(folder, study.columns)
        self._kinds = {name: str(kind) for name, kind in study.columns.items()}
        self._missing: set[bytes] = set()
        self._known: dict[str, Row] = {}
        self._done = self._total = 0

    def begin(self) -> None:
        """Inspects `out`, then plans all runs, so that mistakes are found before the first run."""
        search = self._study.spec.optuna
        if search and self._how.shard:
            raise _core.ConfigError(
                "shard: a search has no parts: trials need the results of earlier ones"
            )
        known = self._look()
        there = known or {}
        self._progress("plan", 0, 0)
        self._plan.check()
        if search:
            # A generator may need keys that the search sets; a config is complete without them.
            varied = self._study.spec.varied.items()
            first = {key: values[0] for key, values in varied if key.startswith(OF_TRACE)}
            one = 0
            for task in self._plan.trial(first):
                if task.refused:
                    raise _core.ConfigError(task.refused)
                self._how.check(task)
                one += 1
            planned, self._total = search.trials * one, search.trials * one
            again = self._failed_of(there)
            self._known = self._goals_of(there.keys() - again)
            own: list[str] = []
        else:
            own, again = self._count(there)
            planned = len(own)
        self.head = self._head() | {"runs": planned, "notes": self._plan.notes()}
        if known is None and not claim(self.folder, self.head):
            # Another process has begun in the directory meanwhile. Its study must be equal.
            self._look()
        write_head(self.folder, self.head)
        if not search:
            write_plan(self.folder, own)
        forget_failed(self.folder, again, self._kinds)

    def run(self, executor: Executor, in_flight: int) -> None:
        self._tell()
        flight = partial(execute, executor=executor, in_flight=in_flight)
        try:
            if self._study.spec.optuna:
                self._search(flight)
            else:
                flight(self._waiting(), told=self._take, look=self._store.look)
        finally:
            self._store.flush()
        self._tell()

    def _look(self) -> dict[str, str] | None:
        """Returns the status of the runs that have rows; None if no study has begun in `out`.

        Raises ConfigError if `out` cannot hold this study.
        """
        place = self.folder.place
        how = self._how
        # The names are read before the head. So if another part begins in between, its head is
        # found: it writes the head first.
        names = self.folder.names()
        if not how.resume and how.shard is None and names:
            raise _core.ConfigError(
                f"{place}: is not empty; --resume runs what is missing there, or give another --out"
            )
        head = head_of(self.folder)
        if head is None:
            # Other parts may have split traces into volumes already, or written the plan.
            if {*names} - {volumes.VOLUMES, PLAN}:
                raise _core.ConfigError(f"{place}: holds other files; expected one for this study")
            return None
        own = self._head()
        if differing := _differing(head, own):
            raise _core.ConfigError(f"{place}: has runs {differing}; expected another --out")
        return status_of(self.folder, own["columns"])

    def _head(self) -> dict[str, Any]:
        study = self._study
        return {
            "version": _core.__version__,
            "build": build(),
            "varied": [*study.spec.varied],
            "fixed": self._plan.fixed(),
            "columns": self._kinds,
            "study": study.spec.model_dump(mode="json", by_alias=True, exclude_defaults=True),
        }

    def _count(self, there: Mapping[str, str]) -> tuple[list[str], set[str]]:
        """Returns all runs of the study, and the failed runs that this call repeats.

        Adds the runs that this call executes to `_missing`.
        """
        seen: set[bytes] = set()
        failed = self._failed_of(there)
        again: set[str] = set()
        for task in self._plan.tasks():
            key = bytes.fromhex(task.digest)
            if key in seen:
                continue
            seen.add(key)
            self._how.check(task)
            if self._how.takes(task):
                self._total += 1
                if task.digest in failed:
                    again.add(task.digest)
                if task.digest not in there or task.digest in failed:
                    self._missing.add(key)
                elif not self._how.resume:
                    raise _core.ConfigError(
                        f"{self.folder.place}: has runs of this part already; "
                        "--resume runs what is missing"
                    )
        self._done = self._total - len(self._missing)
        return [key.hex() for key in seen], again

    def _failed_of(self, there: Mapping[str, str]) -> set[str]:
        """Returns the failed runs that this call repeats."""
        if not self._how.retry_failed:
            return set()
        return {run for run, status in there.items() if status == FAILED}

    def _waiting(self) -> Iterator[Task]:
        """Yields the runs that this call executes, each once."""
        for task in self._plan.tasks():
            key = bytes.fromhex(task.digest)
            if key in self._missing:
                self._missing.remove(key)
                yield task

    def _search(self, flight: Callable[..., None]) -> None:
        search = self._study.spec.optuna
        assert search is not None
        trials, own = Trials(search), set[str]()
        for batch in trials.batches():
            runs = [(proposal, [*self._plan.trial(proposal.values)]) for proposal in batch]
            wanted = {task.digest: task for _, tasks in runs for task in tasks}
            own |= wanted.keys()
            missing = [task for digest, task in wanted.items() if digest not in self._known]
            for task in wanted.values():
                self._how.check(task)
            if missing:
                write_plan(self.folder, own)
            flight(missing, told=self._take_trial, look=self._store.look)
            for proposal, tasks in runs:
                trials.tell(proposal, [self._known[task.digest] for task in tasks])
            self._done += sum(len(tasks) for _, tasks in runs)
            self._tell()
        # Trials with equal proposals share their runs.
        self.head["runs"] = len(own)
        write_plan(self.folder, own)
        write_head(self.folder, self.head)

    def _goals_of(self, there: Collection[str]) -> dict[str, Row]:
        """Returns the metrics of these runs that the search needs."""
        search = self._study.spec.optuna
        assert search is not None
        metrics = [*search.goals]
        for metric in metrics:
            check_metric(metric, self._store.columns, "optuna")
        found: dict[str, Row] = {}
        columns = ["run", "status", *metrics]
        for frame in frames(self.folder, columns, self._kinds) if there else ():
            rows = frame.iter_rows(named=True)
            found.update((row["run"], row) for row in rows if row["run"] in there)
        return found

    def _take_trial(self, row: Row) -> None:
        search = self._study.spec.optuna
        assert search is not None
        self._known[row["run"]] = {name: row.get(name) for name in ("run", "status", *search.goals)}
        self._store.add(row)

    def _take(self, row: Row) -> None:
        self._store.add(row)
        self._done += 1
        self._tell()

    def _tell(self) -> None:
        self._progress("study", self._done, self._total)


def _differing(there: Mapping[str, Any], own: Mapping[str, Any]) -> str:
    """Describes how the runs in `out` differ from the study with the head `own`; empty if not."""
    if there["build"] != own["build"]:
        return "of another build of the engine"
    kinds, now = there["columns"], own["columns"]
    if kinds.keys() != now.keys():
        if there.get("varied") != own["varied"]:
            return "of another set of varied keys"
        return "of another version, whose rows have other columns"
    if others := [name for name in now if kinds[name] != now[name]]:
        types = (f"{name} is {kinds[name]}, and now {now[name]}" for name in others)
        return f"whose {'; '.join(types)}"
    differ = differences(there["fixed"], own["fixed"])
    return f"with {'; '.join(differ)}" if differ else ""
