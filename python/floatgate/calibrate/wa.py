"""Write amplification over volumes: compares measured runs with the scaled drive."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from . import scaled
from .fit import rms, weighted
from .measured import WaRun, read_wa
from .study import Config, Told, changed

USUAL_NOISE = 0.01
"""Assumed difference between repeated runs if the data repeat no run."""

IDLE_TABLES = ("queue", "start", "buffer", "link", "controller", "schedule", "timing")
IDLE_KEYS = tuple(
    f"flash.{key}"
    for key in ("read", "program", "erase", "bus", "channels", "dies", "planes", "program_pages")
)
"""Tables and keys without effect on write amplification in these simulations."""
DATA_PAGE = 4096
"""Bytes of a write in the data, except for writes to zones."""


class WaStudy:
    """Runs of a drive whose write amplification over volumes was measured."""

    kind = "write amplification"
    null_model = "a drive that never cleans"

    def __init__(self, paths: Sequence[Path], config: Config) -> None:
        runs = [run for path in paths for run in read_wa(path)]
        self.left_out: Mapping[str, str] = {
            run.name: why for run in runs if (why := scaled.why_not(run))
        }
        self.runs = {run.name: run for run in runs if run.name not in self.left_out}
        self.names: Sequence[str] = [run.name for run in runs if run.name not in self.left_out]
        self.drive = runs[0].drive
        self.groups: Mapping[str, Sequence[str]] = {}
        self.bases: Mapping[str, float] = {name: run.base for name, run in self.runs.items()}
        self.noise, self.noise_from = _noise(list(self.runs.values()))
        self._capacity = scaled.capacity_of(dict(config))
        self.notes: Sequence[str] = list(_replaced(config))

    def why_idle(self, key: str) -> str | None:
        """Returns why a key cannot be fitted: write amplification is counted without a clock."""
        if key.partition(".")[0] in IDLE_TABLES or key in IDLE_KEYS:
            return "write amplification is simulated without a clock, from the fill of the data on"
        return None

    def null(self, runs: Sequence[str]) -> float | None:
        """Returns the error of a drive that never cleans."""
        measured = [self.runs[run].by_volume(self.runs[run].wa) for run in runs]
        return rms(weighted([[math.log(wa) for wa in volumes] for volumes in measured]))

    def extremes(self, runs: Sequence[str]) -> list[str]:
        """Returns the runs with the least and the most cleaning."""
        by_wa = sorted(runs, key=lambda run: self.runs[run].steady(self.runs[run].wa))
        return list(dict.fromkeys([by_wa[0], by_wa[-1]]))

    def drive_config(self, config: Config) -> Config:
        return scaled.full_size(dict(config), self._capacity)

    def residuals(self, run: str, config: Config, scale: float, seed: int) -> list[float]:
        one, found = self.runs[run], self._simulate(run, config, scale, seed)
        return _logs(one.by_volume(found), one.by_volume(one.wa))

    def tell(self, run: str, config: Config, scale: float, seed: int) -> Told:
        one = self.runs[run]
        simulated, measured = self._simulate(run, config, scale, seed), one.wa
        ours, theirs = one.steady(simulated), one.steady(measured)
        late = [abs(simulated[i] / measured[i] - 1) for i in one.late]
        numbers = {
            "base": one.base,
            "steady_measured": theirs,
            "steady_simulated": ours,
            "steady_error": ours / theirs - 1,
            "curve_mean": sum(late) / len(late),
            "curve_worst": max(late),
        }
        return Told(run, numbers, tuple(measured), tuple(simulated), one.volumes)

    def _simulate(self, run: str, config: Config, scale: float, seed: int) -> list[float]:
        drive = scaled.drive(dict(config), self._capacity)
        return scaled.simulate(drive, self.runs[run], scale, seed)


def _replaced(config: Config) -> Iterator[str]:
    """Describes device values that the data replace."""
    if keys := changed(config, [f"start.{key}" for key in config["start"]]):
        yield f"{keys} of the device is not used: each run has the fill of the data"
    if keys := changed(config, ["buffer.scheme"]):
        yield f"{keys} of the device is not used: the data are of writes that reach the flash"
    if (page := scaled.resolved(config).page_bytes) > DATA_PAGE:
        yield (
            f"the device maps {page} bytes a unit, and the data are of writes of {DATA_PAGE}: "
            "each is simulated as a write of a whole unit"
        )


def _logs(these: Sequence[float], those: Sequence[float]) -> list[float]:
    return [math.log(a / b) for a, b in zip(these, those, strict=False)]


def _noise(runs: Sequence[WaRun]) -> tuple[float, str]:
    """Returns the difference between two runs with the same workload and span, and its source."""

    def workload(run: WaRun) -> tuple[object, ...]:
        return run.span_bytes, run.fill, run.load, run.zone_bytes, run.active_zones

    for i, run in enumerate(runs):
        for other in runs[:i]:
            if workload(run) == workload(other):
                found = rms(_logs(run.by_volume(run.wa), other.by_volume(other.wa)))
                return found, f"{other.name} and {run.name}, which are alike"
    return USUAL_NOISE, "taken to be 1 %: no run of the data is repeated"
