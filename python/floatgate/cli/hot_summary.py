"""Hot and cold data as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from floatgate.analysis import hot_tables
from floatgate.analysis.hotness import Hotness, gigabytes
from floatgate.results.values import count, fixed, percent, size

from .grids import Lines, fact_grid, print_messages
from .output import console
from .summary import print_table


def print_hotness(found: Hotness, told: Iterable[str]) -> None:
    """Prints Table 1 and Figures 1 and 2 of the paper, then skew, overwrites, sequentiality, notes.

    `told` has the notes already printed; they are skipped.
    """
    out = console()
    out.print()
    out.print(fact_grid(_measure(found)))
    if found.sequences:
        print_table(out, hot_tables.means_table(found))
        print_table(out, hot_tables.extents_table(found))
        out.print()
        out.print(fact_grid([*_skew(found), *_overwrites(found)]))
    print_table(out, hot_tables.runs_table(found, short=True))
    known = set(told)
    print_messages(out, [], [note for note in found.notes if note not in known])


def _measure(found: Hotness) -> Lines:
    yield "sequences", f"{count(found.sequences)} of {gigabytes(found.gb_bytes)} of writes"
    what = "every page touched" if found.rounding == "cover" else "whole pages only"
    yield "hot", f"{count(found.hot_from)} writes in a sequence or more; counted: {what}"


def _skew(found: Hotness) -> Lines:
    tops = {top.pages_share: percent(top.writes_share) for top in found.skew.top}
    texts = [f"{tops[share]} to {100 * share:g} %" for share in (0.01, 0.05, 0.1, 0.2)]
    yield "skew", f"of the page writes {', '.join(texts)} of the written pages"
    yield "", f"Gini coefficient of the writes per page {fixed(found.skew.gini, 3)}"


def _overwrites(found: Hotness) -> Lines:
    again = found.overwrites
    yield "overwrites", f"{percent(again.overwrites_share)} of the page writes"
    if again.overwrites:
        texts = [f"p{100 * at.quantile:g} {count(at.pages)}" for at in again.quantiles]
        yield "distance", f"in page writes: {', '.join(texts)}"
        (median,) = (at.pages for at in again.quantiles if at.quantile == 0.5)
        yield "", f"the median is {size((median or 0) * found.page_bytes)} of writes"
