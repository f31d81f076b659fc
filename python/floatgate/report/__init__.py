"""Reports: results as one HTML page that needs no network, and as picture files."""

from __future__ import annotations

from .page import write_report
from .pictures import write_pictures
from .tables import summary_rows

__all__ = ["summary_rows", "write_pictures", "write_report"]
