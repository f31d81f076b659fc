"""Lines of an advice that come from a trace, its curve and its steady states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from floatgate.analysis.hotness import Hotness
from floatgate.results.values import count, fixed, measured, percent, size

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

DAYS = 365.25
YEARS = 5
"""Years over which drive writes per day (DWPD) are counted."""

TERA = 1e12
"""Bytes of a TB, the unit of drive sizes and of their endurance (TBW)."""

HELD = (138, 144)
"""Sampled intervals that contained the value of the full simulation, and all that were checked
(docs/advise.md).
"""

SAMPLED_INTERVAL = (
    "Intervals: 95 % over the samples (Student's t), widened to include the mean of the larger "
    "samples and the end of the line through both sizes, and by the difference between the "
    f"measured and the earlier loops. In {HELD[0]} of {HELD[1]} checks the full simulation fell "
    "inside the interval."
)

LOOPS_INTERVAL = (
    "Intervals: 95 % over the measured loops (Student's t), widened by their difference from the "
    "earlier loops. Another part of the same workload may differ by more."
)

Named = Sequence[tuple[str, Steady]]
"""Steady states with their names."""


def footprint(info: Mapping[str, Any], hot: Hotness, span_bytes: int) -> Line:
    """Returns the line on pages touched and written, and on the skew of the writes."""
    touched = info["footprint_pages"] * 4096
    numbers = [Number("touched", touched, "bytes"), Number("spanned", span_bytes, "bytes")]
    words = f"{size(touched)} touched"
    again = info["page_writes_per_written_page"]
    if again is None:
        words += "; nothing is written"
    else:
        top = {round(100 * one.pages_share): one.writes_share for one in hot.skew.top}
        numbers.append(Number("writes of a written page", again, ""))
        numbers.append(Number("writes to the most written 10 %", top[10] or 0.0, "share"))
        numbers.append(Number("Gini coefficient", hot.skew.gini or 0.0, ""))
        words += (
            f"; {size(info['written_pages'] * 4096)} of it written, {fixed(again, 2)} times on "
            f"average. The most written 10 % of the pages get {percent(top[10])} of the writes."
        )
    method = "Counted over all requests, in pages of 4 KiB."
    more = "A trace of another day: whether the same pages are hot (trace info --hotness)."
    return Line(
        "footprint", QUESTIONS["footprint"], words, "counted", method, (), more, (*numbers,)
    )


def amplification(whole: Requests, states: Sequence[Steady], calls: Calls) -> Line:
    """Returns the line on steady write amplification by spare factor."""
    numbers = [_factor(f"{state.spare_factor:.0%} spare", state) for state in states]
    words = ", ".join(
        f"{with_interval(state)} at {state.spare_factor:.0%} spare" for state in states
    )
    loops, last = whole.loops, last_loops(whole.loops)
    first, *others = (state.spare_factor for state in states)
    other = " or ".join(f"{spare:.0%}" for spare in others)
    more = (
        f"The full simulation, at {first:.0%} spare (or {other}). A run prints the mean over all "
        f"of its loops. The mean of the last {last} of {loops} is {loops / last:.4g} times the "
        f"number of the first command, less {loops / last - 1:.4g} times the number of the "
        "second. After that, a run with the drive's own units and policies."
    )
    commands = tuple(calls.full(whole, first, many) for many in (loops, loops - last))
    return Line(
        "amplification",
        QUESTIONS["amplification"],
        f"Write amplification {words}.",
        _found(whole),
        _method(whole, "greedy cleaning, one stream, the whole map in memory"),
        tuple(_drifting(states)),
        more,
        (*numbers,),
        commands,
    )


def separation(
    whole: Requests, plain: Steady, heuristics: Named, bound: Steady, calls: Calls
) -> Line:
    """Returns the line on the best separation scheme, and on the bound."""
    name, best = min(heuristics, key=lambda pair: pair[1].write_amplification)
    numbers = [_factor("one stream", plain), *(_factor(*pair) for pair in heuristics)]
    numbers.append(_factor("oracle", bound))
    gain = 1 - best.write_amplification / plain.write_amplification
    most = 1 - bound.write_amplification / plain.write_amplification
    if gain > 0:
        first = f"The best scheme, {name}, brings it to {with_interval(best)} (less {gain:.0%})"
    else:
        first = f"None of the schemes helps; the best, {name}, has {with_interval(best)}"
    words = (
        f"At {plain.spare_factor:.0%} spare one stream has {with_interval(plain)}. {first}; "
        f"with knowledge of the future {with_interval(bound)} (less {most:.0%})."
    )
    method = _method(whole, "the schemes with their defaults")
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
    words = (
        ", ".join(f"{size(needed[hits]['bytes'])} for {hits} %" for hits in HITS)
        + f" of the achievable hits ({percent(curve['hit_ratio_max'])} of the accesses); "
        f"{size(whole)} for every page."
    )
    doubts = [*curve["notes"]]
    found = "counted"
    method = "An LRU cache of entries of 8 bytes, all sizes from one pass."
    if curve["sample"]:
        found = "sampled"
        method += (
            f" Of {count(curve['sample']['pages'])} pages; hit ratios are within "
            f"{percent(curve['expected_error'])} in 19 of 20 cases."
        )
    return Line(key, QUESTIONS[key], words, found, method, tuple(doubts), more, (*numbers,))


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
    numbers, words = [], []
    for drive in drives:
        found, text = _worn(drive, duration_s)
        numbers += found
        words.append(text)
    states = [state for drive in drives for state in (drive.state, *drive.others)]
    doubts = [*refused, *_drifting(states)]
    if duration_s == 0:
        doubts.append("the trace has no time stamps: life in years is not known")
    if any(drive.own_bytes is not None for drive in drives):
        doubts.append(
            "at its own size a drive has another spare and skew: cleaning costs less if the drive "
            "is not full, and more or less with other data next to the trace's"
        )
    method = (
        "Program/erase cycles of the preset, divided by the host's share of the flash (one less "
        "the spare factor) and by the steady write amplification. The write amplification is from "
        "a drive as large as the trace's span, full of its data, and is assumed for the drive's "
        "own size. Wear is assumed to be even. Intervals follow from the write amplification."
    )
    more = "The drive's own counters: media bytes and host bytes of the same week (SMART, OCP log)."
    return Line(
        "life",
        QUESTIONS["life"],
        "; ".join(words) + ".",
        "estimated",
        method,
        tuple(doubts),
        more,
        (*numbers,),
    )


def _worn(drive: Worn, duration_s: float) -> tuple[list[Number], str]:
    """Returns the endurance of a drive at its own spare factor, in numbers and in words."""
    name, whole, state = drive.name, drive.whole, drive.state
    low, factor, high = _ends(state)

    def over(most: float, what: str, unit: str) -> Number:
        """Returns `most`, the value at a write amplification of one, divided by the actual one."""
        return Number(f"{name}: {what}", most / factor, unit, most / high, most / low)

    volumes = _volumes(drive, state)
    span = whole.pages * whole.page
    daily = whole.written_bytes * 86400 / duration_s if duration_s > 0 else None
    per_day = over(volumes / (DAYS * YEARS), "drive writes per day", "DWPD")
    numbers = [Number(f"{name}: write amplification", factor, "", low, high), per_day]
    text = (
        f"{name}, {state.spare_factor:.0%} spare: write amplification {with_interval(state)}, "
        f"{fixed(per_day.value, 2)} drive writes a day for {YEARS} years"
    )
    if daily is not None:
        numbers.append(over(volumes * span / daily / DAYS, "life at the trace's rate", "years"))
        text += (
            f", {_years(numbers[-1].value)} at the trace's rate ({fixed(daily / span, 2)} a day) "
            f"if it is as large as the trace's span"
        )
    own = drive.own_bytes
    if own is not None:
        sold = f"{own / TERA:.4g} TB"
        numbers.append(over(volumes * own / TERA, f"terabytes written at {sold}", "TB"))
        text += f"; with {sold} {count(numbers[-1].value)} TBW"
        if daily is not None:
            what = f"life at the trace's rate at {sold}"
            numbers.append(over(volumes * own / daily / DAYS, what, "years"))
            text += f", {_years(numbers[-1].value)} at the trace's rate"
    for other in drive.others:
        found, words = _at_spare(drive, other)
        numbers += found
        text += words
    return numbers, text


def _at_spare(drive: Worn, state: Steady) -> tuple[list[Number], str]:
    """Returns the endurance of a drive at another spare factor, in numbers and in words."""
    low, factor, high = _ends(state)
    volumes = _volumes(drive, state) / (DAYS * YEARS)
    at = f"{state.spare_factor:.0%} spare"
    name = f"{drive.name} with {at}"
    numbers = [
        Number(f"{name}: write amplification", factor, "", low, high),
        Number(
            f"{name}: drive writes per day", volumes / factor, "DWPD", volumes / high, volumes / low
        ),
    ]
    text = f"; with {at} {with_interval(state)} and {fixed(volumes / factor, 2)} drive writes a day"
    return numbers, text


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
    words = []
    for way, state in found:
        gain = 1 - state.write_amplification / apart.write_amplification
        noise = apart.half_width + state.half_width
        change = abs(apart.write_amplification - state.write_amplification)
        says = "no clear difference" if change <= noise else f"{-gain:+.0%}"
        share = f"{way.share:.0%} of the writes are outside the largest stream"
        words.append(f"{way.name} ({share}): {with_interval(state)}, {says}")
    known = [("one stream", plain), ("one handle", apart)]
    known += [(way.name, state) for way, state in found]
    return Line(
        key,
        QUESTIONS[key],
        f"At {plain.spare_factor:.0%} spare one stream has {with_interval(plain)}, and one handle "
        f"for all, with separate copies, has {with_interval(apart)}. Compared with one handle: "
        f"{'; '.join(words)}.",
        _found(whole),
        _method(whole, "handles isolated initially: pages that cleaning moves share units"),
        tuple([*refused, *_drifting([state for _, state in known])]),
        more,
        tuple(_factor(*pair) for pair in known),
    )


def with_interval(state: Steady) -> str:
    """Returns a write amplification as text, with half the width of its interval."""
    return f"{fixed(state.write_amplification, 2)} ± {fixed(state.half_width, 2)}"


def _factor(name: str, state: Steady) -> Number:
    low, value, high = _ends(state)
    return Number(name, value, "", low, high)


def _ends(state: Steady) -> tuple[float, float, float]:
    wa, half = state.write_amplification, state.half_width
    return max(wa - half, min(wa, 1.0)), wa, wa + half


def _found(whole: Requests) -> str:
    """Returns how a steady state was found: one of `FOUND`."""
    return "sampled" if whole.every > 1 else "simulated"


def _method(whole: Requests, how: str) -> str:
    played = f"played {whole.loops} times ({fixed(whole.loops * whole.volumes, 1)} volumes)"
    what, interval = "the whole trace", LOOPS_INTERVAL
    if whole.every > 1:
        few, interval = whole.every_of(SAMPLED_UNITS[0]), SAMPLED_INTERVAL
        what = (
            f"{whole.samples} samples each of one page in {whole.every} and in {few}, extrapolated"
        )
    return (
        f"Simulated without time: {what}, {played} after a fill, the last "
        f"{last_loops(whole.loops)} measured; {count(whole.units)} erase units of "
        f"{size(whole.unit_pages * whole.page)}, {how}. {interval}"
    )


def _drifting(states: Sequence[Steady]) -> list[str]:
    drifts = [state.drift for state in states if not state.is_steady]
    if not drifts:
        return []
    most = f"{max(drifts):.1%}"
    return [f"not steady: the measured loops differ by up to {most} from the earlier loops"]


def _years(years: float) -> str:
    for unit, many in (("years", 1.0), ("days", DAYS)):
        if years * many >= 1:
            return f"{fixed(years * many, 1)} {unit}"
    return f"{measured(years * DAYS * 24)} hours"
