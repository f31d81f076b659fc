"""Reports: results as one HTML page that needs no network, and as picture files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .advice import write_advice
    from .hotness import write_hotness
    from .map_curve import write_map_curve
    from .page import write_report
    from .pictures import write_pictures
    from .preconditioning import write_precondition
    from .tables import summary_rows
    from .tour import write_tour
    from .tuning import write_tuned

__all__ = [
    "summary_rows",
    "write_advice",
    "write_hotness",
    "write_map_curve",
    "write_pictures",
    "write_precondition",
    "write_report",
    "write_tour",
    "write_tuned",
]

_HOMES = {
    "summary_rows": "tables",
    "write_advice": "advice",
    "write_hotness": "hotness",
    "write_map_curve": "map_curve",
    "write_pictures": "pictures",
    "write_precondition": "preconditioning",
    "write_report": "page",
    "write_tour": "tour",
    "write_tuned": "tuning",
}


def __getattr__(name: str) -> Any:
    """Imports on first use: a run without a report must not wait for the plotting libraries."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
