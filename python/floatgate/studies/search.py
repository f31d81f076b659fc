"""A search: Optuna proposes trials from the results of earlier trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from floatgate import _core
from floatgate.tuning.optimizer import new_search
from floatgate.tuning.ranges import suggest

from .plan import Combination
from .rows import DONE, Row
from .spec import Search

if TYPE_CHECKING:
    import optuna


class Trials:
    """Trials in batches. Equal results lead to equal trials.

    So an interrupted search is repeated from its start, with the existing rows. Raises ConfigError
    if Optuna is not installed.
    """

    def __init__(self, search: Search) -> None:
        self._search = search
        self._study = new_search("tpe", search.seed, [*search.goals.values()])
        self._is_told = False
        """Whether any trial had all its metrics."""
        self._lacking: set[str] = set()
        """Metrics that some run lacked although it succeeded."""

    def batches(self) -> Iterator[list[tuple[optuna.Trial, Combination]]]:
        """Yields batches of trials; the caller runs and reports a batch before the next one.

        Raises ConfigError after a batch if successful runs lack metrics and no trial so far has had
        all metrics.
        """
        missing = self._search.trials
        while missing:
            count = min(missing, self._search.batch)
            asked = [self._study.ask() for _ in range(count)]
            keys = self._search.keys.items()
            yield [(one, {key: suggest(of, one, key) for key, of in keys}) for one in asked]
            self._check_told()
            missing -= count

    def tell(self, trial: optuna.Trial, rows: Sequence[Row]) -> None:
        """Reports the runs of a trial to Optuna: the mean of each metric, or a failure."""
        from optuna.trial import TrialState

        values = [mean_of(rows, metric) for metric in self._search.goals]
        known = [value for value in values if value is not None]
        if len(known) == len(values):
            self._is_told = True
            self._study.tell(trial, known)
        else:
            done = [row for row in rows if row["status"] == DONE]
            goals = self._search.goals
            self._lacking |= {one for one in goals if any(row.get(one) is None for row in done)}
            self._study.tell(trial, state=TrialState.FAIL)

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
