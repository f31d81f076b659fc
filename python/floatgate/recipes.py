"""Recipes of preconditioning: what is written to a drive before it is measured."""

from __future__ import annotations

from dataclasses import dataclass

FILL = 128 << 10
"""Bytes of a request that fills: as fio and SNIA's specification have it."""


@dataclass(frozen=True)
class Recipe:
    """What is written before the workload, from an erased drive."""

    name: str
    title: str
    play: str
    """Generators, as `start.play` has them; empty where nothing is written."""
    volumes: float
    """Drive capacities that these write."""
    own_volumes: float | None = 0.0
    """Drive capacities of the workload itself that belong to the recipe, too. None: until SNIA's
    steady state."""


def all_recipes(capacity: int, page: int) -> list[Recipe]:
    """All recipes for a drive of `capacity` bytes, a multiple of `FILL`, with pages of `page`."""
    fill = f"sequential:span={capacity},size={FILL},writes={capacity // FILL}"
    once = f"span={capacity},size={page},writes={{}}"
    pages = capacity // page
    shuffled = "shuffled:" + once.format(pages)
    over = {n: f"{fill}; uniform:{once.format(n * pages)}" for n in (1, 2, 4)}
    return [
        Recipe("erased", "erased", "", 0),
        Recipe("fill", "sequential fill", fill, 1),
        Recipe("fill-twice", "fill twice", f"{fill}; {fill}", 2),
        *(
            Recipe(f"fill-random-{n}", f"fill, {n}x random writes", play, 1 + n)
            for n, play in over.items()
        ),
        Recipe("shuffled", "random fill", shuffled, 1),
        Recipe("snia", "SNIA: fill twice, rounds", f"{fill}; {fill}", 2, None),
        *(Recipe(f"workload-{n}", f"{n}x the workload", "", 0, n) for n in (1, 2, 4)),
        *(Recipe(f"fill-workload-{n}", f"fill, {n}x the workload", fill, 1, n) for n in (1, 2, 4)),
    ]


def worn_evenly(capacity: int, page: int, spare_factor: float) -> str:
    """A fill, and then single pages at equal distances until the spare is used up.

    All units have equally many invalid pages and none is free: write amplification begins above
    that of the steady state, where after a fill it begins below.
    """
    fill = f"sequential:span={capacity},size={FILL},writes={capacity // FILL}"
    pages = capacity // page
    stride = max(2, round((1 - spare_factor) / spare_factor))
    return (
        f"{fill}; sequential:span={capacity},size={page},stride={stride},writes={pages // stride}"
    )
