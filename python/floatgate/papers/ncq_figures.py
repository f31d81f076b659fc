"""The NCQ-aware buffer's figures: the paper's three, its gains, and what they depend on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product

from floatgate.intervals import mean_and_half_width
from floatgate.report.values import count, fixed, measured, percent, ratio

from .experiment import Experiment, Run
from .judging import judge
from .ncq_claims import CLAIMS, PAPER, STATED, points
from .ncq_runs import (
    AXES,
    CLAIMED,
    DEPTH,
    GAPS,
    IDLE,
    MIB,
    READINGS,
    RECORDS,
    SCHEMES,
    SIZES,
    SMALLEST,
    Point,
)
from .paper import HOLDS, Column, Exhibit, Lines, Measured, Numbers, Row, change
from .verdicts import AMBIGUOUS

LABELS = {key: label for key, (label, _) in SCHEMES.items()}
FIGURES = ("lru", "ncq", "fab", "bplru", "clc", "belady")
PINS = tuple(READINGS.values())

PLACE = ("span", "speed", "alignment", "arrivals", "otherwise")
DEFAULTS = {axis.key: axis.default for axis in AXES if axis.key in PLACE}

METRICS = {
    "figure-3": ("hit_ratio", "Figure 3: hit ratio", ".2%"),
    "figure-4": ("write_mb_s", "Figure 4: write bandwidth, MB/s", ".1f"),
    "figure-5": ("iops", "Figure 5: IOPS", ".1f"),
}
INTERVALS = "Whiskers: 95% intervals over seeds."

Series = Mapping[tuple[str, str, int], list[float]]
"""A value per seed by trace, line and size of the buffer."""


def exhibits(found: Sequence[Point]) -> list[Exhibit]:
    """All that there are runs for, but for what needs verdicts."""
    main = place_of(found)
    return [
        *(_figure(key, *figure, main) for key, figure in METRICS.items()),
        _hit_gains(main),
        _rate_gains(main),
        _over_spans(found),
        *_departures(found),
        _speeds(found),
        _merges(found),
    ]


def place_of(found: Iterable[Point], **place: str) -> list[Point]:
    """The points at the defaults, but for what is named."""
    wanted = DEFAULTS | place
    return [p for p in found if all(getattr(p, axis) == choice for axis, choice in wanted.items())]


def values(found: Iterable[Point], metric: str) -> Series:
    """A number of the runs at a place."""
    series: dict[tuple[str, str, int], list[float]] = {}
    for p in found:
        series.setdefault((p.trace, p.line, p.buffer_mib), []).append(getattr(p, metric))
    return series


def gains(found: Sequence[Point], metric: str) -> Series:
    """The same over LRU with the same requests: of hits a difference, else a relative change."""
    base = {(p.trace, p.buffer_mib, p.seed): getattr(p, metric) for p in found if p.line == "lru"}
    series: dict[tuple[str, str, int], list[float]] = {}
    for p in found:
        lru = base.get((p.trace, p.buffer_mib, p.seed))
        if p.line in PINS and lru is not None:
            ours = getattr(p, metric)
            gain = ours - lru if metric == "hit_ratio" else ours / lru - 1
            series.setdefault((p.trace, p.line, p.buffer_mib), []).append(gain)
    return series


def _mean(known: Sequence[float]) -> Row:
    mean, half = mean_and_half_width(known)
    return {"value": mean, "half": half}


def _rows(series: Series, lines: Iterable[str]) -> list[Row]:
    known = set(lines)
    return [
        {"trace": trace, "line": line, "buffer_mib": mib, **_mean(seeds)}
        for (trace, line, mib), seeds in series.items()
        if line in known
    ]


def _over_sizes(
    key: str, title: str, caption: str, rows: list[Row], style: str, labels: Mapping[str, str]
) -> Lines:
    return Lines(
        key=key,
        title=title,
        caption=f"{caption} {INTERVALS}",
        rows=rows,
        metric="value",
        style=style,
        labels=labels,
        x="buffer_mib",
        x_title="Buffer, MiB",
        x_text=lambda mib: f"{mib:.0f}",
        spread="half",
    )


def _figure(key: str, metric: str, title: str, style: str, main: Sequence[Point]) -> Lines:
    return _over_sizes(
        key,
        title,
        "The bound is Belady's on blocks, which here are always whole.",
        _rows(values(main, metric), FIGURES),
        style,
        {line: LABELS[line] for line in FIGURES},
    )


def _hit_gains(main: Sequence[Point]) -> Lines:
    stated = [
        {"trace": name, "line": "paper", "buffer_mib": SMALLEST, "value": gain}
        for name, gain in PAPER["hit_ratio"].items()
    ]
    return _over_sizes(
        "gain-hits",
        "Hits over LRU",
        "A difference of hit ratios, with what the paper states for 1 MB.",
        [*_rows(gains(main, "hit_ratio"), PINS), *stated],
        ".2%",
        {line: LABELS[line] for line in PINS} | {"paper": "The paper"},
    )


def _rate_gains(main: Sequence[Point]) -> Lines:
    named = {"write_mb_s": "The paper, bandwidth, up to", "iops": "The paper, IOPS, up to"}
    stated = [
        {"trace": name, "line": metric, "buffer_mib": None, "value": PAPER[metric][name]}
        for metric in named
        for name in RECORDS
    ]
    return _over_sizes(
        "gain-bandwidth",
        "Bandwidth over LRU",
        "A relative change; that of IOPS is the same, as all records are of one size.",
        [*_rows(gains(main, "write_mb_s"), PINS), *stated],
        ".2%",
        {line: LABELS[line] for line in PINS} | named,
    )


LAW = "(Q \N{MINUS SIGN} 1) \N{MULTIPLICATION SIGN} record / span"


def law(name: str, span_mib: int) -> float:
    """The share of commands for whose record another one is in the queue, where the queue is full
    and the record stays for it: to first order what pins find."""
    return (DEPTH - 1) * RECORDS[name] / (span_mib * MIB)


def _over_spans(found: Sequence[Point]) -> Lines:
    labels = {
        "ncq": f"NCQ-aware LRU, {SMALLEST} MiB",
        "most": f"NCQ-aware LRU, the most of {SMALLEST} to {CLAIMED[-1]} MiB",
        "ncq-arrival": f"{LABELS['ncq-arrival']}, {SMALLEST} MiB",
        "law": LAW,
        "paper": "The paper, 1 MB",
    }
    rows: list[Row] = []
    for span in dict.fromkeys(p.span for p in found):
        mib = int(span.split()[0])
        series = gains(place_of(found, span=span), "hit_ratio")
        for name in RECORDS:
            drawn = {line: series.get((name, line, SMALLEST)) for line in ("ncq", "ncq-arrival")}
            sized = [series[name, "ncq", size] for size in CLAIMED if (name, "ncq", size) in series]
            drawn["most"] = max(sized, key=lambda seeds: sum(seeds) / len(seeds), default=None)
            for line, seeds in drawn.items():
                if seeds is not None:
                    rows.append({"trace": name, "line": line, "span_mib": mib, **_mean(seeds)})
            rows.append({"trace": name, "line": "law", "span_mib": mib, "value": law(name, mib)})
    for name, stated in PAPER["hit_ratio"].items():
        rows.append({"trace": name, "line": "paper", "span_mib": None, "value": stated})
    return Lines(
        key="gain-span",
        title="Hits over LRU against the span",
        caption=f"A difference of hit ratios. The paper states no span. {INTERVALS}",
        rows=sorted(rows, key=lambda row: list(RECORDS).index(row["trace"])),
        metric="value",
        style=".2%",
        labels=labels,
        x="span_mib",
        x_title="Span, MiB",
        x_text=lambda mib: f"{mib:.0f}",
        spread="half",
    )


def _spread(seeds: Sequence[float], said: Callable[[float], str]) -> str:
    """A mean with half its interval."""
    mean, half = mean_and_half_width(seeds)
    assert mean is not None, "a series has a value"
    return said(mean) if half is None else f"{said(mean)} ± {said(half).lstrip('+')}"


def _departures(found: Sequence[Point]) -> list[Exhibit]:
    """Gains and waiting commands by size of the buffer, with one thing after the other changed."""
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
            label = f"records at any page of {choice}" if axis == "alignment" else label
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
    """The row of a line on a workload, if it was run."""
    known = {str(mib): series[name, line, mib] for mib in SIZES if (name, line, mib) in series}
    cells = {mib: _spread(seeds, said) for mib, seeds in known.items()}
    return [{"trace": name, "setup": label, **cells}] if cells else []


def offered(name: str) -> float:
    """MB/s that a workload asks for."""
    return RECORDS[name] / 1e6 / (float(GAPS[name].removesuffix("ms")) / 1e3)


def _speeds(found: Sequence[Point]) -> Numbers:
    """How fast the drives are against what the workloads offer."""
    rows: list[Row] = []
    known = {(p.speed, p.alignment) for p in found}
    speeds = [choice.key for choice in next(a for a in AXES if a.key == "speed").choices]
    for name, alignment, speed in product(RECORDS, ("records", "pages"), speeds):
        if (speed, alignment) not in known:
            continue
        at = place_of(found, speed=speed, alignment=alignment)
        base = (name, "lru", SMALLEST)
        cells: Row = {
            metric: _mean(seeds)["value"]
            for metric in ("write_mb_s", "busy", "waiting", "write_amplification")
            if (seeds := values(at, metric).get(base))
        }
        if cells:
            place = {"trace": name, "alignment": alignment, "speed": speed}
            rows.append({**place, "offered": offered(name), **cells})
    return Numbers(
        key="speeds",
        title="How fast the drives are",
        caption=f"With LRU, {SMALLEST} MiB and a span of {DEFAULTS['span']}; means over seeds.",
        rows=rows,
        columns=[
            Column("Workload", "trace"),
            Column("Alignment", "alignment"),
            Column("Speed", "speed"),
            Column("Offered, MB/s", "offered", measured),
            Column("Written, MB/s", "write_mb_s", measured),
            Column("Busy", "busy", percent),
            Column("Waiting", "waiting", lambda waiting: fixed(waiting, 1)),
            Column("Programs per page written", "write_amplification", ratio),
        ],
        brief=False,
    )


def _merges(found: Sequence[Point]) -> Numbers:
    """What BAST and FAST have to merge."""
    rows: list[Row] = []
    for name, alignment, ftl, line in product(
        RECORDS, ("records", "pages"), ("as assumed", "FAST"), ("lru", "ncq")
    ):
        at = place_of(found, alignment=alignment, otherwise=ftl)
        for mib in (CLAIMED[0], CLAIMED[-1]):
            cells = {
                kind: _mean(seeds)["value"]
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
        caption=f"A span of {DEFAULTS['span']}, {DEFAULTS['speed']}; means over seeds.",
        rows=rows,
        columns=[
            Column("Workload", "trace"),
            Column("Alignment", "alignment"),
            Column("FTL", "ftl"),
            Column("Buffer", "line"),
            Column("MiB", "mib", count),
            Column("Switch", "switch", "{:.3f}".format),
            Column("Partial", "partial", "{:.3f}".format),
            Column("Full", "full", "{:.3f}".format),
            Column("Programs per page written", "write_amplification", ratio),
        ],
        brief=False,
    )


def met_at_once(judged: Mapping[str, Measured]) -> Numbers:
    """How many of the six numbers are met, drive by drive and span by span.

    Those of hits do not depend on how far the sizes reach, and count with each range.
    """
    by_place: dict[tuple[str, ...], list[str]] = {}
    fields = ("pins", "alignment", "reach", "span", "speed")
    reaches = [choice.key for choice in next(a for a in AXES if a.key == "reach").choices]
    for claim in STATED:
        for row in judged[claim.key].rows:
            for reach in [row["reach"]] if "reach" in row else reaches:
                place = tuple((row | {"reach": reach})[field] for field in fields)
                by_place.setdefault(place, []).append(row["case"])
    table: dict[tuple[str, ...], Row] = {}
    for place, cases in by_place.items():
        row = table.setdefault(place[:4], dict(zip(fields, place[:4], strict=False)))
        sure, unclear = cases.count(HOLDS), cases.count(AMBIGUOUS)
        row[place[4]] = f"{sure} to {sure + unclear}" if unclear else str(sure)
    speeds = dict.fromkeys(place[4] for place in by_place)
    return Numbers(
        key="met",
        title="How many of the six numbers are met at once",
        caption="Of six, within a factor of 1.5; a range where intervals leave some open.",
        rows=list(table.values()),
        columns=[
            *(Column(field, field) for field in fields[:4]),
            *(Column(speed, speed) for speed in speeds),
        ],
        brief=False,
    )


def asked_with(
    experiment: Experiment,
    found: Mapping[Run, Point],
    full: bool,
    key: str,
    title: str,
    *axes: str,
) -> Numbers:
    """Every claim at the middle of its domain with other choices on these axes."""
    rows: list[Row] = []
    places: dict[str, None] = {}
    for claim in CLAIMS:
        asked = judge(experiment, replace(claim, axes=axes), found, full, IDLE)
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
