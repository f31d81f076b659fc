"""Steady write amplification from a sample of the pages, on a drive that is as much smaller.

A drive is a log. If one page in k is looked at and a unit holds a k-th of the pages, each unit of
the small drive is a sample of one of the large drive: same ages, same share of valid pages, same
victims. Where a page is written in a long request, its neighbours in the sample are, too. What a
smaller unit changes is seen from samples of two sizes, and taken off as far as it is more than
chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean
from typing import Any

import polars as pl

from floatgate import configs, runner
from floatgate.intervals import mean_and_half_width, t_quantile
from floatgate.jobs import Progress
from floatgate.result import Result
from floatgate.run_options import RunOptions
from floatgate.scaling import UNITS, UNITS_FEW
from floatgate.traces import lay_out, read_trace
from floatgate.traces.model import TRIM, WRITE, Trace

PAGE = 4096

UNIT_PAGES = 64
"""Pages of a unit at least, where a trace is so small that there are fewer units."""

SAMPLED_UNITS = (64, 128)
"""Pages of a unit in the samples: two sizes, to see what a small unit does to this workload."""

REGION = 256
"""Addresses are laid out in whole regions of so many pages."""

SAMPLES = (3, 8)
"""Samples of each size, from whose differences the interval is; the second number from one page in
`SPARSE` on, where a few hot pages more or less in a sample matter, and a sample costs little."""

SPARSE = 16

VOLUMES = 12
"""Volumes (drive capacities) that are written at least: the last third is measured."""

MEASURED = 3
"""Loops that are measured at least: victims differ from one to the next, and one is no mean."""

LOOPS = (2 + MEASURED, 32)
"""Times that a trace is played: at least and at most."""

REWRITES = 2.0
"""Writes of a written page, on average, from which on a repeated trace says something."""

STEADY = 0.01
"""What the measured loops differ by from those before, as a share, in a steady state."""

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
    def rounded(self) -> float:
        """Bytes of the pages written per byte of the host: a page that is written in part is
        programmed in whole."""
        return self.page_writes * self.page / self.written_bytes

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
        if self.units < UNITS_FEW:
            return (
                f"too small: it spans {self.pages:,} pages of {self.page >> 10} KiB, which are "
                f"{self.units} erase units of {UNIT_PAGES} pages (at least {UNITS_FEW})"
            )
        return None


@dataclass(frozen=True)
class Steady:
    """A steady state: the mean over the loops that are measured, and over the samples."""

    spare_factor: float
    write_amplification: float
    """Bytes programmed per byte of the host."""
    half_width: float
    """Half the width of the 95 % interval: what samples differ by (of the whole trace, what its
    loops do), what the effect of a unit's size may be off by, and what the loops drift by."""
    drift: float
    """What the measured loops differ by from those before, as a share."""

    @property
    def is_steady(self) -> bool:
        """Whether it has stopped changing."""
        return self.drift <= STEADY

    def of_bytes(self, rounded: float) -> Steady:
        """The state of a trace of which a sample has pages only: `Requests.rounded`."""
        factor, half = self.write_amplification * rounded, self.half_width * rounded
        return replace(self, write_amplification=factor, half_width=half)


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
    asked = [(spare, policy) for spare in spare_factors for policy in policies]
    found = _states(whole, asked, arrange, seed, progress)
    return [state.of_bytes(whole.rounded) for state in found]


Asked = Sequence[tuple[float, Mapping[str, Any]]]
"""Spare factors and policies."""


def _states(
    whole: Requests, asked: Asked, arrange: Arrange | None, seed: int, progress: Progress | None
) -> list[Steady]:
    """Steady states in pages programmed per page written."""
    spares = [spare for spare, _ in asked]

    def played(every: int) -> list[list[Ends]]:
        """For each drive, the ends of each sample."""
        drawn = range(seed, seed + whole.samples)
        runs = [_played(whole, every, asked, arrange, one, progress) for one in drawn]
        return [[ends(loops) for loops in of_drive] for of_drive in zip(*runs, strict=True)]

    if whole.every == 1:
        runs = _played(whole, 1, asked, arrange, seed, progress)
        return [of_loops(spare, loops) for spare, loops in zip(spares, runs, strict=True)]
    few = whole.every_of(SAMPLED_UNITS[0])
    step = (whole.every - 1) / (few - whole.every)
    sizes = zip(spares, played(whole.every), played(few), strict=True)
    return [of_samples(spare, large, small, step) for spare, large, small in sizes]


def _played(
    whole: Requests,
    every: int,
    asked: Asked,
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
    ends = [0.0, *timeline["host_bytes"]]
    programs = [0.0]
    for wa, begin, end in zip(timeline["write_amplification"], ends, ends[1:], strict=False):
        programs.append(programs[-1] + (wa or 0.0) * (end - begin))
    at = [_between(ends, programs, loop * ends[-1] / loops) for loop in range(loops + 1)]
    return [(after - before) * loops / ends[-1] for before, after in pairwise(at)]


def _between(ends: Sequence[float], programs: Sequence[float], page: float) -> float:
    """Bytes programmed until the host had written so many bytes."""
    for at in range(1, len(ends)):
        if page <= ends[at]:
            share = (page - ends[at - 1]) / (ends[at] - ends[at - 1])
            return programs[at - 1] + share * (programs[at] - programs[at - 1])
    return programs[-1]


def last_loops(loops: int) -> int:
    """How many of so many loops are measured: the last third, and `MEASURED` at least."""
    return max(MEASURED, loops // 3)


Ends = tuple[float, float]
"""Means of the loops that are measured, and of those before them."""


def ends(loops: Sequence[float]) -> Ends:
    """Means of the loops that are measured, and of up to as many before.

    The first is in neither: it begins with a drive that was filled in order.
    """
    many = last_loops(len(loops))
    last, before = loops[-many:], loops[max(1, len(loops) - 2 * many) : -many]
    return fmean(last), fmean(before)


def of_loops(spare_factor: float, loops: Sequence[float]) -> Steady:
    """A steady state from all pages: its loops differ as if each were a sample."""
    last, before = ends(loops)
    _, half = mean_and_half_width(loops[-last_loops(len(loops)) :])
    assert half is not None
    drift = abs(last - before)
    return Steady(spare_factor, last, half + drift, drift / last)


def of_samples(
    spare_factor: float, large: Sequence[Ends], small: Sequence[Ends], step: float
) -> Steady:
    """A steady state from samples of two sizes, with `step` times their difference to go.

    A small unit is by chance more often nearly empty, which greedy cleaning gains from: in
    proportion to 1 / pages of a unit (Desnoyers 2012), and how much depends on the workload. The
    line through both sizes tells, and multiplies their noise. So it is followed as far as the
    gain stands out: in full where that is sure, and not at all, which leaves the mean of all
    samples, where there is none or it is less than its standard error.
    """
    share = _beyond_chance([one[0] - other[0] for one, other in zip(large, small, strict=True)])

    def towards(end: int, share: float) -> list[float]:
        """For each pair of samples, the way from their mean to the line."""
        pairs = [(one[end], other[end]) for one, other in zip(large, small, strict=True)]
        return [(a + b) / 2 + share * (0.5 + step) * (a - b) for a, b in pairs]

    mean, half = mean_and_half_width(towards(0, share))
    assert mean is not None and half is not None
    drift = abs(mean - fmean(towards(1, share)))
    # That the law is a line is taken on trust: both without any of it and with all it is doubted.
    without, line = fmean(end for end, _ in large), fmean(towards(0, 1.0))
    doubt = max(abs(mean - without), abs(mean - line))
    return Steady(spare_factor, mean, half + doubt + drift, drift / mean)


def _beyond_chance(differences: Sequence[float]) -> float:
    """The share of their mean, large less small, to go by: 0 to 1.

    Of a true difference d, known with the standard error e, the share d² / (d² + e²) leaves the
    least square of the error; d² is what the square of the mean is more than e². Small units only
    gain: where they cost more, that is not what the line is about.
    """
    mean, half = mean_and_half_width(differences)
    assert mean is not None and half is not None
    error = half / t_quantile(len(differences) - 1)
    return 0.0 if mean <= error else 1 - (error / mean) ** 2
