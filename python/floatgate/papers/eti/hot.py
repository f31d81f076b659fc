"""Position of hot data in traces, as in section 3.2 of the ETI paper. No drive is simulated.

The analysis is an experiment like any other: a run analyses a trace, and its result is the hotness
of that trace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from floatgate.papers.kit.batch import Bench, Played
from floatgate.papers.kit.claims import At, Claim, Measure, Origin, Premise, Values, stated
from floatgate.papers.kit.exhibits import Exhibit, Lines
from floatgate.papers.kit.experiment import Axis, Experiment, Level, Line, Run, Workload
from floatgate.papers.kit.trace_files import Source
from floatgate.papers.kit.verdicts import ABOVE, Region
from floatgate.results.values import count

from .domain import CAPTURED, EXCERPT, STAND_IN, TABLE_1, generator

if TYPE_CHECKING:
    from floatgate.analysis.hotness import Hotness

GB = 1_000_000_000
GBS = 2
"""Number of GB of each stand-in to analyse."""

LONG_TRACES = (
    Source("pgbench", CAPTURED, "capture-pgbench-ext4-656k.csv.zst"),
    Source("RocksDB", CAPTURED, "capture-rocksdb-ext4-905k.csv.zst", quick=False),
    Source("postmark", CAPTURED, "capture-postmark-f2fs-996k.csv.zst", quick=False),
    Source("CloudPhysics", EXCERPT, "cloudphysics-114k.vscsi.zst"),
    Source("Nexus 5", EXCERPT, "nexus5-installing-18k.txt.zst"),
    Source("MS postmark", EXCERPT, "ms-postmark-62k.trace.zst"),
)
"""All available traces that write at least one GB, the length of the paper's sequences."""
WINDOWS = (
    Source("MSR, 20% reads", EXCERPT, "msr-sample-rw20-80-10k.trace.zst"),
    Source("MSR, most throughput", EXCERPT, "msr-sample-most-thpt-10k.trace.zst"),
)
"""Windows of MSR Cambridge traces. They write less than a GB, which is enough for the mean length
of writes."""

LONG_TRACE, MSR_TRACE, PARTNERS = "a long trace", "an MSR trace", "the partner's traces"
ITSELF = "the trace"

HOT_AXES = (
    Axis(
        "long",
        "the trace",
        tuple(
            Level(trace.name, workloads={LONG_TRACE: trace.name}, quick=trace.quick)
            for trace in LONG_TRACES
        ),
        "The paper's traces are not available. These are all available real traces that write a "
        "GB, the length that the paper analyses. Stand-ins are left out: they have the stated "
        "extents by construction.",
    ),
    Axis(
        "msr",
        "the trace",
        tuple(
            Level(name, workloads={MSR_TRACE: name})
            for name in (*(row.name for row in TABLE_1[:4]), *(one.name for one in WINDOWS))
        ),
        "The MSR rows of the paper's Table 1, as stand-ins with their lengths of writes, and both "
        "available windows of MSR traces.",
    ),
    Axis(
        "tracked",
        "the tracked pages",
        (Level("hot"), Level("written")),
        "The paper compares with Table 1 and does not state which pages are tracked. A map of hot "
        "data needs only the hot pages. A page tracker does not know them in advance, and tracks "
        "all written pages.",
    ),
)

EXTENTS_MOST = 2_000
"""Upper limit for "a thousand or two, or less"."""
FEW_HUNDRED = 500
"""Upper limit for "a few hundred"."""
MISCLASSIFIED = 0.05
ORDERS = 100
"""Factor for "orders of magnitude": two orders at least."""


def _extents(gap: int) -> Measure[Hotness]:
    """Measures the number of extents after merging: extents with fewer than `gap` cold pages
    between them become one."""

    def measure(at: At[Hotness]) -> Values:
        rows = at(LONG_TRACE, ITSELF).extents
        return {"": next((row.extents or 0.0 for row in rows if row.gap_pages == gap), 0.0)}

    return measure


def _halved(at: At[Hotness]) -> Values:
    """Returns the share of cold writes that are misclassified as hot once merging leaves at most
    half of the extents. Returns 1 if no gap merges that many, as with a single extent."""
    rows = at(LONG_TRACE, ITSELF).extents
    half = (rows[0].extents or 0.0) / 2
    shares = (row.cold_writes_share or 0.0 for row in rows if (row.extents or 0.0) <= half)
    return {"": next(shares, 1.0)}


def _items(at: At[Hotness]) -> Values:
    """Returns the number of tracked pages per extent after merging. The point's level on the axis
    "tracked" states which pages are tracked."""
    hotness = at(LONG_TRACE, ITSELF)
    pages = hotness.means.hot_pages or 0.0
    if at.levels["tracked"] == "written":
        pages += hotness.means.cold_pages or 0.0
    return {"": pages / max(hotness.extents[-1].extents or 0.0, 1.0)}


def _length(trace: str) -> Measure[Hotness]:
    return lambda at: {"": at(trace, ITSELF).means.length_pages or 0.0}


HAS_MAP = Premise["Hotness"](
    "with fewer than two hot extents, of which there is no map",
    lambda at: {"": at(LONG_TRACE, ITSELF).extents[0].extents or 0.0},
    Region(low=2.0),
)

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


def _claim(
    key: str,
    text: str,
    origin: Origin,
    measure: Measure[Hotness],
    region: Region,
    form: str,
    axes: tuple[str, ...] = ("long",),
    trace: str = LONG_TRACE,
) -> Claim[Hotness]:
    premise = HAS_MAP if trace == LONG_TRACE else None
    return Claim(
        *(key, text, origin, axes, (trace,), (ITSELF,), measure, region, form.format),
        premise=premise,
    )


HOT_CLAIMS = (
    _claim(
        "hot-extents",
        "Hot data are a thousand or two extents, or less",
        stated("Figure 1, section 3.2", "\N{LESS-THAN OR EQUAL TO} 2,000", SMALL_MAP),
        _extents(1),
        Region(high=EXTENTS_MOST),
        "{:,.0f}",
    ),
    _claim(
        "merged",
        "Merging what is near, k = 1024, leaves a few hundred at most: 500",
        stated("Figure 1, section 3.2", "a few hundred", SMALL_MAP),
        _extents(1024),
        Region(high=FEW_HUNDRED),
        "{:,.0f}",
    ),
    _claim(
        "half",
        "The extents can be halved with less than 5% of cold writes misclassified",
        stated(
            "Figure 2, section 3.2",
            "in all but one case",
            "in all but one case the number of map segments can be cut in half with less than 5% "
            "misclassification",
        ),
        _halved,
        Region(high=MISCLASSIFIED),
        "{:.1%}",
    ),
    _claim(
        "page-tracking",
        "Tracking pages takes 100 times as many items as extents merged with k = 1024",
        stated("section 3.2", "orders of magnitude", MORE_ITEMS),
        _items,
        Region(low=ORDERS),
        "{:,.1f}",
        ("long", "tracked"),
    ),
    _claim(
        "once",
        "ETI works once per command, others once per page: 2 to 5 times as often on MSR",
        stated("section 4", "2 to 5 pages", ONCE),
        _length(MSR_TRACE),
        Region(2.0, 5.0, beyond=ABOVE),
        "{:.1f} pages",
        ("msr",),
        MSR_TRACE,
    ),
    _claim(
        "once-partners",
        "and 25 to 30 times as often on the partner's traces",
        stated("section 4", "25 to 30 pages", ONCE),
        _length(PARTNERS),
        Region(25.0, 30.0, beyond=ABOVE),
        "{:.1f} pages",
        (),
        PARTNERS,
    ),
)


def traces_of(found: Sequence[tuple[Source, Path]], gbs: int = GBS) -> list[Workload]:
    """Returns the traces to analyse: `gbs` GB of each stand-in at the paper's size, and all of the
    real traces `found`."""
    rows = [
        Workload(row.name, STAND_IN, Played(generator(row, 1, round(gbs * GB / 4096 / row.length))))
        for row in TABLE_1
    ]
    real = [Workload(trace.name, trace.family, Played(str(file))) for trace, file in found]
    return rows + real


def hot_experiment(traces: Sequence[Workload]) -> Experiment:
    """Returns the traces as an experiment. Its only line stands for the trace itself."""
    return Experiment(HOT_AXES, tuple(traces), (Line(ITSELF, ITSELF, {}),))


def look(experiment: Experiment, bench: Bench) -> dict[Run, Hotness]:
    (levels,) = experiment.points((), full=True)
    (line,) = experiment.lines
    return {
        experiment.run(work, line, levels, 1): bench.hotness(work.played.spec)
        for work in experiment.workloads
    }


MERGED = (
    (
        "figure-1",
        "Figure 1: hot extents after merging",
        "Extents of hot pages with fewer than k cold pages between them are merged.",
        "extents",
        ",.0f",
    ),
    (
        "figure-2",
        "Figure 2: cold writes taken for hot",
        "Share of the writes to cold pages that fall into merged extents.",
        "cold_writes_share",
        ",.1%",
    ),
)
"""Key, title, caption, column and format of the figures over k."""


def merged(named: Mapping[str, Hotness]) -> list[Exhibit]:
    """Returns the figures over k of the hotness of traces, by their names."""
    rows = [
        {
            "trace": name,
            "line": name,
            "gap_pages": at.gap_pages,
            "extents": at.extents,
            "cold_writes_share": at.cold_writes_share or 0.0,
        }
        for name, data in named.items()
        for at in data.extents
        if at.extents is not None
    ]
    choice = "Where hot extents lie in the stand-ins is our choice, not the paper's table."
    return [
        Lines(
            key=key,
            title=title,
            caption=f"{caption} {choice}",
            rows=rows,
            metric=metric,
            style=style,
            labels={name: name for name in named},
            panel=None,
            x="gap_pages",
            x_title="k, cold pages",
            x_text=count,
        )
        for key, title, caption, metric, style in MERGED
    ]
