"""Claims of the WARP paper, each with the open parameters over which it is tested.

A printed write amplification of W is compared as W - 1, the copies per page: 1.05 and 1.2 differ by
a factor of four, not by a seventh.
"""

from __future__ import annotations

from dataclasses import replace

from floatgate.papers.kit.claims import (
    AnyClaim,
    At,
    Claim,
    Measure,
    Values,
    change,
    inferred,
    own,
    stated,
    unchecked,
)
from floatgate.papers.kit.measures import EFFECT, LESS, MORE, Of, ratio, relative
from floatgate.papers.kit.verdicts import Region

from .domain import (
    CACHE,
    FDP,
    INITIALLY,
    LAWS,
    MIXED,
    NEIGHBOUR,
    NO_FDP,
    ON_SSD_A,
    ONE_A,
    ONE_B,
    PERSISTENTLY,
    TWO,
    TWO_IN_ORDER,
    UNIFORM,
    ZIPF_12,
    ZIPF_22,
    ZONED,
)
from .reduce import Point

WASTE = "write_amplification"
EMULATOR = ("victim", "ahead", "relabel")
"""Open axes of WARP_A2. Its logs state the shares of the jobs, and its label the spare space. Its
reclaim unit, 1/3584 of the namespace, is scaled to 1/448."""
REAL = ("share", "victim", "ahead")
SPACE = ("spare", "unit", "moved")
FREE, COSTLY = 0.03, 0.2
"""Maximum copies per page of streams that cost nothing, and minimum of costly streams. Four logs
have a write amplification of 1.02 with a drive each, and of 1.6 on one drive (Mazzie and Shirode,
2023)."""


def in_copies(copies: float) -> str:
    """Formats copies per page of the host."""
    return f"{copies:.3f}"


def _in_paper(number: float) -> str:
    """Formats a printed write amplification."""
    return f"{number - 1:.3g} (WA {number:g})"


def _in_words(number: float) -> str:
    copies = f"{number - 1:.3g}"
    return f"{copies} {'copy' if copies == '1' else 'copies'} per page written"


def _copies(workload: str, line: str) -> Measure[Point]:
    return lambda at: {"": at(workload, line).write_amplification - 1}


def _near(copies: float) -> Region:
    """Returns the region around a measured value. Neither side of it is more than claimed."""
    return replace(Region.about(copies), beyond="")


def _printed(key: str, drive: str, workload: str, line: str, number: float) -> Claim[Point]:
    law, *_ = workload.split(" on ")
    cell = f"{drive}, 3-stream, {law}, {line}: {number:g}"
    return Claim(
        key,
        f"Three streams, {law}, {line}, {drive}: {_in_words(number)}",
        stated("Table 2", _in_paper(number), cell),
        EMULATOR if drive == "WARP_A2" else REAL,
        (workload,),
        (line,),
        _copies(workload, line),
        _near(number - 1),
        in_copies,
    )


def _plateau(key: str, drive: str, workload: str, number: float) -> Claim[Point]:
    return Claim(
        key,
        f"One stream, {drive}: {_in_words(number)}",
        stated("Figure 2", _in_paper(number), f"{drive}, 1-stream: plateau at {number:g}"),
        ("victim", "ahead"),
        (workload,),
        (NO_FDP,),
        _copies(workload, NO_FDP),
        _near(number - 1),
        in_copies,
    )


STATED = (
    _printed("zipf-fdp", "WARP_A2", ZIPF_22, FDP, 1.05),
    _printed("zipf-mixed", "WARP_A2", ZIPF_22, MIXED, 2.19),
    _printed("zipf-none", "WARP_A2", ZIPF_22, NO_FDP, 2.48),
    _printed("ssd-zipf-fdp", "SSD_A", ON_SSD_A[ZIPF_22], FDP, 1.03),
    _printed("ssd-zipf-mixed", "SSD_A", ON_SSD_A[ZIPF_22], MIXED, 1.03),
    _printed("ssd-zipf-none", "SSD_A", ON_SSD_A[ZIPF_22], NO_FDP, 1.6),
    _printed("ssd-8020-fdp", "SSD_A", ON_SSD_A[ZONED], FDP, 1.69),
    _plateau("one-a", "SSD_A", ONE_A, 2.0),
    _plateau("one-b", "SSD_B", ONE_B, 3.5),
)


def _change(workloads: tuple[str, ...], line: str, base: str) -> Measure[Point]:
    """Measures the relative change of write amplification from the base line."""
    of: Of[Point] = relative(WASTE, line, base)
    return lambda at: {workload: of(at, workload) for workload in workloads}


def _than_uniform(at: At[Point]) -> Values:
    """Returns how much more handles save with each law than with uniform writes."""
    saved: Of[Point] = ratio(WASTE, FDP, NO_FDP)
    return {law: saved(at, UNIFORM) - saved(at, law) for law in LAWS if law != UNIFORM}


def _cache_pays(line: str, base: tuple[str, str]) -> Measure[Point]:
    """Measures the relative change of the cache's write amplification with the neighbour."""

    def measure(at: At[Point]) -> Values:
        ours, theirs = at(NEIGHBOUR, line), at(*base)
        return {"": ours.cache_amplification / theirs.cache_amplification - 1}

    return measure


def _compared(
    key: str,
    text: str,
    paper: str,
    axes: tuple[str, ...],
    workloads: tuple[str, ...],
    lines: tuple[str, str],
    where: str,
) -> Claim[Point]:
    """Returns the claim that the first line has less write amplification than the second."""
    measure = _change(workloads, *lines)
    return Claim(key, text, inferred(where, paper), axes, workloads, lines, measure, LESS)


_TWO = tuple(TWO.values())
_LAWS = tuple(LAWS)

CLAIMS = (
    *STATED,
    _compared(
        "handles",
        "Three streams have less write amplification with a handle each than without handles",
        "less",
        ("share", *EMULATOR),
        _LAWS,
        (FDP, NO_FDP),
        "Table 2",
    ),
    _compared(
        "mixed-worse",
        "Sharing a handle with the jumper costs: more write amplification than with a handle each",
        "more",
        ("share", *EMULATOR),
        _LAWS,
        (FDP, MIXED),
        "Table 2",
    ),
    _compared(
        "mixed-better",
        "A handle for the random stream alone is better than no handle",
        "in between",
        ("share", *EMULATOR),
        _LAWS,
        (MIXED, NO_FDP),
        "Table 2",
    ),
    Claim(
        "uniform-least",
        "Handles save least where the jumper writes uniformly",
        own("Table 2", "least"),
        ("share", "spare", "victim"),
        _LAWS,
        (FDP, NO_FDP),
        _than_uniform,
        MORE,
        change,
    ),
    _compared(
        "two",
        "A stream in order and a random one have less with a handle each, over 10 to 90 % random",
        "less",
        ("pair", "spare", "victim"),
        _TWO,
        (FDP, NO_FDP),
        "two streams, section 5",
    ),
    Claim(
        "in-order-free",
        "Save sequential: two streams in order cost nothing with a handle each",
        inferred("section 5", "none"),
        ("pair", "spare", "unit", "victim"),
        (TWO_IN_ORDER,),
        (FDP,),
        _copies(TWO_IN_ORDER, FDP),
        Region(high=FREE),
        in_copies,
    ),
    Claim(
        "in-order-mixed",
        "Without handles the same two streams cost at least 0.2 copies per page",
        own("section 5", "0.2 or more"),
        ("pair", "spare", "unit", "victim"),
        (TWO_IN_ORDER,),
        (NO_FDP,),
        _copies(TWO_IN_ORDER, NO_FDP),
        Region(low=COSTLY),
        in_copies,
    ),
    _compared(
        "isolation-8020",
        "Persistent isolation is better than initial isolation, 80-20",
        "crossover",
        SPACE,
        (ZONED,),
        (PERSISTENTLY, INITIALLY),
        "sections 5.2 and 5.3",
    ),
    _compared(
        "isolation-zipf",
        "Persistent isolation is better than initial isolation, zipf 1.2",
        "crossover",
        SPACE,
        (ZIPF_12,),
        (PERSISTENTLY, INITIALLY),
        "sections 5.2 and 5.3",
    ),
    Claim(
        "neighbour-costs",
        "Noisy neighbour: with a handle each it still raises the cache's write amplification",
        inferred("sections 5.2 and 5.3", "noisy"),
        ("spare", "unit", "victim"),
        (CACHE, NEIGHBOUR),
        (FDP,),
        _cache_pays(FDP, (CACHE, FDP)),
        MORE,
    ),
    Claim(
        "neighbour-isolated",
        "Persistent isolation spares the cache: less write amplification than initially isolated",
        own("sections 5.2 and 5.3", "less"),
        SPACE,
        (NEIGHBOUR,),
        (INITIALLY, PERSISTENTLY),
        _cache_pays(PERSISTENTLY, (NEIGHBOUR, INITIALLY)),
        Region(high=-EFFECT),
    ),
    _compared(
        "neighbour-handle",
        "Cache and neighbour together have less with a handle each than without handles",
        "less",
        ("spare", "unit", "victim"),
        (NEIGHBOUR,),
        (FDP, NO_FDP),
        "sections 5.2 and 5.3",
    ),
)

UNCHECKED: tuple[AnyClaim, ...] = (
    unchecked(
        "caches",
        "Handles reduce the write amplification of CacheLib on SSD_A from 1.85 to 1.27",
        stated("Table 2", "1.27", "kvcache 202206, small objects 40 %: 1.85, FDP 1.27"),
        "the traces are not here, and the share of small objects in the writes was not logged",
    ),
)
