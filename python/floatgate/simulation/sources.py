"""Sources of a run's requests: a trace, a job file or a generator.

A generator that is played unchanged needs no Polars, so `recorded` is imported when the first other
source is opened. So are the modules of `fio_jobs` for the first job file.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate import _core
from floatgate.files import reading

from .fio_jobs import is_job_file
from .load import Load
from .options import READING, RunOptions

if TYPE_CHECKING:
    from floatgate.traces import Stream, Trace

    from .fio_jobs.resolving import JobFile


@dataclass
class Source:
    """A trace that was opened once, for all runs of a comparison.

    A long trace is a `Stream`, which is read while it is played. A generator that is played
    unchanged has no `trace`: it makes its requests on the fly. So do the jobs of a job file.
    """

    name: str
    how: RunOptions
    workload: _core.Workload | None
    trace: Trace | Stream | None
    loads: dict[int | None, Load] = field(default_factory=dict)
    jobs: JobFile | None = None

    @property
    def is_recorded(self) -> bool:
        """Whether the requests are those of a trace, which do not depend on the seed."""
        return self.workload is None and self.jobs is None

    @property
    def needs_capacity(self) -> bool:
        """Whether sizes in a job file are shares of the drive."""
        if self.jobs is None:
            return False
        from .fio_jobs import layout

        return layout.needs_capacity(self.jobs.jobs)

    def load(self, capacity: int | None) -> Load:
        """Returns the workload.

        Addresses wrap around at `capacity` bytes, and a job file takes its shares of it; None
        wraps nothing and gives no shares.
        """
        if capacity not in self.loads:
            self.loads[capacity] = self._load(capacity)
        return self.loads[capacity]

    def _load(self, capacity: int | None) -> Load:
        if self.jobs is not None:
            from .fio_jobs import document

            text = document.describe(self.jobs.jobs, capacity)
            workload = _core.Workload.jobs_of(self.name, text, self.how.seed, self.how.limit)
            return Load(workload, None, self.jobs.notes(), 0)
        if self.trace is None:
            assert self.workload is not None
            return Load(self.workload, None, [], 0)
        from . import recorded

        return recorded.load(self.name, self.trace, self.workload, self.how, capacity)

    @property
    def held(self) -> Trace | None:
        """The trace in memory; None for requests that are made on the fly."""
        if self.trace is None:
            return None
        from . import recorded

        self.trace = recorded.held(self.trace)
        return self.trace


def open_source(trace: Any, how: RunOptions) -> Source:
    """Opens a trace for runs with the options `how`.

    Raises ConfigError for an option that means nothing for this trace, and TraceError for a trace
    that cannot be read.
    """
    if is_job_file(trace, how.format):
        return open_jobs(Path(trace), how)
    if isinstance(trace, str) and is_generator(trace):
        return open_generator(trace, how)
    from . import recorded

    opened = recorded.opened(trace, how)
    return Source(recorded.about(opened).name, how, None, opened)


def is_made(trace: Any, format: str | None = None) -> bool:
    """Returns whether requests are made on the fly, by a generator or by the jobs of a job file.

    Raises as `is_generator`.
    """
    return is_job_file(trace, format) or (isinstance(trace, str) and is_generator(trace))


def is_generator(text: str) -> bool:
    """Returns whether `text` is NAME:key=value,... with the name of a generator.

    Raises ConfigError for a text that looks like one, but names neither a generator nor a file.
    """
    name, colon, _ = text.partition(":")
    if name in _generators():
        return bool(colon) or not Path(text).exists()
    if re.match(r"\w+:\w+=", text) and not Path(text).exists():
        raise _core.ConfigError(
            f"trace: no file and no generator {name!r}; the generators are "
            + ", ".join(_generators())
        )
    return False


@cache
def _generators() -> tuple[str, ...]:
    return tuple(row["name"] for row in json.loads(_core.generators()))


def open_jobs(path: Path, how: RunOptions) -> Source:
    """Opens a job file. Raises ConfigError for a mistake in it, and for an option of traces."""
    from .fio_jobs.resolving import read_job_file

    why = f"{path.name} is a job file"
    how.refuse(("close_gaps", "streams", "addresses"), f"{why}: its jobs have addresses and times")
    how.refuse(("repeat",), f"{why}: its option loops repeats a job")
    how.refuse(("time_scale",), f"{why}: its options rate and thinktime set the times")
    file = read_job_file(path)
    return Source(reading.shown(path.name), how, None, None, jobs=file)


def open_generator(text: str, how: RunOptions) -> Source:
    how.refuse(READING, f"{text} is a generator")
    workload = _core.Workload.generator(text, how.seed)
    if workload.is_closed:
        why = f"{text} has no times to scale; arrivals=fixed or exponential gives it times"
        how.refuse(("time_scale",), why)
    whole = how.limit is None or how.limit >= workload.requests
    if whole and how.repeat == 1 and how.time_scale == 1 and how.addresses != "modulo":
        return Source(workload.name, how, workload, None)
    from . import recorded

    trace = recorded.requests_of(workload, how.limit)
    if not whole:
        note = f"only the first {how.limit:,} of {workload.requests:,} requests"
        recorded.about(trace).notes.append(note)
    return Source(workload.name, how, workload, trace)
