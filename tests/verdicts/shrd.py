"""The claims of the slides of SHRD."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from floatgate.papers.paper import FAILS, HOLDS, PARTLY, UNCHECKED
from floatgate.papers.shrd_runs import MIXED, RANDOM, SEQUENTIAL, TRACE, Point

from . import Case, about, altered, without

SMALL, LARGE = 128 << 10, 64 << 20
MIB = 1 << 20
EXT4, ON_F2FS = "ext4, made up", "f2fs, made up"


def point(trace: str, family: str, line: str, cache: int, iops: float) -> Point:
    """A drive of 32 GiB: 1,024 map pages of 32 KiB, and two of the log of 64 MiB."""
    packs = line.startswith("shrd")
    return Point(
        trace=trace,
        family=family,
        line=line,
        cache=cache,
        log=64 * MIB,
        threshold=16 << 10,
        iops=iops,
        mean_read_us=1.1e6 / iops,
        mean_write_us=1e6 / iops,
        commands=0.03 if packs else 1.0,
        packed=100.0 if packs else None,
        loads=0.01 if packs else 0.99,
        write_backs=0.02 if packs else 0.98,
        data_programs=1.25,
        copies=0.25,
        window=1000.0 if packs else None,
        map_pages=0.0 if line == "ideal" else 1026.0,
        mapped_bytes=(32 << 30) + 64 * MIB,
        host_memory=MIB,
        read_share=0.0,
    )


def as_stated() -> list[Point]:
    """Points of which every claim that can be checked holds."""
    points = [
        point("random writes", RANDOM, line, cache, iops)
        for line, cache, iops in (
            ("dftl", SMALL, 1000.0),
            ("dftl", LARGE, 40_000.0),
            ("shrd", SMALL, 30_000.0),
            ("shrd", LARGE, 35_000.0),
            ("shrd-wide", SMALL, 34_000.0),
            ("shrd-wide", LARGE, 36_000.0),
            ("ideal", SMALL, 41_000.0),
        )
    ]
    for trace, family, gain in (
        ("mixed", MIXED, 4.0),
        ("sequential writes", SEQUENTIAL, 1.05),
        (EXT4, TRACE, 2.0),
        (ON_F2FS, TRACE, 1.5),
    ):
        points.append(point(trace, family, "dftl", SMALL, 1000.0))
        points.append(point(trace, family, "shrd", SMALL, 1000.0 * gain))
    return points


def random(line: str, cache: int = SMALL, **numbers: Any) -> list[Point]:
    """Other numbers of a line under random writes."""
    return altered(as_stated(), {"family": RANDOM, "line": line, "cache": cache}, **numbers)


def _gains(gain: float, *traces: str) -> list[Point]:
    """So much of DFTL's throughput on these, which is 1,000."""
    points = as_stated()
    for trace in traces:
        where = {"trace": trace, "line": "shrd", "cache": SMALL}
        points = altered(points, where, iops=1000.0 * gain)
    return points


def _mixed(**numbers: Any) -> list[Point]:
    return altered(as_stated(), {"family": MIXED, "line": "shrd"}, **numbers)


def _throughput(part: float, wide: float) -> list[Point]:
    """With the small cache, of that with the whole map, for both windows."""
    points = random("shrd", iops=35_000.0 * part)
    where = {"family": RANDOM, "line": "shrd-wide", "cache": SMALL}
    return altered(points, where, iops=36_000.0 * wide)


def _map_of(gigabytes: float) -> list[Point]:
    """A map of which so many GB are for 8 TB: 1 GB a TB is 1/1000 of what it maps."""
    pages = gigabytes / 8000 * ((32 << 30) + 64 * MIB) / (32 << 10)
    return altered(as_stated(), {}, map_pages=pages)


CASES = [
    # "SHRD improves 30x better performance at a small map cache."
    *about("thirty", 30.0, lambda ours: random("shrd", iops=1000.0 * ours), signed=False),
    Case(
        "thirty",
        HOLDS,
        "another log does not count",
        [
            replace(point("random writes", RANDOM, "shrd", SMALL, 1.0), log=16 * MIB),
            *as_stated(),
        ],
    ),
    Case(
        "thirty",
        HOLDS,
        "other workloads have smaller caches",
        altered(as_stated(), {"family": MIXED}, cache=SMALL // 2),
    ),
    Case("thirty", UNCHECKED, "SHRD was not run", without(as_stated(), line="shrd")),
    Case(
        "thirty",
        UNCHECKED,
        "DFTL has only the large cache",
        without(as_stated(), line="dftl", cache=SMALL),
    ),
    # "SHRD shows steady performance regardless of cache size": at least 80% of that with the map.
    Case("steady", HOLDS, "81%", _throughput(0.81, 0.1)),
    Case("steady", PARTLY, "79%, but 81% with the wide windows", _throughput(0.79, 0.81)),
    Case("steady", FAILS, "79% with both", _throughput(0.79, 0.79)),
    Case("steady", UNCHECKED, "one cache", without(as_stated(), cache=LARGE)),
    Case(
        "steady",
        UNCHECKED,
        "no cache has the whole map",
        altered(as_stated(), {}, map_pages=2049.0),
    ),
    Case(
        "steady",
        UNCHECKED,
        "every cache has the whole map",
        altered(as_stated(), {}, map_pages=4.0),
    ),
    # DFTL is "vulnerable to random workload": less than half of that with the whole map.
    Case("falls", HOLDS, "49%", random("dftl", iops=0.49 * 40_000)),
    Case("falls", FAILS, "51%", random("dftl", iops=0.51 * 40_000)),
    Case("falls", UNCHECKED, "one cache", without(as_stated(), cache=LARGE)),
    # "Better performance at all workloads": of five here, random, mixed, sequential, and captured.
    Case("everywhere", HOLDS, "1.05 times at least", as_stated()),
    Case("everywhere", PARTLY, "slower on two of five", _gains(0.99, "mixed", EXT4)),
    Case("everywhere", FAILS, "slower on three", _gains(0.99, "mixed", EXT4, ON_F2FS)),
    Case(
        "everywhere",
        FAILS,
        "slower on three others",
        _gains(0.99, "random writes", "sequential writes", EXT4),
    ),
    Case("everywhere", UNCHECKED, "no benchmark", without(as_stated(), family=TRACE)),
    # "Small gains at sequential [...] workload, still better than DFTL": up to a fifth.
    Case("sequential", HOLDS, "as fast", _gains(1.0, "sequential writes")),
    Case("sequential", HOLDS, "19% faster", _gains(1.19, "sequential writes")),
    Case("sequential", PARTLY, "1% slower", _gains(0.99, "sequential writes")),
    Case("sequential", FAILS, "2% slower", _gains(0.98, "sequential writes")),
    Case("sequential", FAILS, "21% are not small", _gains(1.21, "sequential writes")),
    Case("sequential", UNCHECKED, "it is missing", without(as_stated(), family=SEQUENTIAL)),
    # "Latency Comparison: fio mixed workload": reads and writes are both faster.
    Case("mixed", HOLDS, "both are faster", _mixed(mean_read_us=1099.0, mean_write_us=999.0)),
    Case("mixed", PARTLY, "reads are as slow", _mixed(mean_read_us=1100.0)),
    Case("mixed", PARTLY, "writes are as slow", _mixed(mean_write_us=1000.0)),
    Case("mixed", FAILS, "both are slower", _mixed(mean_read_us=1101.0, mean_write_us=1001.0)),
    Case("mixed", UNCHECKED, "it is missing", without(as_stated(), family=MIXED)),
    Case("mixed", UNCHECKED, "it has no reads", altered(as_stated(), {}, mean_read_us=None)),
    Case("mixed", UNCHECKED, "SHRD has no reads", _mixed(mean_read_us=None)),
    Case("mixed", UNCHECKED, "it has no writes", altered(as_stated(), {}, mean_write_us=None)),
    # "Multiple small random writes" become a "single large sequential write".
    Case("commands", HOLDS, "fewer than half as many", random("shrd", commands=0.49)),
    Case("commands", FAILS, "half as many", random("shrd", commands=0.5)),
    Case("commands", UNCHECKED, "SHRD was not run", without(as_stated(), line="shrd")),
    # "oLPN-sorted entries: improving spatial locality."
    Case("locality", HOLDS, "fewer loads a write", random("shrd", loads=0.98)),
    Case("locality", FAILS, "as many", random("shrd", loads=0.99)),
    Case("locality", UNCHECKED, "DFTL was not run", without(as_stated(), line="dftl")),
    # "Restores the original addresses without copy operations."
    Case("no-copy", HOLDS, "writes and cleaning, no more", as_stated()),
    Case("no-copy", FAILS, "one program in 1,000 more", random("shrd", data_programs=1.251)),
    Case("no-copy", FAILS, "the same with wide windows", random("shrd-wide", data_programs=1.251)),
    Case("no-copy", HOLDS, "DFTL does not count", random("dftl", data_programs=9.0)),
    Case(
        "no-copy",
        UNCHECKED,
        "SHRD was not run",
        [each for each in as_stated() if not each.line.startswith("shrd")],
    ),
    # "Host redirection table: about 1 MB for 64 MB log area."
    *about(
        "table",
        1.0,
        lambda ours: altered(as_stated(), {"line": "shrd"}, host_memory=round(ours * MIB)),
        signed=False,
    ),
    Case("table", UNCHECKED, "another log", altered(as_stated(), {}, log=32 * MIB)),
    # "4 byte per 4 KB: 8 GB DRAM for 8 TB storage."
    *about("dram", 8.0, _map_of, signed=False),
    Case(
        "dram",
        PARTLY,
        "8 bytes an entry are twice as much",
        altered(as_stated(), {}, map_pages=2052.0),
    ),
    Case(
        "dram",
        UNCHECKED,
        "no run has a map on flash",
        [each for each in as_stated() if each.line == "ideal"],
    ),
    # "SHRD improves both EXT4 and F2FS."
    Case("f2fs", HOLDS, "1% faster", _gains(1.01, ON_F2FS)),
    Case("f2fs", FAILS, "as fast", _gains(1.0, ON_F2FS)),
    Case("f2fs", HOLDS, "ext4 does not count", _gains(0.5, EXT4)),
    Case("f2fs", UNCHECKED, "it is missing", without(as_stated(), trace=ON_F2FS)),
    # What takes file systems: no run of a trace says anything about it.
    *(Case(claim, UNCHECKED, "all runs", as_stated()) for claim in ("ext4", "aged", "reads")),
]

NO_MIDDLE = frozenset({"falls", "commands", "locality", "no-copy", "f2fs"})
NEVER = frozenset({"ext4", "aged", "reads"})
