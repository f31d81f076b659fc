"""Fitting a drive's config to measurements of a real drive, and predicting the others.

`measured` and `latency` read data, `scaled` makes the drive that is simulated, `wa` and `latency`
hold it against the data, `fit` searches, `drive_file` writes the drive down.
"""

from __future__ import annotations

from .calibration import Calibration, calibrate

__all__ = ["Calibration", "calibrate"]
