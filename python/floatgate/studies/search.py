"""A search: trials that Optuna proposes from what came of those before them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from floatgate import _core
from floatgate.optimizer import new_search
from floatgate.ranges import suggest

from .plan import Combination
from .rows import DONE, Row
from .spec import Search

if TYPE_CHECKING:
    import optuna


class Trials:
    """Trials in batches. The same results give the same trials.

    So a search that was interrupted is searched again from its begin, with the rows that there are.
    Raises ConfigError where Optuna is not installed.
    """

    def __init__(self, search: Search) -> None:
        self._search = search
        self._study = new_search("tpe", search.seed, [*search.goals.values()])
        self._is_told = False
        """Whether any trial had all its metrics."""
        self._lacking: set[str] = set()
        """Metrics that runs did not have though they ended well."""

    def batches(self) -> Iterator[list[tuple[optuna.Trial, Combination]]]:
        """Trials to be run and told before the next batch.

        Raises ConfigError behind one where no trial has had all metrics yet, for want of these.
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
        """What came of a trial's runs: the means of its metrics, if all have ended well."""
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
        """A search that is told nothing would go on as chance does, and not say so."""
        goals = self._search.goals.items()
        missing = [(way, metric) for metric, way in goals if metric in self._lacking]
        if missing and not self._is_told:
            way, metric = missing[0]
            raise _core.ConfigError(
                f"optuna.{way}: {metric} given; expected a number that every run has: here it does "
                "not exist (nothing of the kind happened, or time is not simulated)"
            )


def mean_of(rows: Sequence[Mapping[str, Any]], metric: str) -> float | None:
    """The mean over runs; None where one has failed or does not have it."""
    values = [row.get(metric) for row in rows if row["status"] == DONE]
    known = [float(value) for value in values if value is not None]
    return fmean(known) if known and len(known) == len(rows) else None
