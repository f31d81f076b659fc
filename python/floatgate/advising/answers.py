"""Lines of an advice that come from a trace, its curve and its steady states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from floatgate.analysis.hotness import Hotness
from floatgate.results.values import SPACE, count, fixed, measured, percent, size

from .calls import Calls
from .lines import Line, Number, unknown
from .sampled import SAMPLED_UNITS, Requests, Steady, last_loops
from .streams import Streams

QUESTIONS = {
    "footprint": "How much data, and how unevenly is it written?",
    "amplification": "What does cleaning cost in the steady state?",
    "separation": "What would separating hot from cold data buy?",
    "map": "How much memory does the map need?",
    "life": "How long does a drive last?",
    "latency": "How slow are the slowest requests?",
    "streams": "Would streams named by the host help (FDP)?",
}

HITS = (90, 99)
"""Per cent of the achievable hits."""

HELPFUL = 0.05
"""Minimum share of the accesses at which the achievable hits are worth a cache."""

DAYS = 365.25
YEARS = 5
"""Years over which drive writes per day (DWPD) are counted."""

MIXED = "filled at random"
"""Start state of a number; without a name, the drive was filled in order."""

LONGER = 1.05
"""Minimum ratio of write amplifications at which a shorter life is worth a doubt."""

A_DAY = "written a day"

AMPLIFICATION, DAILY, WRITTEN = "write amplification", "drive writes per day", "TBW as sold"
YEARS_SPAN, YEARS_SOLD = "life, size of the trace", "life, as sold"
"""Names of a drive's numbers: its endurance, and its life at the trace's rate, for a drive as large
as the trace's span and for a drive as sold."""

TERA = 1e12
"""Bytes of a TB, the unit of drive sizes and of their endurance (TBW)."""

HELD = (138, 144)
"""Number of sampled intervals that contained the value of the full simulation, and number of all
intervals that were checked (docs/advise.md).
"""

SAMPLED_INTERVAL = (
    (
        "Intervals are 95 % over the samples (Student's t), widened by the difference between the "
        "measured and the earlier loops."
    ),
    "They include the mean of the larger samples, and the end of the line through both sizes.",
    f"In {HELD[0]} of {HELD[1]} checks the full simulation fell inside the interval.",
)

LOOPS_INTERVAL = (
    (
        "Intervals are 95 % over the measured loops (Student's t), widened by their difference "
        "from the earlier loops."
    ),
    "Another part of the same workload may differ by more.",
)

Named = Sequence[tuple[str, Steady]]
"""Steady states with their names."""


def footprint(info: Mapping[str, Any], hot: Hotness, whole: Requests) -> Line:
    """Returns the line on pages touched and written, and on the skew of the writes."""
    touched, spanned = info["footprint_pages"] * 4096, whole.pages * whole.page
    numbers = [Number("touched", touched, "bytes"), Number("spanned", spanned, "bytes")]
    words = f"{size(touched)} of {size(spanned)} touched"
    again = info["page_writes_per_written_page"]
    if again is None:
        words += "; nothing is written"
    else:
        top = {round(100 * one.pages_share): one.writes_share for one in hot.skew.top}
        numbers.append(Number("writes of a written page", again, ""))
        numbers.append(Number("writes to the most written 10 %", top[10] or 0.0, "share"))
        numbers.append(Number("Gini coefficient", hot.skew.gini or 0.0, ""))
        words += f"; {size(info['written_pages'] * 4096)} written, each {fixed(again, 2)} times"
        if info["duration_s"]:
            daily = _daily(whole, info["duration_s"])
            numbers.append(Number(A_DAY, daily, "bytes"))
            words += f" ({size(daily)} a day)"
        words += f". The most written 10 % of the pages get {percent(top[10])} of the writes."
    method = "Counted over all requests, in pages of 4 KiB."
    more = "A trace of another day: whether the same pages are hot (trace info --hotness)."
    return Line(
        "footprint", QUESTIONS["footprint"], words, "counted", (method,), (), more, (*numbers,)
    )


def amplification(
    whole: Requests, states: Sequence[Steady], mixed: Sequence[Steady], calls: Calls
) -> Line:
    """Returns the line on steady write amplification by spare factor.

    `mixed` has the states after a random fill; it is empty if the trace writes nearly all pages.
    """
    numbers = [_factor(f"{state.spare_factor:.0%} spare", state) for state in states]
    numbers += [
        _factor(f"{state.spare_factor:.0%} spare, {MIXED}", state, MIXED) for state in mixed
    ]
    words = ", ".join(
        f"{with_interval(state)} at {_percent(state.spare_factor)} spare" for state in states
    )
    loops, last = whole.loops, last_loops(whole.loops)
    first = states[0].spare_factor
    more = (
        f"All pages at {first:.0%} spare: {loops} loops (A), and the {loops - last} before those "
        f"measured (B). The answer is ({loops} A - {loops - last} B) / {last}."
    )
    commands = tuple(calls.full(whole, first, many) for many in (loops, loops - last))
    return Line(
        "amplification",
        QUESTIONS["amplification"],
        f"Write amplification {words}.",
        _found(whole),
        _method(whole, "greedy cleaning, one stream, the whole map in memory"),
        (*_apart(whole, mixed), *_drifting([*states, *mixed])),
        more,
        (*numbers,),
        commands,
    )


def _apart(whole: Requests, mixed: Sequence[Steady]) -> list[str]:
    """Returns the doubt that never written pages may share erase units with written ones."""
    if not mixed:
        return []
    never = (
        f"{_percent(whole.unwritten)} of the drive is never written: a fill in order sets it apart"
    )
    found = ", ".join(f"{with_interval(one)} at {_percent(one.spare_factor)}" for one in mixed)
    return [never, f"after a random fill, write amplification is {found}"]


def shortened(states: Sequence[Steady], mixed: Sequence[Steady]) -> list[str]:
    """Returns the doubt that a drive filled at random has a shorter life."""
    ratios = [
        after.write_amplification / before.write_amplification
        for before, after in zip(states, mixed, strict=False)
    ]
    most = max(ratios, default=1.0)
    if most < LONGER:
        return []
    return [f"filled at random, a drive may last {fixed(most, 2)} times shorter: see cleaning"]


def separation(
    whole: Requests, plain: Steady, heuristics: Named, bound: Steady, calls: Calls
) -> Line:
    """Returns the line on the best separation scheme, and on the bound."""
    name, best = min(heuristics, key=lambda pair: pair[1].write_amplification)
    numbers = [_factor("one stream", plain), *(_factor(*pair) for pair in heuristics)]
    numbers.append(_factor("oracle", bound))
    gain = 1 - best.write_amplification / plain.write_amplification
    most = 1 - bound.write_amplification / plain.write_amplification
    single = with_interval(plain)
    if gain > 0:
        first = f"The best scheme, {name}, brings one stream's {single} to {with_interval(best)}"
        first += f" ({_percent(gain)} less)"
    else:
        first = f"None of the schemes helps one stream's {single}: the best, {name}, has "
        first += with_interval(best)
    words = f"{first}; knowledge of the future {with_interval(bound)} ({_percent(most)} less)."
    method = _method(whole, f"{plain.spare_factor:.0%} spare, the schemes with their defaults")
    doubts = [
        "the bound is the best arrangement found, not a proof",
        *_drifting([plain, bound, *(state for _, state in heuristics)]),
    ]
    return Line(
        "separation",
        QUESTIONS["separation"],
        words,
        _found(whole),
        method,
        tuple(doubts),
        "A search among more schemes and victims, and then among the parameters of the best.",
        (*numbers,),
        (calls.tuned(whole, plain.spare_factor),),
    )


def map_memory(curve: Mapping[str, Any]) -> Line:
    """Returns the line on the memory for shares of the achievable hits."""
    key, more = (
        "map",
        "The hits of the drive's own policy: --set mapping.scheme=dftl at these sizes.",
    )
    needed = {row["percent"]: row for row in curve["needed"]}
    if not curve["hit_ratio_max"]:
        return unknown(key, QUESTIONS[key], "no page is accessed twice", more)
    numbers = [Number(f"for {hits} % of the hits", needed[hits]["bytes"], "bytes") for hits in HITS]
    whole = curve["distinct_pages"] * curve["entry_bytes"]
    numbers.append(Number("for all pages that are accessed", whole, "bytes"))
    if curve["hit_ratio_max"] < HELPFUL:
        answer = (
            "A cache hardly helps: at most "
            f"{percent(curve['hit_ratio_max'])} of the accesses are hits, because the others are "
            f"the first to their page. The whole map has {size(whole)}."
        )
    else:
        answer = (
            ", ".join(f"{size(needed[hits]['bytes'])} for {hits} %" for hits in HITS)
            + f" of the achievable hits ({percent(curve['hit_ratio_max'])} of the accesses); "
            f"{size(whole)} for every page."
        )
    doubts = [*curve["notes"]]
    found = "counted"
    method = ["An LRU cache of entries of 8 bytes, all sizes from one pass."]
    if curve["sample"]:
        found = "sampled"
        method.append(
            f"Of {count(curve['sample']['pages'])} pages; hit ratios are within "
            f"{percent(curve['expected_error'])} in 19 of 20 cases."
        )
    return Line(key, QUESTIONS[key], answer, found, (*method,), tuple(doubts), more, (*numbers,))


@dataclass(frozen=True)
class Worn:
    """Drive whose lifetime under the trace is estimated."""

    name: str
    cycles: int
    """Program/erase cycles of a unit."""
    own_bytes: float | None
    """Bytes for the host on a drive of the size that is sold; None if unknown."""
    whole: Requests
    """The trace in pages of the drive's map."""
    state: Steady
    """Steady state on a drive as large as the trace's span, at the drive's own spare factor."""
    others: Sequence[Steady]
    """Steady states at other spare factors."""


def life(drives: Sequence[Worn], duration_s: float, refused: Sequence[str]) -> Line:
    """Returns the line on years, drive writes per day and terabytes written.

    It covers drives as large as the span of the trace, and drives of the sizes that are sold.
    """
    numbers = [number for drive in drives for number in _worn(drive, duration_s)]
    states = [state for drive in drives for state in (drive.state, *drive.others)]
    doubts = [*refused, *_drifting(states)]
    if duration_s == 0:
        doubts.append("the trace has no time stamps: life in years is not known")
    if any(drive.own_bytes is not None for drive in drives):
        doubts.append(
            "at its own size a drive has another spare and skew: cleaning costs less if the drive "
            "is not full, and differs with other data on it"
        )
    method = (
        (
            "Program/erase cycles of the preset, divided by the host's share of the flash (one "
            "less the spare factor) and by the steady write amplification."
        ),
        (
            "The write amplification is that of a drive as large as the trace's span, and is "
            "assumed for the drive's own size."
        ),
        "Wear is assumed to be even. Intervals follow from the write amplification.",
    )
    more = "The drive's own counters: media bytes and host bytes of the same week (SMART, OCP log)."
    return Line(
        "life",
        QUESTIONS["life"],
        _lasting(drives, numbers),
        "estimated",
        method,
        tuple(doubts),
        more,
        (*numbers,),
    )


def _lasting(drives: Sequence[Worn], numbers: Sequence[Number]) -> str:
    """Returns the years at the trace's rate. If a drive has none, it returns writes a day."""
    values = {(number.of, number.name): number.value for number in numbers}
    rows = [(drive, _row(drive, drive.state)) for drive in drives]
    if all((row, YEARS_SOLD) in values for _, row in rows):
        parts = [
            f"{drive.name} of {(drive.own_bytes or 0) / TERA:.4g} TB lasts "
            f"{years_text(values[row, YEARS_SOLD])}"
            for drive, row in rows
        ]
        return f"At the trace's rate {', '.join(parts)}."
    parts = [f"{drive.name} {fixed(values[row, DAILY], 2)}" for drive, row in rows]
    return f"Drive writes a day for {YEARS} years: {', '.join(parts)}."


def _row(drive: Worn, state: Steady) -> str:
    return f"{drive.name}, {state.spare_factor:.0%} spare"


def _worn(drive: Worn, duration_s: float) -> list[Number]:
    """Returns the endurance of a drive at its own spare factor and at the others."""
    whole, own = drive.whole, drive.own_bytes
    daily = _daily(whole, duration_s) if duration_s > 0 else None
    numbers = []
    for state in (drive.state, *drive.others):
        low, factor, high = _ends(state)
        volumes, of = _volumes(drive, state), _row(drive, state)
        most = {DAILY: (volumes / (DAYS * YEARS), "DWPD")}
        if daily is not None:
            most[YEARS_SPAN] = (volumes * whole.pages * whole.page / daily / DAYS, "years")
        if own is not None:
            most[WRITTEN] = (volumes * own / TERA, "TB")
            if daily is not None:
                most[YEARS_SOLD] = (volumes * own / daily / DAYS, "years")
        numbers.append(Number(AMPLIFICATION, factor, "", low, high, of))
        # `value` is the endurance or life at a write amplification of one.
        numbers += [
            Number(name, value / factor, unit, value / high, value / low, of)
            for name, (value, unit) in most.items()
        ]
    return numbers


def _daily(whole: Requests, duration_s: float) -> float:
    """Returns the bytes that the host writes in a day at the rate of the trace."""
    return whole.written_bytes * 86400 / duration_s


def _volumes(drive: Worn, state: Steady) -> float:
    """Returns the drive capacities that the flash endures at a write amplification of one."""
    return drive.cycles / (1 - state.spare_factor)


def streams(
    whole: Requests,
    without: tuple[Steady, Steady],
    found: Sequence[tuple[Streams, Steady]],
    refused: Sequence[str],
) -> Line:
    """Returns the line on the gain from streams, by device or by write size.

    `without` has two states: one stream, and one handle for all writes. With one handle, only pages
    that cleaning moves are separate.
    """
    key = "streams"
    more = "The host's own streams, where it has some, in a column `stream` of the trace."
    if not found:
        return unknown(key, QUESTIONS[key], "; ".join(refused), more)
    plain, apart = without
    way, state = min(found, key=lambda pair: pair[1].write_amplification)
    gain = 1 - state.write_amplification / apart.write_amplification
    change = abs(apart.write_amplification - state.write_amplification)
    is_clear = change > apart.half_width + state.half_width
    says = f"{_percent(abs(gain))} {'less' if gain > 0 else 'more'} than"
    shares = ", ".join(f"{one.name} {one.share:.0%}" for one, _ in found)
    known = [("one stream", plain), ("one handle", apart)]
    known += [(way.name, state) for way, state in found]
    return Line(
        key,
        QUESTIONS[key],
        f"The best way, {way.name}, has {with_interval(state)}: "
        f"{says if is_clear else 'no clear difference from'} one handle for all writes "
        f"({with_interval(apart)}).",
        _found(whole),
        (
            *_method(whole, f"{plain.spare_factor:.0%} spare, handles isolated initially"),
            "Pages that cleaning moves share units.",
            f"Writes outside the largest stream: {shares}.",
        ),
        tuple([*refused, *_drifting([state for _, state in known])]),
        more,
        tuple(_factor(*pair) for pair in known),
    )


def with_interval(state: Steady) -> str:
    """Returns a write amplification as text, with half the width of its interval."""
    return f"{fixed(state.write_amplification, 2)} ± {fixed(state.half_width, 2)}"


def _factor(name: str, state: Steady, of: str = "") -> Number:
    low, value, high = _ends(state)
    return Number(name, value, "", low, high, of)


def _ends(state: Steady) -> tuple[float, float, float]:
    wa, half = state.write_amplification, state.half_width
    return max(wa - half, min(wa, 1.0)), wa, wa + half


def _found(whole: Requests) -> str:
    """Returns how a steady state was found: one of `FOUND`."""
    return "sampled" if whole.every > 1 else "simulated"


def _method(whole: Requests, how: str) -> tuple[str, ...]:
    what = "the whole trace"
    interval: tuple[str, ...] = LOOPS_INTERVAL
    if whole.every > 1:
        few, interval = whole.every_of(SAMPLED_UNITS[0]), SAMPLED_INTERVAL
        what = f"{whole.samples} samples each of one page in {whole.every} and in {few}"
    return (
        f"Simulated without time, {what}: {how}.",
        (
            f"After a fill the trace is played {whole.loops} times "
            f"({fixed(whole.loops * whole.volumes, 1)} volumes), and the last "
            f"{last_loops(whole.loops)} are measured."
        ),
        f"The drive has {count(whole.units)} erase units of {size(whole.unit_pages * whole.page)}.",
        *interval,
    )


def _drifting(states: Sequence[Steady]) -> list[str]:
    drifts = [state.drift for state in states if not state.is_steady]
    if not drifts:
        return []
    most = f"{max(drifts):.1%}"
    return [f"not steady: the measured loops differ by up to {most} from the earlier loops"]


def _percent(share: float) -> str:
    """Returns a share in whole per cent."""
    return f"{fixed(100 * share, 0)}{SPACE}%"


def years_text(years: float) -> str:
    """Returns a time in years, days or hours."""
    for unit, many in (("years", 1.0), ("days", DAYS)):
        if years * many >= 1:
            return f"{fixed(years * many, 1 if years * many < 100 else 0)} {unit}"
    return f"{measured(years * DAYS * 24)} hours"
