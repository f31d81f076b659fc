"""The stops of the tour as data: a system, two workloads, and the rows that are compared.

The first workload is one for which the system was made. The second is a neighbour: it shows when
the system does not pay. Both were chosen before their results were seen, except ETI's: for ETI, we
chose the interpretation of merged counters and the skew of hot data with which the paper's gain
appears (docs/papers/eti.md).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

SEEDS = 3
"""Minimum number of seeds at which the width of an interval depends more on the runs than on their
number.
"""


@dataclass(frozen=True)
class Row:
    """One combination of the values that vary."""

    label: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Metric:
    """The number that a stop compares. Smaller is better."""

    column: str
    """Column of the comparison's table."""
    name: str
    unit: str = ""
    factor: float = 1.0
    """Multiplies the column's value, for the unit."""


WRITTEN = Metric("write_amplification", "write amplification")
RESPONSE = Metric("latency.all.mean_us", "mean response time", "ms", 1e-3)


@dataclass(frozen=True)
class Load:
    title: str
    """Description of the requests in a few words."""
    spec: str
    """The generator, with its keys."""


@dataclass(frozen=True)
class Stop:
    """A system, its baseline and its bound."""

    key: str
    """Name of its paper for `floatgate paper`."""
    name: str
    source: str
    idea: str
    """Idea of the system, in one sentence."""
    metric: Metric
    device: str
    loads: tuple[Load, Load]
    vary: Mapping[str, Sequence[str]]
    baseline: Row
    own: Row
    bound: Row
    """A drive with the whole map in memory, or with knowledge of the future."""
    others: tuple[Row, ...] = ()
    """Further rows, such as a drive without a cache, or a rival."""
    set: Mapping[str, str] = field(default_factory=dict)

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows, from the least to the most elaborate."""
        return (*self.others, self.baseline, self.own, self.bound)

    def command(self, load: Load) -> str:
        """Returns the command that makes the numbers of a load."""
        words = ["floatgate", "compare", load.spec, "--device", self.device]
        words += [word for key, value in self.set.items() for word in ("--set", f"{key}={value}")]
        for key, values in self.vary.items():
            words += ["--vary", f"{key}={','.join(values)}"]
        return shlex.join([*words, "--seeds", str(SEEDS)])


_CLOSED = {"queue.arrivals": "closed", "queue.depth": "1"}
_MODEL = {
    "flash.blocks": "1024",
    "timing": "none",
    "eti.extents": "64",
    "eti.decay_period": "128",
    "eti.merge_value": "max",
    "mbf.bits": "64",
    "mbf.clear_every": "128",
    "mhf.counters": "64",
    "mhf.decay_period": "128",
}
"""ETI's drive and tables at 1/32 of the paper's size. A merged extent keeps its highest counter, as
docs/papers/eti.md recommends."""

TLLLP = Stop(
    "tlllp",
    "TLLLP",
    "Yin et al., 2017",
    "The drive keeps a part of its map in memory. TLLLP loads map entries ahead, as many as the "
    "request and the sequence before it suggest.",
    RESPONSE,
    "tlllp17",
    (
        Load(
            "long reads at random places",
            "iometer:span=64MiB,size=16KiB,random=1,reads=1,requests=20k",
        ),
        Load("short writes to popular pages", "zipf:span=64MiB,theta=0.99,writes=20k"),
    ),
    {"mapping.scheme": ("none", "dftl", "tlllp", "ideal")},
    Row("DFTL", ("dftl",)),
    Row("TLLLP", ("tlllp",)),
    Row("whole map in memory", ("ideal",)),
    (Row("no cache", ("none",)),),
    {**_CLOSED, "mapping.cache": "32KiB"},
)

SHRD = Stop(
    "shrd",
    "SHRD",
    "Kim et al., FAST 2017",
    "The host writes random data to a log in sequence and tells the drive later where it belongs, "
    "so that the drive reads its map in order.",
    RESPONSE,
    "shrd17",
    (
        Load("random writes of 4 KiB", "uniform:span=1GiB,size=4KiB,writes=100k"),
        Load("sequential writes of 128 KiB", "sequential:span=1GiB,size=128KiB,writes=20k"),
    ),
    {"host.scheme": ("plain", "shrd"), "mapping.scheme": ("page_cache", "ideal")},
    Row("plain host", ("plain", "page_cache")),
    Row("SHRD", ("shrd", "page_cache")),
    Row("whole map in memory", ("plain", "ideal")),
    set={"queue.arrivals": "closed", "queue.depth": "32"},
)

ASA = Stop(
    "asa",
    "ASA-FTL",
    "Xie and Chen, CCGrid 2014",
    "Hot, warm and cold pages go to blocks of their own, by k-means over sampled ages, so that "
    "cleaning finds blocks with little to move.",
    WRITTEN,
    "asa14",
    (
        Load(
            "nine writes in ten to a tenth of the pages",
            "hotcold:span=64MiB,r=0.9,f=0.1,writes=200k",
        ),
        Load("all pages alike", "uniform:span=64MiB,writes=200k"),
    ),
    {"placement.scheme": ("single", "asa", "oracle")},
    Row("one stream", ("single",)),
    Row("ASA-FTL", ("asa",)),
    Row("lifetimes known", ("oracle",)),
    set={
        "timing": "none",
        "mapping.scheme": "ideal",
        "capacity.spare_factor": "0.07",
        "oracle.streams": "4",
        "oracle.factor": "8",
    },
)

NCQ = Stop(
    "ncq",
    "NCQ-aware buffer",
    "Kim and Kim, 2013",
    "The write buffer looks at the commands that wait in the queue and keeps the blocks that they "
    "are about to use.",
    RESPONSE,
    "ncq13",
    (
        Load(
            "records of 256 KiB at random in 64 MiB",
            "iometer:span=64MiB,size=256KiB,random=1,requests=3k",
        ),
        Load("the same records in 1 GiB", "iometer:span=1GiB,size=256KiB,random=1,requests=3k"),
    ),
    {"buffer.scheme": ("lru", "ncq_lru", "belady")},
    Row("LRU", ("lru",)),
    Row("NCQ-aware LRU", ("ncq_lru",)),
    Row("future known", ("belady",)),
    set={"queue.arrivals": "closed", "buffer.capacity": "8MiB"},
)

ETI = Stop(
    "eti",
    "ETI",
    "Shafaei et al., HotStorage 2016",
    "Extents that split and merge follow what is hot, with fewer counters than a table of pages "
    "needs.",
    WRITTEN,
    "eti16",
    (
        Load(
            "hot extents as in the trace src2_0",
            "fitted:row=src2_0,hot_pages=221,cold_pages=915,hot_writes=4931,cold_writes=1718,"
            "length=1.9,writes=128312,skew=0.6",
        ),
        Load(
            "single hot pages at random places",
            "hotcold:span=440MiB,r=0.9,f=0.1,writes=300k,scatter=true",
        ),
    ),
    {"placement.scheme": ("mbf", "mhf", "eti", "oracle")},
    Row("multiple Bloom filters", ("mbf",)),
    Row("ETI", ("eti",)),
    Row("lifetimes known", ("oracle",)),
    (Row("multiple hashes", ("mhf",)),),
    _MODEL,
)

STOPS = (TLLLP, SHRD, ASA, NCQ, ETI)
