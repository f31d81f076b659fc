"""fio job files: their text, the table of options, and the jobs with all numbers resolved.

The options are those of fio's documentation (HOWTO, "Job file parameters"). An option that would
change the requests, and that is not modelled, is an error.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

FORMAT = "fio-jobs"
"""Name of the format for files whose name does not end in `SUFFIX`."""

SUFFIX = ".fio"


def is_job_file(trace: Any, format: str | None = None) -> bool:
    """Returns whether a trace is the path of a job file, by its name or by the given format."""
    if not isinstance(trace, (str, Path)):
        return False
    return format == FORMAT or (format is None and Path(trace).suffix == SUFFIX)
