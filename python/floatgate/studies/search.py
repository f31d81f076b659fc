"""A search: trials are proposed from the results of earlier trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from floatgate import _core
from floatgate.tuning.optimizer import Optimizer, Proposal

from .rows import DONE, Row
from .spec import Search


class Trials:
    """Trials in batches. Equal results lead to equal trials.

    So an interrupted search is repeated from its start, with the existing rows. Raises ConfigError
    if Optuna is not installed.
    """

    def __init__(self, search: Search) -> None:
        self._search = search
        self._optimizer = Optimizer(search.keys, [*search.goals.values()], search.seed)
        self._is_told = False
        """Whether any trial had all its metrics."""
        self._lacking: set[str] = set()
        """Metrics that some run lacked although it succeeded."""

    def batches(self) -> Iterator[list[Proposal]]:
        """Yields batches of trials; the caller runs and reports a batch before the next one.

        Raises ConfigError after a batch if successful runs lack metrics and no trial so far has had
        all metrics.
        """
        missing = self._search.trials
        while missing:
            count = min(missing, self._search.batch)
            yield [self._optimizer.ask() for _ in range(count)]
            self._check_told()
            missing -= count

    def tell(self, proposal: Proposal, rows: Sequence[Row]) -> None:
        """Reports the runs of a trial: the mean of each metric, or a failure."""
        values = [mean_of(rows, metric) for metric in self._search.goals]
        known = [value for value in values if value is not None]
        is_complete = len(known) == len(values)
        self._optimizer.tell(proposal, known if is_complete else None)
        self._is_told |= is_complete
        if not is_complete:
            done = [row for row in rows if row["status"] == DONE]
            goals = self._search.goals
            self._lacking |= {one for one in goals if any(row.get(one) is None for row in done)}

    def _check_told(self) -> None:
        """Raises ConfigError if runs lack a metric and no trial has had a result.

        Without results, Optuna would continue with random proposals and not report it.
        """
        goals = self._search.goals.items()
        missing = [(way, metric) for metric, way in goals if metric in self._lacking]
        if missing and not self._is_told:
            way, metric = missing[0]
            raise _core.ConfigError(
                f"optuna.{way}: {metric} given; expected a number that every run has: here runs "
                "lack it (it had nothing to measure, or time is not simulated)"
            )


def mean_of(rows: Sequence[Mapping[str, Any]], metric: str) -> float | None:
    """Returns the mean over runs; None if a run has failed or lacks the metric."""
    values = [row.get(metric) for row in rows if row["status"] == DONE]
    known = [float(value) for value in values if value is not None]
    return fmean(known) if known and len(known) == len(rows) else None
