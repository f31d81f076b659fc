"""SHRD's workloads and captures, and the names of the slides' workloads and lines."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from floatgate.papers.kit.batch import Played
from floatgate.papers.kit.experiment import Workload
from floatgate.papers.kit.trace_files import Source

RANDOM, SEQUENTIAL, READS = "random writes", "sequential writes", "mostly reads"
STREAM = "sequential writes of 4 KiB"
MIXED, OPEN, BURSTS = "mixed", "mixed at a rate", "bursts"
SPARSE, READS_OFTEN = "sequential with small writes", "reads with small writes"
FIO, READING, SYSTEMS = "fio on", "reading", ("ext4", "f2fs")
ON_SYSTEMS = tuple(f"{name} {system}" for name, system in product((FIO, READING), SYSTEMS))
FIO_EXT4, FIO_F2FS, READ_EXT4, READ_F2FS = ON_SYSTEMS
UTILIZED, AGES = ("50%", "90%"), ("fresh", "aged")
HALF_F2FS, FULL_F2FS = (f"{FIO_F2FS} {share}" for share in UTILIZED)
OLD_F2FS = (f"{HALF_F2FS} aged", f"{FULL_F2FS} aged")
GENERATED = (RANDOM, SEQUENTIAL, STREAM, READS, MIXED, OPEN, BURSTS)
EXT4, F2FS = "ext4", "f2fs"
PGBENCH, ROCKSDB = "pgbench on ext4", "RocksDB on ext4"
POSTMARK = "postmark and fio with fsync on f2fs"
CAPTURED = (PGBENCH, ROCKSDB, POSTMARK)
LOADS = (RANDOM, READS, MIXED, SEQUENTIAL, STREAM, *CAPTURED)
"""Workloads that have verdicts of their own."""
DFTL, SHRD, UNSORTED = "DFTL", "SHRD", "SHRD, unsorted"
IDLE = "SHRD, remapped when idle"
DFTL_AGED, SHRD_AGED = "DFTL on an aged drive", "SHRD on an aged drive"
DFTL_COUNTED, SHRD_COUNTED = "DFTL, aged, without a clock", "SHRD, aged, without a clock"
LARGE_DFTL, LARGE_SHRD = "DFTL, large cache", "SHRD, large cache"
ANY, ON_EXT4 = "the workload", "the load"
RIVAL, SCHEME = "f2fs's scheme", "the scheme"
"""Workloads and lines in claims. The last four names are placeholders that an axis replaces."""

SOURCES = (
    Source(PGBENCH, EXT4, "capture-pgbench-ext4-656k.csv.zst"),
    Source(ROCKSDB, EXT4, "capture-rocksdb-ext4-905k.csv.zst"),
    Source(POSTMARK, F2FS, "capture-postmark-f2fs-996k.csv.zst"),
)

LIMIT = 100_000
"""Requests of a capture. The map of their pages is larger than the smallest cache, so a cache can
hold an eighth of it or half."""
SKIPPED = {PGBENCH: 65_629, ROCKSDB: 90_481, POSTMARK: 99_587}
"""Requests of the first tenth of each capture, which are skipped. They create files and load tables
before the measured benchmark begins."""

LOG = 16_384
"""Slots of the slides' log of 64 MiB."""
WRITES = 8 * LOG
"""Requests of a closed loop. The largest log is filled four times, so the pages left in it at the
end are a sixteenth of the writes, or three with the largest window. Mixed requests write half as
much, over the log of 64 MiB. A workload of mostly reads needs twice the requests for more than one
window of any size."""

QUICK, FULL = 2, 6  # bursts

SPANS = ("4 GiB", "16 GiB", "32 GiB")
RATES = {"165/s": 165, "330/s": 330, "660/s": 660}
"""Requests a second."""
BURST = 15 * LOG // 16
"""Writes in a burst: nearly a full log."""
PERIOD = 60.0
"""Seconds from one burst to the next."""

UNSCALED = frozenset({"share", "threshold"})
FEW = 2048
"""Small writes of a run with few of them."""
EARLY = {"shrd.remap_threshold": "0.03125", "shrd.remap_size": "0.03125"}
"""Windows of a run with few small writes: half as large as the driver's, a quarter of these writes,
and due when the log holds one. With larger windows the run would end before most of its log is
remapped. Small windows favour DFTL, and the last window, which waits in the log, favours SHRD."""
SMALL = {"1%": 0.01, "0.5%": 0.005, "3%": 0.03, "10%": 0.1}
"""Shares of small random writes among other requests."""
RECORDED = Path(__file__).parent / "captures"
"""Captures of tools/record_file_systems.py: fio on file systems of 512 MiB."""
SCALED = {
    "host.log": "8MiB",
    "page_cache.entries": "1024",
    "mapping.cache": "32KiB",
    "queue.arrivals": "closed",
}
"""Drive for these captures. Map pages have an eighth of the prototype's entries, and the log has an
eighth of the slides' slots. So a window has as many pages of each map page as over 32 GiB. The
cache holds a sixteenth of the map, the largest share on the axis of caches."""


def generated(bursts: int) -> list[Workload]:
    """Returns all generated workloads, over each of the spans."""
    workloads = _sparse(SPANS[0].replace(" ", ""))
    for span in SPANS:
        uniform = f"uniform:span={span.replace(' ', '')},size=4KiB"
        random = {
            RANDOM: f"{uniform},writes={WRITES}",
            READS: f"{uniform},requests={2 * WRITES},reads=0.9",
            MIXED: f"{uniform},requests={WRITES},reads=0.5",
            BURSTS: (
                f"{uniform},writes={bursts * BURST},arrivals=fixed,burst={BURST},"
                f"interarrival={round(1e9 * PERIOD / BURST)}ns"
            ),
        } | {
            f"{OPEN}, {rate}": (
                f"{uniform},requests={WRITES},reads=0.5,arrivals=exponential,"
                f"interarrival={round(1e9 / a_second)}ns"
            )
            for rate, a_second in RATES.items()
        }
        workloads += [
            Workload(
                f"{name}, {span}",
                name.split(", ")[0],
                Played(text),
                UNSCALED,
                random=True,
                few_seeds=span != SPANS[0],
            )
            for name, text in random.items()
        ]
        sequential = f"sequential:span={span.replace(' ', '')}"
        large = Played(f"{sequential},size=128KiB,writes={WRITES // 8}")
        small = Played(f"{sequential},size=4KiB,writes={WRITES}")
        # The large requests equal the largest threshold, which decides where they go.
        workloads += [
            Workload(f"{SEQUENTIAL}, {span}", SEQUENTIAL, large, frozenset({"share"})),
            Workload(f"{STREAM}, {span}", STREAM, small, UNSCALED),
        ]
    return workloads


def _sparse(span: str) -> list[Workload]:
    """Returns large sequential writes, and reads, with shares of small random writes."""
    workloads = []
    for key, share in SMALL.items():
        requests = round(FEW / share)
        large = f"sequential:span={span},size=128KiB,writes={requests}"
        reads = f"uniform:span={span},size=4KiB,requests={requests},reads={1 - share}"
        workloads += [
            Workload(f"{name} {key}", name, played, UNSCALED | {"window"}, random=True, set=EARLY)
            for name, played in ((SPARSE, Played(large, small=share)), (READS_OFTEN, Played(reads)))
        ]
    return workloads


def recorded() -> list[Workload]:
    """Returns fio's writes on both file systems, and reads of its file in order."""
    ignored = UNSCALED | {"cache", "spare", "room", "log"}
    return [
        Workload(
            f"{name} {system} {full} {age}",
            f"{name} {system}",
            Played(str(RECORDED / f"{system}-{full[:-1]}-{age}{end}.csv.xz")),
            ignored,
            set=SCALED,
        )
        for (name, end), system, full, age in product(
            ((FIO, ""), (READING, "-read")), SYSTEMS, UTILIZED, AGES
        )
    ]


def captured(source: Source, file: Path) -> Workload:
    played = Played(str(file), LIMIT, SKIPPED[source.name])
    return Workload(source.name, source.family, played, frozenset({"cache", "spare"}))
