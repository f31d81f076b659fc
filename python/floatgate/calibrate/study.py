"""Common interface of the two kinds of measurement: runs to compare with a simulated drive."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .. import _core

Config = Mapping[str, Any]


def changed(config: Config, keys: Iterable[str]) -> str:
    """Returns the keys with values other than the defaults, in words."""
    defaults = _core.Config.resolve(None, "", []).table()
    pairs = [(key, *key.split(".")) for key in keys]
    return ", ".join(
        f"{name} = {json.dumps(config[table].get(key))}"
        for name, table, key in pairs
        if config[table].get(key) != defaults[table].get(key)
    )


@dataclass(frozen=True)
class Told:
    """A run of the data next to the same run on the simulated drive."""

    run: str
    numbers: Mapping[str, float]
    """Measured and simulated values, and their errors: relative, so that 0.01 is 1 %."""
    measured: tuple[float, ...] = ()
    simulated: tuple[float, ...] = ()
    """Curves over `at`, if any."""
    at: tuple[float, ...] = ()


class Study(Protocol):
    """Measurements of one drive, and the way to simulate them."""

    kind: str
    """Kind of measurement."""
    drive: str
    names: Sequence[str]
    """Names of the runs, in the order of the data."""
    groups: Mapping[str, Sequence[str]]
    """Other names for runs, such as the name of a job for all of its runs."""
    left_out: Mapping[str, str]
    """Runs that are not simulated, with the reason."""
    noise: float
    """Difference between repeated runs: the root mean square of ln(one / other)."""
    noise_from: str
    """Source of the noise."""
    bases: Mapping[str, float]
    """Media bytes per host byte without cleaning, for each run; empty if not measured."""

    notes: Sequence[str]
    """Device values that the data replace, and questions that the data leave open, in words."""
    null_model: str
    """The simplest model of the runs, which a fit has to beat."""

    def why_idle(self, key: str) -> str | None:
        """Returns why a config key has no effect in this study; None if it may have one."""

    def null(self, runs: Sequence[str]) -> float | None:
        """Returns the error of the null model; None if the study has none."""

    def extremes(self, runs: Sequence[str]) -> list[str]:
        """Returns the runs that differ most, with which the scale is checked."""

    def drive_config(self, config: Config) -> Config:
        """Returns the config at its full size, for the drive file."""

    def residuals(self, run: str, config: Config, scale: float, seed: int) -> Sequence[float]:
        """Returns ln(simulated / measured) of every fitted value."""

    def tell(self, run: str, config: Config, scale: float, seed: int) -> Told:
        """Returns the run next to its simulation."""
