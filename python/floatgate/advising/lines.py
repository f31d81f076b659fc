"""What `floatgate advise` answers: a line for each question, with its numbers and its doubts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from floatgate.notebook import Shown
from floatgate.typed import build

FOUND = {
    "counted": "counted in the trace",
    "sampled": "simulated on samples of its pages",
    "simulated": "simulated with the trace itself, or with excerpts of it",
    "estimated": "from one of these, by an assumption that is stated",
    "not known": "the trace cannot tell",
}
"""How an answer was found."""


@dataclass(frozen=True)
class Number:
    """A number of an answer."""

    name: str
    value: float
    unit: str
    """"" for a factor or a count, "share" (0 to 1), "bytes", "us", "years", "DWPD"."""
    low: float | None = None
    """The interval, as `method` says what it is; None where there is none."""
    high: float | None = None


@dataclass(frozen=True)
class Line:
    """A question and what is known of it."""

    key: str
    question: str
    answer: str
    """In words; why nothing is known where that is so."""
    found: str
    """One of `FOUND`."""
    method: str
    """How the numbers were found, and what their intervals are."""
    doubts: tuple[str, ...]
    """What casts doubt on them."""
    next: str
    """What to measure next."""
    numbers: tuple[Number, ...] = ()
    commands: tuple[str, ...] = ()
    """Of `next`, as a shell takes them; TRACE and DEVICE stand for what has no name."""


@dataclass(frozen=True, repr=False)
class Advice(Shown):
    """What `advise` finds."""

    name: str
    """File name or generator text."""
    device: str
    """The drive whose times and endurance are taken."""
    requests: int
    duration_s: float
    span_bytes: int
    """Of the regions of 1 MiB that the trace touches: what a drive that is full of it holds."""
    sampled_every: int
    """One page in so many was looked at for steady states."""
    seed: int
    lines: tuple[Line, ...]
    notes: tuple[str, ...]

    def __getitem__(self, key: str) -> Line:
        """The line of a question: "footprint", "amplification", ..."""
        return next(line for line in self.lines if line.key == key)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Advice:
        """The same from what `to_dict` gave. Raises ValueError where something is missing."""
        return build(cls, document, "advice")

    def _headline(self) -> str:
        return f"on {self.name}: {', '.join(line.key for line in self.lines)}"

    def to_dict(self) -> dict[str, Any]:
        """The document that `--json` prints."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain


def unknown(key: str, question: str, reason: str, next: str) -> Line:
    """A line without an answer."""
    return Line(key, question, f"not known: {reason}", "not known", "", (), next)
