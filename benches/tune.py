"""Compares `floatgate tune` with random search of the same length: the best write amplification.

For each trace, both samplers run with the same seeds. The bench prints the median over the seeds,
and how often the estimator (`tpe`) is better. The search varies placement, victim policy, and their
parameters.

    .venv/bin/python benches/tune.py [--aged] TRACE...

With `--aged` the drive was overwritten at random first, and a shorter section of the trace is
played: for traces whose own writes cause little cleaning.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from statistics import median

import floatgate as fg

TRIALS = 30
SEEDS = (1, 2, 3, 4, 5)
SAMPLERS = ("tpe", "random")
LIMIT = 300_000
"""Requests of a trace, so that the whole bench takes minutes."""

DRIVE = {"timing": "none", "flash.pages_per_block": 256, "capacity.spare_factor": 0.07}
VARY = {
    "placement.scheme": "single,dac,sepbit,autostream,eti,mbf",
    "placement.gc_destination": "scheme,cold",
    "cleaning.victim": "greedy,fifo,cost_benefit,cat,d_choices",
    "dac.regions": "2..12",
    "sepbit.units": "1..64:log",
    "autostream.chunk": "64KiB..4MiB",
    "d_choices.d": "2..64:log",
}

AGED = {"start.fill": "random"}
AGED_LIMIT = 40_000


def read(file: str | Path, *, is_aged: bool) -> fg.Trace:
    """Returns the section of a trace that the searches play."""
    return fg.read_trace(file, limit=AGED_LIMIT if is_aged else LIMIT)


def search(trace: fg.Trace, *, sampler: str, seed: int, is_aged: bool) -> fg.Tuned:
    """Runs one search."""
    return fg.tune(
        trace,
        objective="write_amplification",
        vary=VARY,
        set={**DRIVE, **AGED} if is_aged else DRIVE,
        trials=TRIALS,
        seed=seed,
        sampler=sampler,
    )


def main(arguments: list[str]) -> None:
    """Prints a row for each trace and seed, then the medians."""
    is_aged = "--aged" in arguments
    for file in (one for one in arguments if one != "--aged"):
        trace = read(file, is_aged=is_aged)
        best: dict[str, list[float]] = {sampler: [] for sampler in SAMPLERS}
        for seed in SEEDS:
            for sampler, found in best.items():
                begun = time.perf_counter()
                tuned = search(trace, sampler=sampler, seed=seed, is_aged=is_aged)
                states = [one.state for one in tuned.trials]
                (value,) = tuned.best.values or (0.0,)
                found.append(value)
                goal = tuned.goals[0]
                print(
                    f"{Path(file).name} {sampler} seed {seed}: {value:.4f}, default "
                    f"{goal.default:.4f}, bound {goal.bound}, pruned {states.count('pruned')} of "
                    f"{TRIALS}, {time.perf_counter() - begun:.0f} s, {tuned.best.settings}",
                    flush=True,
                )
        pairs = list(zip(best["tpe"], best["random"], strict=True))
        told = ", ".join(f"{name} {median(found):.4f}" for name, found in best.items())
        wins, ties = sum(a < b for a, b in pairs), sum(a == b for a, b in pairs)
        print(f"{Path(file).name}: medians {told}; tpe better {wins}, equal {ties} of {len(pairs)}")


if __name__ == "__main__":
    main(sys.argv[1:])
