"""Optuna, which proposes configs for `tune` and for the search of a study."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from floatgate import _core

if TYPE_CHECKING:
    import optuna

Direction = Literal["minimize", "maximize"]
"""Whether the search makes a number smaller or larger."""


def new_search(sampler: str, seed: int, directions: Sequence[Direction]) -> optuna.Study:
    """Returns a search in memory, which proposes the same trials for the same results.

    `sampler` is "tpe" (a tree-structured Parzen estimator) or "random". `directions` has "minimize"
    or "maximize" for each number that the caller reports. Raises ConfigError if Optuna is not
    installed.
    """
    check_installed()
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    samplers = {"tpe": optuna.samplers.TPESampler, "random": optuna.samplers.RandomSampler}
    return optuna.create_study(sampler=samplers[sampler](seed=seed), directions=[*directions])


def check_installed() -> None:
    """Raises ConfigError if Optuna is not installed."""
    if find_spec("optuna") is None:
        raise _core.ConfigError("optuna: not installed; expected floatgate[search]")
