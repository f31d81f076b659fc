"""`predict`: measured runs on a drive as it is, without a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..configs import Device
from .calibration import scales_document
from .study import Told
from .work import AtScale, Progress, Start, Work


@dataclass(frozen=True)
class Forecast:
    """Measured runs beside their simulation on a drive that was fitted to none of them."""

    kind: str
    drive: str
    data: tuple[str, ...]
    predicted: tuple[Told, ...]
    left_out: Mapping[str, str]
    """Runs that were not simulated, and why."""
    notes: tuple[str, ...]
    """What of the device the data take the place of, and what they leave open."""
    bases: Mapping[str, float]
    scale: float
    seed: int
    scales: tuple[AtScale, ...]
    """The runs that differ most at half and at double the scale: what the scale changes."""

    def document(self) -> dict[str, Any]:
        """All of it as a JSON document."""
        return asdict(self) | {"scales": scales_document(self.scales)}


def predict(
    data: Sequence[str | Path],
    *,
    device: Device,
    set: Mapping[str, Any] | None = None,
    size: str | None = None,
    run: Sequence[str] | None = None,
    scale: float | None = None,
    seed: int = 1,
    progress: Progress | None = None,
) -> Forecast:
    """Simulates measured runs on a drive as it is, and compares; nothing is fitted.

    Arguments are those of `calibrate`; `run` names the runs (default: all of them).

    Raises ConfigError for what is wrong with the data or the call.
    """
    work = Work(data, Start(device, set or {}, size), scale=scale, seed=seed, progress=progress)
    study = work.study
    runs = work.named(run, "run") if run else list(study.names)
    work.steps = len(runs) + 2 * len(study.extremes(runs))
    unused = [name for name in study.names if name not in runs]
    return Forecast(
        kind=study.kind,
        drive=study.drive,
        data=tuple(str(path) for path in data),
        predicted=tuple(work.tell(name, work.config) for name in runs),
        left_out=dict(study.left_out) | {name: "not asked for" for name in unused},
        notes=tuple(study.notes),
        bases=study.bases,
        scale=work.scale,
        seed=work.seed,
        scales=tuple(work.scales(runs, work.config)),
    )
