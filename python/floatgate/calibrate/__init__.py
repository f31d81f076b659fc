"""Fits a drive's config to measurements of a real drive, and predicts its other measurements.

`measured`, `loads` and `fio` read data. `scaled` makes the simulated drive. `wa` and `latency`
compare it with the data. `work` runs simulations for both. `fit` searches. `verdict` refuses a fit
that explains nothing. `drive_file` writes the fitted drive.
"""

from __future__ import annotations

from .calibration import Calibration, calibrate
from .forecast import Forecast, predict

__all__ = ["Calibration", "Forecast", "calibrate", "predict"]
