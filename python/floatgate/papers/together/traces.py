"""Traces for all five mechanisms: which, how much of each, on which drive, and why not others."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from floatgate.papers.kit.batch import OVERWRITTEN, Bench, Played
from floatgate.papers.kit.experiment import Settings, Workload
from floatgate.papers.kit.reproduce import Lab
from floatgate.papers.kit.trace_files import Source

from .domain import PAGE, RECORDED, SPAN, VOLUMES, blocks
from .reduce import size_of

REQUESTS = 10_000
"""Number of requests at the start of each trace that are played: the length of the shortest
traces."""

QUICK_TRACES = ("umass-financial1-10k.ascii.zst", "msr-sample-rw20-80-10k.trace.zst")
"""Traces that the papers here use themselves, and that keep devices separate or come from one
device."""
NO_MORE = "there is no more of it"
CAPTURED = (
    "all of it was recorded on storage as fast as memory: at its times two dies fall seconds behind"
)
LISTED: Sequence[tuple[str, str, str]] = (
    ("Financial1, 10k", QUICK_TRACES[0], ""),
    ("MSR, 20% reads", QUICK_TRACES[1], ""),
    ("Financial1, 50k", "umass-financial1-50k-pages.trace.zst", ""),
    ("MSR, most throughput", "msr-sample-most-thpt-10k.trace.zst", NO_MORE),
    ("WebSearch", "umass-websearch-25k.trace.zst", "all of it has 4 writes"),
    ("TPCC", "tpcc-7k.trace.zst", NO_MORE),
    ("MSN file server", "msprod-msnfs-150k.trace.zst", "all of it writes a page 1.03 times"),
    ("DTRS", "msprod-dtrs-127k.trace.zst", "all of it writes a page 1.01 times"),
    ("CloudPhysics", "cloudphysics-114k.vscsi.zst", "played as a whole"),
    ("Nexus 5", "nexus5-installing-18k.txt.zst", "all of it writes a page 1.56 times"),
    ("PC", "pc-diskmon-87k.txt.zst", "played as a whole"),
    ("HP", "hp-hplajw-1week-45k.srt.zst", ""),
    ("postmark, MSR", "ms-postmark-62k.trace.zst", "all of it writes a page 1.42 times"),
    ("pgbench", "capture-pgbench-ext4-656k.csv.zst", CAPTURED),
    ("RocksDB", "capture-rocksdb-ext4-905k.csv.zst", CAPTURED),
    ("postmark, f2fs", "capture-postmark-f2fs-996k.csv.zst", CAPTURED),
)
"""All traces in the directory of traces. Some first requests write no page twice; for these the
text states why the trace is not played as a whole."""
TRACES = (
    *(
        Source(name, RECORDED, file, REQUESTS, quick=file in QUICK_TRACES)
        for name, file, _ in LISTED
    ),
    Source("CloudPhysics, whole", RECORDED, "cloudphysics-114k.vscsi.zst", quick=False),
    Source("PC, whole", RECORDED, "pc-diskmon-87k.txt.zst", quick=False),
)
"""The first requests of each trace. Two traces reach two writes a page only as a whole, with the
times of real drives. They are played as a whole, on a drive of their size."""


@dataclass(frozen=True)
class Excerpt:
    """The first requests of a trace, or all of them, and whether they can be played."""

    source: Source
    played: Played
    pages: int
    overwrites: float

    @property
    def why_not(self) -> str:
        """Returns why the excerpt is left out. Empty if it is played."""
        if self.overwrites < OVERWRITTEN:
            whole = {name: why for name, _, why in LISTED if why}
            rarely = f"writes a page less than {OVERWRITTEN:g} times"
            return "; ".join(filter(None, (rarely, whole.get(self.source.name))))
        larger = self.source.limit is not None and self.pages * PAGE > SPAN
        return "touches more than the drive holds" if larger else ""

    def is_played(self, full: bool) -> bool:
        return not self.why_not and (full or self.source.quick)

    def workload(self, bench: Bench) -> Workload:
        """Returns the workload, which writes the drive `VOLUMES` times, each round in another
        order."""
        whole = self.source.limit is None
        span = self.pages * PAGE if whole else SPAN
        played = self.played.in_rounds(VOLUMES * span, bench.written_bytes(self.played))
        fit = _on(self.pages) if whole else None
        return Workload(self.source.name, RECORDED, played, slow=True, random=True, fit=fit)


SHARES = {"mapping.cache": 1, "buffer.capacity": 128 << 10, "host.log": 64 << 10}
"""Settings that scale with the drive, each with its unit in bytes: a buffer has whole blocks, and a
log has whole windows."""


def _on(pages: int) -> Callable[[Settings], Settings]:
    """Returns the smallest drive that holds `pages` pages, with equal shares of memory and log."""

    def fit(asked: Settings) -> Settings:
        held = blocks(float(asked["capacity.spare_factor"]), pages)
        settings = {**asked, "flash.blocks": str(held)}
        for key in SHARES.keys() & asked.keys():
            grains = size_of(asked, key) * pages // (SPAN // PAGE * SHARES[key])
            settings[key] = f"{grains * SHARES[key]}B"
        return settings

    return fit


def excerpts(lab: Lab) -> Iterator[Excerpt]:
    bench = lab.bench
    for source, file in lab.files.items():
        played = Played(str(file), source.limit, dense=True)

        def measure(played: Played = played) -> dict[str, float]:
            pages = bench.span_bytes(played) // PAGE
            return {"pages": pages, "overwrites": bench.overwrites(played)}

        made_of = ("excerpt", hashlib.sha256(file.read_bytes()).hexdigest(), source.limit)
        yield Excerpt(source, played, **bench.document(made_of, measure))
