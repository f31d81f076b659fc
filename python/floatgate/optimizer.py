"""Optuna, which proposes configs: for `tune` and for the search of a study."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from . import _core

if TYPE_CHECKING:
    import optuna

Direction = Literal["minimize", "maximize"]
"""What is to become of a number."""


def new_search(sampler: str, seed: int, directions: Sequence[Direction]) -> optuna.Study:
    """A search in memory: the same trials for the same answers.

    `sampler` is "tpe" (a tree-structured Parzen estimator) or "random"; `directions` has
    "minimize" or "maximize" for each number that is told. Raises ConfigError where Optuna is not
    installed.
    """
    check_installed()
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    samplers = {"tpe": optuna.samplers.TPESampler, "random": optuna.samplers.RandomSampler}
    return optuna.create_study(sampler=samplers[sampler](seed=seed), directions=[*directions])


def check_installed() -> None:
    """Raises ConfigError where Optuna is not installed."""
    if find_spec("optuna") is None:
        raise _core.ConfigError("optuna: not installed; expected floatgate[search]")
