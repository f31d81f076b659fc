"""The lines of an advice that are read from a trace, its curve and its steady states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from floatgate.hot_data import Hotness
from floatgate.report.values import count, fixed, measured, percent, size

from .lines import Line, Number, unknown
from .sampled import SAMPLED_UNITS, Requests, Steady
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
"""Per cent of the hits that can be had."""

DAYS = 365.25
YEARS = 5
"""Of DWPD: drive writes per day."""

INTERVAL = (
    "Intervals: 95 % over the samples (Student's t), widened by what the last third of the loops "
    "differs by from the one before. They are narrow: of 18 full simulations 13 were within "
    "(docs/advise.md)."
)

Named = Sequence[tuple[str, Steady]]
"""Steady states by what they are of."""


def footprint(info: Mapping[str, Any], hot: Hotness, span_bytes: int) -> Line:
    """What is touched, written, and how unevenly."""
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


def amplification(whole: Requests, states: Sequence[Steady]) -> Line:
    """Steady write amplification by spare factor."""
    numbers = [_factor(f"{state.spare_factor:.0%} spare", state) for state in states]
    words = ", ".join(
        f"{with_interval(state)} at {state.spare_factor:.0%} spare" for state in states
    )
    more = (
        "The full simulation: floatgate run TRACE --repeat "
        f"{whole.loops} --set capacity.spare_factor=0.07 --set "
        f"flash.pages_per_block={whole.unit_pages}; then the drive's own unit and policies."
    )
    return Line(
        "amplification",
        QUESTIONS["amplification"],
        f"Write amplification {words}.",
        "sampled",
        _method(whole, "greedy cleaning, one stream, the whole map in memory"),
        tuple(_drifting(states)),
        more,
        (*numbers,),
    )


def separation(whole: Requests, plain: Steady, heuristics: Named, bound: Steady) -> Line:
    """The best heuristic, and the bound."""
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
    more = f"floatgate tune TRACE --objective write_amplification from {name} on."
    return Line(
        "separation",
        QUESTIONS["separation"],
        words,
        "sampled",
        method,
        tuple(doubts),
        more,
        (*numbers,),
    )


def map_memory(curve: Mapping[str, Any]) -> Line:
    """The memory for shares of the hits that can be had."""
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
        + f" of the hits that can be had ({percent(curve['hit_ratio_max'])} of the accesses); "
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


def life(
    drives: Sequence[tuple[str, int, Requests, Steady]], duration_s: float, refused: Sequence[str]
) -> Line:
    """Years and drive writes per day, for drives as large as what the trace spans.

    Each with its name, its program/erase cycles, and the trace in pages of its map.
    """
    numbers, words = [], []
    for name, cycles, whole, state in drives:
        # Of bytes of the host: a page that is written in part is programmed as a whole.
        rounded = whole.page_writes * whole.page / whole.written_bytes
        low, wa, high = (rounded * each for each in _ends(state))
        per_day = cycles / (1 - state.spare_factor) / (DAYS * YEARS)
        ends = _known(state, per_day / high, per_day / low)
        numbers.append(
            Number(f"{name}: flash bytes per host byte", wa, "", *_known(state, low, high))
        )
        numbers.append(Number(f"{name}: drive writes per day", per_day / wa, "DWPD", *ends))
        text = f"{name}: {fixed(per_day / wa, 2)} drive writes a day for {YEARS} years"
        if duration_s > 0:
            daily = whole.written_bytes * 86400 / duration_s
            written = daily / (whole.pages * whole.page)
            years = [per_day * YEARS / each / written for each in (wa, high, low)]
            known = _known(state, years[1], years[2])
            numbers.append(Number(f"{name}: life at the trace's rate", years[0], "years", *known))
            text += f", {_years(years[0])} at the trace's rate ({fixed(written, 2)} a day)"
        words.append(text)
    doubts = [*refused, *_drifting([state for *_, state in drives])]
    if duration_s == 0:
        doubts.append("the trace has no time stamps: life in years is not known")
    method = (
        "Program/erase cycles of the preset, over its spare factor and the steady write "
        "amplification there (on a drive as large as what the trace spans, full of it; one that is "
        "n times larger lasts n times longer at this rate). Wear is taken to be even."
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


def streams(
    whole: Requests,
    without: tuple[Steady, Steady],
    found: Sequence[tuple[Streams, Steady]],
    refused: Sequence[str],
) -> Line:
    """What streams by device or by size of write would change.

    `without` are one stream, and one handle for all: what cleaning moves is apart.
    """
    key = "streams"
    more = "The host's own streams, where it has some, in a column of the trace (docs/handles.md)."
    if not found:
        return unknown(key, QUESTIONS[key], "; ".join(refused), more)
    plain, apart = without
    words = []
    for way, state in found:
        gain = 1 - state.write_amplification / apart.write_amplification
        noise = (apart.half_width or 0) + (state.half_width or 0)
        change = abs(apart.write_amplification - state.write_amplification)
        says = "no difference that shows" if change <= noise else f"{-gain:+.0%}"
        share = f"{way.share:.0%} of the writes are not in the largest"
        words.append(f"{way.name} ({share}): {with_interval(state)}, {says}")
    known = [("one stream", plain), ("one handle", apart)]
    known += [(way.name, state) for way, state in found]
    return Line(
        key,
        QUESTIONS[key],
        f"At {plain.spare_factor:.0%} spare one stream has {with_interval(plain)}, one handle for "
        f"all, with copies apart, {with_interval(apart)}; against that {'; '.join(words)}.",
        "sampled",
        _method(whole, "handles isolated initially: what cleaning moves shares units"),
        tuple([*refused, *_drifting([state for _, state in known])]),
        more,
        tuple(_factor(*pair) for pair in known),
    )


def with_interval(state: Steady) -> str:
    """A write amplification as text, with half the width of its interval."""
    half = "" if state.half_width is None else f" ± {fixed(state.half_width, 2)}"
    return f"{fixed(state.write_amplification, 2)}{half}"


def _factor(name: str, state: Steady) -> Number:
    low, value, high = _ends(state)
    return Number(name, value, "", *_known(state, low, high))


def _ends(state: Steady) -> tuple[float, float, float]:
    half = state.half_width or 0.0
    wa = state.write_amplification
    return max(wa - half, min(wa, 1.0)), wa, wa + half


def _known(state: Steady, low: float, high: float) -> tuple[float | None, float | None]:
    return (None, None) if state.half_width is None else (low, high)


def _method(whole: Requests, how: str) -> str:
    played = f"played {whole.loops} times ({fixed(whole.loops * whole.volumes, 1)} volumes)"
    what = "the whole trace"
    if whole.every > 1:
        few = whole.every_of(SAMPLED_UNITS[0])
        what = (
            f"{whole.samples} samples each of one page in {whole.every} and in {few}, extrapolated"
        )
    text = (
        f"Simulated without time: {what}, {played} after a fill, the last third measured; "
        f"{count(whole.units)} erase units of {size(whole.unit_pages * whole.page)}, {how}."
    )
    return f"{text} {INTERVAL}" if whole.every > 1 else text


def _drifting(states: Sequence[Steady]) -> list[str]:
    drifts = [state.drift for state in states if not state.is_steady]
    if not drifts:
        return []
    most = f"{max(drifts):.1%}"
    return [f"not steady: it still changes by up to {most} from one third of the loops to the next"]


def _years(years: float) -> str:
    for unit, many in (("years", 1.0), ("days", DAYS)):
        if years * many >= 1:
            return f"{fixed(years * many, 1)} {unit}"
    return f"{measured(years * DAYS * 24)} hours"
