"""Compares write amplification of external policies and built-in placements: a table of the docs.

    python benches/guests.py [DIRECTORY OF CAPTURES]

The drives have no clock, and were filled in random order. Generators write about 25 times their
span of 32 MiB. From captures, only the first 100,000 requests are used, on units of 512 pages to
keep the number of units small.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import floatgate as fg

POLICIES = {
    "single": ("single", "greedy"),
    "SepBIT": ("sepbit", "greedy"),
    "DAC": ("dac", "greedy"),
    "2R-Greedy": ("python:2r", "greedy"),
    "2R-FIFO": ("python:2r", "python:2r-fifo"),
    "MiDAS": ("python:midas", "python:midas"),
}
GENERATORS = {
    "uniform": "uniform:span=32MiB,writes=200k",
    "zipf, theta 0.8": "zipf:span=32MiB,theta=0.8,writes=200k",
    "hotcold, 90 % to 10 %": "hotcold:span=32MiB,r=0.9,f=0.1,writes=200k",
}
CAPTURES = {
    "pgbench": "capture-pgbench-ext4-656k.csv.zst",
    "postmark": "capture-postmark-f2fs-996k.csv.zst",
}
SPARE = {"7 %": 0.07, "15 %": 0.15}
SETS: dict[str, Any] = {"timing": "none", "start.fill": "random"}


def row(name: str, spare: str, captures: Path | None = None) -> str:
    """Returns a row of the table: write amplification over the whole workload under each policy."""
    found = []
    for placement, victim in POLICIES.values():
        policies = {"placement.scheme": placement, "cleaning.victim": victim}
        sets = {**SETS, **policies, "capacity.spare_factor": SPARE[spare]}
        if name in GENERATORS:
            result = fg.run(GENERATORS[name], set=sets)
        else:
            assert captures is not None
            few = {**sets, "flash.pages_per_block": 512}
            result = fg.run(captures / CAPTURES[name], set=few, limit=100_000)
        found.append(f"{result.write_amplification:.3f}")
    return f"| {name} | {spare} | {' | '.join(found)} |"


def main() -> None:
    """Prints the table, row by row."""
    print(f"| workload | spare | {' | '.join(POLICIES)} |")
    captures = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    for name in [*GENERATORS, *(CAPTURES if captures else ())]:
        for spare in SPARE:
            print(row(name, spare, captures), flush=True)


if __name__ == "__main__":
    main()
