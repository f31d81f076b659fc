"""Planned run of a study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from floatgate.simulation.configs import Resolved
from floatgate.simulation.options import RunOptions
from floatgate.tuning.ranges import Value


@dataclass(frozen=True)
class Task:
    """One run; it can be sent to another process or machine."""

    digest: str
    """Digest of config, requests, options, seed and build: equal if the results are equal."""
    trace: str
    """Name of the trace in the study."""
    source: str
    """Absolute path, URL or generator to open."""
    identity: str
    """Text of a generator, or digest of the trace's bytes, because the file may change."""
    volume: str | None
    values: Mapping[str, Value]
    """Values of the keys that vary."""
    drive: Resolved | None
    """None if no drive has these values; the row then has the values as its config."""
    how: RunOptions
    options: Mapping[str, Any]
    """The options in `how` by their names in the study."""
    memory: int | None
    """Maximum memory of the run in bytes, if known."""
    refused: str = ""
    """Reason why there is no drive."""
