"""Floatgate: a flash laboratory.

import floatgate as fg
result = fg.run("hotcold:span=64MiB,r=0.9,f=0.1,writes=100k", device="classic")
result.write_amplification
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._core import Cancelled, ConfigError, RunError, __version__
    from .api import compare, compare_results, devices, policies, run
    from .comparison import Comparison
    from .curves import map_curve
    from .datasheet import DataSheet, measure_device
    from .hot_data import Hotness, hotness
    from .models import predict
    from .power import crash
    from .preconditioning import Preconditioned, precondition
    from .result import Result
    from .traces import Trace, TraceError, read_trace, trace_info

_HOMES = {
    "Cancelled": "_core",
    "Comparison": "comparison",
    "ConfigError": "_core",
    "DataSheet": "datasheet",
    "Hotness": "hot_data",
    "Preconditioned": "preconditioning",
    "Result": "result",
    "RunError": "_core",
    "Trace": "traces",
    "TraceError": "traces",
    "__version__": "_core",
    "compare": "api",
    "compare_results": "api",
    "crash": "power",
    "devices": "api",
    "hotness": "hot_data",
    "map_curve": "curves",
    "measure_device": "datasheet",
    "policies": "api",
    "precondition": "preconditioning",
    "predict": "models",
    "read_trace": "traces",
    "run": "api",
    "trace_info": "traces",
}

__all__ = [
    "Cancelled",
    "Comparison",
    "ConfigError",
    "DataSheet",
    "Hotness",
    "Preconditioned",
    "Result",
    "RunError",
    "Trace",
    "TraceError",
    "__version__",
    "compare",
    "compare_results",
    "crash",
    "devices",
    "hotness",
    "map_curve",
    "measure_device",
    "policies",
    "precondition",
    "predict",
    "read_trace",
    "run",
    "trace_info",
]


def __getattr__(name: str) -> Any:
    """Imports on first use: the command line's help must not wait for Polars."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
