"""Shell commands that measure numbers which an advice only estimates."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floatgate.simulation.configs import Device
from floatgate.simulation.options import RunOptions

from .sampled import COUNTED, Requests

SCHEMES = "single,dac,sepbit,autostream,eti"
VICTIMS = "greedy,cat,cost_benefit"


@dataclass(frozen=True)
class Calls:
    """A trace and its read options, as words of a command line."""

    trace: str
    options: tuple[str, ...]
    close_gaps: tuple[str, ...]
    """Kept separate, because it changes times only."""

    @classmethod
    def of(cls, trace: Any, how: RunOptions) -> Calls:
        """Returns the words for a trace. A trace without a path or a generator text, such as a
        frame, is called TRACE.
        """
        words = {"--format": how.format, "--limit": how.limit}
        given = [(option, str(value)) for option, value in words.items() if value is not None]
        if how.seed != RunOptions().seed:
            given.append(("--seed", str(how.seed)))
        gaps = () if how.close_gaps is None else ("--close-gaps", how.close_gaps)
        named = str(trace) if isinstance(trace, str | Path) else "TRACE"
        return cls(named, tuple(word for pair in given for word in pair), gaps)

    def full(self, whole: Requests, spare_factor: float, loops: int) -> str:
        """Returns the command that plays all requests `loops` times on the whole drive."""
        return self._call("run", "--repeat", str(loops), *_drive(whole, spare_factor))

    def tuned(self, whole: Requests, spare_factor: float) -> str:
        """Returns the command that searches more schemes than an advice tries."""
        varied = {"placement.scheme": SCHEMES, "cleaning.victim": VICTIMS}
        words = [word for key, few in varied.items() for word in ("--vary", f"{key}={few}")]
        goal = ("--objective", "write_amplification", "--repeat", str(whole.loops))
        return self._call("tune", *goal, *_drive(whole, spare_factor), *words)

    def timed(self, device: Device, settings: Mapping[str, Any]) -> str:
        """Returns the command that plays the whole trace with time on the drive with `settings`,
        and reports causes of latency.
        """
        drive = "DEVICE" if isinstance(device, Mapping) else str(device)
        words = ("--device", drive, "--latencies", "full")
        return self._call("run", *self.close_gaps, *words, *_set(settings))

    def _call(self, command: str, *words: str) -> str:
        return shlex.join(["floatgate", command, self.trace, *self.options, *words])


def _drive(whole: Requests, spare_factor: float) -> list[str]:
    keys = {
        **COUNTED,
        "flash.pages_per_block": whole.unit_pages,
        "capacity.spare_factor": spare_factor,
    }
    return _set(keys)


def _set(keys: Mapping[str, Any]) -> list[str]:
    return [word for key, value in keys.items() for word in ("--set", f"{key}={value}")]
