"""Fitting a drive's config to measurements of a real drive, and predicting the others.

`measured`, `loads` and `fio` read data, `scaled` makes the drive that is simulated, `wa` and
`latency` hold it against the data, `work` runs both, `fit` searches, `verdict` refuses what
explains nothing, `drive_file` writes the drive down.
"""

from __future__ import annotations

from .calibration import Calibration, calibrate
from .forecast import Forecast, predict

__all__ = ["Calibration", "Forecast", "calibrate", "predict"]
