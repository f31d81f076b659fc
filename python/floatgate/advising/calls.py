"""The commands that measure what an advice only estimates, as a shell takes them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floatgate.configs import Device
from floatgate.run_options import RunOptions

from .sampled import COUNTED, Requests

SCHEMES = "single,dac,sepbit,autostream,eti"
VICTIMS = "greedy,cat,cost_benefit"


@dataclass(frozen=True)
class Calls:
    """A trace, and how it was read, in the words of a command line."""

    trace: str
    options: tuple[str, ...]
    close_gaps: tuple[str, ...]
    """Apart, as it changes times alone."""

    @classmethod
    def of(cls, trace: Any, how: RunOptions) -> Calls:
        """What is neither a path nor a generator's text, such as a frame, is called TRACE."""
        words = {"--format": how.format, "--limit": how.limit}
        given = [(option, str(value)) for option, value in words.items() if value is not None]
        if how.seed != RunOptions().seed:
            given.append(("--seed", str(how.seed)))
        gaps = () if how.close_gaps is None else ("--close-gaps", how.close_gaps)
        named = str(trace) if isinstance(trace, str | Path) else "TRACE"
        return cls(named, tuple(word for pair in given for word in pair), gaps)

    def full(self, whole: Requests, spare_factor: float, loops: int) -> str:
        """Every request on every page of a drive of as many units, over and over."""
        return self._call("run", "--repeat", str(loops), *_drive(whole, spare_factor))

    def tuned(self, whole: Requests, spare_factor: float) -> str:
        """A search among more schemes than an advice tries."""
        varied = {"placement.scheme": SCHEMES, "cleaning.victim": VICTIMS}
        words = [word for key, few in varied.items() for word in ("--vary", f"{key}={few}")]
        goal = ("--objective", "write_amplification", "--repeat", str(whole.loops))
        return self._call("tune", *goal, *_drive(whole, spare_factor), *words)

    def timed(self, device: Device) -> str:
        """With time, on the drive itself, and why requests are slow."""
        drive = "DEVICE" if isinstance(device, Mapping) else str(device)
        words = ("--device", drive, "--latencies", "full")
        return self._call("run", *self.close_gaps, *words)

    def _call(self, command: str, *words: str) -> str:
        return shlex.join(["floatgate", command, self.trace, *self.options, *words])


def _drive(whole: Requests, spare_factor: float) -> list[str]:
    keys = {
        **COUNTED,
        "flash.pages_per_block": whole.unit_pages,
        "capacity.spare_factor": spare_factor,
    }
    return [word for key, value in keys.items() for word in ("--set", f"{key}={value}")]
