"""Claims of the ETI paper on write amplification, each with the open parameters over which it is
tested.

The paper's traces are not at hand. Each claim is tested on stand-ins, which share a row of Table 1
with their trace, over the parameters that the row leaves open. It is also tested on real traces
from other sources, where each trace is a separate point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from floatgate.papers.kit.claims import (
    INFERRED,
    AnyClaim,
    Claim,
    Measure,
    Measured,
    Statement,
    change,
    in_points,
    inferred,
    stated,
)
from floatgate.papers.kit.measures import LESS, MORE
from floatgate.papers.kit.verdicts import Region

from . import measures
from .domain import HDP, MSR, MSR_ROW, MSR_WINDOW, REAL, ROWS, SHORT, SRC2_0, SRC2_0_WHOLE, SW1
from .lines import ETI, LARGER, MBF, MHF, RIVALS, SENSITIVE
from .reduce import Point

REDUCES = (
    "reduces write amplification of traces such as src2.0 up to 21.3%, performing no worse than "
    "MHF in all cases and only slightly worse (4%) than MBF for one trace, Hdp1B-R6Dv1."
)
BY_20 = (
    "is shown to improve write amplification by up to 20% over both Multiple Hash Functions and "
    "Multiple Bloom Filters"
)
ALMOST = (
    "In almost all cases write amplification was lower with the extent-based algorithm; although "
    "in some cases the improvement was modest, in others it was as much as 20%."
)
LARGER_FILTERS = (
    "In four cases this resulted in modest improvements, significantly less than that achieved by "
    "ETI, while in two cases write amplification actually increased by negligible amounts."
)
SMALL_TABLES = (
    "The shorter partner traces with high mean write lengths result in small extent tables, with a "
    "working set of a few hundred extents."
)
FULL_TABLES = (
    "the more complex MSR traces make use of the full extent table; these are also the workloads "
    "with highest write amplification, and on which ETI achieves more significant performance "
    "improvements"
)
FROM_LAST = (
    "The lookup operation may be further optimized by taking advantage of spatial locality in "
    "write workloads, and beginning each search at the location of the last update."
)

REAL_ONE = ((REAL,), "trace", "rounds")
"""Real traces one by one, and the axes that choose among them."""


def _with_real(
    claim: Claim[Point],
    of: Callable[[Sequence[str]], Measure[Point]],
    traces: Sequence[str],
    *axes: str,
) -> Iterator[Claim[Point]]:
    """Yields a claim on stand-ins, and the inferred claim on real traces. The latter is tested over
    `axes` and over the claim's axes that apply to real traces."""
    yield replace(claim, measure=of(claim.workloads))
    swept = [axis for axis in claim.axes if axis not in (*measures.TRACED, "row")]
    yield replace(
        claim,
        key=f"{claim.key}-real",
        text=f"{claim.text}: real traces",
        origin=claim.origin._replace(basis=INFERRED),
        axes=(*axes, *swept),
        workloads=tuple(traces),
        measure=of(traces),
        premise=measures.gains(traces[0]) if claim.premise else None,
    )


def _reductions(traces: Sequence[str]) -> Iterator[Claim[Point]]:
    src2_0 = Claim(
        "src2_0",
        "ETI lowers write amplification by up to 21.3% on src2_0: against the rival it beats most",
        stated("Figure 4, section 5", "\N{MINUS SIGN}21.3%", REDUCES),
        (*measures.OPEN, "drift", "copies", "mbf", "mhf"),
        (SRC2_0,),
        (ETI, *measures.VARIANTS),
        measures.most(SRC2_0, measures.VARIANTS),
        Region.about(measures.ON_SRC2_0),
    )
    yield src2_0
    # A run at this size takes as long as twenty others.
    yield replace(
        src2_0,
        key="src2_0-full-size",
        text=f"{src2_0.text}, at the paper's size",
        axes=("skew", "merge", "alpha"),
        workloads=(SRC2_0_WHOLE,),
        lines=(ETI, MBF[0], MHF[0]),
        measure=measures.most(SRC2_0_WHOLE, (MBF[0], MHF[0])),
    )
    headline = Claim(
        "headline",
        "It is lower by as much as 20% than with both MBF and MHF, on the trace where it is most",
        stated("abstract, section 6", "\N{MINUS SIGN}20%", BY_20),
        (*measures.OPEN, "hashes"),
        ROWS,
        (ETI, *RIVALS),
        measures.most_reduced(ROWS),
        Region.about(measures.AT_MOST),
    )
    yield from _with_real(headline, measures.most_reduced, traces)


def _cases() -> Iterator[Claim[Point]]:
    almost = Claim(
        "almost-all",
        "In almost all cases it is lower with ETI: in nine of ten pairs of trace and rival",
        stated("abstract", "almost all", ALMOST),
        measures.OPEN,
        ROWS,
        (ETI, *measures.VARIANTS),
        measures.lower_share,
        Region(low=measures.ALMOST_ALL),
        measures.share,
    )
    yield almost
    yield replace(
        almost,
        key="lower-real",
        text="In almost all cases it is lower with ETI than with either: real traces, each a case",
        origin=almost.origin._replace(basis=INFERRED),
        axes=("trace", "rounds", "hashes", *measures.READINGS),
        workloads=(REAL,),
        lines=(ETI, *RIVALS),
        measure=measures.against((REAL,), RIVALS),
        region=LESS,
        said=change,
    )


def _never_worse() -> Iterator[Claim[Point]]:
    mhf = Claim(
        "mhf",
        "ETI is no worse than MHF in all cases: on every trace, against every variant",
        stated("section 5", "never", REDUCES),
        measures.OPEN,
        ROWS,
        (ETI, *MHF),
        measures.against(ROWS, MHF),
        measures.NO_WORSE,
    )
    yield from _with_real(mhf, lambda traces: measures.against(traces, MHF), *REAL_ONE)
    mbf = replace(
        mhf,
        key="mbf",
        text=f"It is not worse than MBF, on any trace but {HDP}",
        origin=stated("section 5", "not worse", REDUCES),
        lines=(ETI, *MBF),
    )
    yield from _with_real(mbf, lambda traces: measures.against(traces, MBF), *REAL_ONE)
    yield Claim(
        "mbf-hdp",
        f"On {HDP} it is 4% worse than MBF",
        stated("section 5", "+4%", REDUCES),
        ("hashes",),
        (HDP,),
        (ETI, RIVALS[0]),
        measures.against((HDP,), RIVALS[:1]),
        Region.about(0.04),
    )


def _filters() -> Iterator[Claim[Point]]:
    larger = Claim(
        "larger-filters",
        "Two or four times larger Bloom filters gain half of what ETI gains at most, or lose 1% at "
        "most",
        stated("Figure 5, section 5", "less", LARGER_FILTERS),
        (*measures.OPEN, "row"),
        (MSR_ROW,),
        (ETI, MBF[0], *LARGER),
        measures.over_half(MSR_ROW),
        Region(high=0.0),
        in_points,
        premise=measures.gains(MSR_ROW),
    )
    yield from _with_real(larger, lambda traces: measures.over_half(traces[0]), *REAL_ONE)


def _robustness() -> Iterator[Claim[Point]]:
    sensitivity = Claim(
        "sensitivity",
        "Other alpha (90%, 80%) and beta (3, 2) change the results by less than 2%",
        stated(
            "section 5",
            "< 2%",
            "Setting \N{GREEK SMALL LETTER ALPHA} to 90% and 80% and changing "
            "\N{GREEK SMALL LETTER BETA} from 4 to 3 and 2 show negligible",
        ),
        ("skew", "merge"),
        ROWS,
        (ETI, *SENSITIVE),
        measures.by_parameter(ROWS),
        Region(-measures.NEGLIGIBLE, measures.NEGLIGIBLE),
        full_axes=frozenset({"merge"}),
    )
    yield from _with_real(sensitivity, measures.by_parameter, *REAL_ONE)
    hashes = Claim(
        "hashes",
        "In some cases MBF and MHF are sensitive to the hash functions: variants are 2% apart",
        stated(
            "section 5",
            "sensitive",
            "In some cases MHF and MBF seemed sensitive to the particular hash functions used",
        ),
        measures.TRACED,
        MSR,
        measures.VARIANTS,
        measures.apart(MSR),
        Region(low=measures.NEGLIGIBLE),
        of_each=measures.rival_of,
    )
    for claim in _with_real(hashes, measures.apart, *REAL_ONE):
        yield replace(claim, cases=measures.PAIRS * len(claim.workloads))


def _tables() -> Iterator[Claim[Point]]:
    few = Claim(
        "extents-long",
        "A trace with long writes uses a few hundred extents: SW1 at most a quarter of the table",
        stated("Figure 6, section 5", "a few hundred", SMALL_TABLES),
        ("cold", *measures.READINGS),
        (SW1,),
        (ETI,),
        measures.in_use((SW1,)),
        Region(high=measures.FEW),
        measures.share,
    )
    yield few
    yield replace(
        few,
        key="extents-msr",
        text="MSR traces make use of the full table: three quarters of it on average",
        origin=stated("Figure 6, section 5", "full", FULL_TABLES),
        axes=(*measures.OPEN, "row"),
        workloads=(MSR_ROW,),
        measure=measures.in_use((MSR_ROW,)),
        region=Region(low=measures.FULL),
    )
    yield replace(
        few,
        key="extents-msr-real",
        text="MSR traces make use of the full table: the window of MSR",
        origin=inferred("Figure 6, section 5", "full", FULL_TABLES),
        axes=measures.READINGS,
        workloads=(MSR_WINDOW,),
        measure=measures.in_use((MSR_WINDOW,)),
        region=Region(low=measures.FULL),
        premise=measures.FILLS,
    )


def _orders() -> Iterator[Claim[Point]]:
    waste = Claim(
        "waste",
        "MSR traces have the highest write amplification: each has more than SW1",
        stated("Figure 6, section 5", "highest", FULL_TABLES),
        measures.OPEN,
        ROWS,
        (ETI,),
        measures.wastes_more,
        MORE,
    )
    yield waste
    yield replace(
        waste,
        key="gain-order",
        text="ETI gains more on MSR traces than on SW1, against MBF and MHF",
        origin=stated("Figure 6, section 5", "more", FULL_TABLES),
        axes=(*measures.OPEN, "hashes"),
        lines=(ETI, *RIVALS),
        measure=measures.gains_more,
        said=in_points,
    )
    yield Claim(
        "search",
        "A search that begins at the extent found last takes fewer steps than one that begins anew",
        inferred("section 4, Algorithm 1", "fewer", FROM_LAST),
        ("trace", "rounds", "search", "merge", "unit"),
        (REAL,),
        (ETI,),
        measures.search_saves,
        LESS,
    )


def claims_on(traces: Sequence[str] = SHORT) -> tuple[Claim[Point], ...]:
    """Returns all claims on runs. Claims on several real traces together cover these traces."""
    return (
        *_reductions(traces),
        *_cases(),
        *_never_worse(),
        *_filters(),
        *_robustness(),
        *_tables(),
        *_orders(),
    )


MEMORY = stated(
    "abstract",
    "10 KB",
    "These gains are achieved with very small amounts of memory, e.g. roughly 10 KB for the "
    "implementation tested",
)
LAYOUT = "by construction: 2,048 extents at 4.5 bytes, a layout of ours; no run could differ"
UNCHECKED: tuple[AnyClaim, ...] = (
    (
        Statement("memory", "ETI takes roughly 10 KB of memory", MEMORY),
        Measured("9,232 bytes", LAYOUT, 9232.0),
    ),
)
