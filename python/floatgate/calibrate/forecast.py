"""`predict`: simulates measured runs on a given drive, without a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from floatgate.files.reading import shown
from floatgate.simulation.configs import Device

from .calibration import scales_document
from .study import Told
from .work import AtScale, Progress, Start, Work


@dataclass(frozen=True)
class Forecast:
    """Measured runs next to their simulation on a drive that was fitted to none of them."""

    kind: str
    drive: str
    data: tuple[str, ...]
    predicted: tuple[Told, ...]
    left_out: Mapping[str, str]
    """Runs that were not simulated, with the reason."""
    notes: tuple[str, ...]
    """Device values that the data replace, and questions that the data leave open."""
    bases: Mapping[str, float]
    scale: float
    seed: int
    scales: tuple[AtScale, ...]
    """Effect of the scale: the runs that differ most at half and at double the scale."""

    def document(self) -> dict[str, Any]:
        """Returns everything as a JSON document."""
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
    """Simulates measured runs on the drive as given, and compares them; fits nothing.

    The arguments are the same as in `calibrate`; `run` names the runs (default: all).

    Raises `ConfigError` for an error in the data or the call.
    """
    work = Work(data, Start(device, set or {}, size), scale=scale, seed=seed, progress=progress)
    study = work.study
    runs = work.named(run, "run") if run else list(study.names)
    work.steps = len(runs) + 2 * len(study.extremes(runs))
    unused = [name for name in study.names if name not in runs]
    return Forecast(
        kind=study.kind,
        drive=study.drive,
        data=tuple(shown(path) for path in data),
        predicted=tuple(work.tell(name, work.config) for name in runs),
        left_out=dict(study.left_out) | {name: "not asked for" for name in unused},
        notes=tuple(study.notes),
        bases=study.bases,
        scale=work.scale,
        seed=work.seed,
        scales=tuple(work.scales(runs, work.config)),
    )
