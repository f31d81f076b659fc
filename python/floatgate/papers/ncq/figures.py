"""The NCQ-aware buffer's figures: the paper's three, and its gains next to the stated numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from floatgate.papers.kit.exhibits import Exhibit, Lines, Row
from floatgate.papers.kit.numbers import mean_row, points_at

from .claims import PAPER
from .domain import AXES, CLAIMED, DEPTH, MIB, READINGS, RECORDS, SCHEMES, SMALLEST
from .reduce import Point

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
"""Values per seed, by trace, line and size of the buffer."""


def figures(found: Sequence[Point]) -> list[Exhibit]:
    main = place_of(found)
    return [
        *(_figure(key, *figure, main) for key, figure in METRICS.items()),
        _hit_gains(main),
        _rate_gains(main),
        _over_spans(found),
    ]


def place_of(found: Iterable[Point], **place: str) -> list[Point]:
    return points_at(found, DEFAULTS | place)


def values(found: Iterable[Point], metric: str) -> Series:
    series: dict[tuple[str, str, int], list[float]] = {}
    for p in found:
        series.setdefault((p.trace, p.line, p.buffer_mib), []).append(getattr(p, metric))
    return series


def gains(found: Sequence[Point], metric: str) -> Series:
    """Returns each series relative to LRU with the same requests: a difference for hits, otherwise
    a relative change."""
    base = {(p.trace, p.buffer_mib, p.seed): getattr(p, metric) for p in found if p.line == "lru"}
    series: dict[tuple[str, str, int], list[float]] = {}
    for p in found:
        lru = base.get((p.trace, p.buffer_mib, p.seed))
        if p.line in PINS and lru is not None:
            ours = getattr(p, metric)
            gain = ours - lru if metric == "hit_ratio" else ours / lru - 1
            series.setdefault((p.trace, p.line, p.buffer_mib), []).append(gain)
    return series


def _rows(series: Series, lines: Iterable[str]) -> list[Row]:
    known = set(lines)
    return [
        {"trace": trace, "line": line, "buffer_mib": mib, **mean_row(seeds)}
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
        style=style,
        labels=labels,
        x="buffer_mib",
        x_title="Buffer, MiB",
        x_text=lambda mib: f"{mib:.0f}",
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


LAW = "1 \N{MINUS SIGN} (1 \N{MINUS SIGN} record / span) to the Q \N{MINUS SIGN} 1"


def law(name: str, span_mib: int) -> float:
    """Returns the share of commands for whose record another command is in the queue, if the queue
    is full and the record stays until then. Pins find this share. To first order it is (Q - 1) x
    record / span, which is too high where the queue covers much of the span."""
    return 1 - (1 - RECORDS[name] / (span_mib * MIB)) ** (DEPTH - 1)


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
                    rows.append({"trace": name, "line": line, "span_mib": mib, **mean_row(seeds)})
            rows.append({"trace": name, "line": "law", "span_mib": mib, "value": law(name, mib)})
    for name, stated in PAPER["hit_ratio"].items():
        rows.append({"trace": name, "line": "paper", "span_mib": None, "value": stated})
    return Lines(
        key="gain-span",
        title="Hits over LRU against the span",
        caption="A difference of hit ratios. The paper states no span. The law: the share of "
        f"commands for whose record another one is in a full queue. {INTERVALS}",
        rows=sorted(rows, key=lambda row: list(RECORDS).index(row["trace"])),
        style=".2%",
        labels=labels,
        x="span_mib",
        x_title="Span, MiB",
        x_text=lambda mib: f"{mib:.0f}",
    )
