"""Requests of one job."""

from __future__ import annotations

from dataclasses import dataclass

from floatgate import _core


@dataclass(frozen=True)
class Load:
    """Requests that a job replays, and notes on them for its result."""

    workload: _core.Workload
    span_bytes: int | None
    notes: list[str]
    skipped: int
    has_handles: bool = False
    """Whether requests of a trace have placement handles."""

    @property
    def span(self) -> int:
        """Bytes that the drive has to hold."""
        return self.workload.span_bytes if self.span_bytes is None else self.span_bytes
