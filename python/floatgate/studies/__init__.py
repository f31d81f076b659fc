"""Studies: large sweeps on one machine or many, whose results are a Parquet dataset."""

from __future__ import annotations

from .dataset import Dataset
from .running import Study, study

__all__ = ["Dataset", "Study", "study"]
