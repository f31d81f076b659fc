"""What the ETI paper claims of write amplification, and where in what it leaves open each is asked.

The paper's traces are not at hand. Each claim is asked on stand-ins, which share a row of Table 1
with their trace, over what the row leaves open; and on real traces that are not the paper's, each
of which is a place of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from statistics import fmean

from .eti_lines import FACTORS, LABELS, LARGER, MBF, MHF, SENSITIVE
from .eti_runs import HDP, MSR, REAL, ROWS, SRC2_0, SW1, Point
from .judging import At, OpenClaim, Values
from .paper import change
from .verdicts import Region

ETI = "ETI"
ANY_MBF, ANY_MHF = "MBF", "MHF"
"""Those of the pair of CRCs that a place has."""
RIVALS = (ANY_MBF, ANY_MHF)
VARIANTS = (*MBF, *MHF)

EFFECT = 0.005
"""Half a per cent: what is less is 0 in a paper that prints whole per cents of most changes."""
LOWER, NO_WORSE = Region(high=-EFFECT), Region(high=EFFECT)

ALMOST_ALL = 0.9
"""Of the cases; the paper gives no number."""

NEGLIGIBLE = 0.02
"""A change that the paper calls negligible (section 5: less than 2 %)."""
COSTS_NOTHING = 0.01
"""What larger filters may cost "by negligible amounts": half of that, as it is of one scheme."""
MODEST = 0.5
"""Of ETI's gain, the most that larger filters can gain for theirs to be significantly less."""

FEW, FULL = 0.25, 0.75
"""Of the 2,048 extents: up to which they are a few hundred, and from which the mean over a run, of
which ageing takes extents away again and again, is that of a full table."""

OPEN = ("skew", "cold")


def changed(at: At[Point], trace: str, rival: str, line: str = ETI) -> float:
    """Relative change of the write amplification, from a rival to ETI."""
    return at(trace, line).write_amplification / at(trace, rival).write_amplification - 1


def _all(traces: Sequence[str], rivals: Sequence[str]) -> Callable[[At[Point]], Values]:
    """The change on each trace against each rival."""
    return lambda at: {
        ", ".join(filter(None, (_trace(trace), LABELS.get(rival, rival)))): changed(
            at, trace, rival
        )
        for trace in traces
        for rival in rivals
    }


def _trace(name: str) -> str:
    """A trace as a value is called; of the one real trace of a place nothing is said."""
    return "" if name == REAL else name


def _against(rival: str) -> Callable[[At[Point]], Values]:
    return lambda at: {"": changed(at, SRC2_0, rival)}


def _most(traces: Sequence[str]) -> Callable[[At[Point]], Values]:
    """The largest reduction against the better of MBF and MHF on any trace."""
    return lambda at: {"": min(max(changed(at, t, rival) for rival in RIVALS) for t in traces)}


def _lower(at: At[Point]) -> Values:
    """The share of the cases, a trace and a variant of a rival, in which it is lower with ETI."""
    cases = [changed(at, trace, rival) <= -EFFECT for trace in ROWS for rival in VARIANTS]
    return {"": fmean(cases)}


def _larger(traces: Sequence[str]) -> Callable[[At[Point]], Values]:
    """By how much larger filters gain more than half of what ETI gains over MBF, and by how much
    they cost more than nothing."""

    def measure(at: At[Point]) -> Values:
        found = {}
        for trace in traces:
            gain = -changed(at, trace, MBF[0])
            for factor, line in zip(FACTORS, LARGER, strict=True):
                filters = changed(at, trace, MBF[0], line)
                name = f"{_trace(trace)} {factor} times the bits".strip()
                found[f"{name}, over half of ETI's gain"] = -filters - MODEST * gain
                found[f"{name}, cost"] = filters - COSTS_NOTHING
        return found

    return measure


def _sensitive(traces: Sequence[str]) -> Callable[[At[Point]], Values]:
    """The change from ETI's parameters to others."""
    return lambda at: {
        ", ".join(filter(None, (_trace(trace), LABELS[line]))): changed(at, trace, ETI, line)
        for trace in traces
        for line in SENSITIVE
    }


def _spread(traces: Sequence[str]) -> Callable[[At[Point]], Values]:
    """How far the three variants of a rival are apart, on the trace where that is most."""

    def spread(at: At[Point], trace: str, variants: Sequence[str]) -> float:
        found = [at(trace, line).write_amplification for line in variants]
        return max(found) / min(found) - 1

    return lambda at: {
        name: max(spread(at, trace, variants) for trace in traces)
        for name, variants in ((ANY_MBF, MBF), (ANY_MHF, MHF))
    }


def _table(traces: Sequence[str]) -> Callable[[At[Point]], Values]:
    """The mean number of extents, as a share of the table."""
    return lambda at: {trace: at(trace, ETI).extents_table or 0.0 for trace in traces}


def _wastes_more(at: At[Point]) -> Values:
    own = at(SW1, ETI).write_amplification
    return {trace: at(trace, ETI).write_amplification / own - 1 for trace in MSR}


def _gains_more(at: At[Point]) -> Values:
    return {
        f"{trace}, {rival}": changed(at, SW1, rival) - changed(at, trace, rival)
        for trace in MSR
        for rival in RIVALS
    }


def _memory(at: At[Point]) -> Values:
    return {"": float(at("uniform", ETI).memory_bytes)}


def points(gain: float) -> str:
    """A difference of per cents, in points, with its sign."""
    return f"{100 * gain:+.1f} points".replace("-", "\N{MINUS SIGN}")


share = "{:.1%}".format


def _of_src2_0(rival: str, reading: str) -> OpenClaim[Point]:
    return OpenClaim(
        f"src2_0-{rival.lower()}",
        f"ETI lowers write amplification by up to 21.3% on src2_0, against {rival}",
        "Figure 4, section 5",
        "\N{MINUS SIGN}21.3%",
        (*OPEN, "hashes", "copies", "unit", reading),
        (SRC2_0,),
        (ETI, rival),
        _against(rival),
        Region.about(-0.213),
        change,
    )


def _both(
    claim: OpenClaim[Point], traces: Sequence[str], of: Callable[[Sequence[str]], Measure]
) -> Iterator[OpenClaim[Point]]:
    """A claim on stand-ins with the rows of these traces, and on real traces."""
    yield replace(claim, workloads=tuple(traces), measure=of(traces))
    yield replace(
        claim,
        key=f"{claim.key}-real",
        text=f"{claim.text}: real traces",
        axes=("trace", *(axis for axis in claim.axes if axis not in OPEN)),
        workloads=(REAL,),
        measure=of((REAL,)),
    )


Measure = Callable[[At[Point]], Values]


def _nothing(_: At[Point]) -> Values:
    raise AssertionError("it is never run")


def _reductions() -> Iterator[OpenClaim[Point]]:
    yield _of_src2_0(ANY_MBF, "mbf")
    yield _of_src2_0(ANY_MHF, "mhf")
    headline = OpenClaim(
        "headline",
        "It is lower by as much as 20% than with both MBF and MHF, on the trace where it is most",
        "abstract, section 6",
        "\N{MINUS SIGN}20%",
        (*OPEN, "hashes"),
        ROWS,
        (ETI, *RIVALS),
        _most(ROWS),
        Region.about(-0.20),
        change,
    )
    yield from _both(headline, ROWS, _most)


def _cases() -> Iterator[OpenClaim[Point]]:
    almost = OpenClaim(
        "almost-all",
        "In almost all cases it is lower with ETI: in nine of ten pairs of trace and rival",
        "abstract",
        "almost all",
        OPEN,
        ROWS,
        (ETI, *VARIANTS),
        _lower,
        Region(low=ALMOST_ALL),
        share,
    )
    yield almost
    yield replace(
        almost,
        key="lower-real",
        text="In almost all cases it is lower with ETI than with either: real traces, each a case",
        axes=("trace", "hashes"),
        workloads=(REAL,),
        lines=(ETI, *RIVALS),
        measure=_all((REAL,), RIVALS),
        region=LOWER,
        said=change,
    )


def _never_worse() -> Iterator[OpenClaim[Point]]:
    mhf = OpenClaim(
        "mhf",
        "ETI is never worse than MHF",
        "section 5",
        "never",
        OPEN,
        ROWS,
        (ETI, *MHF),
        _all(ROWS, MHF),
        NO_WORSE,
        change,
    )
    yield from _both(mhf, ROWS, lambda traces: _all(traces, MHF))
    mbf = replace(
        mhf,
        key="mbf",
        text=f"It is not worse than MBF, on any trace but {HDP}",
        paper="not worse",
        lines=(ETI, *MBF),
    )
    yield from _both(mbf, ROWS, lambda traces: _all(traces, MBF))
    yield OpenClaim(
        "mbf-hdp",
        f"On {HDP} it is 4% worse than MBF",
        "section 5",
        "+4%",
        ("hashes",),
        (HDP,),
        (ETI, ANY_MBF),
        _nothing,
        Region.about(0.04),
        change,
    )


def _robustness() -> Iterator[OpenClaim[Point]]:
    larger = OpenClaim(
        "larger-filters",
        "Two or four times larger Bloom filters gain at most half of what ETI gains, or lose 1% "
        "at most, on the traces on which ETI gains most",
        "Figure 5, section 5",
        "less",
        OPEN,
        MSR,
        (ETI, MBF[0], *LARGER),
        _larger(MSR),
        Region(high=0.0),
        points,
    )
    yield from _both(larger, MSR, _larger)
    sensitivity = OpenClaim(
        "sensitivity",
        "Other alpha (90%, 80%) and beta (3, 2) change the results by less than 2%",
        "section 5",
        "< 2%",
        OPEN,
        ROWS,
        (ETI, *SENSITIVE),
        _sensitive(ROWS),
        Region(-NEGLIGIBLE, NEGLIGIBLE),
        change,
    )
    yield from _both(sensitivity, ROWS, _sensitive)
    hashes = OpenClaim(
        "hashes",
        "In some cases MBF and MHF are sensitive to the hash functions: variants are 2% apart",
        "section 5",
        "sensitive",
        OPEN,
        MSR,
        VARIANTS,
        _spread(MSR),
        Region(low=NEGLIGIBLE),
        share,
    )
    yield from _both(hashes, MSR, _spread)


def _tables() -> Iterator[OpenClaim[Point]]:
    few = OpenClaim(
        "extents-long",
        "A trace with long writes uses a few hundred extents: SW1 at most a quarter of the table",
        "Figure 6, section 5",
        "a few hundred",
        ("cold",),
        (SW1,),
        (ETI,),
        _table((SW1,)),
        Region(high=FEW),
        share,
    )
    yield few
    yield replace(
        few,
        key="extents-msr",
        text="MSR traces make use of the full table: three quarters of it on average",
        paper="full",
        axes=OPEN,
        workloads=MSR,
        measure=_table(MSR),
        region=Region(low=FULL),
    )
    order = replace(
        few,
        key="waste",
        text="MSR traces have the highest write amplification: each has more than SW1",
        paper="highest",
        axes=OPEN,
        workloads=ROWS,
        measure=_wastes_more,
        region=Region(low=EFFECT),
        said=change,
    )
    yield order
    yield replace(
        order,
        key="gain-order",
        text="ETI gains more on MSR traces than on SW1, against MBF and MHF",
        paper="more",
        axes=(*OPEN, "hashes"),
        lines=(ETI, *RIVALS),
        measure=_gains_more,
        said=points,
    )
    yield replace(
        few,
        key="memory",
        text="ETI takes roughly 10 KB of memory",
        where="abstract",
        paper="10 KB",
        axes=(),
        workloads=("uniform",),
        measure=_memory,
        region=Region.about(10_240),
        said="{:,.0f} bytes".format,
    )


CLAIMS = (*_reductions(), *_cases(), *_never_worse(), *_robustness(), *_tables())
