"""Many runs at once, each with settings of its own; a trace is read once for all of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any

import polars as pl

from floatgate import _core
from floatgate.analysis.hotness import Hotness, hotness_of, parse_options
from floatgate.simulation import configs, pool, sources
from floatgate.simulation.identity import Job
from floatgate.simulation.options import RunOptions
from floatgate.traces import Trace, lay_out
from floatgate.traces.model import WRITE

if TYPE_CHECKING:
    from floatgate.api import Progress
    from floatgate.results.result import Result

    from .cache import Cache

PAGE = 4096


@dataclass(frozen=True)
class Played:
    """What is played: a trace by its path, or the text of a generator."""

    spec: str
    limit: int | None = None
    """Only the first so many requests, of those that are not skipped."""
    skip: int = 0
    """Of a trace, so many requests that come before the first that is played."""
    repeat: int = 1
    dense: bool = False
    """Of a trace's address space only the pages of 4 KiB that it touches, one after the other."""
    windows: int = 0
    """A round of a trace is cut into so many windows, which each repetition plays in another order,
    drawn from the seed; 0: every round is as recorded. Requests keep the time since the one before
    them, so that a round takes as long."""

    moves: int = 0
    """Of a generator, how often its addresses move on while it is played, at even numbers of
    requests: around the span in all, so that each time what was hot is somewhere else."""

    @property
    def how(self) -> RunOptions:
        """The options of its runs; what is skipped is read, too."""
        limit = None if self.limit is None else self.skip + self.limit
        return RunOptions(repeat=self.repeat, limit=limit)


@dataclass(frozen=True)
class Task:
    """One run: what is played, and how the drive differs from the device."""

    played: Played
    set: Mapping[str, str] = field(default_factory=dict)
    seed: int = 1


class Bench:
    """A device, and everything that was read for it; `kept` has results of earlier runs."""

    def __init__(self, device: str, progress: Progress | None, kept: Cache | None = None) -> None:
        self.device = device
        self.progress = progress
        self.kept = kept
        self._drives: dict[str, configs.Resolved] = {}
        self._sources: dict[tuple[Played, int], sources.Source] = {}
        self._files: dict[tuple[str, int | None, int], sources.Source] = {}
        self._loads: dict[tuple[Played, int], sources.Load] = {}

    def run(self, tasks: Sequence[Task]) -> list[Result]:
        """The results, in the order of the tasks; on all cores."""
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
        return Hotness.from_dict(self.kept.document(made_of, measure) if self.kept else measure())

    def footprint(self, played: Played) -> int:
        """Pages of the device's map that are read or written."""
        untimed = {"mapping.scheme": "ideal", "timing": "none", "queue.arrivals": "closed"}
        return self.run([Task(played, untimed)])[0].workload.footprint_pages

    def access_pattern(self, played: Played, limit: int) -> dict[str, Any]:
        """The order in which the first `limit` requests change map entries, behind SHRD or not."""
        config = configs.resolve(self.device, {})
        load = self._load(played)
        found: dict[str, Any] = json.loads(
            _core.access_pattern(config, load.workload, span_bytes=load.span_bytes, limit=limit)
        )
        return found

    def span_bytes(self, played: Played) -> int:
        """The address space, less what is never touched of a trace."""
        load = self._load(played)
        return load.span_bytes or load.workload.span_bytes

    def written_bytes(self, played: Played) -> int:
        trace = self._open(played).held
        assert trace is not None, "a generator says itself how much it writes"
        return int(trace.frame.filter(op=WRITE)["length"].sum())

    def write_bytes(self, played: Played) -> float:
        trace = self._open(played).held
        assert trace is not None, "a generator says itself how much it writes"
        return self.written_bytes(played) / trace.frame.filter(op=WRITE).height

    def overwrites(self, played: Played) -> float:
        """How often a trace writes a page of 4 KiB that it writes at all, on average in a round."""
        trace = self._open(played).held
        assert trace is not None, "a generator says itself how often it writes a page"
        writes = fold_pages(trace)[0].filter(op=WRITE)
        first, end = pl.col("offset") // PAGE, (pl.col("offset") + pl.col("length") - 1) // PAGE + 1
        pages = writes.select(pl.int_ranges(first, end).alias("page")).explode("page")["page"]
        return pages.len() / pages.n_unique()

    def write_ends(self, played: Played, writes: int) -> int:
        """The most different ends, in pages of 4 KiB, that so many of a trace's writes have, one
        after another: where a write begins, and where what is behind it does."""
        trace = self._open(played).held
        assert trace is not None, "a generator says itself where its writes end"
        frame = lay_out(trace, "span").frame.filter(op=WRITE)
        ends = frame.select(
            pl.concat_list(
                pl.col("offset") // PAGE, (pl.col("offset") + pl.col("length") - 1) // PAGE + 1
            ).alias("end")
        )
        parts = ends.iter_slices(writes)
        return max((part.explode("end")["end"].n_unique() for part in parts), default=0)

    def _drive(self, settings: str, set: Mapping[str, str]) -> configs.Resolved:
        """The device so set, resolved once for all that is played on it."""
        if settings not in self._drives:
            [self._drives[settings]] = configs.resolve_all(self.device, set, {})
        return self._drives[settings]

    def _load(self, played: Played, seed: int = 1) -> sources.Load:
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
            if file in self._files:
                self._sources[key] = replace(self._files[file], how=how, loads={})
            else:
                source = sources.open_source(played.spec, how)
                self._sources[key] = _later(source, played.skip) if played.skip else source
            if self._sources[key].workload is None:
                self._files[file] = self._sources[key]
        return self._sources[key]

    def _key(self, played: Played, seed: int) -> tuple[Played, int]:
        """A file is the same with every seed, unless its windows are in an order of the seed."""
        return played, seed if played.windows or sources.is_generator(played.spec) else 1


def _laid_out(source: sources.Source, played: Played, seed: int) -> sources.Load:
    if played.moves:
        return _moving(source, played.moves)
    if played.dense:
        return _dense(source, played, seed)
    return _in_windows(source, played, seed) if played.windows else source.load(None)


def _moving(source: sources.Source, moves: int) -> sources.Load:
    """What a generator makes, with all addresses further on in each part of it."""
    made = source.workload
    assert made is not None, "a recording says itself what moves"
    frame = pl.concat([pl.DataFrame(batch) for batch in made.batches(sources.BATCH)])
    step = made.span_bytes // (moves + 1) // PAGE * PAGE
    part = pl.int_range(pl.len(), dtype=pl.UInt64) * (moves + 1) // pl.len()
    moved = frame.with_columns(offset=(pl.col("offset") + part * step) % made.span_bytes)
    note = f"addresses: in {moves + 1} parts of the requests, each {step:,} bytes further on"
    workload = _core.Workload.recorded(source.name, moved, 1, 1.0)
    return sources.Load(workload, made.span_bytes, [note], 0)


def _in_windows(source: sources.Source, played: Played, seed: int) -> sources.Load:
    """A trace with the pages that it does not touch, in rounds with windows in another order."""
    trace, plain = source.held, source.load(None)
    assert trace is not None, "a generator has no rounds"
    frame = lay_out(trace, source.how.addresses).frame
    workload, note = _in_rounds(source.name, frame, played, seed)
    return replace(plain, workload=workload, notes=[*plain.notes, *note])


def _later(source: sources.Source, skip: int) -> sources.Source:
    """A trace from a later request on, whose time then counts from there."""
    trace = source.held
    assert trace is not None, "a generator says itself where it begins"
    frame = trace.frame.slice(skip)
    frame = frame.with_columns(pl.col("at_ns") - pl.col("at_ns").first())
    notes = [*trace.notes, f"the first {skip:,} requests are left out"]
    return replace(source, trace=replace(trace, frame=frame, notes=notes), loads={})


def _dense(source: sources.Source, played: Played, seed: int) -> sources.Load:
    """A trace of reads and writes without the pages that it does not touch."""
    trace = source.held
    assert trace is not None, "a generator says itself where its requests go"
    frame, pages = fold_pages(trace)
    workload, note = _in_rounds(source.name, frame, played, seed)
    notes = ["addresses: pages of 4 KiB that are never touched are left out", *note]
    return sources.Load(workload, pages * PAGE, notes, trace.unparsed_lines)


def _in_rounds(
    name: str, frame: pl.DataFrame, played: Played, seed: int
) -> tuple[_core.Workload, list[str]]:
    """All rounds of a trace, with what is to be said of their windows."""
    if not played.windows:
        return _core.Workload.recorded(name, frame, played.repeat, 1.0), []
    rounds = shuffle_windows(frame, played.windows, played.repeat, seed)
    note = f"each round has its {played.windows} windows in another order"
    return _core.Workload.recorded(name, rounds, 1, 1.0), [note]


def shuffle_windows(frame: pl.DataFrame, windows: int, rounds: int, seed: int) -> pl.DataFrame:
    """So many rounds of a trace one after the other, each cut into windows of as many requests (the
    last has the rest), which are in an order of their own. The seed says in which."""
    size = -(-frame.height // windows)
    gaps = frame["at_ns"].diff().fill_null(0)
    parts = frame.with_columns(gaps.cast(pl.UInt64).alias("at_ns")).iter_slices(size)
    known, order = list(parts), Random(seed)
    played = [part for _ in range(rounds) for part in order.sample(known, len(known))]
    return pl.concat(played).with_columns(pl.col("at_ns").cum_sum())


def fold_pages(trace: Trace) -> tuple[pl.DataFrame, int]:
    """The trace's reads and writes on the pages that they touch, and how many pages these are.

    Addresses keep their order, and each request stays in one piece.
    """
    frame = lay_out(trace, "span").frame.filter(pl.col("op") <= WRITE)
    first, end = pl.col("offset") // PAGE, (pl.col("offset") + pl.col("length") - 1) // PAGE + 1
    ranges = frame.select(pl.int_ranges(first, end, dtype=pl.UInt64).alias("page"))
    pages = ranges.explode("page")["page"].unique().sort()
    place = pages.search_sorted(frame.select(first)["offset"]).cast(pl.UInt64)
    offset = place * PAGE + frame["offset"] % PAGE
    return frame.with_columns(offset.alias("offset")), pages.len()
