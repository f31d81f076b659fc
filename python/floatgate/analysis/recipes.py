"""Recipes of preconditioning: writes to a drive before it is measured."""

from __future__ import annotations

from dataclasses import dataclass

from floatgate import _core

FILL = 128 << 10
"""Bytes of a fill request, as in fio and SNIA's specification."""


@dataclass(frozen=True)
class Recipe:
    """Writes to an erased drive before the workload."""

    name: str
    title: str
    play: str
    """Generators in the form of `start.play`; empty if nothing is written."""
    volumes: float
    """Drive capacities that these generators write."""
    own_volumes: float | None = 0.0
    """Drive capacities of the workload itself that also belong to the recipe.

    None: until SNIA's steady state.
    """


def all_recipes(capacity: int, page: int) -> list[Recipe]:
    """Returns all recipes for a drive of `capacity` bytes, a multiple of `FILL`,
    with pages of `page`.
    """
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
    """Returns a fill, followed by single pages at equal distances until the spare is used up.

    All units then have equally many invalid pages, and none is free. Write amplification therefore
    begins above its steady level; after a fill it begins below.
    """
    fill = f"sequential:span={capacity},size={FILL},writes={capacity // FILL}"
    pages = capacity // page
    stride = max(2, round((1 - spare_factor) / spare_factor))
    return (
        f"{fill}; sequential:span={capacity},size={page},stride={stride},writes={pages // stride}"
    )


def whole(capacity: int) -> int:
    """Returns a capacity rounded down to whole fill requests."""
    if capacity < FILL:
        raise _core.ConfigError(f"the drive has {capacity} bytes; expected at least {FILL}")
    return capacity // FILL * FILL
