"""Floatgate: a flash laboratory.

import floatgate as fg
result = fg.run("hotcold:span=64MiB,r=0.9,f=0.1,writes=100k", device="classic")
result.write_amplification
"""

from __future__ import annotations

from typing import Any

_EXPORTS = {
    "_core": (
        "BufferShape",
        "Cancelled",
        "ConfigError",
        "DriveShape",
        "HostWrite",
        "MapAccess",
        "MapShape",
        "Reclaimed",
        "RunError",
        "__version__",
    ),
    "advising.advice": ("advise",),
    "advising.lines": ("Advice",),
    "analysis.crash": ("crash",),
    "analysis.datasheet": ("DataSheet", "measure_device"),
    "analysis.hotness": ("Hotness", "hotness"),
    "analysis.map_curve": ("map_curve",),
    "analysis.preconditioning": ("Preconditioned", "precondition"),
    "api": ("compare", "compare_results", "devices", "policies", "run"),
    "guests.base": ("PolicyError",),
    "guests.buffer": ("BufferWrites", "WriteBuffer"),
    "guests.mapping": ("MapCounts", "MapOp", "Mapping"),
    "guests.placement": ("HostWrites", "MovedPages", "Placement"),
    "guests.victim": ("Candidates", "Victim"),
    "models": ("predict",),
    "results.comparison": ("Comparison",),
    "results.result": ("Result",),
    "studies": ("Study", "study"),
    "traces": ("Trace", "TraceError", "read_trace", "trace_info"),
    "tuning.outcome": ("Tuned",),
    "tuning.search": ("tune",),
}
"""Public names, by the module that has them. `tools/exports.py` writes them to `__init__.pyi`, for
type checkers and editors.
"""

_HOMES = {name: module for module, names in _EXPORTS.items() for name in names}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    """Imports a public name on first use,
    so that the help of the command line need not load Polars.
    """
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
