"""`identify`: the parameters of a drive from the results of the recipe."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from . import caches, programs, reading, refining, writing
from .device import Parameters
from .estimate import Estimate, known, unknown
from .reading import COUNTS
from .recipe import BLOCK, LARGE, MIB, zone_sizes
from .recorded import Recording, read_recording
from .times import ReadTimes, read_times, requests_per_second

Progress = Callable[[str, int, int], None]
STEPS = 4


class Shape(NamedTuple):
    """The pages of a program of a die."""

    page: int
    """Bytes of a flash page."""
    planes: int
    program_pages: int
    """Flash pages of a plane that are programmed at once."""
    planes_first: bool = False
    """Whether consecutive data goes over the planes of a die before it goes over channels. It
    matters if pages of 4 KiB are programmed one by one; otherwise a row is on one die anyway."""

    @property
    def row(self) -> int:
        """Bytes of a program."""
        return self.page * self.planes * self.program_pages


PAGES = (4, 8, 16, 32)
"""Tried flash pages in KiB."""
SHAPES = (
    *(Shape(page << 10, planes, n) for page in PAGES for planes in (1, 2, 4) for n in (1, 3)),
    *(Shape(BLOCK, planes, 1, planes_first=True) for planes in (2, 4)),
)
SHAPE_ERROR_MOST = 0.1
"""Largest error of large reads, as rms of ln(simulated / measured), of a shape that explains them.
The right shapes of 16 random drives had 0.002 to 0.06."""
TRANSFERS = (0.0, 3_000.0, 10_000.0)
"""Tried transfers of 4 KiB in nanoseconds, from which the number of dies follows."""
CHANNELS = (1, 2, 4, 8, 16)
ROW_TOLERANCE = 0.2
"""Largest relative difference of a row from speed x program / dies."""
COUNT_TOLERANCE = 0.12
"""A number of dies that is this close to a usual one is taken to be that one."""
DIES_USUAL, READ_USUAL, MEMORY_ROWS = 16, 50_000.0, 4
SPARE_START, UNITS_START = 0.15, 128
SMOOTH, SMOOTH_JOB = 0.7, "zone-1b"
"""Least ratio of median to mean of saturated writes on a drive that paces its cleaning. The job
overwrites zones that are small enough to show a wait for a whole unit."""
UNITS_MOST = 4
"""Largest unit of the search, in largest zones."""
EDGE = 1.1
"""A best unit this close to an end of the search is not found."""
UNIT_RATIO = 1.3
"""Ratio of two units in the rough search."""
DIES_FACTOR_MOST = 1.25
"""Largest ratio of a number of dies and an end of its interval that counts as known."""
UNIT_HALF_MOST, SPARE_HALF_MOST = 0.1, 0.01
"""Largest half of an interval that counts as known, relative for the unit."""
FLAT = 1.3
"""Least ratio of the worst to the best error of a search that finds a unit."""


@dataclass(frozen=True)
class Identified:
    """A drive's parameters: the estimates, and the drive that they describe."""

    directory: Path
    size: int
    """Bytes that the host can address."""
    estimates: tuple[Estimate, ...]
    drive: Parameters
    assumed: tuple[str, ...]
    """Values of the drive that the jobs do not determine."""

    def named(self, name: str) -> Estimate:
        """Returns the estimate of a parameter."""
        return next(one for one in self.estimates if one.name == name)


def identify(
    directory: str | Path, *, seed: int = 1, progress: Progress | None = None
) -> Identified:
    """Estimates the parameters of a drive from fio's results of the recipe, in a directory.

    Raises ConfigError for a directory without the results of the whole recipe.
    """
    jobs = read_recording(Path(directory))
    return _Identification(jobs, Path(directory), seed, progress).run()


def usual_dies(value: float) -> int:
    """Returns the usual number of dies that is near, or else the nearest whole number."""
    nearest = min(COUNTS, key=lambda count: abs(math.log(count / value)))
    return nearest if abs(nearest / value - 1) < COUNT_TOLERANCE else max(1, round(value))


class _Identification:
    """Estimates in the order in which they need each other."""

    def __init__(
        self, jobs: Recording, directory: Path, seed: int, progress: Progress | None
    ) -> None:
        self.jobs, self.directory, self.seed = jobs, directory, seed
        self.estimates: list[Estimate] = []
        self.assumed: list[str] = ["time of an erase", "greedy cleaning", "pages of 4 to 32 KiB"]
        self._progress, self._done = progress, 0

    def run(self) -> Identified:
        """Returns all estimates."""
        jobs = self.jobs
        times = read_times(jobs)
        speed = programs.write_speed(jobs)
        buffer = caches.write_buffer(jobs, self._is_smooth())
        reach = caches.map_reach(jobs)
        self._step("dies and flash page")
        # Dies with a cache register, and only they, read during transfers. Their time is not known
        # yet.
        ways = list[_Way]()
        for transfer in TRANSFERS:
            count = reading.dies(jobs, times, self.seed, transfer)
            registers = (True,) if transfer else (True, False)
            ways.append(_Way(count, self._shaped(times, count, speed, buffer, registers)))
        ways.sort(key=lambda way: way.error)
        alike, why = _alike(ways), _why_no_shape(ways[0].error)
        program = programs.of_drives(programs.program_time(jobs, times, ways[0].dies), alike)
        counts = _counts(ways, math.inf if why else reading.alike(ways[0].error))
        self.estimates += [times.way, times.read, counts, speed, buffer, reach]
        self._tell_shape(alike, why)
        drive = replace(alike[0], map_reach=round(reach.number) if reach.is_known else None)
        if not program.is_known:
            self.assumed.append("time of a program and bytes of a row; their ratio is known")
        self.estimates.append(program)
        drive = self._overwrites(drive, why)
        estimates, assumed = tuple(self.estimates), tuple(self.assumed)
        return Identified(self.directory, self.jobs.size, estimates, drive, assumed)

    def _step(self, what: str) -> None:
        if self._progress is not None:
            self._progress(what, self._done, STEPS)
        self._done += 1

    def _candidate(
        self,
        times: ReadTimes,
        shape: Shape,
        dies: Estimate,
        speed: Estimate,
        program: Estimate,
    ) -> Parameters:
        """Returns a drive with this page, these planes and pages of a program."""
        count = usual_dies(dies.value or DIES_USUAL)
        row = shape.row
        return Parameters(
            size=self.jobs.size,
            spare=SPARE_START,
            rows=max(1, round(self.jobs.size / UNITS_START / (row * count))),
            dies=count,
            page=shape.page,
            planes=shape.planes,
            program_pages=shape.program_pages,
            planes_first=shape.planes_first,
            channels=1,
            register=True,
            read=times.read.value or READ_USUAL,
            transfer=0.0,
            program=row * count / speed.number * 1e9,
            way=times.way.value or 0.0,
            command=1e9 / requests_per_second(self.jobs),
            link=times.link,
            write_memory=MEMORY_ROWS * row * count,
            protected=program.jobs != "flush",
            yields=not program.is_known,
            paced=self._is_smooth(),
            map_reach=None,
        )

    def _is_smooth(self) -> bool:
        """Returns whether saturated writes all wait about as long, and not few very long."""
        times = self.jobs.writes(SMOOTH_JOB)
        return times.quantile(0.5) > SMOOTH * times.mean_ns

    def _shaped(
        self,
        times: ReadTimes,
        dies: Estimate,
        speed: Estimate,
        buffer: Estimate,
        registers: Sequence[bool],
    ) -> list[reading.Shaped]:
        """Returns drives with their errors of large reads, the best flash page, channels and
        register first.
        """
        program = programs.program_time(self.jobs, times, dies)
        ways = [
            _with_channels(drive, channels)
            for shape in _shapes(dies, speed, program)
            for candidate in [self._candidate(times, shape, dies, speed, program)]
            for register in registers
            for drive in self._with_transfers(candidate, register, buffer)
            for channels in CHANNELS
            if drive.dies % channels == 0
        ]
        likely = [one for one in ways if one.transfer < reading.TRANSFER_LIKELY] or ways
        trials = [reading.shaped(self.jobs, one, program, self.seed) for one in likely]
        return sorted(trials, key=lambda one: one.error)

    def _with_transfers(
        self, drive: Parameters, register: bool, buffer: Estimate
    ) -> list[Parameters]:
        drive = _with_buffer(replace(drive, register=register), buffer)
        return reading.with_transfers(self.jobs, drive, self.seed)

    def _tell_shape(self, alike: Sequence[Parameters], why: str) -> None:
        """Adds flash page, transfer and channels, if the drives that agree have one value.

        `why` is the reason why no drive agrees, if none does.
        """
        used = "large-*"
        if why:
            names = {"flash page": "B", "transfer": "ns", "channels": ""}
            self.estimates += [unknown(name, unit, used, why) for name, unit in names.items()]
            return
        self._tell("flash page", "B", used, [one.page for one in alike])
        transfer = _transfer(alike, used)
        self.estimates.append(transfer)
        if transfer.is_known:
            self._tell("channels", "", used, [one.channels for one in alike])
        else:
            why = "how many explain the reads depends on the transfer"
            self.estimates.append(unknown("channels", "", used, why))

    def _tell(self, name: str, unit: str, used: str, values: Sequence[int]) -> None:
        """Adds a parameter if all drives that explain the jobs have one value of it."""
        different = sorted({*values})
        if len(different) > 1:
            texts = " and ".join(f"{value:,}" for value in different)
            self.estimates.append(unknown(name, unit, used, f"{texts} explain it equally well"))
        else:
            self.estimates.append(known(name, unit, different, used))

    def _overwrites(self, drive: Parameters, why_no_shape: str) -> Parameters:
        """Adds spare and cleaning unit, and returns the drive with them."""
        target, size = writing.measured(self.jobs), self.jobs.made_for
        used = "random-*, zone-*"
        slow = [name for name in writing.RANDOM if target.slow[name] > 1 + writing.SHOWS]
        if why_no_shape:
            self._tell_no_overwrites(
                f"the simulated drive needs the flash page, and {why_no_shape}"
            )
            return drive
        if not slow:
            self._tell_no_overwrites("random writes are not slower than writes in order")
            return drive
        if drive.map_reach:
            self._tell_no_overwrites("writes also read and write map pages, as the map is cached")
            return drive
        if not drive.paced:
            self._tell_no_overwrites(
                "writes wait for the cleaning of whole units, and how long depends on spare, unit "
                "and write buffer together"
            )
            return drive
        self._step("spare")
        drive = writing.first_spare(drive, target, size, self.seed).drive
        self._step("cleaning unit")
        drive, why = self._first_unit(drive, target)
        self._step("both")
        found = refining.refine(drive, target, size, self.seed)
        spare, unit = found.spare, found.unit
        if not why and unit.half > UNIT_HALF_MOST:
            why = f"overwrites fit {_within(unit.value / MIB, 100 * unit.half, 'MiB', ' %')}"
        name = "cleaning unit"
        self.estimates.append(
            unknown(name, "B", used, why) if why else unit.estimate(name, "B", used)
        )
        name, why = "spare factor", f"overwrites fit {_within(spare.value, spare.half)}"
        is_close = spare.half <= SPARE_HALF_MOST
        self.estimates.append(
            spare.estimate(name, "", used) if is_close else unknown(name, "", used, why)
        )
        return replace(drive, spare=spare.value, rows=_rows(drive, unit.value))

    def _tell_no_overwrites(self, why: str) -> None:
        self.estimates.append(unknown("cleaning unit", "B", "zone-*", why))
        self.estimates.append(unknown("spare factor", "", "random-*", why))

    def _first_unit(self, drive: Parameters, target: writing.Speeds) -> tuple[Parameters, str]:
        """Returns the drive with the best unit of a rough search, or why that is no estimate."""
        zones, size = zone_sizes(self.jobs.made_for), self.jobs.made_for
        spare_bytes = size * drive.spare / (1 - drive.spare)
        largest = min(zones[-1] * UNITS_MOST, round(spare_bytes / writing.SPARE_UNITS))
        units = _geometric(zones[0], largest, UNIT_RATIO)
        trials = writing.scan_units(drive, target, size, units, self.seed)
        best = min(trials, key=lambda one: one.error)
        drive = best.drive
        shown = f"the zones of {zones[0] >> 20} to {zones[-1] >> 20} MiB show"
        if best.unit <= trials[0].unit * EDGE:
            return drive, f"smaller than {shown}"
        if best.unit >= trials[-1].unit / EDGE:
            return drive, f"larger than {shown}"
        if max(one.error for one in trials) < FLAT * best.error:
            return drive, "all units explain the zones alike"
        return drive, ""


class _Way(NamedTuple):
    """A number of dies, and the drives with it, the best first."""

    dies: Estimate
    trials: list[reading.Shaped]

    @property
    def error(self) -> float:
        """Error of the best drive."""
        return self.trials[0].error


def _alike(ways: Sequence[_Way]) -> list[Parameters]:
    """Returns the drives that explain large reads about as well as the best one, which is first."""
    trials = sorted((one for way in ways for one in way.trials), key=lambda one: one.error)
    return [one.drive for one in trials if one.error < reading.alike(trials[0].error)]


def _why_no_shape(error: float) -> str:
    """Returns why no flash page explains large reads whose least error this is, or nothing."""
    if error <= SHAPE_ERROR_MOST:
        return ""
    pages = f"{PAGES[0]} to {PAGES[-1]} KiB"
    return f"no tried page of {pages} explains large reads: the best is {100 * error:.0f} % off"


def _counts(ways: Sequence[_Way], error: float) -> Estimate:
    """Returns the dies of the best drive, with an interval of all drives with less than `error`."""
    best = ways[0].dies
    near = [way.dies for way in ways if way.error < error and way.dies.is_known]
    if not best.is_known:
        return best
    ends = [_ends(count) for count in near]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    if max(best.number / low, high / best.number) > DIES_FACTOR_MOST:
        return unknown("dies", "", best.jobs, f"{low:.3g} to {high:.3g} explain the reads")
    return replace(best, low=low, high=high)


def _transfer(alike: Sequence[Parameters], used: str) -> Estimate:
    """Returns the transfer of the drives that agree with large reads."""
    if any(reading.hides_transfer(one) for one in alike):
        why = "large reads may hide it: with a cache register, or with pages of 4 KiB"
        return unknown("transfer", "ns", used, why)
    transfers = [one.transfer for one in alike]
    if max(transfers) > 2 * min(transfers) + reading.TRANSFER_NOISE:
        why = "it depends on the flash page; the time of a read includes it"
        return unknown("transfer", "ns", used, why)
    extra = LARGE // min(LARGE, alike[0].page * alike[0].planes)
    slack = reading.TRANSFER_NOISE * extra
    one = known("transfer", "ns", transfers, used, "of 4 KiB", 0.1)
    low, high = _ends(one)
    return replace(one, low=max(0.0, low - slack), high=high + slack)


def _with_buffer(drive: Parameters, buffer: Estimate) -> Parameters:
    """Returns a candidate with the measured write buffer. It has room for a row of each die."""
    least = drive.row * drive.dies
    memory = max(round(buffer.number), least) if buffer.is_known else drive.write_memory
    return replace(drive, write_memory=memory)


def _with_channels(drive: Parameters, channels: int) -> Parameters:
    """Returns a candidate with channels, and with the time of a program that keeps its speed."""
    transfer = 0.0 if drive.register else drive.row / BLOCK * drive.transfer
    return replace(
        drive, channels=channels, program=max(drive.program - transfer, drive.program / 2)
    )


def _ends(estimate: Estimate) -> tuple[float, float]:
    """Returns the interval of an estimate with a value."""
    assert estimate.low is not None and estimate.high is not None, estimate.name
    return estimate.low, estimate.high


def _within(value: float, half: float, unit: str = "", of_half: str = "") -> str:
    """Returns a value that is not known well enough, as text."""
    if math.isinf(half):
        return "no value within the range of the candidates"
    return f"{value:.3g} {unit}".rstrip() + f" within {half:.2g}{of_half} only"


def _rows(drive: Parameters, unit: float) -> int:
    return max(1, round(unit / drive.row / drive.dies))


def _geometric(low: float, high: float, ratio: float) -> list[int]:
    """Returns numbers from `low` to at most `high`, each larger by `ratio` than the one before."""
    steps = math.floor(math.log(high / low) / math.log(ratio))
    return [round(low * ratio**step) for step in range(steps + 1)]


def _shapes(dies: Estimate, speed: Estimate, program: Estimate) -> Sequence[Shape]:
    """Returns the shapes whose row fits time and speed of a program; all, if one is not known."""
    if not (dies.is_known and program.is_known):
        return SHAPES
    row = speed.number * program.number / 1e9 / usual_dies(dies.number)
    gaps = {shape: abs(math.log(shape.row / row)) for shape in SHAPES}
    least = max(min(gaps.values()), ROW_TOLERANCE)
    return [shape for shape, gap in gaps.items() if gap <= least]
