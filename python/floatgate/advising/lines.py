"""Answers of `floatgate advise`: a line for each question, with its numbers and its doubts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from floatgate.results.drawn import Shown
from floatgate.results.typed import build

FOUND = {
    "counted": "counted in the trace",
    "sampled": "simulated on samples of its pages",
    "simulated": "simulated with the trace itself, or with excerpts of it",
    "estimated": "computed from one of these, under a stated assumption",
    "not known": "the trace does not allow an answer",
}
"""Ways in which an answer can be found."""


@dataclass(frozen=True)
class Number:
    """Number in an answer."""

    name: str
    value: float
    unit: str
    """"" for a factor or a count; "share" (0 to 1), "bytes", "us", "years", "DWPD"."""
    low: float | None = None
    """Ends of the interval, which `method` explains; None if there is none."""
    high: float | None = None
    of: str = ""
    """Drive or start state that the number describes. Lifetimes are rows and columns of a table."""


@dataclass(frozen=True)
class Line:
    """A question and its answer."""

    key: str
    question: str
    answer: str
    """Answer in words, or the reason that there is none."""
    found: str
    """One of `FOUND`."""
    method: tuple[str, ...]
    """Short sentences: how the numbers were found, and how their intervals are defined. The
    terminal prints only the first."""
    doubts: tuple[str, ...]
    """Reasons to doubt the numbers."""
    next: str
    """Next measurement."""
    numbers: tuple[Number, ...] = ()
    commands: tuple[str, ...] = ()
    """Shell commands for `next`; TRACE and DEVICE stand for a trace or drive without a name."""


@dataclass(frozen=True, repr=False)
class Advice(Shown):
    """Report that `advise` returns."""

    name: str
    """File name or generator text."""
    device: str
    """Drive that supplies times and endurance."""
    requests: int
    duration_s: float
    span_bytes: int
    """Bytes of the regions of 1 MiB that the trace touches:
    the size of a drive full of the trace's data.
    """
    sampled_every: int
    """Steady states are simulated on one of this many pages."""
    seed: int
    lines: tuple[Line, ...]
    notes: tuple[str, ...]

    def __getitem__(self, key: str) -> Line:
        """Returns the line of a question: "footprint", "amplification", ..."""
        return next(line for line in self.lines if line.key == key)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Advice:
        """Returns the report that `to_dict` wrote. Raises ValueError if something is missing."""
        return build(cls, document, "advice")

    def _headline(self) -> str:
        return f"on {self.name}: {', '.join(line.key for line in self.lines)}"

    def to_dict(self) -> dict[str, Any]:
        """Returns the document that `--json` prints."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain


def unknown(key: str, question: str, reason: str, next: str) -> Line:
    return Line(key, question, f"not known: {reason}", "not known", (), (), next)
