"""Report of `floatgate tune`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import polars as pl

from floatgate.results.drawn import Shown
from floatgate.results.messages import alike, merged

NAMED = 3
"""Maximum number of runs that a message names; more are only counted."""

State = Literal["complete", "pruned", "refused", "failed"]


@dataclass(frozen=True)
class Goal:
    """Objective of a search."""

    metric: str
    """Path of the metric in a result."""
    direction: str
    """"min" or "max"."""
    default: float
    """Value on the drive as given."""
    bound: float | None
    """Value that a placement with knowledge of the future reaches on the best drive for this
    metric. None if there is no bound, or if it is worse than the best trial.
    """
    bound_is: str
    """Explanation of the bound, or of why there is none."""

    @property
    def sign(self) -> int:
        """Factor that makes smaller values better."""
        return 1 if self.direction == "min" else -1


@dataclass(frozen=True)
class Tried:
    """Trial of a config."""

    number: int
    state: str
    """"complete"; "pruned" after an early part of the trace; "refused" because no drive can have
    this config; or "failed" because the run failed.
    """
    settings: dict[str, str]
    """The varied keys, with values as texts of a config."""
    early: tuple[float, ...] | None
    """Objectives after the early part; None if the early part was not evaluated."""
    values: tuple[float, ...] | None
    """Objectives; None if the trial is not complete."""
    reason: str
    """Why the trial is not complete."""


@dataclass(frozen=True, repr=False)
class Tuned(Shown):
    """Report that `tune` returns."""

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
    """Numbers of the trials on the Pareto front, without duplicates: no other trial is at least as
    good in every objective and better in one. With one objective, the front has one trial.
    """
    configs: tuple[str, ...]
    """Drives of the front as TOML."""
    warnings: tuple[str, ...]
    """Warnings about the drive as given, the drives of the front, and the bounds. Each ends with
    the runs that it is about, unless it is about all of them.
    """
    notes: tuple[str, ...]
    """Notes on the same runs."""

    @property
    def best(self) -> Tried:
        """First trial of the front; for one objective, the best trial."""
        return self.trials[self.front[0]]

    @property
    def table(self) -> pl.DataFrame:
        """A row for each trial: `number`, `state`, the keys, the objectives, the objectives with
        the prefix `early.`, `front`, `reason`.
        """
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
        """Returns the document that `--json` prints."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain

    def _named(self, prefix: str, values: Sequence[float] | None) -> dict[str, float | None]:
        names = [f"{prefix}{goal.metric}" for goal in self.goals]
        return dict(zip(names, values or (None,) * len(names), strict=True))


def told(said: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Returns the messages of runs with the names of the runs.

    Messages that differ only in numbers are merged.
    """
    found = []
    for group in alike((name, text) for name, texts in said.items() for text in texts):
        text = merged([text for _, text in group])
        names = list(dict.fromkeys(name for name, _ in group))
        some = ", ".join(names) if len(names) <= NAMED else f"{len(names)} of {len(said)} runs"
        found.append(text if len(names) == len(said) else f"{text} ({some})")
    return tuple(found)


def front(values: Mapping[int, Sequence[float]]) -> list[int]:
    """Returns the numbers of the trials that no other trial dominates; smaller `values` are better.

    The order is by the first value. Of equal trials, only the first number is kept.
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
