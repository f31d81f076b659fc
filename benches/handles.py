"""What placement handles are worth: the table of docs/handles.md.

    python benches/handles.py

Write amplification of four tenants on a drive of 64 MiB, alone in a handle or sharing one, with
either isolation and two victim policies; means of five seeds and 95 % intervals.
"""

from __future__ import annotations

import floatgate as fg
from floatgate.intervals import mean_and_half_width

SEEDS = range(1, 6)
TENANTS = "tenants:span=64MiB,tenants=4,ratio=2,writes=400k"
DRIVE = {"capacity.spare_factor": 0.15, "flash.pages_per_block": 64}
HANDLES = (1, 2, 4)


def main() -> None:
    for random in (0, 1, 2):
        for victim in ("greedy", "cost_benefit"):
            alone = amplification(f"{TENANTS},random={random}", victim, {})
            for isolation in ("initially", "persistently"):
                host = {
                    "placement.scheme": "host",
                    "placement.handles": 4,
                    "placement.isolation": isolation,
                }
                cells = [
                    amplification(f"{TENANTS},random={random},handles={handles}", victim, host)
                    for handles in HANDLES
                ]
                row = [f"{random} of 4", victim, alone, isolation, *cells]
                print(f"| {' | '.join(row)} |", flush=True)


def amplification(workload: str, victim: str, host: dict[str, object]) -> str:
    """The mean, and half of the interval."""
    sets = {**DRIVE, "cleaning.victim": victim, **host}
    runs = [fg.run(workload, set=sets, seed=seed).write_amplification for seed in SEEDS]
    mean, half = mean_and_half_width(runs)
    return f"{mean:.3f} ± {half:.3f}"


if __name__ == "__main__":
    main()
