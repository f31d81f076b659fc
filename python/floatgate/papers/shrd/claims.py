"""Claims of SHRD's slides, each with the open parameters over which it is tested.

The bars of the slides are lost. The reproduction checks their prose.
"""

from __future__ import annotations

from collections.abc import Callable

from floatgate.papers.kit.claims import (
    AnyClaim,
    At,
    Claim,
    Measure,
    Values,
    change,
    own,
    stated,
    unchecked,
)
from floatgate.papers.kit.exhibits import Format
from floatgate.papers.kit.measures import EFFECT, LESS, MORE, Of, Test, on, on_each, ratio, relative
from floatgate.papers.kit.verdicts import ABOVE, Region

from . import workloads as w
from .reduce import Point

NOT_MORE, NOT_LESS = Region(high=EFFECT), Region(low=-EFFECT)
SMALL = Region(EFFECT, 0.2, beyond=ABOVE)
"""A gain of a fifth at most. The slides give no number. They would hardly call more than a fifth
small next to a factor of 30."""
STEADY = Region(low=0.8)
"""Minimum throughput with a small cache, relative to a large cache: also at most a fifth less."""
HALF = Region(high=0.5)
"""Smallest drop for "falls" and "few": to half. The slides give no number."""
SIMILAR = Region(0.8, 1.25)
"""Ratio of "similar" throughputs: a fifth less, as for "steady", or as much more."""
MUCH = Region(low=1.5)
"""Ratio of a throughput that is "much better": half as high again. The slides give no number."""

SPAN = frozenset({"span"})


def _faster(
    workload: str,
    region: Region,
    base: str = w.DFTL,
    line: str = w.SHRD,
    compare: Callable[[str, str, str], Of[Point]] = relative,
    form: Format = change,
) -> Test[Point]:
    """Tests a line's throughput against the base line's."""
    return (workload,), (base, line), on(workload, compare("iops", line, base)), region, form


def _alone(number: Callable[[Point], float], region: Region, form: Format) -> Test[Point]:
    """Tests a number of SHRD's random writes by itself."""
    return (w.RANDOM,), (w.SHRD,), lambda at: {"": number(at(w.RANDOM, w.SHRD))}, region, form


def _responses(at: At[Point]) -> Values:
    """Relative change of the mean response time, from DFTL to SHRD."""
    reads: Of[Point] = relative("mean_read_us", w.SHRD, w.DFTL)
    writes: Of[Point] = relative("mean_write_us", w.SHRD, w.DFTL)
    return {"reads": reads(at, w.OPEN), "writes": writes(at, w.OPEN)}


def _loads(base: str) -> Test[Point]:
    """Tests the relative change of the map pages loaded per page that has left the log."""
    loads: Measure[Point] = on(w.RANDOM, relative("settled_loads", w.SHRD, base))
    return (w.RANDOM,), (base, w.SHRD), loads, LESS, change


def _cleaning(at: At[Point]) -> Values:
    """Returns the relative change of the data pages programmed per write, including cleaning."""
    return {
        "": (1 + at(w.RANDOM, w.SHRD_COUNTED).copies) / (1 + at(w.RANDOM, w.DFTL_COUNTED).copies)
        - 1
    }


def _slow(at: At[Point]) -> Values:
    """Returns the relative change of DFTL's bytes a second from sequential to random writes."""
    written = at(w.RANDOM, w.DFTL).bandwidth
    return {name: written / at(name, w.DFTL).bandwidth - 1 for name in (w.SEQUENTIAL, w.STREAM)}


def _speed(ours: tuple[str, str], other: tuple[str, str], less: float = 0.0) -> Measure[Point]:
    """Measures the speed of a workload on a line, as a multiple of another workload's speed on
    another line, minus `less`. Both workloads do the same for their application."""
    return lambda at: {"": at(*other).seconds / at(*ours).seconds - less}


def times(value: float) -> str:
    return f"{value:.2f}x" if value < 10 else f"{value:.1f}x"


_IN_BURSTS: Measure[Point] = on(w.BURSTS, ratio("mean_us", w.DFTL, w.IDLE))
"""All writes of a burst arrive at once, so their mean response is half of the burst's duration, and
the ratio of mean responses equals the ratio of throughputs."""

FILE_SYSTEMS = "SHRD gains at EXT4 vs. F2FS"
BENCHMARKS = "performance on real benchmarks"
SMALL_GAINS = "Small gains at sequential or read dominant workload - still better than DFTL"
STEADY_CACHE = "SHRD shows steady performance regardless of cache size"
THIRTY = "SHRD improves 30x better performance at a small map cache - reduce DRAM drastically"
WITHOUT_COPY = "restores the original addresses without copy operations"
REDUCING = "By reducing map loading/unloading overhead"
SORTED = "oLPN-sorted entries \N{RIGHTWARDS ARROW} Improving spatial locality"
BOTH_SYSTEMS = "SHRD improves both EXT4 and F2FS"

CLAIMS: tuple[Claim[Point], ...] = (
    Claim(
        "thirty",
        "Random writes are 30 times as fast as DFTL's at a small map cache",
        stated("conclusion; RW performance according to cache", "30x", THIRTY),
        ("controller", "span", "log", "window", "cache", "room", "remaps"),
        *_faster(w.RANDOM, Region.about(30.0), compare=ratio, form=times),
    ),
    Claim(
        "slow",
        "With DFTL, random writes are slower than sequential ones",
        stated("introduction", "slow", "Random write is still slow at SSD"),
        ("controller", "span", "cache"),
        *((w.RANDOM, w.SEQUENTIAL, w.STREAM), (w.DFTL,), _slow, LESS, change),
        SPAN,
    ),
    Claim(
        "bursts",
        "The same, by mean response, in bursts of less than a log, remapped while the host is idle",
        own("the same; the slides do not say when the log is remapped", "30x"),
        ("controller", "span", "log", "room"),
        *((w.BURSTS,), (w.DFTL, w.IDLE), _IN_BURSTS, Region.about(30.0), times),
        SPAN,
    ),
    Claim(
        "steady",
        "SHRD is steady whatever the cache: at least 80% of its throughput with a large one",
        stated("RW performance according to cache", "steady", STEADY_CACHE),
        ("controller", "span", "window", "top", "room"),
        *_faster(w.RANDOM, STEADY, w.LARGE_SHRD, w.SHRD, ratio, "{:.0%}".format),
        SPAN,
    ),
    Claim(
        "falls",
        "DFTL falls with a small cache, to half or less of its throughput with a large one",
        own("RW performance according to cache: a figure that is lost", "falls"),
        ("controller", "span", "top", "room"),
        *_faster(w.RANDOM, HALF, w.LARGE_DFTL, w.DFTL, ratio, "{:.0%}".format),
        SPAN,
    ),
    Claim(
        "everywhere",
        "SHRD is faster than DFTL on every workload",
        stated(BENCHMARKS, "better", "Better performance at all workloads"),
        ("load", "controller", "span", "window", "share", "threshold", "room"),
        *_faster(w.ANY, MORE),
        frozenset({"span", "threshold"}),
    ),
    Claim(
        "sequential",
        "A small gain on sequential writes, up to a fifth, but still a gain",
        stated(BENCHMARKS, "small", SMALL_GAINS),
        ("stream", "controller", "span", "window", "threshold"),
        *_faster(w.SPARSE, SMALL),
        SPAN,
    ),
    Claim(
        "reads",
        "The same where nine of ten requests read, or more",
        stated(BENCHMARKS, "small", SMALL_GAINS),
        ("written", "controller", "span", "window", "room"),
        *_faster(w.READS_OFTEN, SMALL),
        SPAN,
    ),
    Claim(
        "mixed",
        "Random reads and writes, mixed, have a shorter mean response, both of them",
        own("latency comparison: a title over a lost figure", "shorter"),
        ("controller", "span", "window", "rate", "room", "remaps"),
        *((w.OPEN,), (w.DFTL, w.SHRD), _responses, LESS, change),
        SPAN,
    ),
    Claim(
        "commands",
        "Many small requests become few: at most half as many commands",
        stated("special commands", "few", "Packed command with multiple RW requests"),
        ("outstanding", "log", "window"),
        *_alone(lambda shrd: shrd.commands, HALF, "{:.3f} a request".format),
    ),
    Claim(
        "locality",
        "Remapping loads fewer map pages than DFTL does",
        stated("RW performance according to cache", "fewer", REDUCING),
        ("span", "log", "window", "cache"),
        *_loads(w.DFTL),
    ),
    Claim(
        "sorted",
        "It loads fewer of them in the order of the pages than in that of the log",
        stated("oLPN-ordered map access", "fewer", SORTED),
        ("span", "log", "window"),
        *_loads(w.UNSORTED),
        SPAN,
    ),
    Claim(
        "no-copy",
        "The log is reclaimed without a copy: no page of data is programmed but the host's",
        stated("address remapping; conclusion", "none", WITHOUT_COPY),
        ("log", "window", "room"),
        *_alone(lambda shrd: shrd.data_programs - 1, NOT_MORE, change),
    ),
    Claim(
        "cleaning",
        "Cleaning moves no more than DFTL's, though blocks of the log are no victims",
        own(
            'stricter than "solves GC issues of address remapping": that moved pages are found '
            "again is asked with losses of power",
            "solved",
        ),
        ("spare", "window"),
        *((w.RANDOM,), (w.DFTL_COUNTED, w.SHRD_COUNTED), _cleaning, NOT_MORE, change),
        frozenset({"window"}),
    ),
    Claim(
        "aged",
        "On an aged drive, too, random writes are faster",
        own("solves POR / GC issues of address remapping: on drives that clean", "faster"),
        ("controller", "spare"),
        *_faster(w.RANDOM, MORE, w.DFTL_AGED, w.SHRD_AGED),
        frozenset({"controller", "spare"}),
    ),
    Claim(
        "f2fs",
        "SHRD improves F2FS",
        stated(FILE_SYSTEMS, "better", BOTH_SYSTEMS),
        ("controller", "window", "share", "threshold", "room"),
        *_faster(w.POSTMARK, MORE),
        frozenset({"threshold"}),
    ),
    Claim(
        "ext4-better",
        "SHRD improves EXT4",
        stated(FILE_SYSTEMS, "better", BOTH_SYSTEMS),
        ("ext4", "controller", "window", "share", "threshold", "room"),
        *_faster(w.ON_EXT4, MORE),
        frozenset({"threshold"}),
    ),
    Claim(
        "ext4-random",
        "EXT4 is slower at random writes than F2FS",
        stated(FILE_SYSTEMS, "bad", "EXT4 shows bad performance on random write"),
        ("utilized", "age", "controller"),
        (w.FIO_EXT4, w.FIO_F2FS),
        (w.DFTL,),
        _speed((w.FIO_EXT4, w.DFTL), (w.FIO_F2FS, w.DFTL), 1.0),
        LESS,
        change,
    ),
    Claim(
        "ext4",
        "EXT4 with SHRD is about as fast as F2FS on random writes",
        stated(FILE_SYSTEMS, "similar", "EXT4 shows similar performance as F2FS by using SHRD"),
        ("scheme", "utilized", "age", "controller", "window"),
        (w.FIO_EXT4, w.FIO_F2FS),
        (w.SHRD, w.RIVAL),
        _speed((w.FIO_EXT4, w.SHRD), (w.FIO_F2FS, w.RIVAL)),
        SIMILAR,
        times,
    ),
    Claim(
        "f2fs-full",
        "F2FS slows down at high utilization",
        stated(
            FILE_SYSTEMS, "slower", "Performance of F2FS decreases due to SSR at high utilization"
        ),
        ("age", "controller"),
        (w.FULL_F2FS, w.HALF_F2FS),
        (w.DFTL,),
        _speed((w.FULL_F2FS, w.DFTL), (w.HALF_F2FS, w.DFTL), 1.0),
        LESS,
        change,
    ),
    Claim(
        "f2fs-aged",
        "SHRD improves the bandwidth of aged F2FS",
        stated(FILE_SYSTEMS, "better", "SHRD improves the bandwidth of aged F2FS"),
        ("controller", "window"),
        w.OLD_F2FS,
        (w.DFTL, w.SHRD),
        on_each(w.OLD_F2FS, relative("iops", w.SHRD, w.DFTL)),
        MORE,
        change,
    ),
    Claim(
        "reads-after",
        "Sequential reads after random writes are much faster on EXT4 than on F2FS",
        stated(FILE_SYSTEMS, "much faster", "Sequential read performance of EXT4 is much better"),
        ("scheme", "utilized", "age", "controller"),
        (w.READ_EXT4, w.READ_F2FS),
        (w.SCHEME,),
        _speed((w.READ_EXT4, w.SCHEME), (w.READ_F2FS, w.SCHEME)),
        MUCH,
        times,
    ),
    Claim(
        "memory",
        "With 128 KiB of cache random writes are as fast as DFTL's with all of the map in memory",
        own("conclusion: reduce DRAM drastically", "as fast"),
        ("controller", "span", "window", "room"),
        *_faster(w.RANDOM, NOT_LESS, w.LARGE_DFTL, w.SHRD),
        SPAN,
    ),
)


UNCHECKED: tuple[AnyClaim, ...] = (
    unchecked(
        "dram",
        "8 TB take 8 GB of map in memory",
        stated(
            "mapping table handling overhead",
            "8 GB",
            "4 byte per 4 KB \N{RIGHTWARDS ARROW} 8 GB DRAM for 8 TB storage",
        ),
        "arithmetic, which no run can contradict: 4 bytes for each 4 KiB page of 8 TB are 7.8 GB",
    ),
    unchecked(
        "table",
        "The host's table takes about 1 MB for 64 MB of log",
        stated("implementation", "1 MB", "Host redirection table: about 1 MB for 64 MB log area"),
        "our host's table is a structure of ours; 16,384 entries of the driver's 64 bytes are 1 "
        "MiB by arithmetic",
    ),
)
