"""The NCQ-aware buffer's tables: the parameters that change its gains, and where its numbers are
met."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product

from floatgate.papers.kit.claims import change
from floatgate.papers.kit.exhibits import Column, Exhibit, Numbers, Row
from floatgate.papers.kit.judging import judge
from floatgate.papers.kit.numbers import spread
from floatgate.papers.kit.reproduce import Findings
from floatgate.results.values import count, fixed, measured, percent, ratio

from .claims import CLAIMS, points
from .domain import AXES, CLAIMED, GAPS, RECORDS, SIZES, SMALLEST
from .figures import DEFAULTS, LABELS, PINS, PLACE, Series, gains, place_of, values
from .reduce import IDLE, Point


def tables(found: Sequence[Point]) -> list[Exhibit]:
    return [*_departures(found), _speeds(found), _merges(found)]


def _departures(found: Sequence[Point]) -> list[Exhibit]:
    """Returns gains and waiting commands by size of the buffer, with one parameter changed at a
    time."""
    return [
        _by_size(
            "hits",
            "Hits over LRU, in points",
            "Over LRU with the same drive, requests and size; means with 95% intervals.",
            found,
            lambda at: gains(at, "hit_ratio"),
            lambda gain: points(gain).removesuffix(" points"),
        ),
        _by_size(
            "bandwidth",
            "Bandwidth over LRU",
            "Over LRU with the same drive, requests and size; means with 95% intervals.",
            found,
            lambda at: gains(at, "write_mb_s"),
            change,
        ),
        _by_size(
            "waiting",
            "Commands that wait",
            "On average; the queue holds one more, which is served. What waits outside is left "
            "out.",
            found,
            lambda at: values(at, "waiting"),
            lambda waiting: fixed(waiting, 1),
        ),
    ]


def _by_size(
    key: str,
    title: str,
    caption: str,
    found: Sequence[Point],
    of: Callable[[Sequence[Point]], Series],
    said: Callable[[float], str],
) -> Numbers:
    rows: list[Row] = []
    others = [
        (axis.key, choice.key)
        for axis in AXES
        if axis.key in PLACE
        for choice in axis.choices
        if choice.key != axis.default
    ]
    for name in RECORDS:
        for line in PINS:
            label = "as assumed" if line == "ncq" else LABELS[line]
            rows += _row(name, line, label, of(place_of(found)), said)
        for axis, choice in others:
            label = f"span of {choice}" if axis == "span" else choice
            label = f"aligned to {choice}" if axis == "alignment" else label
            label = f"{choice} gaps" if axis == "arrivals" else label
            rows += _row(name, "ncq", label, of(place_of(found, **{axis: choice})), said)
    columns = [Column(f"{mib} MiB", str(mib)) for mib in SIZES]
    return Numbers(
        key=key,
        title=title,
        caption=caption,
        rows=rows,
        columns=[Column("Workload", "trace"), Column("Setup", "setup"), *columns],
    )


def _row(
    name: str, line: str, label: str, series: Series, said: Callable[[float], str]
) -> list[Row]:
    known = {str(mib): series[name, line, mib] for mib in SIZES if (name, line, mib) in series}
    cells = {mib: spread(seeds, said) for mib, seeds in known.items()}
    return [{"trace": name, "setup": label, **cells}] if cells else []


def offered(name: str) -> float:
    """Returns the MB/s that a workload demands."""
    return RECORDS[name] / 1e6 / (float(GAPS[name].removesuffix("ms")) / 1e3)


SPEEDS: Mapping[str, Callable[[float], str]] = {
    "write_mb_s": "{:.1f}".format,
    "busy": percent,
    "waiting": "{:.1f}".format,
    "write_amplification": ratio,
}


def _speeds(found: Sequence[Point]) -> Numbers:
    """Compares the speed of the drives with the demand of the workloads."""
    rows: list[Row] = []
    known = {(p.speed, p.alignment) for p in found}
    speeds = [choice.key for choice in next(a for a in AXES if a.key == "speed").choices]
    for name, alignment, speed in product(RECORDS, ("records", "pages"), speeds):
        if (speed, alignment) not in known:
            continue
        at = place_of(found, speed=speed, alignment=alignment)
        base = (name, "lru", SMALLEST)
        cells: Row = {
            metric: spread(seeds, said)
            for metric, said in SPEEDS.items()
            if (seeds := values(at, metric).get(base))
        }
        if cells:
            place = {"trace": name, "alignment": alignment, "speed": speed}
            rows.append({**place, "offered": offered(name), **cells})
    return Numbers(
        key="speeds",
        title="How fast the drives are",
        caption=f"With LRU, {SMALLEST} MiB and a span of {DEFAULTS['span']}; means with 95% "
        "intervals.",
        rows=rows,
        columns=[
            Column("Workload", "trace"),
            Column("Alignment", "alignment"),
            Column("Speed", "speed"),
            Column("Offered, MB/s", "offered", measured),
            Column("Written, MB/s", "write_mb_s"),
            Column("Busy, of the time", "busy"),
            Column("Commands that wait", "waiting"),
            Column("Programs per page written", "write_amplification"),
        ],
        brief=False,
    )


def _merges(found: Sequence[Point]) -> Numbers:
    rows: list[Row] = []
    for name, alignment, ftl, line in product(
        RECORDS, ("records", "pages"), ("as assumed", "FAST"), ("lru", "ncq")
    ):
        at = place_of(found, alignment=alignment, otherwise=ftl)
        for mib in (CLAIMED[0], CLAIMED[-1]):
            cells = {
                kind: spread(seeds, ratio if kind == "write_amplification" else "{:.3f}".format)
                for kind in ("switch", "partial", "full", "write_amplification")
                if (seeds := values(at, kind).get((name, line, mib)))
            }
            if cells:
                label = "BAST" if ftl == "as assumed" else ftl
                place = {"trace": name, "alignment": alignment, "ftl": label, "mib": mib}
                rows.append({**place, "line": LABELS[line], **cells})
    return Numbers(
        key="merges",
        title="Merges a command",
        caption=f"A span of {DEFAULTS['span']}, {DEFAULTS['speed']}; means with 95% intervals.",
        rows=rows,
        columns=[
            Column("Workload", "trace"),
            Column("Alignment", "alignment"),
            Column("FTL", "ftl"),
            Column("Buffer", "line"),
            Column("MiB", "mib", count),
            Column("Switch", "switch"),
            Column("Partial", "partial"),
            Column("Full", "full"),
            Column("Programs per page written", "write_amplification"),
        ],
        brief=False,
    )


def asked_with(found: Findings[Point], key: str, title: str, *axes: str) -> Numbers:
    """Returns every claim at the middle of its domain with other choices on these axes."""
    rows: list[Row] = []
    places: dict[str, None] = {}
    for claim in CLAIMS:
        other = replace(claim, axes=axes)
        asked = judge(found.experiment, other, found.points, found.lab.full, IDLE)
        named = {", ".join(row[axis] for axis in axes): row for row in asked.rows}
        places |= dict.fromkeys(named)
        cases = {
            place: row["case"] + (" (left out)" if row["rejected"] else "")
            for place, row in named.items()
        }
        rows.append({"claim": claim.text, **cases})
    return Numbers(
        key=key,
        title=title,
        caption="At the middle of what else is left open; what the filter leaves out is marked.",
        rows=rows if len(places) > 1 else [],
        columns=[Column("Claim", "claim"), *(Column(place, place) for place in places)],
        brief=False,
    )


COLUMNS = (
    Column("Workload", "trace"),
    Column("Buffer", "line"),
    Column("MiB", "buffer_mib", count),
    Column("Span", "span"),
    Column("Speed", "speed"),
    Column("Alignment", "alignment"),
    Column("Arrivals", "arrivals"),
    Column("Otherwise", "otherwise"),
    Column("Seed", "seed", str),
    Column("Hit ratio", "hit_ratio", percent),
    Column("MB/s", "write_mb_s", measured),
    Column("IOPS", "iops", measured),
    Column("Busy", "busy", percent),
    Column("Waiting", "waiting", lambda waiting: fixed(waiting, 1)),
    Column("Programs per page written", "write_amplification", ratio),
    Column("Switch merges a command", "switch", "{:.3f}".format),
    Column("Partial", "partial", "{:.3f}".format),
    Column("Full", "full", "{:.3f}".format),
)
