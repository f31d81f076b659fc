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
    inferred,
    own,
    stated,
    unchecked,
)
from floatgate.papers.kit.verdicts import ABOVE, Region

from .domain import (
    ANY,
    BURSTS,
    DFTL,
    DFTL_AGED,
    DFTL_COUNTED,
    IDLE,
    LARGE_DFTL,
    LARGE_SHRD,
    ON_EXT4,
    OPEN,
    POSTMARK,
    RANDOM,
    READS,
    SEQUENTIAL,
    SHRD,
    SHRD_AGED,
    SHRD_COUNTED,
    UNSORTED,
)
from .reduce import Point

EFFECT = 0.005
"""Half a per cent. A smaller change is 0 in slides that use times and whole factors."""
MORE, LESS = Region(low=EFFECT), Region(high=-EFFECT)
NOT_MORE, NOT_LESS = Region(high=EFFECT), Region(low=-EFFECT)

SMALL = Region(EFFECT, 0.2, beyond=ABOVE)
"""A gain of a fifth at most. The slides give no number. They would hardly call more than a fifth
small next to a factor of 30."""
STEADY = Region(low=0.8)
"""Least throughput with a small cache, relative to a large cache. The limit is also a fifth."""
HALF = Region(high=0.5)
"""Smallest drop for "falls" and "few": to half. The slides give no number."""

BOTH = (DFTL, SHRD)
SPAN = frozenset({"span"})


def _gain(workload: str, base: str, line: str) -> Callable[[At[Point]], float]:
    return lambda at: at(workload, line).iops / at(workload, base).iops


def _alone(of: Callable[[At[Point]], float]) -> Measure[Point]:
    return lambda at: {"": of(at)}


def _more(workload: str, base: str = DFTL, line: str = SHRD) -> Measure[Point]:
    return _alone(lambda at: _gain(workload, base, line)(at) - 1)


def _in_bursts(at: At[Point]) -> float:
    """Returns the ratio of throughputs. All writes of a burst arrive at once, so their mean
    response is half of the burst's duration, and the ratio of mean responses equals the ratio of
    throughputs."""
    return at(BURSTS, DFTL).mean_us / at(BURSTS, IDLE).mean_us


def _responses(at: At[Point]) -> Values:
    """Relative change of the mean response time, from DFTL to SHRD."""
    base, ours = at(OPEN, DFTL), at(OPEN, SHRD)
    pairs = {
        "reads": (base.mean_read_us, ours.mean_read_us),
        "writes": (base.mean_write_us, ours.mean_write_us),
    }
    return {name: now / was - 1 for name, (was, now) in pairs.items() if was and now is not None}


def _loads(base: str) -> Callable[[At[Point]], float]:
    """Measures the relative change of the map pages loaded per page that has left the log."""
    return lambda at: at(RANDOM, SHRD).settled_loads / at(RANDOM, base).settled_loads - 1


def _cleaning(at: At[Point]) -> float:
    """Returns the relative change of the data pages programmed per write, including cleaning."""
    return (1 + at(RANDOM, SHRD_COUNTED).copies) / (1 + at(RANDOM, DFTL_COUNTED).copies) - 1


def times(value: float) -> str:
    return f"{value:.2f}x" if value < 10 else f"{value:.1f}x"


ALL_WORKLOADS = "Better performance at all workloads"
SMALL_GAINS = "Small gains at sequential or read dominant workload - still better than DFTL"
STEADY_CACHE = "SHRD shows steady performance regardless of cache size"
THIRTY = "SHRD improves 30x better performance at a small map cache - reduce DRAM drastically"
WITHOUT_COPY = "restores the original addresses without copy operations"
SOLVES = "Solves POR / GC issues of address remapping"
SORTED = "oLPN-sorted entries \N{RIGHTWARDS ARROW} Improving spatial locality"
BOTH_SYSTEMS = "SHRD improves both EXT4 and F2FS"

CLAIMS: tuple[Claim[Point], ...] = (
    Claim(
        "thirty",
        "Random writes are 30 times as fast as DFTL's at a small map cache",
        stated("conclusion; RW performance according to cache", "30x", THIRTY),
        ("controller", "span", "log", "window", "cache", "room"),
        (RANDOM,),
        BOTH,
        _alone(_gain(RANDOM, DFTL, SHRD)),
        Region.about(30.0),
        times,
    ),
    Claim(
        "bursts",
        "The same, by mean response, in bursts of less than a log, remapped while the host is idle",
        own("the same; the slides do not say when the log is remapped", "30x"),
        ("controller", "span", "log", "room"),
        (BURSTS,),
        (DFTL, IDLE),
        _alone(_in_bursts),
        Region.about(30.0),
        times,
        SPAN,
    ),
    Claim(
        "steady",
        "SHRD is steady whatever the cache: at least 80% of its throughput with a large one",
        stated("RW performance according to cache", "steady", STEADY_CACHE),
        ("controller", "span", "window", "top", "room"),
        (RANDOM,),
        (SHRD, LARGE_SHRD),
        _alone(_gain(RANDOM, LARGE_SHRD, SHRD)),
        STEADY,
        "{:.0%}".format,
        SPAN,
    ),
    Claim(
        "falls",
        "DFTL falls with a small cache, to half or less of its throughput with a large one",
        inferred(
            "RW performance according to cache",
            "falls",
            "Better performance than DFTL - By reducing map loading/unloading overhead",
        ),
        ("controller", "span", "top", "room"),
        (RANDOM,),
        (DFTL, LARGE_DFTL),
        _alone(_gain(RANDOM, LARGE_DFTL, DFTL)),
        HALF,
        "{:.0%}".format,
        SPAN,
    ),
    Claim(
        "everywhere",
        "SHRD is faster than DFTL on every workload",
        stated("performance on real benchmarks", "better", ALL_WORKLOADS),
        ("load", "controller", "span", "window", "share", "threshold", "room"),
        (ANY,),
        BOTH,
        _more(ANY),
        MORE,
        change,
        frozenset({"span", "threshold"}),
    ),
    Claim(
        "sequential",
        "A small gain on sequential writes, up to a fifth, but still a gain",
        stated("performance on real benchmarks", "small", SMALL_GAINS),
        ("request", "controller", "span", "window", "threshold"),
        (SEQUENTIAL,),
        BOTH,
        _more(SEQUENTIAL),
        SMALL,
        change,
        SPAN,
    ),
    Claim(
        "reads",
        "The same where nine of ten requests read",
        stated("performance on real benchmarks", "small", SMALL_GAINS),
        ("controller", "span", "window", "room"),
        (READS,),
        BOTH,
        _more(READS),
        SMALL,
        change,
        SPAN,
    ),
    Claim(
        "mixed",
        "Random reads and writes, mixed, have a shorter mean response, both of them",
        own("latency comparison: a title over a lost figure", "shorter"),
        ("controller", "span", "window", "rate", "room"),
        (OPEN,),
        BOTH,
        _responses,
        LESS,
        change,
        SPAN,
    ),
    Claim(
        "commands",
        "Many small requests become few: at most half as many commands",
        inferred(
            "request handling overhead; sequentializing in host",
            "few",
            "Host OS writes random requests sequentially at log area",
        ),
        ("outstanding", "log", "window"),
        (RANDOM,),
        (SHRD,),
        _alone(lambda at: at(RANDOM, SHRD).commands),
        HALF,
        "{:.3f} a request".format,
    ),
    Claim(
        "locality",
        "Remapping loads fewer map pages than DFTL does",
        inferred("oLPN-ordered map access", "fewer", "Can increase spatial locality"),
        ("span", "log", "window", "cache"),
        (RANDOM,),
        BOTH,
        _alone(_loads(DFTL)),
        LESS,
        change,
    ),
    Claim(
        "sorted",
        "It loads fewer of them in the order of the pages than in that of the log",
        stated("oLPN-ordered map access", "fewer", SORTED),
        ("span", "log", "window"),
        (RANDOM,),
        (UNSORTED, SHRD),
        _alone(_loads(UNSORTED)),
        LESS,
        change,
        SPAN,
    ),
    Claim(
        "no-copy",
        "The log is reclaimed without a copy: no page of data is programmed but the host's",
        stated("address remapping; conclusion", "none", WITHOUT_COPY),
        ("log", "window", "room"),
        (RANDOM,),
        (SHRD,),
        _alone(lambda at: at(RANDOM, SHRD).data_programs - 1),
        NOT_MORE,
        change,
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
        (RANDOM,),
        (DFTL_COUNTED, SHRD_COUNTED),
        _alone(_cleaning),
        NOT_MORE,
        change,
        frozenset({"window"}),
    ),
    Claim(
        "aged",
        "On an aged drive, too, random writes are faster",
        inferred("solves POR / GC issues of address remapping", "solved", SOLVES),
        ("controller", "spare"),
        (RANDOM,),
        (DFTL_AGED, SHRD_AGED),
        _more(RANDOM, DFTL_AGED, SHRD_AGED),
        MORE,
        change,
        frozenset({"controller", "spare"}),
    ),
    Claim(
        "f2fs",
        "SHRD improves F2FS",
        stated("SHRD gains at EXT4 vs. F2FS", "better", BOTH_SYSTEMS),
        ("controller", "window", "share", "threshold", "room"),
        (POSTMARK,),
        BOTH,
        _more(POSTMARK),
        MORE,
        change,
        frozenset({"threshold"}),
    ),
    Claim(
        "ext4-better",
        "SHRD improves EXT4",
        stated("SHRD gains at EXT4 vs. F2FS", "better", BOTH_SYSTEMS),
        ("ext4", "controller", "window", "share", "threshold", "room"),
        (ON_EXT4,),
        BOTH,
        _more(ON_EXT4),
        MORE,
        change,
        frozenset({"threshold"}),
    ),
    Claim(
        "memory",
        "With 128 KiB of cache random writes are as fast as DFTL's with all of the map in memory",
        own("conclusion: reduce DRAM drastically", "as fast"),
        ("controller", "span", "window", "room"),
        (RANDOM,),
        (LARGE_DFTL, SHRD),
        _more(RANDOM, LARGE_DFTL, SHRD),
        NOT_LESS,
        change,
        SPAN,
    ),
)


FILE_SYSTEMS = "SHRD gains at EXT4 vs. F2FS"

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
    unchecked(
        "ext4-random",
        "EXT4 is bad at random writes",
        stated(FILE_SYSTEMS, "bad", "EXT4 shows bad performance on random write"),
        "it is compared with F2FS, which takes both file systems under the same load",
    ),
    unchecked(
        "ext4",
        "EXT4 with SHRD is about as fast as F2FS on random writes",
        stated(FILE_SYSTEMS, "similar", "EXT4 shows similar performance as F2FS by using SHRD"),
        "it takes both file systems under the same load; the captures are of different loads",
    ),
    unchecked(
        "f2fs-full",
        "F2FS slows down at high utilisation, by slack-space recycling",
        stated(
            FILE_SYSTEMS,
            "slower",
            "Performance of F2FS decreases due to SSR at high utilization",
        ),
        "it takes a file system at several utilisations; a capture has one",
    ),
    unchecked(
        "f2fs-aged",
        "SHRD improves the bandwidth of aged F2FS",
        stated(FILE_SYSTEMS, "better", "SHRD improves the bandwidth of aged F2FS"),
        "the capture's file system was new, and how full it was is not known",
    ),
    unchecked(
        "reads-after",
        "Sequential reads after random writes are much faster on EXT4 than on F2FS",
        stated(FILE_SYSTEMS, "much faster", "Sequential read performance of EXT4 is much better"),
        "it takes both file systems, reading the same files",
    ),
)
"""Statements for which no run of ours gives information."""
