"""`calibrate`: measurements and the config of a drive in; a fitted drive and its errors out."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .. import configs
from .._core import ConfigError
from ..configs import Device
from ..files import shown
from . import keys
from .fit import Fit, fit, rms
from .latency import LatencyStudy, is_latency
from .study import Config, Study, Told
from .wa import WaStudy

SCALES = {"write amplification": 256.0, "latency": 1024.0}
"""Pages of the drive for one that is simulated, unless another scale is asked for."""
REST = "rest"
OTHER_SEEDS = 4
"""Simulations with other seeds that say how much is chance."""

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Calibration:
    """What was fitted to what, and how well it explains the rest."""

    kind: str
    drive: str
    data: tuple[str, ...]
    runs: tuple[str, ...]
    """What it was fitted to."""
    fit: Fit
    noise_from: str
    on_fitted: tuple[Told, ...]
    held_out: tuple[Told, ...]
    left_out: Mapping[str, str]
    """Runs that were neither, and why."""
    bases: Mapping[str, float]
    scale: float
    seed: int
    scales: tuple[tuple[float, Mapping[str, float]], ...]
    """The fitted run at half and at double the scale: what the scale changes."""
    config: Config
    """The fitted drive, at its full size."""

    def document(self) -> dict[str, Any]:
        """All of it as a JSON document, less the config."""
        found = asdict(self)
        del found["config"], found["fit"]
        found["noise"], found["error"] = self.fit.noise, self.fit.error
        found["indistinct"], found["evaluations"] = self.fit.indistinct, self.fit.evaluations
        found["fitted"] = [
            {
                "key": one.key.name,
                "value": one.key.text(one.value),
                "searched": [one.key.text(one.key.low), one.key.text(one.key.high)],
                "as_good": [one.key.text(one.low), one.key.text(one.high)],
                "fixed_by_data": one.fixed,
            }
            for one in self.fit.fitted
        ]
        found["scales"] = [{"scale": at, **numbers} for at, numbers in self.scales]
        return found


def calibrate(
    data: Sequence[str | Path],
    *,
    device: Device,
    fit_keys: Sequence[str],
    run: Sequence[str] | None = None,
    holdout: Sequence[str] | str = REST,
    scale: float | None = None,
    seed: int = 1,
    noise: float | None = None,
    progress: Progress | None = None,
) -> Calibration:
    """Fits keys of a drive's config to measurements, and holds the drive against all others.

    `data` are files of one drive: write amplification over volumes or latency under load, as CSV
    with the columns that `docs/trust.md` names, or fio's JSON. `device` is the drive to begin
    with, at its full size (`flash.blocks`). `fit_keys` are texts KEY or KEY=LOW..HIGH. `run` names
    what is fitted to; it can be left out where there is one. `holdout` names what is predicted, or
    is "rest". `scale` is by how much the simulated drive is smaller. `noise` is what repeated
    measurements differ by, as a share; without it, it is taken from repeated runs in the data.

    Raises ConfigError for what is wrong with the data or the call.
    """
    start = json.loads(configs.resolve(device, {}))
    study = _study([Path(path) for path in data], start)
    if scale is not None and not scale >= 1:
        raise ConfigError(f"scale: 1/{scale:g} given; expected 1/N with N from 1")
    if noise is not None and not 0 < noise < 1:
        raise ConfigError(f"noise: {noise} given; expected a share above 0 and below 1")
    scale = scale or SCALES[study.kind]
    runs = _named(study, run, "run") if run else _only(study)
    others = [name for name in study.names if name not in runs]
    held = others if holdout == REST else _named(study, holdout, "holdout")
    if both := [name for name in held if name in runs]:
        raise ConfigError(f"holdout: {', '.join(both)} is also fitted to; expected another run")
    work = _Work(study, device, runs, held, scale, seed, progress)
    fitted = work.fitted(fit_keys, noise)
    return _told(work, fitted, [shown(path) for path in data])


class _Work:
    """The simulations of a calibration."""

    def __init__(
        self,
        study: Study,
        device: Device,
        runs: Sequence[str],
        held: Sequence[str],
        scale: float,
        seed: int,
        progress: Progress | None,
    ) -> None:
        self.study, self.runs, self.held = study, runs, held
        self.scale, self.seed = scale, seed
        self.noise_from = study.noise_from
        self._device, self._progress = device, progress
        self._done = 0

    def resolve(self, settings: Mapping[str, str]) -> dict[str, Any]:
        config: dict[str, Any] = json.loads(configs.resolve(self._device, settings))
        return config

    def fitted(self, texts: Sequence[str], noise: float | None) -> Fit:
        found = [keys.parse(text, self.resolve) for text in texts]
        names = [key.name for key in found]
        if not names or len({*names}) < len(names):
            raise ConfigError(f"fit: {', '.join(texts) or 'nothing'}; expected different keys")
        if "flash.blocks" in names:
            raise ConfigError(
                "fit: flash.blocks follows from the capacity and the spare; expected "
                "capacity.spare_factor"
            )
        if noise is None:
            return fit(found, self._residuals, self._noise)
        self.noise_from = "given"
        return fit(found, self._residuals, lambda _: noise)

    def _residuals(self, settings: Mapping[str, str], seed: int = 0) -> list[float]:
        """Those of all runs; `seed` is added to that of the calibration."""
        self.step()
        config, seed = self.resolve(settings), self.seed + seed
        return [
            one for run in self.runs for one in self.study.residuals(run, config, self.scale, seed)
        ]

    def _noise(self, settings: Mapping[str, str]) -> float:
        """What repeated runs differ by: those of the data, or simulations with other seeds."""
        first = self._residuals(settings)
        others = [self._residuals(settings, seed) for seed in range(1, OTHER_SEEDS + 1)]
        noise = rms([a - b for other in others for a, b in zip(first, other, strict=True)])
        if noise <= self.study.noise:
            return self.study.noise
        self.noise_from = f"simulations with {OTHER_SEEDS} other seeds"
        return noise

    def tell(self, run: str, config: Config, scale: float | None = None) -> Told:
        self.step()
        return self.study.tell(run, config, scale or self.scale, self.seed)

    def step(self) -> None:
        if self._progress is not None:
            self._progress("calibrate", self._done, 0)
        self._done += 1


def _told(work: _Work, found: Fit, data: Sequence[str]) -> Calibration:
    study, config = work.study, work.resolve(found.settings)
    unused = [name for name in study.names if name not in (*work.runs, *work.held)]
    return Calibration(
        kind=study.kind,
        drive=study.drive,
        data=tuple(data),
        runs=tuple(work.runs),
        fit=found,
        noise_from=work.noise_from,
        on_fitted=tuple(work.tell(run, config) for run in work.runs),
        held_out=tuple(work.tell(run, config) for run in work.held),
        left_out=dict(study.left_out) | {name: "not asked for" for name in unused},
        bases=study.bases,
        scale=work.scale,
        seed=work.seed,
        scales=tuple(_scales(work, config)),
        config=study.drive_config(config),
    )


def _scales(work: _Work, config: Config) -> Iterator[tuple[float, Mapping[str, float]]]:
    """The fitted run at half and at double the scale, as far as there is such a drive."""
    for scale in (work.scale / 2, work.scale * 2):
        with contextlib.suppress(ConfigError):
            yield scale, work.tell(work.runs[0], config, scale).numbers


def _study(paths: Sequence[Path], start: Config) -> Study:
    if not paths:
        raise ConfigError("data: expected at least one file")
    kinds = {is_latency(path) for path in paths}
    if len(kinds) > 1:
        raise ConfigError("data: write amplification and latency; expected files of one kind")
    study: Study = LatencyStudy(paths, start) if kinds == {True} else WaStudy(paths, start)
    drives = sorted({name.partition("-")[0] for name in (*study.names, *study.left_out)})
    if len(drives) > 1:
        raise ConfigError(f"data: runs of several drives, {', '.join(drives)}; expected one drive")
    if len({*study.names}) < len(study.names):
        raise ConfigError("data: a run is there twice; expected each once")
    if not study.names:
        raise ConfigError(f"data: no run can be simulated: {'; '.join(study.left_out.values())}")
    return study


def _named(study: Study, names: Sequence[str] | str, option: str) -> list[str]:
    found = [names] if isinstance(names, str) else list(names)
    for name in found:
        if name in study.left_out:
            raise ConfigError(f"{option}: {name} cannot be simulated: {study.left_out[name]}")
        if name not in study.names:
            known = ", ".join(study.names)
            raise ConfigError(f"{option}: {name!r} is not in the data; there is {known}")
    return found


def _only(study: Study) -> list[str]:
    if len(study.names) > 1:
        raise ConfigError(f"run: not given, and there is {', '.join(study.names)}; expected which")
    return list(study.names)
