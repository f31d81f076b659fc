"""Options of a run outside the config, in one object that passes from the caller to the engine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

ADDRESSES = ("fold", "span", "modulo")
"""How the devices of a trace become one address space;
`floatgate.traces.layout` implements the modes.
"""

STREAMS = ("trace", "device")
"""Sources of a request's placement handle: the column `stream` of the trace, if it has one, or the
number of its device.
"""

READING = ("format", "close_gaps")
"""Options of reading, which apply to files only."""


_MOST = (1 << 63) - 1
"""Largest count, as tables of results have signed numbers of 64 bits."""


@dataclass(frozen=True)
class RunOptions:
    """Options for reading and playing a trace. `floatgate.run` documents each option.

    Raises ConfigError, or TraceError for `close_gaps`, if a value is out of its range.
    """

    repeat: int = 1
    """How often the trace is played, from 1."""
    limit: int | None = None
    """Number of requests to keep, from the first; None keeps all."""
    seed: int = 1
    """Seed of every random choice: 0 to 2^64 - 1."""
    addresses: str = "fold"
    """How the devices of a trace become one address space: one of `ADDRESSES`."""
    time_scale: float = 1.0
    """Multiplies the time between requests; above 0."""
    verify: bool = False
    """Keeps and checks the content of every page."""
    format: str | None = None
    """Format of the trace; None recognises it."""
    close_gaps: str | None = None
    """Duration to which longer gaps between two requests are shortened."""
    streams: str = "trace"
    """Source of placement handles: one of `STREAMS`."""
    start_cache: str | Path | None = None
    """Directory from which start states are read, and where they are kept."""
    units: int | None = None
    """Approximate number of erase units; from 8."""
    full_size: bool = False
    """Keeps the erase units of the device, however large they are."""

    def __post_init__(self) -> None:
        self._expect(1 <= self.repeat <= _MOST, "repeat", "1 to 2^63 - 1")
        limited = self.limit is None or 1 <= self.limit <= _MOST
        self._expect(limited, "limit", "1 to 2^63 - 1 requests")
        self._expect(0 <= self.seed < 1 << 64, "seed", "0 to 2^64 - 1")
        self._expect(self.addresses in ADDRESSES, "addresses", " or ".join(ADDRESSES))
        self._expect(self.streams in STREAMS, "streams", " or ".join(STREAMS))
        self._expect(self.units is None or self.units >= 8, "units", "at least 8")
        both = self.units is not None and self.full_size
        self._expect(not both, "full_size", "only one of `full_size` and `units`")
        scale = self.time_scale
        self._expect(math.isfinite(scale) and scale > 0, "time_scale", "a number above 0")
        if self.close_gaps is not None:
            from floatgate.traces.gaps import parse_duration

            parse_duration(self.close_gaps)

    def _expect(self, holds: bool, name: str, expected: str) -> None:
        if not holds:
            from floatgate._core import ConfigError

            raise ConfigError(f"{name}: {getattr(self, name)!r} given; expected {expected}")

    def refuse(self, names: Sequence[str], why: str) -> None:
        """Raises ConfigError if one of these options is given in a call where it has no meaning."""
        for option in fields(self):
            given = getattr(self, option.name)
            if option.name in names and given != option.default:
                from floatgate._core import ConfigError

                raise ConfigError(f"{option.name}: {given!r} given, but {why}")

    def refuse_modulo(self) -> None:
        """Raises ConfigError for addresses that wrap onto a drive."""
        self._expect(self.addresses != "modulo", "addresses", "fold or span")
