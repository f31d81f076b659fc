"""Optuna, which proposes configs for `tune` and for the search of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, NamedTuple

from floatgate import _core

from .ranges import Allowed, Value, suggest

if TYPE_CHECKING:
    import optuna

Direction = Literal["minimize", "maximize"]
"""Whether the search makes a number smaller or larger."""


class Proposal(NamedTuple):
    """Trial with the values of its keys."""

    trial: optuna.Trial
    values: dict[str, Value]


class Optimizer:
    """A search in memory, which proposes the same trials for the same results.

    `axes` has the values that each key may have, and `directions` the direction of each number that
    the caller reports. `sampler` is "tpe" (a tree-structured Parzen estimator) or "random". Raises
    ConfigError if Optuna is not installed.
    """

    def __init__(
        self,
        axes: Mapping[str, Allowed],
        directions: Sequence[Direction],
        seed: int,
        sampler: str = "tpe",
    ) -> None:
        check_installed()
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        samplers = {"tpe": optuna.samplers.TPESampler, "random": optuna.samplers.RandomSampler}
        chosen = samplers[sampler](seed=seed)
        self._axes, self._states = axes, optuna.trial.TrialState
        self._study = optuna.create_study(sampler=chosen, directions=[*directions])

    def ask(self) -> Proposal:
        trial = self._study.ask()
        return Proposal(trial, {key: suggest(of, trial, key) for key, of in self._axes.items()})

    def tell(
        self,
        proposal: Proposal,
        values: Sequence[float] | None,
        early: Sequence[float] | None = None,
    ) -> None:
        """Reports the numbers of a trial, one for each direction; None if it has none.

        A trial without numbers counts as bad if the caller gives its `early` numbers, which may be
        empty. Otherwise the search ignores it.
        """
        if values is not None:
            self._study.tell(proposal.trial, [*values])
            return
        if early is not None and len(early) == 1:
            proposal.trial.report(early[0], step=1)
        state = self._states.FAIL if early is None else self._states.PRUNED
        self._study.tell(proposal.trial, state=state)


def check_installed() -> None:
    """Raises ConfigError if Optuna is not installed."""
    if find_spec("optuna") is None:
        raise _core.ConfigError(
            "optuna: not installed; expected floatgate[search]; in a clone: make setup"
        )
