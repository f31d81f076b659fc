"""What `floatgate tune` finds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import polars as pl

from floatgate.notebook import Shown
from floatgate.report.told import alike, merged

NAMED = 3
"""More runs than this that a message is about are counted."""

State = Literal["complete", "pruned", "refused", "failed"]


@dataclass(frozen=True)
class Goal:
    """An objective."""

    metric: str
    """Its path in a result."""
    direction: str
    """"min" or "max"."""
    default: float
    """Of the drive as it was given."""
    bound: float | None
    """What a placement that knows the future reaches on the drive that is best in this metric;
    None where that bounds nothing, also as it is worse."""
    bound_is: str
    """What the bound is, or why there is none."""

    @property
    def sign(self) -> int:
        """What makes less better."""
        return 1 if self.direction == "min" else -1


@dataclass(frozen=True)
class Tried:
    """A trial."""

    number: int
    state: str
    """"complete"; "pruned", after an early part of the trace; "refused", as no drive has this
    config; "failed", as the run did."""
    settings: dict[str, str]
    """The keys that vary, as texts of a config."""
    early: tuple[float, ...] | None
    """The objectives after the early part; None where it was not looked at."""
    values: tuple[float, ...] | None
    """The objectives; None of a trial that is not complete."""
    reason: str
    """Why it is not complete."""


@dataclass(frozen=True, repr=False)
class Tuned(Shown):
    """What `tune` finds."""

    trace: str
    device: str
    sampler: str
    seed: int
    early_requests: int
    """Requests of the early part."""
    requests: int
    """Requests of a whole run."""
    goals: tuple[Goal, ...]
    trials: tuple[Tried, ...]
    front: tuple[int, ...]
    """Numbers of the trials that none is better than in every objective, without doubles: one
    for one objective."""
    configs: tuple[str, ...]
    """The drives of the front as TOML."""
    warnings: tuple[str, ...]
    """Why numbers might not mean what they seem to: of the drive as given, of those of the front,
    and of the bounds; behind each the runs that it is about, unless that is all of them."""
    notes: tuple[str, ...]
    """What else is to be told of the same runs."""

    @property
    def best(self) -> Tried:
        """The first of the front, which of one objective is the best."""
        return self.trials[self.front[0]]

    @property
    def table(self) -> pl.DataFrame:
        """A row for each trial: `number`, `state`, the keys, the objectives, `early.` these,
        `front`, `reason`."""
        rows = []
        for one in self.trials:
            row: dict[str, Any] = {"number": one.number, "state": one.state, **one.settings}
            row |= self._named("", one.values) | self._named("early.", one.early)
            rows.append(row | {"front": one.number in self.front, "reason": one.reason})
        return pl.DataFrame(rows, infer_schema_length=None)

    def _headline(self) -> str:
        values = ", ".join(
            f"{goal.metric} {value:.4g} (as given {goal.default:.4g})"
            for goal, value in zip(self.goals, self.best.values or (), strict=True)
        )
        return f"{self.device} for {self.trace}: {values}, of {len(self.trials)} trials"

    def to_dict(self) -> dict[str, Any]:
        """The document that `--json` prints."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain

    def _named(self, prefix: str, values: Sequence[float] | None) -> dict[str, float | None]:
        names = [f"{prefix}{goal.metric}" for goal in self.goals]
        return dict(zip(names, values or (None,) * len(names), strict=True))


def told(said: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """What is said of runs, by their names; of texts that differ in numbers only there is one."""
    found = []
    for group in alike((name, text) for name, texts in said.items() for text in texts):
        text = merged([text for _, text in group])
        names = list(dict.fromkeys(name for name, _ in group))
        some = ", ".join(names) if len(names) <= NAMED else f"{len(names)} of {len(said)} runs"
        found.append(text if len(names) == len(said) else f"{text} ({some})")
    return tuple(found)


def front(values: Mapping[int, Sequence[float]]) -> list[int]:
    """The numbers of those that none is better than; `values` are less the better they are.

    Sorted by the first value; of equal ones the first number.
    """
    found: list[int] = []
    seen: set[tuple[float, ...]] = set()
    for number, own in sorted(values.items(), key=lambda pair: (*pair[1], pair[0])):
        key = tuple(own)
        if key not in seen and not any(_dominates(values[other], own) for other in found):
            found.append(number)
            seen.add(key)
    return found


def _dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True)) and tuple(one) != tuple(other)
