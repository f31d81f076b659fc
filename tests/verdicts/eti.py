"""The claims of the ETI paper."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from floatgate.papers.eti_claims import Evidence
from floatgate.papers.eti_runs import CAPTURED, EXCERPT, STAND_IN, SYNTHETIC, Extents, Point
from floatgate.papers.eti_schemes import MBF, MHF, SENSITIVITY, larger_filters
from floatgate.papers.paper import FAILS, HOLDS, PARTLY, UNCHECKED

from . import Case, about, altered

WASTE = {"single": 4.0, "eti": 2.0, "direct": 2.1, "oracle": 1.2}
"""Write amplifications as the paper has it: ETI is 20% below its rivals, which have 2.5."""
RIVALS = MBF + MHF
LARGER = tuple(scheme.key for scheme in larger_filters(1))
SENSITIVE = tuple(scheme.key for scheme in SENSITIVITY)
ALL = ("src2_0", "usr_0", "SW1", "MSR window")


def point(trace: str, line: str, waste: float, **numbers: Any) -> Point:
    known: dict[str, Any] = {
        "trace": trace,
        "kind": STAND_IN,
        "line": line,
        "victim": "greedy",
        "write_amplification": waste,
        "hot_share": 0.5,
        "victim_valid": 0.6,
        "memory_bytes": 0,
        "extents": None,
        "length": 2.0,
        "volumes": 2.0,
    }
    return Point(**(known | numbers))


def _trace(name: str, **numbers: Any) -> list[Point]:
    points = [point(name, line, waste, **numbers) for line, waste in WASTE.items()]
    points += [point(name, line, 2.5, **numbers) for line in RIVALS]
    points += [point(name, line, 2.01, **numbers) for line in SENSITIVE]
    return points + [point(name, line, 2.4, **numbers) for line in LARGER]


def hotness(extents: list[float | None], shares: list[float | None], name: str = "made-up") -> Any:
    """Merged extents with k = 1, 2, 4 and so on, and the cold writes in them."""
    merged = [
        SimpleNamespace(gap_pages=1 << n, extents=count, cold_writes_share=share)
        for n, (count, share) in enumerate(zip(extents, shares, strict=True))
    ]
    return SimpleNamespace(name=f"capture-{name}", extents=tuple(merged))


def as_stated() -> Evidence:
    """Evidence of which every claim holds."""
    points = _trace("src2_0") + _trace("usr_0")
    long = _trace("SW1", length=21.6)
    points += [replace(p, write_amplification=p.write_amplification / 2) for p in long]
    points += _trace("MSR window", kind=EXCERPT, memory_bytes=1024)
    points = altered(points, {"kind": EXCERPT, "line": "eti"}, memory_bytes=9232)
    extents = [
        Extents("src2_0", STAND_IN, 2000.0, 2048, 2048),
        Extents("MSR window", EXCERPT, 1900.0, 2048, 2048),
        Extents("SW1", STAND_IN, 300.0, 400, 2048),
    ]
    merged = [(CAPTURED, hotness([1500.0, 700.0, 300.0], [0.0, 0.03, 0.2]))]
    return Evidence(points, merged, extents)


def alter(where: dict[str, Any], **numbers: Any) -> Evidence:
    evidence = as_stated()
    return replace(evidence, points=altered(evidence.points, where, **numbers))


def lacks(*lines: str) -> Evidence:
    evidence = as_stated()
    return replace(evidence, points=[p for p in evidence.points if p.line not in lines])


def waste(*changes: tuple[str, str, float]) -> Evidence:
    """Other write amplifications, by trace and line."""
    points = list(as_stated().points)
    for trace, line, value in changes:
        points = altered(points, {"trace": trace, "line": line}, write_amplification=value)
    return Evidence(points)


def _silent() -> Evidence:
    """ETI takes next to nothing for hot, and so tells nothing apart."""
    return alter({"line": "eti"}, hot_share=0.009)


def _src2_0(gain: float) -> Evidence:
    """The gain on src2_0 over the worst rival; the others are 2% better than ETI."""
    mine = 2.5 * (1 - gain)
    better = [("src2_0", rival, 0.98 * mine) for rival in RIVALS[:-1]]
    return waste(("src2_0", "eti", mine), *better)


def _headline(gain: float) -> Evidence:
    """The gain on one trace over the best rival; over the others it is more, and elsewhere less."""
    mine = 2.5 * (1 - gain)
    elsewhere = [
        (trace, "eti", value * (1 - gain) + 0.2)
        for trace, value in (("src2_0", 2.5), ("SW1", 1.25), ("MSR window", 2.5))
    ]
    weaker = [("usr_0", rival, 9.0) for rival in RIVALS[1:]]
    return waste(("usr_0", "eti", mine), *weaker, *elsewhere)


def _lower_in(count: int) -> Evidence:
    """Thirty pairs of trace and rival, in so many of which ETI is lower; in others it is equal."""
    pairs = [(f"trace {n}", rival) for n in range(5) for rival in RIVALS]
    points = [point(f"trace {n}", "eti", 2.0) for n in range(5)]
    points += [
        point(trace, rival, 2.001 if i < count else 2.0) for i, (trace, rival) in enumerate(pairs)
    ]
    return Evidence(points)


def _rivals(lines: tuple[str, ...], value: float, *traces: str) -> Evidence:
    """What these rivals have on these traces; on SW1 everything is half as much."""
    half = {"SW1": 0.5}
    return waste(
        *((trace, line, value * half.get(trace, 1.0)) for trace in traces for line in lines)
    )


def _larger(twice: float, four_times: float, *traces: str) -> Evidence:
    """What larger filters change, where ETI is 20% below MBF."""
    half = {"SW1": 0.5}
    return waste(
        *(
            (trace, line, 2.5 * (1 + change) * half.get(trace, 1.0))
            for trace in traces
            for line, change in zip(LARGER, (twice, four_times), strict=True)
        )
    )


def _sensitive(change: float, *traces: str) -> Evidence:
    return _rivals(SENSITIVE, 2.0 * (1 + change), *traces)


def _in_use(long: float, msr: float, long_waste: float) -> Evidence:
    """Shares of the table that long writes and MSR traces use, and the waste of long writes; MSR
    traces have 2."""
    evidence = waste(("SW1", "eti", long_waste))
    extents = [
        Extents("src2_0", STAND_IN, msr * 2048, 2048, 2048),
        Extents("MSR window", EXCERPT, 2048.0, 2048, 2048),
        Extents("SW1", STAND_IN, long * 2048, 2048, 2048),
    ]
    return replace(evidence, extents=extents)


def _two_long(extents: float, long_waste: float) -> Evidence:
    """Another trace with long writes beside SW1, with so many of 2,048 extents and such waste."""
    evidence = as_stated()
    other = point("other", "eti", long_waste, kind=CAPTURED, length=30.0)
    found = Extents("other", CAPTURED, extents, 2048, 2048)
    return Evidence([*evidence.points, other], (), [*evidence.extents, found])


def _hot(*pairs: tuple[float, float]) -> Evidence:
    """Captures with so many extents at first and merged."""
    return Evidence([], [(CAPTURED, hotness([a, b], [0.0, 0.0])) for a, b in pairs])


def _halved(*shares: float) -> Evidence:
    """Captures of which so many cold writes are misclassified with half the extents."""
    return Evidence(
        [], [(CAPTURED, hotness([100.0, 60.0, 50.0], [0.0, 0.9, share])) for share in shares]
    )


def _memory(size: float) -> Evidence:
    return alter({"kind": EXCERPT, "line": "eti"}, memory_bytes=round(size))


def _of(kind: str) -> Evidence:
    evidence = as_stated()
    return replace(
        evidence,
        points=[p for p in evidence.points if p.kind == kind],
        hotness=[(kind, found) for _, found in evidence.hotness],
    )


CASES = [
    # "Reduces write amplification of traces such as src2.0 up to 21.3%."
    *about("src2_0", 0.213, _src2_0),
    Case("src2_0", UNCHECKED, "it is missing", _of(EXCERPT)),
    Case("src2_0", UNCHECKED, "its rivals were not run", lacks(*RIVALS)),
    Case("src2_0", UNCHECKED, "ETI finds nothing hot", _silent()),
    # "In others it was as much as 20%", "over both Multiple Hash Functions and Multiple Bloom
    # Filters": over the best rival, on the trace where that is most.
    *about("headline", 0.20, _headline),
    Case("headline", UNCHECKED, "its rivals were not run", lacks(*RIVALS)),
    Case("headline", UNCHECKED, "ETI finds nothing hot", _silent()),
    # "In almost all cases write amplification was lower": in nine of ten.
    Case("almost-all", HOLDS, "27 of 30", _lower_in(27)),
    Case("almost-all", PARTLY, "26 of 30", _lower_in(26)),
    Case("almost-all", PARTLY, "15 of 30", _lower_in(15)),
    Case("almost-all", FAILS, "14 of 30", _lower_in(14)),
    Case("almost-all", UNCHECKED, "its rivals were not run", lacks(*RIVALS)),
    Case("almost-all", UNCHECKED, "ETI finds nothing hot", _silent()),
    Case("almost-all", HOLDS, "1.1% are hot", alter({"line": "eti"}, hot_share=0.011)),
    # "Performing no worse than MHF in all cases": 0.5% are no difference. Twelve pairs here.
    Case("mhf", HOLDS, "20% lower", as_stated()),
    Case("mhf", HOLDS, "0.4% are no difference", _rivals(MHF, 2 / 1.004, *ALL)),
    Case("mhf", PARTLY, "0.55% worse in one", waste(("usr_0", "mhf-2", 2 / 1.0055))),
    Case("mhf", PARTLY, "0.55% worse in six", _rivals(MHF, 2 / 1.0055, *ALL[:2])),
    Case("mhf", FAILS, "0.55% worse in nine", _rivals(MHF, 2 / 1.0055, *ALL[:3])),
    Case("mhf", HOLDS, "MBF does not count", _rivals(MBF, 1.0, *ALL)),
    Case("mhf", UNCHECKED, "MHF was not run", lacks(*MHF)),
    Case("mhf", UNCHECKED, "ETI finds nothing hot", _silent()),
    # "Only slightly worse (4%) than MBF for one trace": up to 6%, on one of four here.
    Case("mbf", HOLDS, "5.9% worse on one", waste(("usr_0", "mbf-2", 2 / 1.059))),
    Case("mbf", PARTLY, "6.1% worse on one", waste(("usr_0", "mbf-2", 2 / 1.061))),
    Case("mbf", PARTLY, "0.55% worse on two", _rivals(MBF, 2 / 1.0055, *ALL[:2])),
    Case("mbf", FAILS, "0.55% worse on three", _rivals(MBF[2:], 2 / 1.0055, *ALL[:3])),
    Case("mbf", HOLDS, "0.4% are no difference", _rivals(MBF, 2 / 1.004, *ALL)),
    Case("mbf", HOLDS, "MHF does not count", _rivals(MHF, 1.0, *ALL)),
    Case("mbf", UNCHECKED, "MBF was not run", lacks(*MBF)),
    Case("mbf", UNCHECKED, "ETI finds nothing hot", _silent()),
    # Larger filters gain "modestly", taken to be half of ETI's 20%, or lose "negligibly", 1%.
    Case("larger-filters", HOLDS, "4% lower", as_stated()),
    Case("larger-filters", HOLDS, "9.9% lower", _larger(-0.05, -0.099, *ALL)),
    Case("larger-filters", PARTLY, "10.1% lower on two", _larger(-0.05, -0.101, *ALL[:2])),
    Case("larger-filters", FAILS, "10.1% lower on three", _larger(-0.101, -0.05, *ALL[:3])),
    Case("larger-filters", HOLDS, "0.9% higher", _larger(0.009, 0.009, *ALL)),
    Case("larger-filters", PARTLY, "1.1% higher on one", _larger(0.0, 0.011, "usr_0")),
    Case("larger-filters", FAILS, "1.1% higher on three", _larger(0.011, 0.0, *ALL[:3])),
    Case("larger-filters", UNCHECKED, "no larger filters", lacks(*LARGER)),
    Case("larger-filters", UNCHECKED, "one of two larger filters", lacks(LARGER[0])),
    Case(
        "larger-filters",
        HOLDS,
        "ETI gains 2.1%, they nothing",
        _rivals(("mbf-1", *LARGER), 2 / 0.979, *ALL),
    ),
    Case("larger-filters", UNCHECKED, "ETI gains 1.9%", _rivals(("mbf-1",), 2 / 0.981, *ALL)),
    Case("larger-filters", UNCHECKED, "ETI finds nothing hot", _silent()),
    # "Less than 2%" for alpha of 90 and 80% and beta of 3 and 2.
    Case("sensitivity", HOLDS, "1.9% more", _sensitive(0.019, *ALL)),
    Case("sensitivity", HOLDS, "1.9% less", _sensitive(-0.019, *ALL)),
    Case("sensitivity", PARTLY, "2.1% more on one", _sensitive(0.021, "SW1")),
    Case("sensitivity", PARTLY, "2.1% less on two of four", _sensitive(-0.021, *ALL[:2])),
    Case("sensitivity", FAILS, "2.1% more on three of four", _sensitive(0.021, *ALL[1:])),
    Case("sensitivity", UNCHECKED, "no other alpha or beta", lacks(*SENSITIVE)),
    Case("sensitivity", UNCHECKED, "ETI finds nothing hot", _silent()),
    # Traces "with high mean write lengths" have "a few hundred extents", up to a quarter of the
    # table, and "low write amplification"; MSR traces "make use of the full extent table", three
    # quarters of it, and have the "highest write amplification".
    Case("extents", HOLDS, "a quarter, three quarters, lower", _in_use(0.25, 0.75, 1.9)),
    Case("extents", PARTLY, "too many with long writes", _in_use(0.26, 0.75, 1.9)),
    Case("extents", PARTLY, "MSR does not fill the table", _in_use(0.25, 0.74, 1.9)),
    Case("extents", PARTLY, "as much waste with long writes", _in_use(0.25, 0.75, 2.0)),
    Case("extents", PARTLY, "one of two long traces has too many", _two_long(600.0, 1.0)),
    Case("extents", PARTLY, "one of two long traces wastes as much", _two_long(300.0, 2.0)),
    Case("extents", HOLDS, "two long traces", _two_long(300.0, 1.9)),
    Case(
        "extents",
        PARTLY,
        "one of two MSR traces wastes less than the long ones",
        replace(
            as_stated(),
            points=altered(
                as_stated().points, {"trace": "src2_0", "line": "eti"}, write_amplification=0.9
            ),
        ),
    ),
    Case("extents", PARTLY, "only the waste is as stated", _in_use(0.26, 0.74, 1.9)),
    Case("extents", FAILS, "nothing is as stated", _in_use(0.26, 0.74, 2.0)),
    Case("extents", HOLDS, "writes of 16.1 pages are long", alter({"trace": "SW1"}, length=16.1)),
    Case("extents", UNCHECKED, "writes are short", alter({}, length=15.9)),
    Case("extents", UNCHECKED, "extents were not counted", replace(as_stated(), extents=[])),
    Case("extents", UNCHECKED, "ETI was not run", lacks("eti")),
    Case(
        "extents",
        UNCHECKED,
        "no trace of MSR",
        replace(as_stated(), extents=[Extents("SW1", STAND_IN, 300.0, 400, 2048)]),
    ),
    # "A thousand or two, or less", and "a few hundred as nearby segments are coalesced".
    Case("hot-extents", HOLDS, "2,000 and 500", _hot((2000.0, 500.0))),
    Case("hot-extents", PARTLY, "2,001 at first", _hot((2001.0, 500.0))),
    Case("hot-extents", PARTLY, "501 in the end", _hot((2000.0, 501.0))),
    Case("hot-extents", FAILS, "both", _hot((2001.0, 501.0))),
    Case("hot-extents", FAILS, "three of four", _hot((2001.0, 501.0), (2001.0, 500.0))),
    Case("hot-extents", UNCHECKED, "stand-ins have it by construction", _of(STAND_IN)),
    Case(
        "hot-extents",
        UNCHECKED,
        "the capture is too short",
        Evidence([], [(CAPTURED, hotness([None, None], [None, None]))]),
    ),
    # "In all but one case the number of map segments can be cut in half with less than 5%
    # misclassification": with 60 of 100 they are not halved, with 50 they are.
    Case("half", HOLDS, "4.9% in the only one", _halved(0.049)),
    Case("half", FAILS, "5% in the only one: of one, all but one are none", _halved(0.05)),
    Case("half", HOLDS, "5% in one of two", _halved(0.05, 0.049)),
    Case("half", PARTLY, "5% in two of four", _halved(0.05, 0.05, 0.01, 0.02)),
    Case("half", FAILS, "5% in two of three", _halved(0.05, 0.05, 0.01)),
    Case(
        "half",
        FAILS,
        "never halved",
        Evidence([], [(CAPTURED, hotness([100.0, 51.0], [0.0, 0.0]))] * 2),
    ),
    Case(
        "half",
        HOLDS,
        "two extents, and one",
        Evidence([], [(CAPTURED, hotness([2.0, 1.0], [0.0, 0.04]))]),
    ),
    Case("half", UNCHECKED, "stand-ins have it by construction", _of(STAND_IN)),
    Case("half", UNCHECKED, "one extent cannot be halved", _hot((1.0, 1.0))),
    Case(
        "half",
        UNCHECKED,
        "the capture is too short",
        Evidence([], [(CAPTURED, hotness([None, None], [None, None]))]),
    ),
    # "Roughly 10 KB for the implementation tested."
    *about("memory", 10_240, _memory, signed=False),
    Case("memory", UNCHECKED, "a model has fewer extents", _of(STAND_IN)),
    Case(
        "memory",
        HOLDS,
        "a synthetic load counts",
        alter({"kind": STAND_IN}, kind=SYNTHETIC, memory_bytes=9232),
    ),
]

NO_MIDDLE: frozenset[str] = frozenset()
NEVER: frozenset[str] = frozenset()
