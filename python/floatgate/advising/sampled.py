"""Steady write amplification from a sample of the pages, on a drive that is as much smaller.

A drive is a log. If one page in k is looked at and a unit holds a k-th of the pages, each unit of
the small drive is a sample of one of the large drive: same ages, same share of valid pages, same
victims. Where a page is written in a long request, its neighbours in the sample are, too. What a
smaller unit changes is seen from samples of two sizes, and taken off.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import polars as pl

from floatgate import configs, runner
from floatgate.intervals import mean_and_half_width
from floatgate.jobs import Progress
from floatgate.result import Result
from floatgate.run_options import RunOptions
from floatgate.traces import lay_out, read_trace
from floatgate.traces.model import TRIM, WRITE, Trace

PAGE = 4096

UNITS = 1024
"""Erase units of the drive's logical pages: data-centre drives have 900 to 2,700."""

UNIT_PAGES = 64
"""Pages of a unit at least, where a trace is so small that there are fewer units."""

UNITS_LEAST = 128
"""With fewer units the spare is a handful of them."""

SAMPLED_UNITS = (64, 128)
"""Pages of a unit in the samples: two sizes, to see what a small unit does to this workload."""

REGION = 256
"""Addresses are laid out in whole regions of so many pages."""

SAMPLES = (3, 5)
"""Samples of each size, from whose differences the interval is; the second number from one page in
`SPARSE` on, where a few hot pages more or less in a sample matter, and a sample costs little."""

SPARSE = 16

VOLUMES = 12
"""Volumes (drive capacities) that are written at least: the last third is measured."""

LOOPS = (3, 32)
"""Times that a trace is played: at least and at most."""

REWRITES = 2.0
"""Writes of a written page, on average, from which on a repeated trace says something."""

STEADY = 0.01
"""What the last third differs by from the one before it, as a share, in a steady state."""

COUNTED = {"timing": "none", "flash.page": "4KiB"}


@dataclass(frozen=True)
class Requests:
    """The writes and trims of a trace, in pages of one address space."""

    name: str
    frame: pl.DataFrame
    """`at_ns`, `op`, the pages from `first` to before `end`; of writes `device` and `length`;
    `stream` where there are placement handles."""
    pages: int
    """Logical pages that the trace spans."""
    page: int
    """Bytes of a page."""
    page_writes: int
    written_pages: int
    """Different pages that are written."""
    written_bytes: int

    @property
    def volumes(self) -> float:
        """Drive capacities that the trace writes."""
        return self.page_writes / self.pages

    @property
    def units(self) -> int:
        """Erase units that the logical pages are in."""
        return min(UNITS, self.pages // UNIT_PAGES)

    @property
    def unit_pages(self) -> int:
        """Pages of an erase unit of the whole drive."""
        return max(UNIT_PAGES, round(self.pages / UNITS))

    @property
    def every(self) -> int:
        """One page in so many is looked at, in the larger samples."""
        return self.every_of(SAMPLED_UNITS[1])

    def every_of(self, unit: int) -> int:
        """One page in so many, where a unit of the sample has so many pages."""
        return max(1, self.unit_pages // unit)

    @property
    def samples(self) -> int:
        """Samples of each size; one, of all pages, of a small trace."""
        return SAMPLES[self.every >= SPARSE] if self.every > 1 else 1

    @property
    def loops(self) -> int:
        """Times that the trace is played."""
        return max(LOOPS[0], math.ceil(VOLUMES / self.volumes))

    @property
    def missing(self) -> str | None:
        """Why nothing can be said of its steady state; None where something can."""
        if not self.page_writes:
            return "the trace has no writes"
        again = self.page_writes / self.written_pages
        if again < REWRITES:
            return (
                f"too short: it writes a page {again:.2f} times on average, and a steady state "
                f"takes overwrites ({REWRITES:g} or more)"
            )
        if self.volumes * LOOPS[1] < VOLUMES:
            return (
                f"too short: it writes {self.volumes:.3f} of what it spans, and would have to be "
                f"repeated {self.loops} times (at most {LOOPS[1]})"
            )
        if self.units < UNITS_LEAST:
            return (
                f"too small: it spans {self.pages:,} pages of {self.page >> 10} KiB, which are "
                f"{self.units} erase units of {UNIT_PAGES} pages (at least {UNITS_LEAST})"
            )
        return None


@dataclass(frozen=True)
class Steady:
    """A steady state: means over the samples."""

    spare_factor: float
    write_amplification: float
    half_width: float | None
    """Half the width of the 95 % interval: what samples differ by, and what the loops drift by.
    None where the whole trace was played, and nothing is known of what else it could have been."""
    drift: float
    """What the last third of the loops differs by from the one before, as a share."""
    samples: tuple[float, ...]

    @property
    def is_steady(self) -> bool:
        """Whether it has stopped changing."""
        return self.drift <= STEADY


def requests_of(trace: Trace, page: int = PAGE) -> Requests:
    """The writes and trims of a trace in pages, folded to what is touched."""
    played = lay_out(trace)
    devices = trace.frame.filter(pl.col("op") == WRITE)["device"]
    start, end = pl.col("offset"), pl.col("offset") + pl.col("length")
    inner = pl.col("op") == TRIM
    up, down = (start + page - 1) // page, end // page
    writes = played.frame.filter(pl.col("op") == WRITE).with_columns(device=devices)
    trims = played.frame.filter(inner).with_columns(device=pl.lit(None, pl.UInt32))
    frame = (
        pl.concat([writes, trims])
        .with_columns(
            first=pl.when(inner).then(up).otherwise(start // page).cast(pl.UInt64),
            end=pl.when(inner).then(down).otherwise((end + page - 1) // page).cast(pl.UInt64),
        )
        .filter(pl.col("end") > pl.col("first"))
        .sort("at_ns", maintain_order=True)
    )
    written = frame.filter(pl.col("op") == WRITE)
    return Requests(
        trace.name,
        frame,
        -(-played.span_bytes // page),
        page,
        int(written.select((pl.col("end") - pl.col("first")).sum()).item()),
        _union(written),
        int(written["length"].sum()),
    )


def _union(written: pl.DataFrame) -> int:
    """Different pages among those of the requests."""
    ordered = written.select("first", "end").sort("first")
    seen = pl.col("end").cum_max().shift(1, fill_value=0)
    new = pl.col("end").cast(pl.Int64) - pl.max_horizontal("first", seen).cast(pl.Int64)
    return int(ordered.select(new.clip(lower_bound=0).sum()).item())


def sample(whole: Requests, every: int, seed: int) -> Requests:
    """One page of each `every`, drawn anew in each such group: neighbours stay neighbours."""
    if every == 1:
        return whole

    def below(page: pl.Expr) -> pl.Expr:
        """Pages of the sample below a page."""
        group = page // every
        mixed = (group + seed * 0x9E3779B9 + 1) * 0x9E3779B97F4A7C15
        mixed = (mixed ^ (mixed // (1 << 32))) * 0xBF58476D1CE4E5B9
        drawn = (mixed // (1 << 33)) % every
        return (group + (page % every > drawn).cast(pl.UInt64)).cast(pl.UInt64)

    both = [pl.col(name).cast(pl.UInt64) for name in ("first", "end")]
    frame = whole.frame.with_columns(*(below(one).alias(one.meta.output_name()) for one in both))
    frame = frame.filter(pl.col("end") > pl.col("first"))
    pages = pl.DataFrame({"page": [whole.pages]}, schema={"page": pl.UInt64})
    written = frame.filter(pl.col("op") == WRITE)
    count = int(written.select((pl.col("end") - pl.col("first")).sum()).item())
    kept = int(pages.select(below(pl.col("page"))).item())
    return replace(whole, frame=frame, pages=kept, page_writes=count)


def drive_settings(whole: Requests, small: Requests, every: int, spare: float) -> dict[str, Any]:
    """The drive that a sample is played on: its units have as much less of the pages."""
    unit = max(1, round(whole.unit_pages / every))
    logical = -(-small.pages // REGION) * REGION
    blocks = round(logical / (1 - spare) / unit)
    return {
        **COUNTED,
        "flash.pages_per_block": unit,
        "flash.blocks": blocks,
        # Half a page more, so that no rounding loses the last one.
        "capacity.spare_factor": 1 - (logical + 0.5) / (blocks * unit),
    }


Arrange = Callable[[Requests], tuple[Requests, Mapping[str, Any]]]


def _as_it_is(small: Requests) -> tuple[Requests, Mapping[str, Any]]:
    return small, {}


def steady_states(
    whole: Requests,
    spare_factors: Sequence[float],
    policies: Sequence[Mapping[str, Any]] = ({},),
    *,
    arrange: Arrange | None = None,
    seed: int = 1,
    progress: Progress | None = None,
) -> list[Steady]:
    """For each spare factor, for each of the settings in `policies`, the steady state.

    The trace is played over and over; a sample's policies know what the sample shows them.
    `arrange` changes a sample before it is played, and says settings that belong to it.
    """
    drawn = range(seed, seed + whole.samples)
    asked = [(spare, policy) for spare in spare_factors for policy in policies]
    found: list[list[list[float]]] = [[] for _ in asked]
    for one in drawn:
        large = _played(whole, whole.every, asked, arrange, one, progress)
        if whole.every > 1:
            every = whole.every_of(SAMPLED_UNITS[0])
            small = _played(whole, every, asked, arrange, one, progress)
            large = [
                _extrapolated(whole.every, of_large, every, of_small)
                for of_large, of_small in zip(large, small, strict=True)
            ]
        for at, loops in enumerate(large):
            found[at].append(loops)
    return [_state(spare, runs) for (spare, _), runs in zip(asked, found, strict=True)]


def _played(
    whole: Requests,
    every: int,
    asked: Sequence[tuple[float, Mapping[str, Any]]],
    arrange: Arrange | None,
    seed: int,
    progress: Progress | None,
) -> list[list[float]]:
    """Write amplification of each loop of a sample, for each drive."""
    small, own = (arrange or _as_it_is)(sample(whole, every, seed))
    drives = [
        configs.resolve_all(
            "classic", {**drive_settings(whole, small, every, spare), **policy, **own}, {}
        )[0]
        for spare, policy in asked
    ]
    how = RunOptions(repeat=whole.loops, seed=seed, addresses="span")
    results = runner.simulate([_trace(small)], drives, [how], progress=progress)
    return [loops_of(result, whole.loops) for result in results]


def _extrapolated(
    large: int, of_large: Sequence[float], small: int, of_small: Sequence[float]
) -> list[float]:
    """What all pages would show: the line through both samples at one page in one.

    A small unit is by chance more often nearly empty, which greedy cleaning gains from: in
    proportion to 1 / pages of a unit (Desnoyers 2012), and how much depends on the workload.
    """
    step = (large - 1) / (small - large)
    return [one + (one - other) * step for one, other in zip(of_large, of_small, strict=True)]


def _trace(small: Requests) -> Trace:
    page = PAGE
    pages = pl.col("end") - pl.col("first")
    frame = small.frame.select(
        "at_ns",
        "op",
        pl.col("^stream$"),
        offset=pl.col("first") * page,
        length=pages * page,
    )
    return replace(read_trace(frame), name=small.name)


def loops_of(result: Result, loops: int) -> list[float]:
    """Write amplification of each time that the trace was played."""
    timeline = result.timeline
    ends = [0.0, *timeline["host_pages"]]
    programs = [0.0]
    for wa, begin, end in zip(timeline["write_amplification"], ends, ends[1:], strict=False):
        programs.append(programs[-1] + (wa or 0.0) * (end - begin))
    at = [_between(ends, programs, loop * ends[-1] / loops) for loop in range(loops + 1)]
    return [(after - before) * loops / ends[-1] for before, after in pairwise(at)]


def _between(ends: Sequence[float], programs: Sequence[float], page: float) -> float:
    """Programs until so many host pages were written."""
    for at in range(1, len(ends)):
        if page <= ends[at]:
            share = (page - ends[at - 1]) / (ends[at] - ends[at - 1])
            return programs[at - 1] + share * (programs[at] - programs[at - 1])
    return programs[-1]


def last_loops(loops: int) -> int:
    """The last third of so many loops, one at least: what is measured."""
    return max(1, loops // 3)


def thirds(loops: Sequence[float]) -> tuple[float, float]:
    """Means of the last third of the loops, and of as many before them."""
    many = last_loops(len(loops))
    last, before = loops[-many:], loops[-2 * many : -many]
    return sum(last) / many, sum(before) / many


def _state(spare_factor: float, runs: Sequence[Sequence[float]]) -> Steady:
    ends = [thirds(loops) for loops in runs]
    mean, half = mean_and_half_width([last for last, _ in ends])
    before, _ = mean_and_half_width([early for _, early in ends])
    assert mean is not None and before is not None
    drift = abs(mean - before)
    width = None if half is None else half + drift
    return Steady(spare_factor, mean, width, drift / mean, tuple(last for last, _ in ends))
