"""Where hot data lie, as in section 3.2 of the ETI paper. Traces are analysed, not played.

The analysis is an experiment like any other. Its runs are traces, and the result of a run is the
hotness of its trace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from floatgate.papers.kit.batch import Bench, Played
from floatgate.papers.kit.claims import At, Claim, Filter, Measure, Values, inferred, stated
from floatgate.papers.kit.exhibits import Column, Exhibit, Lines, Numbers, Row
from floatgate.papers.kit.experiment import Axis, Choice, Experiment, Line, Run, Workload
from floatgate.papers.kit.verdicts import ABOVE, BELOW, Region
from floatgate.results.values import count, fixed, percent

from .domain import CAPTURED, EXCERPT, TABLE_1, RealTrace, generator

if TYPE_CHECKING:
    from floatgate.analysis.hotness import Hotness

GB = 1_000_000_000
GBS = 2
"""GB of a stand-in that are analysed."""

LONG_TRACES = (
    RealTrace("pgbench", CAPTURED, "capture-pgbench-ext4-656k.csv.zst"),
    RealTrace("RocksDB", CAPTURED, "capture-rocksdb-ext4-905k.csv.zst", quick=False),
    RealTrace("postmark", CAPTURED, "capture-postmark-f2fs-996k.csv.zst", quick=False),
    RealTrace("CloudPhysics", EXCERPT, "cloudphysics-114k.vscsi.zst"),
    RealTrace("Nexus 5", EXCERPT, "nexus5-installing-18k.txt.zst"),
    RealTrace("MS postmark", EXCERPT, "ms-postmark-62k.trace.zst"),
)
"""All available traces that write a GB, like the sequences in the paper."""
WINDOWS = (
    RealTrace("MSR, 20% reads", EXCERPT, "msr-sample-rw20-80-10k.trace.zst"),
    RealTrace("MSR, most throughput", EXCERPT, "msr-sample-most-thpt-10k.trace.zst"),
)
"""Trace of MSR Cambridge for the length of writes, which needs no GB."""

LONG_TRACE, MSR_TRACE, PARTNERS = "a long trace", "an MSR trace", "the partner's traces"
ITSELF = "the trace"

HOT_AXES = (
    Axis(
        "long",
        "the trace",
        tuple(
            Choice(trace.name, workloads={LONG_TRACE: trace.name}, quick=trace.quick)
            for trace in LONG_TRACES
        ),
        "The paper's are not here. All real traces that are here and write a GB, which is what the "
        "paper looks at; stand-ins have it by construction.",
    ),
    Axis(
        "msr",
        "the trace",
        tuple(
            Choice(name, workloads={MSR_TRACE: name})
            for name in (*(row.name for row in TABLE_1[:4]), *(one.name for one in WINDOWS))
        ),
        "The rows of the paper's own Table 1, whose lengths stand-ins have, and both windows of "
        "MSR that are here.",
    ),
)

EXTENTS_MOST = 2_000
"""Upper limit for "a thousand or two, or less"."""
LEAST_HUNDRED, FEW_HUNDRED = 100, 500
"""Limits for "a few hundred". A number below one hundred would be called tens."""
MISCLASSIFIED = 0.05
ORDERS = 100
"""Factor for "orders of magnitude": two orders at least."""


def _at(gap: int) -> Measure[Hotness]:
    """Measures the extents after merging all that have fewer than `gap` cold pages between them."""

    def measure(at: At[Hotness]) -> Values:
        rows = at(LONG_TRACE, ITSELF).extents
        return {"": next((row.extents or 0.0 for row in rows if row.gap_pages == gap), 0.0)}

    return measure


def _halved(at: At[Hotness]) -> Values:
    """Returns the share of cold writes that are misclassified as hot once merging leaves half of
    the extents. Returns 1 if no gap merges that far. A single extent cannot be halved."""
    rows = at(LONG_TRACE, ITSELF).extents
    half = (rows[0].extents or 0.0) / 2
    found = next((row for row in rows if (row.extents or 0.0) <= half), None)
    return {"": 1.0 if found is None else found.cold_writes_share or 0.0}


def _items(row: int) -> Measure[Hotness]:
    """Measures the number of hot pages per extent. The first row of k is before merging, the last
    after it."""

    def measure(at: At[Hotness]) -> Values:
        found = at(LONG_TRACE, ITSELF)
        pages, extents = found.means.hot_pages or 0.0, found.extents[row].extents or 0.0
        return {"": pages / max(extents, 1.0)}

    return measure


def _length(at: At[Hotness]) -> Values:
    return {"": at(MSR_TRACE, ITSELF).means.length_pages or 0.0}


def _nothing(_: At[Hotness]) -> Values:
    raise AssertionError("it is never measured")


SMALL_MAP = (
    "The hot data map is small to begin with\N{EM DASH}a thousand or two, or less\N{EM DASH}and "
    "shrinks down to a few hundred as nearby segments are coalesced."
)
MORE_ITEMS = "we see that page tracking must track orders of magnitude more items"
ONCE = (
    "With write lengths in the traces examined ranging from 2-5 4 KB pages in the MSR traces, from "
    "2007, to 25-30 pages in the more recent partner-supplied traces, this is a significant "
    "reduction in execution frequency."
)

EXTENTS = Claim(
    "hot-extents",
    "Hot data are a thousand or two extents, or less",
    stated("Figure 1, section 3.2", "\N{LESS-THAN OR EQUAL TO} 2,000", SMALL_MAP),
    ("long",),
    (LONG_TRACE,),
    (ITSELF,),
    _at(1),
    Region(high=EXTENTS_MOST),
    "{:,.0f}".format,
)

HOT_CLAIMS = (
    EXTENTS,
    replace(
        EXTENTS,
        key="merged",
        text="Merging what is near, k = 1024, leaves a few hundred: 100 to 500",
        origin=stated("Figure 1, section 3.2", "a few hundred", SMALL_MAP),
        measure=_at(1024),
        region=Region(LEAST_HUNDRED, FEW_HUNDRED, beyond=BELOW),
    ),
    replace(
        EXTENTS,
        key="half",
        text="The extents can be halved with less than 5% of cold writes misclassified",
        origin=stated(
            "Figure 2, section 3.2",
            "in all but one case",
            "in all but one case the number of map segments can be cut in half with less than 5% "
            "misclassification",
        ),
        measure=_halved,
        region=Region(high=MISCLASSIFIED),
        said="{:.1%}".format,
    ),
    replace(
        EXTENTS,
        key="page-tracking",
        text="Tracking hot pages takes orders of magnitude more items than extents: 100 times",
        origin=stated("section 3.2", "orders of magnitude", MORE_ITEMS),
        measure=_items(0),
        region=Region(low=ORDERS),
        said="{:,.1f}".format,
    ),
    replace(
        EXTENTS,
        key="page-tracking-merged",
        text="Tracking hot pages takes 100 times as many items as extents merged with k = 1024",
        origin=inferred("section 3.2", "orders of magnitude", MORE_ITEMS),
        measure=_items(-1),
        region=Region(low=ORDERS),
        said="{:,.1f}".format,
    ),
    replace(
        EXTENTS,
        key="once",
        text="ETI works once per command, others once per page: 2 to 5 times as often on MSR",
        origin=stated("section 4", "2 to 5 pages", ONCE),
        axes=("msr",),
        workloads=(MSR_TRACE,),
        measure=_length,
        region=Region(2.0, 5.0, beyond=ABOVE),
        said="{:.1f} pages".format,
    ),
    replace(
        EXTENTS,
        key="once-partners",
        text="and 25 to 30 times as often on the partner's traces",
        origin=stated("section 4", "25 to 30 pages", ONCE),
        axes=(),
        workloads=(PARTNERS,),
        measure=_nothing,
        region=Region(25.0, 30.0, beyond=ABOVE),
        said="{:.1f} pages".format,
    ),
)

NO_EXTENTS: Filter[Hotness] = Filter(
    "with fewer than two hot extents, of which there is no map",
    lambda found: (found.extents[0].extents or 0.0) < 2.0,
)
NOTHING: Filter[Hotness] = Filter("", lambda _: False)


def left_out(claim: Claim[Hotness]) -> Filter[Hotness]:
    """Returns the filter of a claim. A trace without a map of extents still has a length of
    writes."""
    return NO_EXTENTS if claim.workloads == (LONG_TRACE,) else NOTHING


def traces_of(files: Mapping[str, Path], full: bool, gbs: int = GBS) -> list[Workload]:
    """Returns the analysed traces: `gbs` GB of each stand-in at the paper's size, and the real
    traces."""
    rows = [
        Workload(
            row.name, "stand-in", Played(generator(row, 1, round(gbs * GB / 4096 / row.length)))
        )
        for row in TABLE_1
    ]
    return rows + [
        Workload(trace.name, trace.kind, Played(str(files[trace.spec])))
        for trace in (*LONG_TRACES, *WINDOWS)
        if trace.spec in files and (full or trace.quick)
    ]


def hot_experiment(traces: Sequence[Workload]) -> Experiment:
    """Returns the traces as an experiment without a drive and with one line."""
    line = Line(ITSELF, ITSELF, {})
    return Experiment("", HOT_AXES, tuple(traces), (line,), {ITSELF: ITSELF, PARTNERS: PARTNERS})


def look(experiment: Experiment, bench: Bench) -> dict[Run, Hotness]:
    (place,) = experiment.places((), full=True)
    (line,) = experiment.lines
    return {
        experiment.run(work, line, place, 1): bench.hotness(work.played.spec)
        for work in experiment.workloads
    }


Named = Mapping[str, "Hotness"]
"""Hotness by the name of the trace."""


def table_1(found: Named) -> Numbers:
    fields = ("hot_pages", "cold_pages", "hot_writes", "cold_writes")
    paper = {row.name: row for row in TABLE_1}
    rows: list[Row] = []
    for name, data in found.items():
        row: Row = {"trace": name}
        for field in fields:
            row[field] = getattr(data.means, field)
            row[f"{field}_paper"] = getattr(paper[name], field) if name in paper else None
        if name in paper:
            ours = (data.means.hot_writes or 0.0) + (data.means.cold_writes or 0.0)
            row["writes"] = ours / (paper[name].hot_writes + paper[name].cold_writes)
        row["length"] = data.means.length_pages
        row["length_paper"] = paper[name].length if name in paper else None
        rows.append(row)
    columns = [Column("", "trace")]
    for field, style in [*((field, count) for field in fields), ("length", _tenths)]:
        columns.append(Column(field.replace("_", " "), field, style))
        columns.append(Column("paper", f"{field}_paper", style))
    columns.append(Column("writes, of the paper's", "writes", percent))
    caption = (
        "Means per GB (10^9 bytes) of writes: pages of 4 KiB written four times or more, and less "
        "often; page writes to these; pages of a write. The stand-ins were made from the paper's "
        "rows, which says nothing about the paper. A row of the paper sums to fewer page writes "
        "than 10^9 bytes are, and a stand-in has the row once in so many as that: so its hot "
        "pages and length are the paper's here, and cold pages and page writes are more by the "
        "factor in the last column. On a GB of the row's own they are the paper's within 2%."
    )
    return Numbers(
        key="table-1",
        title="Table 1: hot and cold pages",
        caption=caption,
        rows=rows,
        columns=columns,
    )


def _tenths(value: float) -> str:
    return fixed(value, 1)


def merged(found: Named) -> list[Exhibit]:
    rows = [
        {
            "trace": name,
            "line": name,
            "gap_pages": at.gap_pages,
            "extents": at.extents,
            "cold_writes_share": at.cold_writes_share or 0.0,
        }
        for name, data in found.items()
        for at in data.extents
        if at.extents is not None
    ]
    made = "Where hot extents lie in the stand-ins is our choice, not the paper's table."

    def chart(key: str, title: str, caption: str, metric: str, style: str) -> Lines:
        return Lines(
            key=key,
            title=title,
            caption=f"{caption} {made}",
            rows=rows,
            metric=metric,
            style=style,
            labels={name: name for name in found},
            panel=None,
            x="gap_pages",
            x_title="k, cold pages",
            x_text=count,
        )

    return [
        chart(
            "figure-1",
            "Figure 1: hot extents after merging",
            "Extents of hot pages with fewer than k cold pages between them are one.",
            "extents",
            ",.0f",
        ),
        chart(
            "figure-2",
            "Figure 2: cold writes taken for hot",
            "Share of the writes to cold pages that fall into merged extents.",
            "cold_writes_share",
            ",.1%",
        ),
    ]
