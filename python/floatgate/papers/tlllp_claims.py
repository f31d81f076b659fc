"""What the TLLLP paper claims, each as a measure over the points of the runs.

Only points at the traces' own times count, and only traces of the paper (`FAMILIES`). A reduction
of a trace is the mean over its cache sizes; of a family, the mean over its traces; on average, the
mean over the families, as the paper averages over its workloads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from floatgate.report.values import size

from .paper import FAILS, HOLDS, PARTLY, Claim, Measured, absent, change, ordered, stated
from .tlllp_runs import Point

FINANCIAL1, WEBSEARCH, MSR = "Financial1", "WebSearch", "MSR"
FAMILIES = (FINANCIAL1, WEBSEARCH, MSR)

HIGH = 0.7
"""A hit ratio from which we call it very high; the paper gives no number."""

LARGE = 0.3
"""A share of the flash's time from which we call it large; the paper gives no number."""

Pair = tuple[Point, Point]
"""DFTL and TLLLP on the same trace with the same cache."""


def pairs(points: Sequence[Point], family: str | None = None) -> list[Pair]:
    """All pairs on the paper's traces, or on those of one family."""
    families = FAMILIES if family is None else (family,)
    open_ = [p for p in points if p.arrivals == "open" and p.family in families]
    ours = {(p.trace, p.cache_bytes): p for p in open_ if p.line == "tlllp"}
    return [
        (p, ours[p.trace, p.cache_bytes])
        for p in open_
        if p.line == "dftl" and (p.trace, p.cache_bytes) in ours
    ]


def _hit_ratio_above(points: Sequence[Point]) -> Measured:
    found = pairs(points)
    if not found:
        return absent("DFTL and TLLLP on a trace of the paper")
    gains = [_hits(after) - _hits(before) for before, after in found]
    right = sum(gain > 0 for gain in gains)
    ours = f"above in {right} of {len(found)} pairs; {_points(min(gains))} to {_points(max(gains))}"
    wrong = [pair for pair, gain in zip(found, gains, strict=True) if gain <= 0]
    reasons = []
    for trace in dict.fromkeys(before.trace for before, _ in wrong):
        missed = [pair for pair in wrong if pair[0].trace == trace]
        sizes = ", ".join(size(before.cache_bytes) for before, _ in missed)
        reasons.append(f"not on {trace} at {sizes}: {_mean_prefetch([b for _, b in missed])}")
    why = "; ".join(reasons)
    return Measured(ours, ordered([gain > 0 for gain in gains]), why, right / len(found))


def _websearch_gains_most(points: Sequence[Point]) -> Measured:
    gains = _by_family(points, lambda a, b: _hits(b) - _hits(a))
    if WEBSEARCH not in gains or len(gains) < 2:
        return absent("WebSearch and another trace of the paper")
    ranking = sorted(gains, key=lambda name: -gains[name])
    place = ranking.index(WEBSEARCH)
    ours = ", ".join(f"{name} {_points(gains[name])}" for name in ranking)
    verdict = HOLDS if place == 0 else FAILS if place == len(ranking) - 1 else PARTLY
    best = [b for _, b in pairs(points, ranking[0])]
    why = f"{ranking[0]} gains more: {_mean_prefetch(best)}" if place else ""
    return Measured(ours, verdict, why, gains[WEBSEARCH])


def _msr_high(points: Sequence[Point]) -> Measured:
    hits = _by_family(points, lambda a, _: _hits(a))
    if MSR not in hits or len(hits) < 2:
        return absent("MSR and another trace of the paper")
    highest = hits[MSR] == max(hits.values())
    tests = (highest, hits[MSR] >= HIGH)
    ours = ", ".join(f"{name} {value:.1%}" for name, value in hits.items())
    windows = _by_trace(pairs(points, MSR), lambda a, _: _hits(a))
    parts = ", ".join(f"{name} {value:.1%}" for name, value in windows.items())
    why = (
        "" if all(tests) else f"windows of 10,000 requests from volumes that are not named: {parts}"
    )
    return Measured(ours, (FAILS, PARTLY, HOLDS)[sum(tests)], why, hits[MSR])


def _mean_lower(points: Sequence[Point]) -> Measured:
    found = _by_family(points, _mean_change)
    return _average(points, found, -0.12) if found else absent("a trace of the paper")


def _financial1_mean(points: Sequence[Point]) -> Measured:
    return _one(points, FINANCIAL1, _mean_change, -0.1664)


def _deviation_lower(points: Sequence[Point]) -> Measured:
    found = _by_family(points, _deviation_change)
    found.pop(FINANCIAL1, None)
    return _average(points, found, -0.15) if found else absent("WebSearch or an MSR trace")


def _financial1_deviation(points: Sequence[Point]) -> Measured:
    return _one(points, FINANCIAL1, _deviation_change, 0.10)


def _no_cache_worst(points: Sequence[Point]) -> Measured:
    none = {p.trace: p for p in points if p.line == "none" and p.arrivals == "open"}
    known = [(none[a.trace], a, b) for a, b in pairs(points) if a.trace in none]
    if not known:
        return absent("a trace of the paper without a cache")
    cases = [n.mean_us > max(a.mean_us, b.mean_us) for n, a, b in known]
    ours = f"worst in {sum(cases)} of {len(cases)} (trace, cache) pairs"
    why = "; ".join(
        f"{_place(a)}: {_better(n, a, b)}"
        for (n, a, b), right in zip(known, cases, strict=True)
        if not right
    )
    return Measured(ours, ordered(cases), why, sum(cases) / len(cases))


def _gain_smaller(points: Sequence[Point]) -> Measured:
    hits = _by_family(points, lambda a, b: _hits(b) - _hits(a))
    means = _by_family(points, _mean_change)
    if not hits:
        return absent("a trace of the paper")
    shares = _by_family(points, lambda _, b: b.cleaning_share)
    smaller = fmean(-value for value in means.values()) < fmean(hits.values())
    share = fmean(shares.values())
    parts = (f"{name} {value:.0%}" for name, value in shares.items())
    ours = (
        f"hit ratio {_points(fmean(hits.values()))}, "
        f"mean response {change(fmean(means.values()))}; cleaning {share:.0%} of the flash's "
        "time with TLLLP"
    )
    verdict = (FAILS, PARTLY, HOLDS)[smaller + (share >= LARGE)]
    why = "" if verdict == HOLDS else f"cleaning takes of the flash's time: {', '.join(parts)}"
    return Measured(ours, verdict, why, share)


CLAIMS = (
    Claim(
        "hit-ratio",
        "TLLLP's hit ratio is above DFTL's at every cache size in every trace",
        "Figure 2, section 3.2.1",
        "above",
        _hit_ratio_above,
    ),
    Claim(
        "websearch-gain",
        "WebSearch gains most in hit ratio",
        "section 3.2.1",
        "most",
        _websearch_gains_most,
    ),
    Claim(
        "msr-dftl",
        "DFTL's hit ratio on MSR is already very high",
        "section 3.2.1",
        "very high",
        _msr_high,
    ),
    Claim(
        "mean",
        "TLLLP's mean response time is below DFTL's, on average",
        "Figure 3, section 3.2.2",
        "\N{MINUS SIGN}12%",
        _mean_lower,
    ),
    Claim(
        "mean-financial1",
        "The same on Financial1",
        "Figure 3, section 3.2.2",
        "\N{MINUS SIGN}16.64%",
        _financial1_mean,
    ),
    Claim(
        "deviation",
        "The standard deviation of response time is below DFTL's, on average without Financial1",
        "Figure 4, section 3.2.2",
        "\N{MINUS SIGN}15%",
        _deviation_lower,
    ),
    Claim(
        "deviation-financial1",
        "On Financial1 it is above DFTL's",
        "Figure 4, section 3.2.2",
        "+10%",
        _financial1_deviation,
    ),
    Claim(
        "no-cache",
        "Without a cache the mean response time is worst",
        "Figure 3",
        "worst",
        _no_cache_worst,
    ),
    Claim(
        "cleaning",
        "The mean response gains less than the hit ratio, as cleaning is a large share of it",
        "section 3.2.2",
        "less; large",
        _gain_smaller,
    ),
)


def judge(points: Sequence[Point]) -> list[tuple[Claim[Sequence[Point]], Measured]]:
    """Every claim with what we found."""
    return [(claim, claim.measure(points)) for claim in CLAIMS]


def _hits(point: Point) -> float:
    return point.hit_ratio or 0.0


def _mean_change(before: Point, after: Point) -> float:
    return after.mean_us / before.mean_us - 1 if before.mean_us else 0.0


def _deviation_change(before: Point, after: Point) -> float:
    return after.stdev_us / before.stdev_us - 1 if before.stdev_us else 0.0


def _by_trace(found: Iterable[Pair], of: Callable[[Point, Point], float]) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for before, after in found:
        values.setdefault(before.trace, []).append(of(before, after))
    return {name: fmean(several) for name, several in values.items()}


def _by_family(points: Sequence[Point], of: Callable[[Point, Point], float]) -> dict[str, float]:
    """The families that there are, each with the mean over its traces."""
    traces = {name: _by_trace(pairs(points, name), of) for name in FAMILIES}
    return {name: fmean(found.values()) for name, found in traces.items() if found}


def _average(points: Sequence[Point], found: dict[str, float], paper: float) -> Measured:
    """A number that the paper states as an average over workloads."""
    ours = fmean(found.values())
    parts = ", ".join(f"{name} {change(value)}" for name, value in found.items())
    verdict = stated(paper, ours)
    reasons = [f"{name}: {_cost(points, name)}" for name in found]
    why = "" if verdict == HOLDS else "; ".join(reasons)
    return Measured(f"{change(ours)} ({parts})", verdict, why, ours)


def _one(
    points: Sequence[Point], family: str, of: Callable[[Point, Point], float], paper: float
) -> Measured:
    """A number that the paper states for one workload."""
    traces = _by_trace(pairs(points, family), of)
    if not traces:
        return absent(family)
    ours = fmean(traces.values())
    parts = ", ".join(f"{name} {change(value)}" for name, value in traces.items())
    verdict = stated(paper, ours)
    why = "" if verdict == HOLDS else _cost(points, family)
    return Measured(f"{change(ours)} ({parts})", verdict, why, ours)


def _cost(points: Sequence[Point], family: str) -> str:
    """What the map cost both, and what cleaning and waiting took."""
    found = pairs(points, family)

    def both(of: Callable[[Point], float], style: str) -> str:
        before, after = (fmean(of(pair[i]) for pair in found) for i in (0, 1))
        return f"{before:{style}} to {after:{style}}"

    used = _mean_prefetch([b for _, b in found])
    return (
        f"map reads {both(lambda p: p.map_reads, '.2f')} and programs "
        f"{both(lambda p: p.map_programs, '.2f')} a page access; of the flash's time, map "
        f"{both(lambda p: p.map_share, '.0%')}, "
        f"cleaning {both(lambda p: p.cleaning_share, '.0%')}; {used}"
    )


def _mean_prefetch(found: Sequence[Point]) -> str:
    used = [p.prefetch_used for p in found if p.prefetch_used is not None]
    return (
        f"{fmean(used):.0%} of prefetched entries were used" if used else "nothing was prefetched"
    )


def _better(none: Point, dftl: Point, tlllp: Point) -> str:
    """Which cache is slower than none, and what it costs."""
    slower = [(n, p) for n, p in (("DFTL", dftl), ("TLLLP", tlllp)) if p.mean_us >= none.mean_us]
    return ", ".join(
        f"{name} takes {p.map_reads:.2f} map reads and {p.map_programs:.2f} programs a page "
        f"access, no cache {none.map_reads:.2f} and {none.map_programs:.2f}"
        for name, p in slower
    )


def _place(point: Point) -> str:
    return f"{point.trace} at {size(point.cache_bytes)}"


def _points(gain: float) -> str:
    return f"{100 * gain:+.1f} points".replace("-", "\N{MINUS SIGN}")
