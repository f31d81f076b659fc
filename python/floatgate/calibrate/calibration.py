"""`calibrate`: fits a drive's config to measurements; returns the drive and its errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from floatgate.files.reading import shown
from floatgate.simulation.configs import Device

from .._core import ConfigError
from . import keys
from .fit import Fit, Fitted, fit, rms
from .study import Config, Told
from .verdict import why_refused
from .work import AtScale, Progress, Start, Work

REST = "rest"
OTHER_SEEDS = 4
"""Number of simulations with other seeds that measure the effect of chance."""


@dataclass(frozen=True)
class Calibration:
    """Result of a fit: the fitted keys, and the errors on all runs."""

    kind: str
    drive: str
    data: tuple[str, ...]
    runs: tuple[str, ...]
    """Names of the runs that the drive was fitted to."""
    fit: Fit
    null_error: float | None
    """Error of the null model on the same runs, which a fit has to beat; see `verdict`."""
    refused: str | None
    """Reason why the fit explains nothing and must not be used; None for an accepted fit."""
    noise_from: str
    on_fitted: tuple[Told, ...]
    held_out: tuple[Told, ...]
    left_out: Mapping[str, str]
    """Runs neither fitted nor predicted, with the reason."""
    notes: tuple[str, ...]
    """Device values that the data replace, and questions that the data leave open."""
    bases: Mapping[str, float]
    scale: float
    seed: int
    scales: tuple[AtScale, ...]
    """Effect of the scale: the runs that differ most at half and at double the scale."""
    config: Config
    """Fitted drive, at its full size."""

    def document(self) -> dict[str, Any]:
        """Returns everything except the config as a JSON document."""
        document = asdict(self)
        del document["config"], document["fit"]
        document["noise"], document["error"] = self.fit.noise, self.fit.error
        document["indistinct"] = self.fit.indistinct
        document["evaluations"] = self.fit.evaluations
        document["fitted"] = [_document(one) for one in self.fit.fitted]
        document["scales"] = scales_document(self.scales)
        return document


def scales_document(scales: Sequence[AtScale]) -> list[dict[str, Any]]:
    """Returns runs at other scales, as in a JSON document."""
    return [{"scale": one.scale, "run": one.told.run, **one.told.numbers} for one in scales]


def _document(one: Fitted) -> dict[str, Any]:
    key, interval = one.key, one.interval
    as_good = interval and [key.text(interval.low), key.text(interval.high)]
    return {
        "key": key.name,
        "value": key.text(one.value),
        "searched": [key.text(key.low), key.text(key.high)],
        "as_good": as_good,
        "fixed_by_data": None if interval is None else not interval.is_open,
    }


def calibrate(
    data: Sequence[str | Path],
    *,
    device: Device,
    fit_keys: Sequence[str],
    set: Mapping[str, Any] | None = None,
    size: str | None = None,
    run: Sequence[str] | None = None,
    holdout: Sequence[str] | str = REST,
    scale: float | None = None,
    seed: int = 1,
    noise: float | None = None,
    intervals: bool = True,
    progress: Progress | None = None,
) -> Calibration:
    """Fits keys of a drive's config to measurements, and compares the drive with all other runs.

    `data` are files of one drive: write amplification over volumes or latency under load, as CSV
    with the columns that `docs/fitting.md` lists, or fio's JSON. `device` is the drive to begin
    with, at its full size, with the keys in `set` changed. Its size is `flash.blocks`, or `size`,
    the capacity that the host can address. `fit_keys` are texts KEY or KEY=LOW..HIGH.

    `run` names the runs to fit to; it may be left out if there is one run. `holdout` names the runs
    to predict, or is "rest". The simulated drive is smaller by the factor `scale`. `noise` is the
    relative difference between repeated measurements; by default, it is taken from repeated runs in
    the data. Without `intervals`, the search finds only the best values, which takes less time.

    A fit that explains nothing is returned with the reason in `Calibration.refused`.

    Raises `ConfigError` for an error in the data or the call.
    """
    if noise is not None and not 0 < noise < 1:
        raise ConfigError(f"noise: {noise} given; expected a share above 0 and below 1")
    start = Start(device, set or {}, size)
    work = Work(data, start, scale=scale, seed=seed, progress=progress)
    study = work.study
    runs = work.named(run, "run") if run else _only(study.names)
    others = [name for name in study.names if name not in runs]
    held = others if holdout == REST else work.named(holdout, "holdout")
    if both := [name for name in held if name in runs]:
        raise ConfigError(f"holdout: {', '.join(both)} is also fitted to; expected another run")
    fit_to, notes = _keys(work, fit_keys, start)
    noise_at = _Noise(work, runs, noise)
    fitted = fit(
        fit_to,
        lambda settings: work.residuals(runs, settings),
        noise_at.noise,
        intervals=intervals,
    )
    return _calibration(
        work, data, runs=runs, held=held, fitted=fitted, noise_from=noise_at.source, notes=notes
    )


def _calibration(
    work: Work,
    data: Sequence[str | Path],
    *,
    runs: Sequence[str],
    held: Sequence[str],
    fitted: Fit,
    noise_from: str,
    notes: Sequence[str],
) -> Calibration:
    """Compares the fitted drive with all runs."""
    study = work.study
    config = work.resolve(fitted.settings)
    null = study.null(runs)
    unused = [name for name in study.names if name not in (*runs, *held)]
    return Calibration(
        kind=study.kind,
        drive=study.drive,
        data=tuple(shown(path) for path in data),
        runs=tuple(runs),
        fit=fitted,
        null_error=null,
        refused=why_refused(fitted, null, study.null_model),
        noise_from=noise_from,
        on_fitted=tuple(work.tell(run, config) for run in runs),
        held_out=tuple(work.tell(run, config) for run in held),
        left_out=dict(study.left_out) | {name: "not asked for" for name in unused},
        notes=(*study.notes, *notes),
        bases=study.bases,
        scale=work.scale,
        seed=work.seed,
        scales=tuple(work.scales([*runs, *held], config)),
        config=study.drive_config(config),
    )


def _keys(work: Work, texts: Sequence[str], start: Start) -> tuple[list[keys.Key], list[str]]:
    """Returns the keys to fit, and notes about their values in the device."""
    parsed = [keys.parse(text, work.resolve) for text in texts]
    names = [key.name for key in parsed]
    if not names or len({*names}) < len(names):
        raise ConfigError(f"fit: {', '.join(texts) or 'nothing'}; expected different keys")
    if "flash.blocks" in names:
        raise ConfigError(
            "fit: flash.blocks follows from the capacity and the spare; expected "
            "capacity.spare_factor"
        )
    for name in names:
        if name in start.set:
            raise ConfigError(f"fit: {name} is also set, to {start.set[name]}; expected one")
        if why := work.study.why_idle(name):
            raise ConfigError(f"fit: {name} changes nothing: {why}; expected another key")
    lists = {name: value for name in names if isinstance(value := _value(work, name), list)}
    return parsed, [
        f"{name} of the device is a list, {value}; what is fitted is one value for all of it"
        for name, value in lists.items()
    ]


def _value(work: Work, name: str) -> Any:
    table, _, key = name.partition(".")
    return work.config[table].get(key)


class _Noise:
    """Difference between repeated runs, with its source."""

    def __init__(self, work: Work, runs: Sequence[str], given: float | None) -> None:
        self._work, self._runs, self._given = work, runs, given
        self.source = work.study.noise_from if given is None else "given"

    def noise(self, settings: Mapping[str, str]) -> float:
        """Returns the given noise, or the noise of the data or of simulations with other seeds."""
        if self._given is not None:
            return self._given
        first = self._work.residuals(self._runs, settings)
        seeds = range(1, OTHER_SEEDS + 1)
        others = [self._work.residuals(self._runs, settings, seed) for seed in seeds]
        noise = rms([a - b for other in others for a, b in zip(first, other, strict=True)])
        if noise <= self._work.study.noise:
            return self._work.study.noise
        self.source = f"simulations with {OTHER_SEEDS} other seeds"
        return noise


def _only(names: Sequence[str]) -> list[str]:
    if len(names) > 1:
        raise ConfigError(
            f"run: not given, and there is {', '.join(names)}; expected one or more of these"
        )
    return list(names)
