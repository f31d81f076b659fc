"""What the two kinds of measurement have in common: runs that a drive is held against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Config = Mapping[str, Any]


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
    left_out: Mapping[str, str]
    """Runs that are not simulated, and why."""
    noise: float
    """What repeated runs differ by: the root mean square of ln(one / other)."""
    noise_from: str
    """Where the noise is known from."""
    bases: Mapping[str, float]
    """What the drive writes per host byte without cleaning, of each run; empty if not measured."""

    def drive_config(self, config: Config) -> Config:
        """The config at its full size, as it is to be written down."""

    def residuals(self, run: str, config: Config, scale: float, seed: int) -> Sequence[float]:
        """ln(simulated / measured) of everything that is fitted."""

    def tell(self, run: str, config: Config, scale: float, seed: int) -> Told:
        """The run beside its simulation."""
