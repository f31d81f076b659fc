"""Write amplification over volumes: measured runs against the scaled drive."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from . import scaled
from .fit import rms
from .measured import WaRun, read_wa
from .study import Config, Told

USUAL_NOISE = 0.01
"""What repeated runs are taken to differ by where none is repeated."""


class WaStudy:
    """Runs of a drive whose write amplification over volumes was measured."""

    kind = "write amplification"

    def __init__(self, paths: Sequence[Path], config: Config) -> None:
        runs = [run for path in paths for run in read_wa(path)]
        self.left_out: Mapping[str, str] = {
            run.name: why for run in runs if (why := scaled.why_not(run))
        }
        self.runs = {run.name: run for run in runs if run.name not in self.left_out}
        self.names: Sequence[str] = [run.name for run in runs if run.name not in self.left_out]
        self.drive = runs[0].drive
        self.bases: Mapping[str, float] = {name: run.base for name, run in self.runs.items()}
        self.noise, self.noise_from = _noise(list(self.runs.values()))
        self._capacity = scaled.capacity_of(dict(config))

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


def _logs(these: Sequence[float], those: Sequence[float]) -> list[float]:
    return [math.log(a / b) for a, b in zip(these, those, strict=False)]


def _noise(runs: Sequence[WaRun]) -> tuple[float, str]:
    """What runs of the same workload on the same span differ by."""

    def workload(run: WaRun) -> tuple[object, ...]:
        return run.span_bytes, run.fill, run.load, run.zone_bytes, run.active_zones

    for i, run in enumerate(runs):
        for other in runs[:i]:
            if workload(run) == workload(other):
                found = rms(_logs(run.by_volume(run.wa), other.by_volume(other.wa)))
                return found, f"{other.name} and {run.name}, which are alike"
    return USUAL_NOISE, "taken to be 1 %: no run of the data is repeated"
