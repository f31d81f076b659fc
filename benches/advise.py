"""What `floatgate advise` predicts against the full simulations that it did not run.

The traces were chosen before any of them was run: the captures that fill their device several
times over. A full simulation plays every request on every page of a drive of as many erase units,
as often as `advise` loops its sample, and is measured over the same last third. Seconds are those
of the processor.

    .venv/bin/python benches/advise.py TRACE...
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import floatgate as fg
from floatgate import curves
from floatgate.advising.sampled import COUNTED, loops_of, requests_of, steady_states, thirds

SPARES = (0.07, 0.15, 0.28)


def main(files: list[str]) -> None:
    """A line for each trace and spare factor, with the time that either takes."""
    print("| trace | spare | predicted | interval | full | error | seconds | full, seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for file in files:
        _, trace = curves.read_source(file, seed=1)
        begun = time.process_time()
        whole = requests_of(trace)
        found = steady_states(whole, SPARES)
        took = (time.process_time() - begun) / len(SPARES)
        for state in found:
            begun = time.process_time()
            unit = {"flash.pages_per_block": whole.unit_pages}
            sets = {**COUNTED, **unit, "capacity.spare_factor": state.spare_factor}
            full, _ = thirds(loops_of(fg.run(trace, set=sets, repeat=whole.loops), whole.loops))
            seconds = time.process_time() - begun
            wa, half = state.write_amplification, state.half_width or 0.0
            print(
                f"| {Path(file).name} | {state.spare_factor:.0%} | {wa:.3f} "
                f"| {wa - half:.3f} to {wa + half:.3f} | {full:.3f} | {wa / full - 1:+.1%} "
                f"| {took:.1f} | {seconds:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
