"""Measures that the ETI paper's claims compare, and the thresholds of the claims."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from math import comb
from statistics import fmean

from floatgate.papers.kit.claims import At, Measure, Premise, Values
from floatgate.papers.kit.measures import EFFECT, MORE
from floatgate.papers.kit.verdicts import Region

from .domain import MSR, MSR_ROW, MSR_WINDOW, REAL, ROWS, SW1
from .lines import ETI, FACTORS, HASHES, LABELS, LARGER, MBF, MHF, RIVALS, SENSITIVE
from .reduce import Point

VARIANTS = (*MBF, *MHF)
PAIRS = comb(len(HASHES), 2)
"""Number of pairs of variants of a rival, in either order."""

ON_SRC2_0, AT_MOST = -0.213, -0.20
"""Changes that the paper prints: on src2_0, and for "as much as" on any trace."""

NO_WORSE = Region(high=EFFECT)

ALMOST_ALL = 0.9
"""Smallest share of the cases that counts as almost all. The paper gives no number."""

NEGLIGIBLE = 0.02
"""A change that the paper calls negligible (section 5: less than 2 %)."""
COSTS_NOTHING = 0.01
"""Largest cost of larger filters "by negligible amounts": half of `NEGLIGIBLE`, because the cost is
for one scheme."""
MODEST = 0.5
"""Largest gain of larger filters that is significantly less than ETI's, as a share of ETI's
gain."""

ENDS = 2_047
"""Number of different ends of writes that divide the address space into 2,048 extents."""
FEW, FULL = 0.25, 0.75
"""Shares of the 2,048 extents. Up to `FEW` they are a few hundred. From `FULL` the table counts as
full: the mean over a run is lower than the maximum, because ageing removes extents again and
again."""

TRACED = ("skew", "cold")
"""Axes for properties of a trace that a row of Table 1 leaves open."""
READINGS = ("merge", "unit", "alpha", "judged")
"""Axes for readings of ETI itself."""
OPEN = (*TRACED, *READINGS)


def changed(at: At[Point], trace: str, rival: str, line: str = ETI) -> float:
    """Returns the relative change of the write amplification, from a rival to ETI."""
    return at(trace, line).write_amplification / at(trace, rival).write_amplification - 1


def against(traces: Sequence[str], rivals: Sequence[str]) -> Measure[Point]:
    return _changes(traces, [(LABELS.get(rival, rival), rival, ETI) for rival in rivals])


def by_parameter(traces: Sequence[str]) -> Measure[Point]:
    return _changes(traces, [(LABELS[line], ETI, line) for line in SENSITIVE])


def _changes(traces: Sequence[str], pairs: Sequence[tuple[str, str, str]]) -> Measure[Point]:
    """Measures the change from the first to the second line of each named pair."""
    return lambda at: {
        ", ".join(filter(None, (called(trace), name))): changed(at, trace, base, line)
        for trace in traces
        for name, base, line in pairs
    }


def called(name: str) -> str:
    """Returns the trace's name in the names of values. It is empty for a trace that the point
    determines."""
    return "" if name in (REAL, MSR_ROW) else name


def most(trace: str, rivals: Sequence[str]) -> Measure[Point]:
    """Measures the largest reduction against any of the rivals, as the paper's "up to"."""
    return lambda at: {"": min(changed(at, trace, rival) for rival in rivals)}


def most_reduced(traces: Sequence[str]) -> Measure[Point]:
    """Measures the largest reduction against the better of MBF and MHF on any trace."""
    return lambda at: {"": min(max(changed(at, t, rival) for rival in RIVALS) for t in traces)}


def lower_share(at: At[Point]) -> Values:
    """Returns the share of cases with lower write amplification under ETI. A case is a trace and a
    variant of a rival."""
    cases = [changed(at, trace, rival) <= -EFFECT for trace in ROWS for rival in VARIANTS]
    return {"": fmean(cases)}


def over_half(trace: str) -> Measure[Point]:
    """Measures by how much the gain of larger filters exceeds half of ETI's gain over MBF, and by
    how much their cost exceeds nothing."""

    def measure(at: At[Point]) -> Values:
        values = {}
        for factor, line in zip(FACTORS, LARGER, strict=True):
            filters, most = changed(at, trace, MBF[0], line), MODEST * gain(at, trace)
            values[f"{factor}x the bits, over half of ETI's"] = -filters - most
            values[f"{factor}x the bits, cost"] = filters - COSTS_NOTHING
        return values

    return measure


def gain(at: At[Point], trace: str) -> float:
    """Returns the relative reduction of MBF's write amplification by ETI."""
    return -changed(at, trace, MBF[0])


def gains(trace: str) -> Premise[Point]:
    """Returns the premise that the trace is among "the traces on which ETI achieved the highest
    gains": ETI gains at all."""
    return Premise(
        "where ETI does not surely gain half a per cent over MBF",
        lambda at: {"": gain(at, trace)},
        MORE,
    )


def apart(traces: Sequence[str]) -> Measure[Point]:
    """Measures the change from each variant of a rival to each other variant, on each trace. The
    pairs are fixed for all seeds, because the largest of three variants is above the smallest by
    chance alone."""

    def name(trace: str, base: str, line: str) -> str:
        where = f" on {called(trace)}" if called(trace) else ""
        return f"{LABELS[line]} over {LABELS[base].partition(', ')[2]}{where}"

    pairs = [*permutations(MBF, 2), *permutations(MHF, 2)]
    cases = [(trace, base, line) for base, line in pairs for trace in traces]
    return lambda at: {name(*case): changed(at, *case) for case in cases}


def rival_of(name: str) -> str:
    """Returns the rival, MBF or MHF, in the name of a value of `apart`."""
    return name.partition(",")[0]


def in_use(traces: Sequence[str]) -> Measure[Point]:
    """Measures the mean number of extents, as a share of the table."""
    return lambda at: {called(trace): at(trace, ETI).extents_table or 0.0 for trace in traces}


def wastes_more(at: At[Point]) -> Values:
    long = at(SW1, ETI).write_amplification
    return {trace: at(trace, ETI).write_amplification / long - 1 for trace in MSR}


def gains_more(at: At[Point]) -> Values:
    return {
        f"{trace}, {rival}": changed(at, SW1, rival) - changed(at, trace, rival)
        for trace in MSR
        for rival in RIVALS
    }


def search_saves(at: At[Point]) -> Values:
    """Returns the relative change of the steps of a search, from one that begins anew to one that
    begins at the extent found last. The point names the kind of search."""
    kind, point = at.levels["search"], at(REAL, ETI)
    anew: float = getattr(point, kind)
    from_last: float = getattr(point, f"{kind}_from_last")
    return {"": from_last / anew - 1}


FILLS = Premise[Point](
    f"of writes with fewer than {ENDS:,} different ends in a period, which cannot fill it",
    lambda at: {"": float(at(MSR_WINDOW, ETI).ends or 0)},
    Region(low=ENDS),
)
"""The table can be filled: writes split the merged extents again within an ageing period."""


share = "{:.1%}".format
