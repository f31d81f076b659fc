"""Job files as text, for the tests of this folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from floatgate.simulation.fio_jobs.document import describe
from floatgate.simulation.fio_jobs.job import FioJob
from floatgate.simulation.fio_jobs.resolving import JobFile, read_job_file


def written(folder: Path, text: str) -> Path:
    """Writes a job file and returns its path."""
    path = folder / "some.fio"
    path.write_text(text)
    return path


def job_file(folder: Path, text: str) -> JobFile:
    return read_job_file(written(folder, text))


def only(folder: Path, *options: str) -> FioJob:
    """Returns the only job of a file whose section has these options."""
    lines = "\n".join(("[job]", "size=1m", *options))
    (job,) = job_file(folder, lines).jobs
    return job


def described(folder: Path, text: str, capacity: int | None = None) -> list[dict[str, Any]]:
    """Returns the description of the jobs that the engine takes."""
    document = json.loads(describe(job_file(folder, text).jobs, capacity))
    found: list[dict[str, Any]] = document["jobs"]
    return found
