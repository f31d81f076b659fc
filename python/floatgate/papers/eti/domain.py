"""ETI's experiment as data: lines, workloads, and the parameters that the paper leaves open.

A model at 1/k scales everything with a size or a period by 1/k: blocks, pages of a row, extents of
ETI, bits of a filter, counters, lists, and the writes between two ageings. The length of writes and
the pages of a block are not scaled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from floatgate.papers.kit.batch import PAGE, WINDOWS, Played
from floatgate.papers.kit.experiment import Axis, Experiment, Level, Settings, Workload
from floatgate.papers.kit.trace_files import Source

from .lines import ETI, HASHES, LINES, MBF, MHF, SIZES

DEVICE = "eti16"
BLOCKS = 32_768
PAGES_PER_BLOCK = 128
SPARE = 0.07
SCALE = 32
"""Stand-ins are played in models at 1/`SCALE` of the paper's size. A run then takes half a second,
and ETI's table still has 64 extents. src2_0 is also played at the paper's size."""
VOLUMES = 2
"""Length of the played trace, in volumes of the drive (section 5)."""

STAND_IN, EXCERPT, CAPTURED = "stand-in", "excerpt", "captured"
LOOPED = "excerpt in a loop"
REAL, MSR_ROW = "a real trace", "an MSR row"
"""Names that claims use for the trace chosen on the axis of traces, or of rows."""
HDP = "Hdp1B-R6Dv1"


@dataclass(frozen=True)
class TableRow:
    """A row of the paper's Table 1: means per GB of writes, in pages of 4 KiB."""

    name: str
    hot_pages: int
    cold_pages: int
    hot_writes: int
    cold_writes: int
    length: float

    @property
    def hot_share(self) -> float:
        """Returns the share of page writes to hot pages."""
        return self.hot_writes / (self.hot_writes + self.cold_writes)


TABLE_1 = (
    TableRow("proj_0", 23_500, 39_800, 181_700, 62_100, 10.2),
    TableRow("src1_2", 21_200, 41_700, 172_900, 67_800, 8.2),
    TableRow("src2_0", 7_100, 29_300, 157_800, 55_000, 1.9),
    TableRow("usr_0", 6_100, 36_000, 163_100, 63_800, 2.6),
    TableRow("SW1", 2_100, 198_000, 9_600, 222_000, 21.6),
)
MSR = tuple(row.name for row in TABLE_1[:4])
SRC2_0, SW1 = "src2_0", "SW1"
ROWS = (*MSR, SW1)
SRC2_0_WHOLE = f"{SRC2_0}, the paper's size"

LEAST_HOT = min(row.hot_share for row in TABLE_1)
"""Smallest share of page writes to hot pages on any trace of Table 1: SW1's, 4.1 %."""


MSR_WINDOW, FINANCIAL1, HP = "MSR window", "Financial1", "HP hplajw"
REAL_TRACES = (
    Source(MSR_WINDOW, EXCERPT, "msr-sample-rw20-80-10k.trace.zst"),
    Source(FINANCIAL1, EXCERPT, "umass-financial1-10k.ascii.zst"),
    Source(HP, EXCERPT, "hp-hplajw-1week-45k.srt.zst"),
    Source("Financial1, folded", EXCERPT, "umass-financial1-50k-pages.trace.zst", quick=False),
    Source("CloudPhysics", EXCERPT, "cloudphysics-114k.vscsi.zst", quick=False),
    Source("PC DiskMon", EXCERPT, "pc-diskmon-87k.txt.zst", quick=False),
    Source("pgbench", CAPTURED, "capture-pgbench-ext4-656k.csv.zst", 656_291, quick=False),
)
"""A trace with a number of requests is played once. Other traces are repeated."""

SHORT = tuple(trace.name for trace in REAL_TRACES if trace.family == EXCERPT)


def looped(name: str) -> str:
    """Returns the name of the workload that repeats a trace's rounds as recorded."""
    return f"{name}, in a loop"


_COMBINED = (
    *("skew", "cold", "drift", "copies", "unit", "merge", "alpha", "judged"),
    *("mbf", "mhf", "hashes"),
)


def _alone(*axes: str) -> frozenset[str]:
    """Returns the axes that stay at their defaults with a level, all but `axes`. With every
    combination, src2_0 alone would take ten times as many runs."""
    return frozenset(_COMBINED) - set(axes)


AXES = (
    Axis(
        "skew",
        "the skew",
        tuple(Level(theta, keys={"skew": theta}) for theta in ("0", "0.3", "0.6", "0.9", "1.2")),
        "Table 1 does not say how the writes beyond five to each hot page are spread. From "
        "evenly to an exponent of 1.2: lines through the writes of the hot pages of real traces, "
        "ranked, have 0.25 (CloudPhysics), 0.66 (Financial1), 0.70 (PC DiskMon), 1.15 (HP hplajw) "
        "and 1.20 (the MSR window).",
        ordered=True,
    ),
    Axis(
        "cold",
        "the cold data",
        (
            Level("scattered", keys={"cold_stream": "1"}),
            Level("streams", keys={"cold_stream": "64"}, quick=False),
        ),
        "Table 1 does not say where cold writes lie. Anywhere, or 64 after one another unless they "
        "meet others, which is 0.5 to 5.5 MB: files that are copied. Of the real traces' writes "
        "0 % (HP hplajw) to 53 % (CloudPhysics) continue the one before.",
    ),
    Axis(
        "drift",
        "what moves of the hot data in a GB",
        (
            Level("nothing"),
            Level("a tenth", keys={"drift": "0.1"}, quick=False, beside=_alone("drift", "merge")),
            Level("half", keys={"drift": "0.5"}, quick=False, beside=_alone("drift", "merge")),
        ),
        "Table 1 does not say whether a GB's hot data are the last one's. Half of them at least: "
        "with more, a GB is nearly a trace of its own; the row holds only roughly already.",
    ),
    Axis(
        "row",
        "the row",
        tuple(Level(row.name, workloads={MSR_ROW: row.name}) for row in TABLE_1[:4]),
        "The paper does not name the traces on which ETI gains most; its MSR traces are those on "
        "which it gains more significantly.",
    ),
    Axis(
        "hashes",
        "the pair of CRCs",
        tuple(
            Level(hashes, lines={"MBF": mbf, "MHF": mhf}, quick=i == 0)
            for i, (hashes, mbf, mhf) in enumerate(zip(HASHES, MBF, MHF, strict=True))
        ),
        "Three variants of each rival are in Figure 4; Table 2 says no more than two CRCs.",
    ),
    Axis(
        "copies",
        "the stream of copies",
        (
            Level("their own", {"placement.gc_destination": "same"}),
            Level(
                "cold",
                {"placement.gc_destination": "cold"},
                quick=False,
                beside=_alone("copies", "skew", "merge"),
            ),
        ),
        "The paper does not say; the simulator that it cites leaves copies in their pool. What "
        "cleaning moves was not written again, which is to be cold.",
    ),
    Axis(
        "unit",
        "ETI's period",
        Level.each("eti.decay_unit", {"commands": "commands", "pages": "pages"}),
        "Table 2 has a decay period of 4096 without a unit, in one row for ETI, MBF and MHF. ETI "
        "is executed once per command (section 4), its rivals once per page.",
    ),
    Axis(
        "merge",
        "the counter of merged cold extents",
        (
            Level("weighted mean", {"eti.merge_value": "mean"}),
            Level("highest", {"eti.merge_value": "max"}),
            Level(
                "plain mean",
                {"eti.merge_value": "plain_mean"},
                quick=False,
                beside=_alone("merge", "skew"),
            ),
            Level("lowest", {"eti.merge_value": "min"}, quick=False, beside=_alone("merge")),
        ),
        "The paper merges cold extents and does not say what the merged one's counter is. The four "
        "ways to make one value of several: means with and without the lengths, and both ends. "
        "The first two are the ends in effect: nearly all of a drive is cold with 0, so a mean by "
        "length forgets as the lowest does.",
    ),
    Axis(
        "alpha",
        "what alpha is a share of",
        (
            Level("the extent", {"eti.alpha_of": "extent"}),
            Level(
                "the write",
                {"eti.alpha_of": "write"},
                quick=False,
                beside=_alone("alpha", "merge", "unit", "skew"),
            ),
        ),
        "Section 4 counts for each extent that overlaps the write by a fraction greater than "
        "alpha, and does not say a fraction of what.",
    ),
    Axis(
        "judged",
        "when a page is judged",
        (
            Level("after its command", {"eti.judged": "after"}),
            Level(
                "before it",
                {"eti.judged": "before"},
                quick=False,
                beside=_alone("judged", "merge", "skew"),
            ),
        ),
        "ETI is executed once per command (section 4). The paper does not say whether that is "
        "before or after the command's pages get their streams.",
    ),
    Axis(
        "search",
        "the search among the extents",
        (Level("walk"), Level("halving")),
        "Section 4 has an ordered search structure, which can be halved. Algorithm 1 keeps the "
        "upper bound of the extent found last with lengths of extents alone, as a list of lengths "
        "needs it, which is walked.",
    ),
    Axis(
        "mbf",
        "MBF's insertion",
        (
            Level("round robin", {"mbf.insert": "round_robin"}),
            Level(
                "newest first",
                {"mbf.insert": "newest_first"},
                quick=False,
                beside=_alone("mbf", "skew", "merge", "unit"),
            ),
        ),
        "Park and Du go round; section 2 describes MBF as one that fills the newest filter first.",
    ),
    Axis(
        "mhf",
        "MHF's counting",
        (
            Level("plain", {"mhf.conservative": "false"}),
            Level(
                "conservative",
                {"mhf.conservative": "true"},
                quick=False,
                beside=_alone("mhf", "skew", "merge", "unit"),
            ),
        ),
        "Hsieh, Kuo and Chang have both; the paper does not say which it has.",
    ),
    Axis(
        "trace",
        "the trace",
        tuple(
            Level(trace.name, workloads={REAL: trace.name}, quick=trace.quick)
            for trace in REAL_TRACES
        ),
        "The real traces that are here and write pages again; of those captured for this project "
        "the one with most hot data. Short ones are played over and over. Two are of Financial1 "
        "and overlap in time, so they are never averaged; one "
        "has all its devices on top of each other.",
    ),
    Axis(
        "rounds",
        "a short trace",
        (
            Level("in windows"),
            # A trace that is not repeated has no such workload, so claims skip it there.
            Level(
                "in a loop",
                workloads={trace.name: looped(trace.name) for trace in REAL_TRACES},
                quick=False,
                beside=_alone(),
            ),
        ),
        "The paper repeats its traces, and does not say that any is short. In a loop every page "
        "comes back at the same distance, which is a gift to a scheme that looks at the last ones; "
        f"so a round is cut into {WINDOWS} windows, which are in another order each time. "
        "Loops are of the traces that a quick reproduction has.",
    ),
)

OF_STAND_INS = frozenset({"skew", "cold", "drift"})


def experiment_of(workloads: Sequence[Workload]) -> Experiment:
    return Experiment(AXES, tuple(workloads), LINES, {ETI: "eti"})


def pages_of(blocks: int) -> int:
    return int((1 - SPARE) * blocks * PAGES_PER_BLOCK)


def blocks_for(pages: int) -> int:
    """Returns the number of blocks of the smallest drive that holds `pages` logical pages."""
    blocks = int(pages / ((1 - SPARE) * PAGES_PER_BLOCK))
    while pages_of(blocks) < pages:
        blocks += 1
    return blocks


def generator(row: TableRow, scale: int, writes: int) -> str:
    """Returns the text of a row's stand-in in a model at 1/scale."""
    if scale == 1:
        return f"fitted:row={row.name},writes={writes}"
    names = ("hot_pages", "cold_pages", "hot_writes", "cold_writes")
    parts = ",".join(f"{name}={getattr(row, name) // scale}" for name in names)
    return f"fitted:row={row.name},{parts},length={row.length},writes={writes}"


def stand_in(row: TableRow, scale: int = SCALE, name: str = "") -> Workload:
    """Returns the paper's protocol in a model: two volumes of a trace with the numbers of the row.
    A quick reproduction takes only the middle skew, except on the trace for which the paper prints
    a number."""
    writes = round(VOLUMES * pages_of(BLOCKS // scale) / row.length)
    # SW1's hot pages receive hardly more writes than they need to be hot, so there is no room for
    # skew.
    evenly = frozenset({"skew"}) if row.name == SW1 else frozenset()
    return Workload(
        name or row.name,
        STAND_IN,
        Played(generator(row, scale, writes)),
        ignores=evenly,
        slow=row.name != SRC2_0,
        random=True,
        few_seeds=row.name != SRC2_0 or scale == 1,
        fit=_model(scale),
    )


def real(trace: Source, file: str, pages: int, written: int) -> Workload:
    """Returns a real trace on the smallest drive that holds its pages. A long trace is played once.
    A short trace is repeated, with windows in another order, until it has written two volumes. The
    start is random, so all runs of the trace are random."""
    played = Played(file, trace.limit)
    if trace.limit is None:
        played = played.in_rounds(VOLUMES * pages * PAGE, written)
    return Workload(
        trace.name,
        trace.family,
        played,
        OF_STAND_INS,
        random=True,
        few_seeds=not trace.quick,
        set={"flash.blocks": str(blocks_for(pages))},
    )


def in_a_loop(work: Workload) -> Workload:
    played = replace(work.played, windows=0)
    return replace(work, name=looped(work.name), family=LOOPED, played=played)


def _model(scale: int) -> Callable[[Settings], Settings]:
    """Scales the paper's drive and everything with a size or a period to one part in `scale`."""

    def fit(asked: Settings) -> Settings:
        whole = {key: str(size) for key, size in SIZES.items()} | dict(asked)
        model = {
            key: str(int(value) // scale) if key in SIZES else value for key, value in whole.items()
        }
        return {"flash.blocks": str(BLOCKS // scale), **model}

    return fit
