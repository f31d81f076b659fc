"""Pages of each owner, and the owners whose writes made cleaning copy them.

An owner is a placement handle if the drive obeys handles, else a stream of the placement.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from floatgate.result_types import OwnerPages

from .result import Result
from .tables import Cell, Table
from .values import count, ratio

NO_WRITE = "no write"
"""Name in place of a writer, for cleaning that no write of data caused."""

WRITERS = 8
"""Maximum number of owners that have a column in a table of copies."""


class Used(NamedTuple):
    """An owner with pages: its number, its name, and its pages."""

    number: int
    name: str
    pages: OwnerPages


class Copies(NamedTuple):
    """Pages of an owner that cleaning copied, by the write that they were copied for."""

    for_own: int
    """For writes of the same owner."""
    for_others: int
    """For writes of other owners."""
    for_none: int
    """While the host was idle, or for a page of the map."""


def kind(result: Result) -> str:
    """Returns the word for an owner."""
    return "handle" if result.setting("placement.scheme") == "host" else "stream"


def used(result: Result) -> list[Used]:
    """Returns the owners that have written pages or lost some to cleaning."""
    word = kind(result)
    owners = enumerate(result.placement.owners)
    return [Used(at, f"{word} {at}", one) for at, one in owners if one.host_pages or one.gc_pages]


def copies(owner: Used) -> Copies:
    *by_writer, for_none = owner.pages.gc_pages_for
    own = by_writer[owner.number]
    return Copies(own, sum(by_writer) - own, for_none)


def writers(result: Result) -> list[tuple[int, str]]:
    """Returns the owners for whose writes pages were copied: place in `gc_pages_for`, and name."""
    owners = result.placement.owners
    names = [*(f"{kind(result)} {at}" for at in range(len(owners))), NO_WRITE]
    return [
        (at, name)
        for at, name in enumerate(names)
        if any(owner.gc_pages_for[at] for owner in owners)
    ]


def owner_table(runs: Sequence[tuple[str, Result]]) -> Table:
    """Returns a row for each named run and owner: its pages by cause, and whose writes they were
    copied for.
    """
    columns = ["Run", "Owner", "Host pages", "Write amplification", "Copied by cleaning"]
    columns += ["For its own writes", "For other owners", "For no write"]
    columns += ["Moved to level wear", "Copied from the SLC cache", "Relabelled"]
    rows = []
    for name, result in runs:
        for owner in used(result):
            pages = owner.pages
            numbers = (pages.gc_pages, *copies(owner), pages.wear_pages, pages.fold_pages)
            cells = [Cell(name, name), Cell(owner.name, owner.name)]
            cells.append(Cell(count(pages.host_pages), pages.host_pages))
            cells.append(Cell(ratio(pages.write_amplification), pages.write_amplification))
            cells += [Cell(count(n), n) for n in (*numbers, pages.relabelled_pages)]
            rows.append(cells)
    return Table("Pages by owner", columns, rows, frozenset({0, 1}))


def copy_table(result: Result) -> Table | None:
    """Returns the pages of each handle, and the writes for which cleaning copied them. Returns None
    unless at least two handles have pages.
    """
    owners = used(result)
    if kind(result) != "handle" or len(owners) < 2:
        return None
    found = writers(result)
    columns = ["", "Host pages", "Write amplification", "Copied"]
    if len(found) <= WRITERS:
        columns += [f"For {name}" for _, name in found]
    else:
        columns += ["For its own writes", "For other handles", f"For {NO_WRITE}"]
    rows = []
    for owner in owners:
        pages = owner.pages
        split = [pages.gc_pages_for[at] for at, _ in found]
        parts = split if len(found) <= WRITERS else [*copies(owner)]
        cells = [Cell(owner.name, owner.name), Cell(count(pages.host_pages), pages.host_pages)]
        cells.append(Cell(ratio(pages.write_amplification), pages.write_amplification))
        rows.append([*cells, *(Cell(count(n), n) for n in (pages.gc_pages, *parts))])
    return Table("Pages by handle", columns, rows)
