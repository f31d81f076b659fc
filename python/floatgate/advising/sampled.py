"""Steady write amplification from a sample of the pages, on a drive scaled down by the same factor.

A page-mapped drive is a log. If a sample keeps one page in k and a unit holds a k-th of the pages,
each unit of the small drive is a sample of a unit of the large drive: the same ages, the same share
of valid pages, the same victims. Pages written by one long request stay neighbours in the sample.
Smaller units do change the result. Samples of two sizes measure this effect, and it is subtracted
as far as it exceeds chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean
from typing import Any

import polars as pl

from floatgate.results.intervals import mean_and_half_width, t_quantile
from floatgate.results.marks import UNITS_FEW
from floatgate.results.result import Result
from floatgate.simulation import configs, runner
from floatgate.simulation.options import RunOptions
from floatgate.simulation.scaling import UNITS
from floatgate.simulation.watching import Progress
from floatgate.traces import lay_out, read_trace
from floatgate.traces.model import TRIM, WRITE, Trace

PAGE = 4096

UNIT_PAGES = 64
"""Minimum number of pages of a unit. A trace that is too small for them gets fewer units."""

SAMPLED_UNITS = (64, 128)
"""Pages of a unit in the samples: two sizes,
to measure the effect of small units on this workload.
"""

REGION = 256
"""Pages of a region; addresses are laid out in whole regions."""

SAMPLES = (3, 8)
"""Number of samples of each size; their differences give the interval. The second number applies if
a sample keeps at most one page in `SPARSE`: then a few hot pages more or less matter, and a sample
costs little.
"""

SPARSE = 16

VOLUMES = 12
"""Minimum number of volumes (drive capacities) to write; the last third is measured."""

MEASURED = 3
"""Minimum number of measured loops: victims differ between loops, so one loop gives no mean."""

LOOPS = (2 + MEASURED, 32)
"""Minimum and maximum number of times that a trace is played."""

REWRITES = 2.0
"""Minimum mean number of writes to a written page for which a repeated trace has a steady state."""

STEADY = 0.01
"""Largest relative difference between the measured and the previous loops in a steady state."""

COUNTED = {"timing": "none", "flash.page": "4KiB"}


@dataclass(frozen=True)
class Requests:
    """Writes and trims of a trace, in pages of one address space."""

    name: str
    frame: pl.DataFrame
    """`at_ns`, `op`, and the pages from `first` to before `end`. Writes also have `device` and
    `length`. With placement handles, there is a column `stream`.
    """
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
    def unwritten(self) -> float:
        """Share of the drive's pages that the trace never writes."""
        return 1 - self.written_pages / self.pages

    @property
    def rounded(self) -> float:
        """Bytes of the written pages per byte of the host. A page that is written in part is
        programmed as a whole.
        """
        return self.page_writes * self.page / self.written_bytes

    @property
    def units(self) -> int:
        """Erase units that hold the logical pages."""
        return min(UNITS, self.pages // UNIT_PAGES)

    @property
    def unit_pages(self) -> int:
        """Pages of an erase unit of the whole drive."""
        return max(UNIT_PAGES, round(self.pages / UNITS))

    @property
    def every(self) -> int:
        """The larger samples keep one of this many pages."""
        return self.every_of(SAMPLED_UNITS[1])

    def every_of(self, unit: int) -> int:
        """Returns the number of pages of which a sample keeps one,
        if its units have `unit` pages.
        """
        return max(1, self.unit_pages // unit)

    @property
    def samples(self) -> int:
        """Samples of each size; a small trace has one sample, with all pages."""
        return SAMPLES[self.every >= SPARSE] if self.every > 1 else 1

    @property
    def loops(self) -> int:
        """Times that the trace is played."""
        return max(LOOPS[0], math.ceil(VOLUMES / self.volumes))

    @property
    def missing(self) -> str | None:
        """Reason that the trace has no steady state; None if it has one."""
        if not self.page_writes:
            return "the trace has no writes"
        again = self.page_writes / self.written_pages
        if again < REWRITES:
            return (
                f"too short: it writes a page {again:.2f} times on average; a steady state needs "
                f"{REWRITES:g} times or more"
            )
        if self.volumes * LOOPS[1] < VOLUMES:
            return (
                f"too short: it writes {self.volumes:.3f} of its span; a steady state needs "
                f"{self.loops} repetitions, and {LOOPS[1]} are the limit"
            )
        if self.units < UNITS_FEW:
            return (
                f"too small: it spans {self.pages:,} pages of {self.page >> 10} KiB, which are "
                f"{self.units} erase units of {UNIT_PAGES} pages; it needs {UNITS_FEW} units"
            )
        return None


@dataclass(frozen=True)
class Steady:
    """A steady state: the mean over the measured loops, and over the samples."""

    spare_factor: float
    write_amplification: float
    """Bytes programmed per byte of the host."""
    half_width: float
    """Half the width of the 95 % interval. It adds the spread of the samples (or of the loops of a
    whole trace), the uncertainty about the effect of the unit size, and the drift between loops.
    """
    drift: float
    """Relative difference between the measured and the previous loops."""

    @property
    def is_steady(self) -> bool:
        """Whether write amplification has stopped changing."""
        return self.drift <= STEADY

    def of_bytes(self, rounded: float) -> Steady:
        """Returns the state in bytes: a sample counts whole pages, and `rounded`
        (`Requests.rounded`) converts them.
        """
        factor, half = self.write_amplification * rounded, self.half_width * rounded
        return replace(self, write_amplification=factor, half_width=half)


def requests_of(trace: Trace, page: int = PAGE) -> Requests:
    """Returns the writes and trims of a trace in pages, folded to the touched addresses."""
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
    """Returns the number of different pages in the requests."""
    ordered = written.select("first", "end").sort("first")
    seen = pl.col("end").cum_max().shift(1, fill_value=0)
    new = pl.col("end").cast(pl.Int64) - pl.max_horizontal("first", seen).cast(pl.Int64)
    return int(ordered.select(new.clip(lower_bound=0).sum()).item())


def sample(whole: Requests, every: int, seed: int) -> Requests:
    """Returns a sample with one random page of each group of `every` pages:
    neighbours stay neighbours.
    """
    if every == 1:
        return whole

    def below(page: pl.Expr) -> pl.Expr:
        """Returns the number of sampled pages below a page."""
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
    """Returns settings of the drive for a sample: its units have fewer pages by the same factor."""
    unit = max(1, round(whole.unit_pages / every))
    logical = -(-small.pages // REGION) * REGION
    blocks = round(logical / (1 - spare) / unit)
    return {
        **COUNTED,
        "flash.pages_per_block": unit,
        "flash.blocks": blocks,
        # Half a page more, so that rounding cannot lose the last page.
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
    """Returns the steady state for each spare factor and each of the settings in `policies`.

    The trace is played repeatedly. The policies see the sample only. `arrange` changes a sample
    before it is played, and returns settings that belong to it.
    """
    asked = [(spare, policy) for spare in spare_factors for policy in policies]
    found = _states(whole, asked, arrange, seed, progress)
    return [state.of_bytes(whole.rounded) for state in found]


Asked = Sequence[tuple[float, Mapping[str, Any]]]
"""Spare factors and policies."""


def _states(
    whole: Requests, asked: Asked, arrange: Arrange | None, seed: int, progress: Progress | None
) -> list[Steady]:
    """Returns steady states in pages programmed per page written."""
    spares = [spare for spare, _ in asked]

    def played(every: int) -> list[list[Ends]]:
        """Returns the `Ends` of each sample, for each drive."""
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
    """Returns the write amplification of each loop of a sample, for each drive."""
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
    """Returns the write amplification of each time that the trace was played."""
    timeline = result.timeline
    ends = [0.0, *timeline["host_bytes"]]
    programs = [0.0]
    for wa, begin, end in zip(timeline["write_amplification"], ends, ends[1:], strict=False):
        programs.append(programs[-1] + (wa or 0.0) * (end - begin))
    at = [_between(ends, programs, loop * ends[-1] / loops) for loop in range(loops + 1)]
    return [(after - before) * loops / ends[-1] for before, after in pairwise(at)]


def _between(ends: Sequence[float], programs: Sequence[float], page: float) -> float:
    """Returns the bytes programmed by the time at which the host had written `page` bytes."""
    for at in range(1, len(ends)):
        if page <= ends[at]:
            share = (page - ends[at - 1]) / (ends[at] - ends[at - 1])
            return programs[at - 1] + share * (programs[at] - programs[at - 1])
    return programs[-1]


def last_loops(loops: int) -> int:
    """Returns the number of loops that are measured: the last third, and at least `MEASURED`."""
    return max(MEASURED, loops // 3)


Ends = tuple[float, float]
"""Mean of the measured loops, and mean of the loops before them."""


def ends(loops: Sequence[float]) -> Ends:
    """Returns the mean of the measured loops, and of up to as many loops before them.

    The first loop is in neither mean: it begins with a drive that was filled in order.
    """
    many = last_loops(len(loops))
    last, before = loops[-many:], loops[max(1, len(loops) - 2 * many) : -many]
    return fmean(last), fmean(before)


def of_loops(spare_factor: float, loops: Sequence[float]) -> Steady:
    """Returns a steady state from all pages; each loop counts as a sample."""
    last, before = ends(loops)
    _, half = mean_and_half_width(loops[-last_loops(len(loops)) :])
    assert half is not None
    drift = abs(last - before)
    return Steady(spare_factor, last, half + drift, drift / last)


def of_samples(
    spare_factor: float, large: Sequence[Ends], small: Sequence[Ends], step: float
) -> Steady:
    """Returns a steady state from samples of two unit sizes, `large` and `small`.

    The extrapolation goes beyond the larger size by `step` times the difference of both. A small
    unit is more often nearly empty by chance, and greedy cleaning gains from this. The gain is
    proportional to 1 / pages of a unit (Desnoyers 2012), and its size depends on the workload. The
    line through both sizes estimates the gain, but multiplies the noise. The result therefore
    follows the line only as far as the gain stands out from the noise: fully if it is certain, and
    not at all if there is no gain or if it is less than its standard error. In the last case, the
    result is the mean of all samples.
    """
    share = _beyond_chance([one[0] - other[0] for one, other in zip(large, small, strict=True)])

    def towards(end: int, share: float) -> list[float]:
        """Returns for each pair of samples a value between their mean and the line."""
        pairs = [(one[end], other[end]) for one, other in zip(large, small, strict=True)]
        return [(a + b) / 2 + share * (0.5 + step) * (a - b) for a, b in pairs]

    mean, half = mean_and_half_width(towards(0, share))
    assert mean is not None and half is not None
    drift = abs(mean - fmean(towards(1, share)))
    # The law may not be linear. The interval therefore covers results with no correction and with a
    # full one.
    without, line = fmean(end for end, _ in large), fmean(towards(0, 1.0))
    doubt = max(abs(mean - without), abs(mean - line))
    return Steady(spare_factor, mean, half + doubt + drift, drift / mean)


def _beyond_chance(differences: Sequence[float]) -> float:
    """Returns the share, 0 to 1, of the mean difference (large less small) that is applied.

    For a true difference d with the standard error e, the share d² / (d² + e²) minimises the
    squared error. The estimate of d² is the squared mean less e². Small units only gain, so a mean
    of the other sign is noise, and the share is 0.
    """
    mean, half = mean_and_half_width(differences)
    assert mean is not None and half is not None
    error = half / t_quantile(len(differences) - 1)
    return 0.0 if mean <= error else 1 - (error / mean) ** 2
