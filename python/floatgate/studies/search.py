"""A search: trials that Optuna proposes from what came of those before them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from floatgate.optimizer import new_search

from .plan import Combination
from .rows import DONE, Row
from .spec import Range, Search, Value

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

    def batches(self) -> Iterator[list[tuple[optuna.Trial, Combination]]]:
        """Trials to be run and told before the next batch."""
        missing = self._search.trials
        while missing:
            count = min(missing, self._search.batch)
            asked = [self._study.ask() for _ in range(count)]
            yield [(trial, self._proposed(trial)) for trial in asked]
            missing -= count

    def tell(self, trial: optuna.Trial, rows: Sequence[Row]) -> None:
        """What came of a trial's runs: the means of its metrics, if all have ended well."""
        from optuna.trial import TrialState

        values = [mean_of(rows, metric) for metric in self._search.goals]
        known = [value for value in values if value is not None]
        if len(known) == len(values):
            self._study.tell(trial, known)
        else:
            self._study.tell(trial, state=TrialState.FAIL)

    def _proposed(self, trial: optuna.Trial) -> Combination:
        return {key: _suggested(trial, key, of) for key, of in self._search.keys.items()}


def mean_of(rows: Sequence[Mapping[str, Any]], metric: str) -> float | None:
    """The mean over runs; None where one has failed or does not have it."""
    values = [row.get(metric) for row in rows if row["status"] == DONE]
    known = [float(value) for value in values if value is not None]
    return fmean(known) if known and len(known) == len(rows) else None


def _suggested(trial: optuna.Trial, key: str, of: Range | list[Value]) -> Value:
    if not isinstance(of, Range):
        return of[int(trial.suggest_categorical(key, [*range(len(of))]))]
    if of.whole:
        return trial.suggest_int(key, int(of.low), int(of.high), log=of.log)
    return trial.suggest_float(key, of.low, of.high, log=of.log)
