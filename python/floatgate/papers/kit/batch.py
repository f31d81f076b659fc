"""Runs of many simulations in parallel, each with its own settings. A trace is read once for
all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from floatgate import _core
from floatgate.analysis.hotness import Hotness, hotness_of, parse_options
from floatgate.simulation import configs, pool, recorded, sources
from floatgate.simulation.identity import Job
from floatgate.simulation.load import Load
from floatgate.simulation.options import RunOptions
from floatgate.traces import Trace, lay_out
from floatgate.traces.model import WRITE

if TYPE_CHECKING:
    from floatgate.api import Progress
    from floatgate.results.result import Result

    from .cache import Cache, Document

PAGE = 4096
WINDOWS = 100
"""Number of windows in a round of a repeated trace. Rounds play them in different orders, so the
position of a request in one round does not predict the next. A window keeps bursts and runs."""
OVERWRITTEN = 2.0
"""Minimum mean number of writes to a page in a round of an excerpt. With fewer writes, most ages of
pages come from our repetition."""


@dataclass(frozen=True)
class Played:
    """Requests that a run plays: a trace by its path, or the text of a generator."""

    spec: str
    limit: int | None = None
    """Maximum number of requests to play, after the skipped ones."""
    skip: int = 0
    """Number of requests at the start of a trace that are skipped."""
    repeat: int = 1
    dense: bool = False
    """Whether a trace is reduced to the 4 KiB pages that it touches, placed one after the other."""
    windows: int = 0
    """Number of windows that a round of a trace is cut into. The seed gives each round its own
    order. 0: every round is as recorded. Each request keeps its time since the previous request."""
    moves: int = 0
    """Number of times that a generator's addresses shift during the run, at even distances in
    requests. The phases between shifts lie evenly around the span, so the hot data lie elsewhere in
    each."""

    small: float = 0.0
    """Share of a generator's requests, 0 to below 1, that are replaced by writes of one page, each
    page as likely as any other. The generator's other requests keep their order."""
    made: Callable[[int], pl.DataFrame] | None = None
    """Makes the requests from a seed, with the columns of a trace. `spec` is their name."""

    @property
    def how(self) -> RunOptions:
        """Returns the options of the runs. Skipped requests are read, too."""
        limit = None if self.limit is None else self.skip + self.limit
        return RunOptions(repeat=self.repeat, limit=limit)

    def in_rounds(self, total_bytes: float, written_bytes: int, windows: int = WINDOWS) -> Played:
        """Returns the trace in as many rounds as writing `total_bytes` takes, at least two. One
        round writes `written_bytes`."""
        rounds = max(2, round(total_bytes / written_bytes))
        return replace(self, repeat=rounds, windows=windows)


@dataclass(frozen=True)
class Task:
    """One run: its requests, and the settings in which the drive differs from the device."""

    played: Played
    set: Mapping[str, str] = field(default_factory=dict)
    seed: int = 1


class Bench:
    """A device with everything that was read for it. `kept` has the results of earlier runs."""

    def __init__(self, device: str, progress: Progress | None, kept: Cache | None = None) -> None:
        self.device = device
        self.progress = progress
        self.kept = kept
        self._drives: dict[str, configs.Resolved] = {}
        self._sources: dict[tuple[Played, int], sources.Source] = {}
        self._files: dict[tuple[str, int | None, int], sources.Source] = {}
        self._loads: dict[tuple[Played, int], Load] = {}

    def run(self, tasks: Sequence[Task]) -> list[Result]:
        """Returns the results in the order of the tasks. Uses all cores."""
        planned = []
        for task in tasks:
            source = self._open(task.played, task.seed)
            settings = ", ".join(f"{key}={value}" for key, value in task.set.items())
            label, load = f"{source.name}, {settings}", self._load(task.played, task.seed)
            how = replace(source.how, seed=task.seed)
            planned.append(Job(label, self._drive(settings, task.set), load, how))
        return pool.run_all(planned, pool.cores(), self.progress, self.kept)

    def hotness(self, spec: str) -> Hotness:
        source = self._open(Played(spec))
        load = replace(source, how=replace(source.how, addresses="span"), loads={}).load(None)

        def measure() -> dict[str, Any]:
            return hotness_of(source, parse_options(), self.progress).to_dict()

        made_of = ("hotness", source.name, load.workload.digest, load.notes)
        return Hotness.from_dict(self.document(made_of, measure))

    def document(self, made_of: Sequence[object], make: Callable[[], Document]) -> Document:
        """Returns the result of `make`, or the earlier result for an equal `made_of`, which has all
        that the result depends on."""
        return self.kept.document(made_of, make) if self.kept else make()

    def footprint(self, played: Played) -> int:
        """Returns the number of pages of the device's map that the requests read or write."""
        untimed = {"mapping.scheme": "ideal", "timing": "none", "queue.arrivals": "closed"}
        return self.run([Task(played, untimed)])[0].workload.footprint_pages

    def span_bytes(self, played: Played) -> int:
        """Returns the bytes of the address space, without untouched pages of a trace."""
        load = self._load(played)
        return load.span_bytes or load.workload.span_bytes

    def written_bytes(self, played: Played) -> int:
        return int(self._writes(played)["length"].sum())

    def write_bytes(self, played: Played) -> float:
        return self.written_bytes(played) / self._writes(played).height

    def overwrites(self, played: Played) -> float:
        """Returns the mean number of writes to each written page of 4 KiB in a round of a trace."""
        writes = fold_pages(_trace_of(self._open(played)))[0].filter(op=WRITE)
        pages = writes.select(pl.int_ranges(*_ENDS).alias("page")).explode("page")["page"]
        return pages.len() / pages.n_unique()

    def write_ends(self, played: Played, writes: int) -> int:
        """Returns the largest number of different ends of writes (4 KiB pages: the first page, and
        the page behind the last) in a slice of `writes` writes. Slices do not overlap."""
        frame = lay_out(_trace_of(self._open(played)), "span").frame.filter(op=WRITE)
        slices = frame.select(pl.concat_list(*_ENDS).alias("end")).iter_slices(writes)
        return max((ends.explode("end")["end"].n_unique() for ends in slices), default=0)

    def _writes(self, played: Played) -> pl.DataFrame:
        return _trace_of(self._open(played)).frame.filter(op=WRITE)

    def _drive(self, settings: str, set: Mapping[str, str]) -> configs.Resolved:
        """Returns the device with these settings, resolved once for all its requests."""
        if settings not in self._drives:
            [self._drives[settings]] = configs.resolve_all(self.device, set, {})
        return self._drives[settings]

    def _load(self, played: Played, seed: int = 1) -> Load:
        source, key = self._open(played, seed), self._key(played, seed)
        if key not in self._loads:
            self._loads[key] = _laid_out(source, played, seed)
        return self._loads[key]

    def _open(self, played: Played, seed: int = 1) -> sources.Source:
        key = self._key(played, seed)
        if key not in self._sources:
            if self.progress is not None:
                self.progress("read", 0, 0)
            how = replace(played.how, seed=key[1])
            file = played.spec, played.limit, played.skip
            if played.made:
                made = _core.Workload.recorded(played.spec, played.made(key[1]), 1, 1.0)
                self._sources[key] = sources.Source(played.spec, how, made, None)
            elif file in self._files:
                self._sources[key] = replace(self._files[file], how=how, loads={})
            else:
                source = sources.open_source(played.spec, how)
                self._sources[key] = _later(source, played.skip) if played.skip else source
            if self._sources[key].workload is None:
                self._files[file] = self._sources[key]
        return self._sources[key]

    def _key(self, played: Played, seed: int) -> tuple[Played, int]:
        """Returns the cache key. A file is equal with every seed unless the seed orders its
        windows."""
        differs = played.windows or played.made or sources.is_generator(played.spec)
        return played, seed if differs else 1


_ENDS = (pl.col("offset") // PAGE, (pl.col("offset") + pl.col("length") - 1) // PAGE + 1)
"""First page of a request, and the page behind its last."""


def _trace_of(source: sources.Source) -> Trace:
    assert source.held is not None, "a generator has no recorded requests"
    return source.held


def _laid_out(source: sources.Source, played: Played, seed: int) -> Load:
    if played.moves:
        return _moving(source, played.moves)
    if played.small:
        return _with_small_writes(source, played.small, seed)
    if played.dense:
        return _dense(source, played, seed)
    return _in_windows(source, played, seed) if played.windows else source.load(None)


def _moving(source: sources.Source, moves: int) -> Load:
    """Returns a generator's requests with the addresses of each phase shifted further."""
    made, frame = _generated(source)
    step = made.span_bytes // (moves + 1) // PAGE * PAGE
    part = pl.int_range(pl.len(), dtype=pl.UInt64) * (moves + 1) // pl.len()
    moved = frame.with_columns(offset=(pl.col("offset") + part * step) % made.span_bytes)
    note = f"addresses: in {moves + 1} parts of the requests, each {step:,} bytes further on"
    workload = _core.Workload.recorded(source.name, moved, 1, 1.0)
    return Load(workload, made.span_bytes, [note], 0)


def _with_small_writes(source: sources.Source, share: float, seed: int) -> Load:
    """Returns a generator's requests with a share of writes of one page at random between them."""
    made, frame = _generated(source)
    rng, number = np.random.default_rng(seed), frame.height
    small = pl.Series("small", rng.permutation(number) < round(share * number))
    pages = pl.Series("page", rng.integers(0, made.span_bytes // PAGE, number, np.uint64))
    # The k-th of the other requests is the generator's k-th request.
    frame = frame[((~small).cum_sum().cast(pl.Int64) - 1).clip(0)]
    written: dict[str, Any] = {"op": pl.lit(WRITE), "offset": pages * PAGE, "length": pl.lit(PAGE)}
    mixed = frame.with_columns(
        pl.when(small).then(value).otherwise(name).cast(frame.schema[name]).alias(name)
        for name, value in written.items()
    )
    note = f"{share:.1%} of the requests are writes of {PAGE} bytes at random"
    workload = _core.Workload.recorded(source.name, mixed, 1, 1.0)
    return Load(workload, made.span_bytes, [note], 0)


def _generated(source: sources.Source) -> tuple[_core.Workload, pl.DataFrame]:
    made = source.workload
    assert made is not None, "a recording has all its requests"
    return made, pl.concat([pl.DataFrame(batch) for batch in made.batches(recorded.BATCH)])


def _in_windows(source: sources.Source, played: Played, seed: int) -> Load:
    """Returns a trace with its untouched pages, in rounds whose windows come in another order."""
    plain = source.load(None)
    frame = lay_out(_trace_of(source), source.how.addresses).frame
    workload, note = _in_rounds(source.name, frame, played, seed)
    return replace(plain, workload=workload, notes=[*plain.notes, *note])


def _later(source: sources.Source, skip: int) -> sources.Source:
    """Returns a trace from a later request on. Its time counts from that request."""
    trace = _trace_of(source)
    frame = trace.frame.slice(skip)
    frame = frame.with_columns(pl.col("at_ns") - pl.col("at_ns").first())
    notes = [*trace.notes, f"the first {skip:,} requests are left out"]
    return replace(source, trace=replace(trace, frame=frame, notes=notes), loads={})


def _dense(source: sources.Source, played: Played, seed: int) -> Load:
    """Returns a trace of reads and writes without the pages that it does not touch."""
    trace = _trace_of(source)
    frame, pages = fold_pages(trace)
    workload, note = _in_rounds(source.name, frame, played, seed)
    notes = ["addresses: pages of 4 KiB that are never touched are left out", *note]
    return Load(workload, pages * PAGE, notes, trace.unparsed_lines)


def _in_rounds(
    name: str, frame: pl.DataFrame, played: Played, seed: int
) -> tuple[_core.Workload, list[str]]:
    """Returns all rounds of a trace, with the notes about their windows."""
    if not played.windows:
        return _core.Workload.recorded(name, frame, played.repeat, 1.0), []
    rounds = shuffle_windows(frame, played.windows, played.repeat, seed)
    note = f"each round has its {played.windows} windows in another order"
    return _core.Workload.recorded(name, rounds, 1, 1.0), [note]


def shuffle_windows(frame: pl.DataFrame, windows: int, rounds: int, seed: int) -> pl.DataFrame:
    """Returns `rounds` rounds of a trace. Each round is cut into windows of equally many requests
    (the last window has the rest), in an order of its own, drawn from the seed."""
    size = -(-frame.height // windows)
    gaps = frame["at_ns"].diff().fill_null(0)
    parts = frame.with_columns(gaps.cast(pl.UInt64).alias("at_ns")).iter_slices(size)
    in_order, order = list(parts), Random(seed)
    played = [part for _ in range(rounds) for part in order.sample(in_order, len(in_order))]
    return pl.concat(played).with_columns(pl.col("at_ns").cum_sum())


def fold_pages(trace: Trace) -> tuple[pl.DataFrame, int]:
    """Returns the reads and writes of a trace without untouched pages, and the number of touched
    pages. Addresses keep their order, and each request stays in one piece."""
    frame = lay_out(trace, "span").frame.filter(pl.col("op") <= WRITE)
    ranges = frame.select(pl.int_ranges(*_ENDS, dtype=pl.UInt64).alias("page"))
    pages = ranges.explode("page")["page"].unique().sort()
    folded = pages.search_sorted(frame.select(_ENDS[0])["offset"]).cast(pl.UInt64)
    offset = folded * PAGE + frame["offset"] % PAGE
    return frame.with_columns(offset.alias("offset")), pages.len()
