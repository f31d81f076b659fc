"""The data, the initial drive, and the simulations of a calibration or a forecast."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floatgate import _core
from floatgate.simulation import configs
from floatgate.simulation.configs import Device

from .._core import ConfigError
from . import scaled
from .fit import weighted
from .latency import LatencyStudy, is_latency
from .study import Config, Study, Told
from .wa import WaStudy

SCALES = {"write amplification": 256.0, "latency": 1024.0}
"""Default scales: pages of the drive for each simulated page."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Start:
    """The initial drive, as given in a call."""

    device: Device
    set: Mapping[str, Any]
    size: str | None
    """Capacity that the host can address; it determines `flash.blocks`."""

    def config(self) -> Config:
        """Returns the resolved config; raises `ConfigError` for an error in the call."""
        config = configs.resolve(self.device, self.set).table()
        if self.size is None:
            return config
        if "flash.blocks" in self.set:
            raise ConfigError("size: flash.blocks is also set; expected one of them")
        return scaled.full_size(config, _core.parse_size("size", self.size))


@dataclass(frozen=True)
class AtScale:
    """A run on the drive at another scale, which shows the effect of the scale."""

    scale: float
    told: Told


class Work:
    """Runs of the data, simulated on variants of a drive."""

    def __init__(
        self,
        data: Sequence[str | Path],
        start: Start,
        *,
        scale: float | None,
        seed: int,
        progress: Progress | None,
    ) -> None:
        if scale is not None and not scale >= 1:
            raise ConfigError(f"scale: 1/{scale:g} given; expected 1/N with N from 1")
        self.config = start.config()
        self.study = _study([Path(path) for path in data], self.config)
        self.scale, self.seed = scale or SCALES[self.study.kind], seed
        self.steps = 0
        """Total number of simulations, if known."""
        self._progress, self._done = progress, 0

    def resolve(self, settings: Mapping[str, str]) -> dict[str, Any]:
        return configs.resolve(self.config, settings).table()

    def residuals(
        self, runs: Sequence[str], settings: Mapping[str, str], seed: int = 0
    ) -> list[float]:
        """Returns weighted residuals of the runs; `seed` is added to the seed of the work."""
        config, seed = self.resolve(settings), self.seed + seed
        parts = []
        for run in runs:
            self._step()
            parts.append(self.study.residuals(run, config, self.scale, seed))
        return weighted(parts)

    def tell(self, run: str, config: Config, scale: float | None = None) -> Told:
        self._step()
        return self.study.tell(run, config, scale or self.scale, self.seed)

    def scales(self, runs: Sequence[str], config: Config) -> Iterator[AtScale]:
        """Yields the runs that differ most, at half and double the scale if the drive allows it."""
        for run in self.study.extremes(runs) if runs else ():
            for scale in (self.scale / 2, self.scale * 2):
                with contextlib.suppress(ConfigError):
                    yield AtScale(scale, self.tell(run, config, scale))

    def named(self, names: Sequence[str] | str, option: str) -> list[str]:
        """Returns the runs with these names; a name may stand for several runs."""
        study, runs = self.study, list[str]()
        for name in [names] if isinstance(names, str) else names:
            if name in study.left_out:
                raise ConfigError(f"{option}: {name} cannot be simulated: {study.left_out[name]}")
            if name not in study.names and name not in study.groups:
                there = ", ".join(study.names)
                raise ConfigError(f"{option}: {name!r} is not in the data; there is {there}")
            runs += [name] if name in study.names else study.groups[name]
        return list(dict.fromkeys(runs))

    def _step(self) -> None:
        if self._progress is not None:
            self._progress("calibrate", self._done, self.steps)
        self._done += 1


def _study(paths: Sequence[Path], start: Config) -> Study:
    if not paths:
        raise ConfigError("data: expected at least one file")
    for path, count in Counter(path.resolve() for path in paths).items():
        if count > 1:
            raise ConfigError(f"data: {path.name} is given twice; expected each file once")
    kinds = {is_latency(path) for path in paths}
    if len(kinds) > 1:
        raise ConfigError("data: write amplification and latency; expected files of one kind")
    study: Study = LatencyStudy(paths, start) if kinds == {True} else WaStudy(paths, start)
    drives = sorted({name.partition("-")[0] for name in (*study.names, *study.left_out)})
    if len(drives) > 1:
        raise ConfigError(f"data: runs of several drives, {', '.join(drives)}; expected one drive")
    for name, count in Counter(study.names).items():
        if count > 1:
            files = ", ".join(path.name for path in paths)
            raise ConfigError(f"data: {name} is there twice in {files}; expected each run once")
    if not study.names:
        raise ConfigError(f"data: no run can be simulated: {'; '.join(study.left_out.values())}")
    return study
