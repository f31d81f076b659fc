"""Compares predictions of `floatgate advise` with the full simulations that it does not run.

We chose the traces before we ran any of them: the captures that fill their device several times
over. A full simulation plays every request on every page of a drive with the same number of erase
units. It continues where `advise` ends, for twice the loops. Predictions are compared with the mean
over these loops, because write amplification may change more between two loops than a prediction
errs. Each prediction uses one of eight disjoint sets of samples. `advise` prints the first one.
Times are processor seconds, for one prediction and for the same number of loops on the whole drive.

    .venv/bin/python benches/advise.py TRACE...
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import floatgate as fg
from floatgate.advising.advice import SPARES
from floatgate.advising.sampled import (
    COUNTED,
    Requests,
    Steady,
    loops_of,
    requests_of,
    steady_states,
)
from floatgate.analysis import map_curve
from floatgate.results.intervals import mean_and_half_width
from floatgate.traces.model import Trace

SETS = 8
"""Number of sample sets, each with its own seeds."""

LONGER = 3
"""Ratio of the full simulation's loops to the loops of a prediction."""

HEAD = (
    "| trace | spare | predicted | interval | full | error | worst | held | seconds "
    "| full, seconds |\n|---|---|---|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True)
class Held:
    """Predictions for one spare factor, and the full simulation to compare them with."""

    spare_factor: float
    predicted: list[Steady]
    """The prediction from each set of samples."""
    full: float
    half_width: float
    """Half of the full simulation's 95 % interval over its loops."""
    seconds: tuple[float, float]
    """Processor seconds of a prediction, and of the full simulation for the same number of
    loops."""

    @property
    def errors(self) -> list[float]:
        """Error of each prediction, as a share of the full simulation."""
        return [state.write_amplification / self.full - 1 for state in self.predicted]

    @property
    def right(self) -> int:
        """Number of predictions whose interval contains the full simulation."""
        pairs = [(one.write_amplification, one.half_width) for one in self.predicted]
        return sum(abs(wa - self.full) <= half for wa, half in pairs)

    def cells(self) -> list[str]:
        """Returns the cells of the table that do not depend on the machine."""
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
    """Yields the predictions for a trace and the full simulation, for each spare factor."""
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
    """Returns the write amplification of each loop of a trace on all pages of the drive."""
    unit = {"flash.pages_per_block": whole.unit_pages}
    sets = {**COUNTED, **unit, "capacity.spare_factor": spare}
    return loops_of(fg.run(trace, set=sets, repeat=loops), loops)


def main(files: list[str]) -> None:
    """Prints a row for each trace and spare factor, with the time of prediction and full
    simulation."""
    print(HEAD)
    for file in files:
        _, trace = map_curve.read_source(file, seed=1)
        name = Path(file).name.split(".")[0] if Path(file).exists() else file
        for one in held(trace):
            cells = [name, *one.cells(), *(f"{seconds:.1f}" for seconds in one.seconds)]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
