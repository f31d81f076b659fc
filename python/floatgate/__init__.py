"""Floatgate: a flash laboratory.

import floatgate as fg
result = fg.run("hotcold:span=64MiB,r=0.9,f=0.1,writes=100k", device="classic")
result.write_amplification
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._core import (
        BufferShape,
        Cancelled,
        ConfigError,
        DriveShape,
        HostWrite,
        MapAccess,
        MapShape,
        Reclaimed,
        RunError,
        __version__,
    )
    from .advising.advice import advise
    from .advising.lines import Advice
    from .analysis.crash import crash
    from .analysis.datasheet import DataSheet, measure_device
    from .analysis.hotness import Hotness, hotness
    from .analysis.map_curve import map_curve
    from .analysis.preconditioning import Preconditioned, precondition
    from .api import compare, compare_results, devices, policies, run
    from .guests.base import PolicyError
    from .guests.buffer import BufferWrites, WriteBuffer
    from .guests.mapping import MapCounts, MapOp, Mapping
    from .guests.placement import HostWrites, MovedPages, Placement
    from .guests.victim import Candidates, Victim
    from .models import predict
    from .results.comparison import Comparison
    from .results.result import Result
    from .studies import Study, study
    from .traces import Trace, TraceError, read_trace, trace_info
    from .tuning.outcome import Tuned
    from .tuning.search import tune

_HOMES = {
    "Advice": "advising.lines",
    "BufferShape": "_core",
    "BufferWrites": "guests.buffer",
    "Cancelled": "_core",
    "Candidates": "guests.victim",
    "Comparison": "results.comparison",
    "ConfigError": "_core",
    "DataSheet": "analysis.datasheet",
    "DriveShape": "_core",
    "HostWrite": "_core",
    "HostWrites": "guests.placement",
    "Hotness": "analysis.hotness",
    "MapAccess": "_core",
    "MapCounts": "guests.mapping",
    "MapOp": "guests.mapping",
    "MapShape": "_core",
    "Mapping": "guests.mapping",
    "MovedPages": "guests.placement",
    "Placement": "guests.placement",
    "PolicyError": "guests.base",
    "Preconditioned": "analysis.preconditioning",
    "Reclaimed": "_core",
    "Result": "results.result",
    "RunError": "_core",
    "Study": "studies",
    "Trace": "traces",
    "TraceError": "traces",
    "Tuned": "tuning.outcome",
    "Victim": "guests.victim",
    "WriteBuffer": "guests.buffer",
    "__version__": "_core",
    "advise": "advising.advice",
    "compare": "api",
    "compare_results": "api",
    "crash": "analysis.crash",
    "devices": "api",
    "hotness": "analysis.hotness",
    "map_curve": "analysis.map_curve",
    "measure_device": "analysis.datasheet",
    "policies": "api",
    "precondition": "analysis.preconditioning",
    "predict": "models",
    "read_trace": "traces",
    "run": "api",
    "study": "studies",
    "trace_info": "traces",
    "tune": "tuning.search",
}

__all__ = [
    "Advice",
    "BufferShape",
    "BufferWrites",
    "Cancelled",
    "Candidates",
    "Comparison",
    "ConfigError",
    "DataSheet",
    "DriveShape",
    "HostWrite",
    "HostWrites",
    "Hotness",
    "MapAccess",
    "MapCounts",
    "MapOp",
    "MapShape",
    "Mapping",
    "MovedPages",
    "Placement",
    "PolicyError",
    "Preconditioned",
    "Reclaimed",
    "Result",
    "RunError",
    "Study",
    "Trace",
    "TraceError",
    "Tuned",
    "Victim",
    "WriteBuffer",
    "__version__",
    "advise",
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
    "study",
    "trace_info",
    "tune",
]


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
