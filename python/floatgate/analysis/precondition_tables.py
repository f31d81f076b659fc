"""Results of preconditioning recipes, in words and tables."""

from __future__ import annotations

from floatgate.results.tables import Cell, Table
from floatgate.results.values import ABSENT, fixed, interval, measured, percent, ratio, size

from .preconditioning import Estimate, Judged, Preconditioned


def recipes_table(found: Preconditioned) -> Table:
    """Returns a row for each recipe.

    "Volumes" counts the drive capacities written by the recipe. "WA" is the write amplification of
    the workload's first window after the recipe. "Distance" and "Farthest" are the distances of the
    first and of the farthest window from the steady state. "Within" is the smallest level that no
    window exceeds.
    """
    titles = ["Recipe", "Volumes", "WA", "Distance", "Farthest", "Within"]
    rows = [
        [
            Cell(one.title),
            Cell(f"{one.volumes:.4g}", one.volumes),
            Cell(ratio(one.write_amplification.mean), one.write_amplification.mean),
            _distance(one.distance),
            Cell(ABSENT if one.farthest is None else f"{fixed(one.farthest, 2)} %", one.farthest),
            Cell(_within(one)),
        ]
        for one in found.recipes
    ]
    return Table("Recipes", titles, rows)


def shortest_table(found: Preconditioned) -> Table:
    """Returns, for each level, the recipe that writes least."""
    rows = []
    for level in found.shortest:
        one = shortest(found, level)
        cells = (ABSENT, ABSENT) if one is None else (one.title, f"{one.volumes:.4g}")
        rows.append([Cell(f"{level} %"), *map(Cell, cells)])
    return Table("Shortest recipe", ["Within", "Recipe", "Volumes"], rows, frozenset({0, 1}))


def shortest(found: Preconditioned, level: str) -> Judged | None:
    """Returns the recipe that writes least among those within a level."""
    return next((one for one in found.recipes if one.name == found.shortest[level]), None)


def steady_words(found: Preconditioned) -> str:
    """Returns the steady state with its interval, or "not found"."""
    state = found.steady.write_amplification
    if state is None:
        return "not found"
    return interval(state.mean, state.ci95, lambda value: fixed(value, 4))


def facts(found: Preconditioned) -> list[tuple[str, str]]:
    """Lists the measured drive, workload and steady state, and the method."""
    starts = "; ".join(
        f"{start.name} {ratio(start.write_amplification)}, "
        + ("not steady" if start.volumes is None else f"steady after {start.volumes}")
        for start in found.steady.starts
    )
    spare = percent(found.spare_factor)
    return [
        ("drive", f"{found.device}: {size(found.capacity_bytes)}, {found.units} erase units"),
        ("", f"spare factor {spare}"),
        ("workload", found.workload),
        ("steady state", f"write amplification {steady_words(found)}"),
        ("reached from", starts),
        ("runs", f"{found.seeds} seeds, {found.budget} volumes (drive capacities) each"),
        (
            "window",
            f"{found.window_volumes} volumes, known to {measured(found.steady.window_error)} %",
        ),
    ]


def _within(one: Judged) -> str:
    return next((f"{level} %" for level, is_within in one.within.items() if is_within), "no")


def _distance(distance: Estimate | None) -> Cell:
    if distance is None:
        return Cell(ABSENT)
    text = interval(distance.mean, distance.ci95, lambda value: fixed(value, 2))
    return Cell(f"{text} %", distance.mean)
