"""What the two kinds of measurement have in common: runs that a drive is held against."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .. import _core

Config = Mapping[str, Any]


def changed(config: Config, keys: Iterable[str]) -> str:
    """The keys that a drive sets to other values than the defaults, in words."""
    defaults = json.loads(_core.resolve(None, "", []))
    pairs = [(key, *key.split(".")) for key in keys]
    return ", ".join(
        f"{name} = {json.dumps(config[table].get(key))}"
        for name, table, key in pairs
        if config[table].get(key) != defaults[table].get(key)
    )


@dataclass(frozen=True)
class Told:
    """A run of the data beside the same run on the simulated drive."""

    run: str
    numbers: Mapping[str, float]
    """Measured and simulated values, and the errors: relative, so that 0.01 is 1 %."""
    measured: tuple[float, ...] = ()
    simulated: tuple[float, ...] = ()
    """Curves over `at`, if there are any."""
    at: tuple[float, ...] = ()


class Study(Protocol):
    """Measurements of one drive, and how they are simulated."""

    kind: str
    """What was measured."""
    drive: str
    names: Sequence[str]
    """The runs, in the order of the data."""
    groups: Mapping[str, Sequence[str]]
    """Other names that stand for runs, such as that of a job for each of its runs."""
    left_out: Mapping[str, str]
    """Runs that are not simulated, and why."""
    noise: float
    """What repeated runs differ by: the root mean square of ln(one / other)."""
    noise_from: str
    """Where the noise is known from."""
    bases: Mapping[str, float]
    """What the drive writes per host byte without cleaning, of each run; empty if not measured."""

    notes: Sequence[str]
    """What of the device the data take the place of, and what they leave open, in words."""
    null_model: str
    """The simplest model of the runs, which a fit has to beat."""

    def why_idle(self, key: str) -> str | None:
        """Why a key of the config changes nothing here; None if it may."""

    def null(self, runs: Sequence[str]) -> float | None:
        """The error of the null model; None where there is none."""

    def extremes(self, runs: Sequence[str]) -> list[str]:
        """The runs that differ most, on which the scale is checked."""

    def drive_config(self, config: Config) -> Config:
        """The config at its full size, as it is to be written down."""

    def residuals(self, run: str, config: Config, scale: float, seed: int) -> Sequence[float]:
        """ln(simulated / measured) of everything that is fitted."""

    def tell(self, run: str, config: Config, scale: float, seed: int) -> Told:
        """The run beside its simulation."""
