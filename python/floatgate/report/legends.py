"""Legends of figures, and the note on runs that a figure leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from .figure import Figure, Legend
from .palette import slots
from .runs import Run
from .theme import RUN_COLOURS, SERIES


def say_missing(
    figure: Figure,
    found: Iterable[pl.DataFrame],
    runs: Sequence[Run],
    why: str,
    title: str = "",
) -> None:
    """Adds a note that names the runs missing from all frames, and the reason.

    If all runs are missing, the figure lists `title`, or itself, as absent instead.
    """
    present = {label for frame in found for label in frame["run"]}
    missing = [run.name for run in runs if run.label not in present]
    if not missing:
        return
    if len(missing) == len(runs):
        figure.absent.append((title or figure.title, why))
        return
    subject = f"{title}: not drawn" if title else "Not drawn"
    figure.reasons.append(f"{subject} for {some(missing)}: {why}.")


def some(names: Sequence[str]) -> str:
    """Returns the first few names, and the number of others."""
    shown = "; ".join(names[:4])
    return shown if len(names) <= 4 else f"{shown}; and {len(names) - 4} more"


def line_legend(drawn: Sequence[Run]) -> list[Legend]:
    """Returns the legend of the figure; empty if its plots do not share their colours."""
    return [] if len(drawn) < 2 or not shared(drawn) else entries(drawn)


def own_legend(drawn: Sequence[Run], group: Sequence[Run]) -> list[Legend]:
    """Returns the legend of a single plot; empty if the plots share the legend of the figure."""
    return [] if shared(drawn) else entries(group)


def series(drawn: Sequence[Run], group: Sequence[Run]) -> tuple[list[str], list[str]]:
    """Returns the domains of colours and line patterns for the plot of `group`."""
    runs = drawn if shared(drawn) else group
    return first([run.colour for run in runs]), first([run.dash for run in runs])


def shared(drawn: Sequence[Run]) -> bool:
    """Returns whether the colours suffice for all runs and so mean the same in every plot."""
    return len({run.colour for run in drawn}) <= SERIES


def entries(runs: Sequence[Run]) -> list[Legend]:
    colours, dashes = first([run.colour for run in runs]), first([run.dash for run in runs])
    entries = named(colours)
    if len(dashes) > 1:
        entries += [Legend(text, None, i) for i, text in enumerate(dashes)]
    return entries


def part_legend(found: Iterable[pl.DataFrame], names: Mapping[str, str]) -> list[Legend]:
    """Returns the bar parts that occur in the frames; `names` is by cause."""
    present = {part for frame in found for part in frame["part"]}
    shown = {name: slot for name, slot in slots(names).items() if name in present}
    return [Legend(name, f"series-{slot}") for name, slot in shown.items()]


def named(names: Iterable[str]) -> list[Legend]:
    """Returns the colours of runs, or of lines, in the order of the names."""
    return [Legend(name, colour) for name, colour in zip(names, RUN_COLOURS, strict=False)]


def first(values: Iterable[str]) -> list[str]:
    """Returns the different values in order of appearance."""
    return list(dict.fromkeys(values))


def span(found: Iterable[pl.DataFrame], column: str) -> tuple[float, float] | None:
    """Returns the least and the greatest value of a column over several frames."""
    values = [float(x) for frame in found for x in frame[column] if x is not None]
    return (min(values), max(values)) if values else None
