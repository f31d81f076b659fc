"""What `floatgate advise` predicts against the full simulations that it did not run.

The traces were chosen before any of them was run: the captures that fill their device several
times over. A full simulation plays every request on every page of a drive of as many erase units.
It goes on where `advise` ends, for twice as many loops, and the mean over these is what is held
against: from one loop to the next write amplification may change by more than a prediction errs.
Predictions are from eight sets of samples that share none; the first is what `advise` prints.
Seconds are those of the processor, for one prediction and for as many loops on the whole drive.

    .venv/bin/python benches/advise.py TRACE...
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import floatgate as fg
from floatgate import curves
from floatgate.advising.advice import SPARES
from floatgate.advising.sampled import (
    COUNTED,
    Requests,
    Steady,
    loops_of,
    requests_of,
    steady_states,
)
from floatgate.intervals import mean_and_half_width
from floatgate.traces.model import Trace

SETS = 8
"""Sets of samples, each with its own seeds."""

LONGER = 3
"""How many times as many loops the full simulation has."""

HEAD = (
    "| trace | spare | predicted | interval | full | error | worst | held | seconds "
    "| full, seconds |\n|---|---|---|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True)
class Held:
    """Predictions for one spare factor, held against the full simulation."""

    spare_factor: float
    predicted: list[Steady]
    """By each set of samples."""
    full: float
    half_width: float
    """Of the full simulation: half of the 95 % interval over its loops."""
    seconds: tuple[float, float]
    """Of the processor: a prediction's, and the full simulation's for as many loops."""

    @property
    def errors(self) -> list[float]:
        """Of each prediction, as a share of the full simulation."""
        return [state.write_amplification / self.full - 1 for state in self.predicted]

    @property
    def right(self) -> int:
        """Predictions whose interval holds the full simulation."""
        pairs = [(one.write_amplification, one.half_width) for one in self.predicted]
        return sum(abs(wa - self.full) <= half for wa, half in pairs)

    def cells(self) -> list[str]:
        """Of the table, all that does not depend on the machine."""
        first = self.predicted[0]
        wa, half = first.write_amplification, first.half_width
        worst = max(self.errors, key=abs)
        return [
            f"{self.spare_factor:.0%}",
            f"{wa:.3f}",
            f"{wa - half:.3f} to {wa + half:.3f}",
            f"{self.full:.3f} ± {self.half_width:.3f}",
            f"{self.errors[0]:+.1%}",
            f"{worst:+.1%}",
            f"{self.right} of {len(self.predicted)}",
        ]


def held(trace: Trace) -> Iterator[Held]:
    """The predictions for a trace, for each spare factor, and what they are held against."""
    whole = requests_of(trace)
    begun = time.process_time()
    seeds = [1 + at * whole.samples for at in range(SETS)]
    found = [steady_states(whole, SPARES, seed=seed) for seed in seeds]
    each = (time.process_time() - begun) / SETS / len(SPARES)
    for at, spare in enumerate(SPARES):
        begun = time.process_time()
        loops = full_loops(trace, whole, spare, LONGER * whole.loops)
        seconds = (time.process_time() - begun) / LONGER
        full, half = mean_and_half_width(loops[whole.loops :])
        assert full is not None and half is not None
        yield Held(spare, [states[at] for states in found], full, half, (each, seconds))


def full_loops(trace: Trace, whole: Requests, spare: float, loops: int) -> list[float]:
    """Write amplification of each loop of a trace on all pages of the drive."""
    unit = {"flash.pages_per_block": whole.unit_pages}
    sets = {**COUNTED, **unit, "capacity.spare_factor": spare}
    return loops_of(fg.run(trace, set=sets, repeat=loops), loops)


def main(files: list[str]) -> None:
    """A line for each trace and spare factor, with the time that either takes."""
    print(HEAD)
    for file in files:
        _, trace = curves.read_source(file, seed=1)
        name = Path(file).name.split(".")[0] if Path(file).exists() else file
        for one in held(trace):
            cells = [name, *one.cells(), *(f"{seconds:.1f}" for seconds in one.seconds)]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
