"""An experiment as data: lines on workloads, along the axes that a paper leaves open.

A *point* is a level on every axis. Claims use the paper's names of lines and workloads, such as
"DFTL" on "Financial1". A level may change the drive, or map such a name to our line or workload. A
run leaves out the levels that have no effect on it, so each run is simulated once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from .batch import Bench, Played, Task

if TYPE_CHECKING:
    from floatgate.results.result import Result

Settings = Mapping[str, str]
ByFootprint = Callable[[int], Settings]
"""Settings that depend on the number of pages that a workload touches."""

QUICK_SEEDS = 3
"""Student's t multiplies the standard error by 4.3 with three seeds, and by 12.7 with two."""
FULL_SEEDS = 5

Levels = Mapping[str, str]


@dataclass(frozen=True)
class Level:
    """One way to settle a parameter that the paper leaves open."""

    key: str
    """Name in verdicts and tables."""
    set: Settings | ByFootprint = field(default_factory=dict)
    keys: Settings = field(default_factory=dict)
    """Further keys of the generators: {"span": "64MiB"}. Workloads from files ignore the axis."""
    lines: Mapping[str, str] = field(default_factory=dict)
    """Our line for each of these lines of the paper."""
    workloads: Mapping[str, str] = field(default_factory=dict)
    """Our workload for each of these workloads of the paper."""
    random: bool = False
    """Whether runs with this level differ from seed to seed."""
    quick: bool = True
    """Whether a quick reproduction includes this level."""
    beside: frozenset[str] = frozenset()
    """Axes that stay at their defaults at points with this level, because they have no effect
    there or would take too many runs."""

    @classmethod
    def each(
        cls, setting: str, values: Mapping[str, str], full: Collection[str] = ()
    ) -> tuple[Level, ...]:
        """Returns a level for each value of a setting, by its name. A quick reproduction leaves out
        the names in `full`."""
        return tuple(
            cls(key, {setting: value}, quick=key not in full) for key, value in values.items()
        )

    @property
    def matters(self) -> bool:
        """Whether the level changes the drive or the requests."""
        return bool(self.set or self.keys)


@dataclass(frozen=True)
class Axis:
    """A parameter that the paper leaves open, and the swept levels. The default is the first level,
    or the middle level of an ordered axis. It applies where a claim does not sweep the axis."""

    key: str
    text: str
    """Name in a sentence: "the spare space"."""
    levels: tuple[Level, ...]
    reason: str
    """Reason for this range, independent of results."""
    ordered: bool = False
    """Whether the levels are sizes, from the smallest to the largest."""
    paper: str = ""
    """The paper's own level, if known."""

    @property
    def default(self) -> str:
        return self.levels[len(self.levels) // 2 if self.ordered else 0].key

    def level(self, key: str) -> Level:
        return self._by_key[key]

    @cached_property
    def _by_key(self) -> Mapping[str, Level]:
        return {level.key: level for level in self.levels}

    def side(self, full: bool) -> list[str]:
        """Returns the tested levels: unless `full`, only default and ends of an ordered axis."""
        near = (self.levels[0].key, self.default, self.levels[-1].key)
        quick = [
            one.key for one in self.levels if one.quick and (not self.ordered or one.key in near)
        ]
        return [*self._by_key] if full else quick


@dataclass(frozen=True)
class Line:
    """A scheme with its parameters, compared with other lines."""

    key: str
    label: str
    set: Settings
    ignores: frozenset[str] = frozenset()
    """Axes that have no effect on this line."""


@dataclass(frozen=True)
class Workload:
    """Requests of a run, and their name."""

    name: str
    family: str
    """Workload of the paper that it stands for."""
    played: Played
    ignores: frozenset[str] = frozenset()
    """Axes that have no effect on this workload."""
    slow: bool = False
    """Whether a quick reproduction takes only the middle of each ordered axis."""
    random: bool = False
    """Whether its runs differ from seed to seed with every level."""
    few_seeds: bool = False
    """Whether a full reproduction has `QUICK_SEEDS` seeds of it, too, to save time."""
    set: Settings = field(default_factory=dict)
    """Settings of the drive for this workload. They override the settings of axes and line."""
    fit: Callable[[Settings], Settings] | None = None
    """Converts all settings to settings for a drive of the workload's size."""

    def seeds_of(self, full: bool) -> range:
        return range(1, 1 + (FULL_SEEDS if full and not self.few_seeds else QUICK_SEEDS))


@dataclass(frozen=True)
class Run:
    """One simulation of an experiment."""

    workload: str
    line: str
    levels: tuple[tuple[str, str], ...]
    """The levels with an effect on the run: they change the drive or the requests."""
    seed: int

    def at(self, axis: str) -> str | None:
        """Returns the level on an axis, or None if it has no effect."""
        return dict(self.levels).get(axis)

    def named(self, *axes: str) -> dict[str, Any]:
        """Returns the fields that identify the run, with its levels on these axes."""
        fields = {"trace": self.workload, "line": self.line, "seed": self.seed}
        return fields | {axis: self.at(axis) for axis in axes}


@dataclass(frozen=True)
class Experiment:
    """All lines, workloads and axes of a paper."""

    axes: tuple[Axis, ...]
    workloads: tuple[Workload, ...]
    lines: tuple[Line, ...]
    stands_for: Mapping[str, str] = field(default_factory=dict)
    """Our line or workload for each line or workload of the paper that has another name here. An
    axis may override an entry."""

    def axis(self, key: str) -> Axis:
        return next(axis for axis in self.axes if axis.key == key)

    def line(self, key: str) -> Line:
        return next(line for line in self.lines if line.key == key)

    def workload(self, name: str) -> Workload:
        return next(work for work in self.workloads if work.name == name)

    def points(self, swept: Iterable[str], full: bool) -> Sequence[Levels]:
        """Returns all points of a domain; the last axis varies fastest. For a quick reproduction,
        returns the default point, and each point at which one axis has another level, or, if it is
        ordered, its smallest or largest level. Axes that are not swept are at their defaults."""
        asked = (frozenset(swept), full)
        if asked not in self._domains:
            self._domains[asked] = self._combined(*asked)
        return self._domains[asked]

    @cached_property
    def _domains(self) -> dict[tuple[frozenset[str], bool], Sequence[Levels]]:
        """Cache of the results of `points`, because many claims sweep the same axes."""
        return {}

    def _combined(self, swept: frozenset[str], full: bool) -> Sequence[Levels]:
        """Builds points axis by axis, so that an impossible combination is dropped at once."""
        most = len(self.axes) if full else 1
        begun = [_Begun({}, frozenset(), frozenset())]
        for axis in self.axes:
            if axis.key not in swept:
                begun = [one.at_default(axis) for one in begun]
                continue
            longer = [one.at_level(axis, key) for one in begun for key in axis.side(full)]
            begun = [one for one in longer if len(one.moved) <= most and not one.moved & one.fixed]
        return [one.levels for one in begun]

    def runs_of(self, levels: Levels, workload: str, line: str, full: bool) -> Iterable[Run]:
        """Yields the runs of a paper's line on its workload, with every seed."""
        for seed in self.workload(self._meant(levels, workload)).seeds_of(full):
            yield self.run_of(levels, workload, line, seed)

    def run_of(self, levels: Levels, workload: str, line: str, seed: int) -> Run:
        """Returns the run of a paper's line on its workload. Without randomness the seed is 1."""
        asked = (*levels.items(), workload, line, seed)
        if asked not in self._asked:
            work, drawn = self.workload(self._meant(levels, workload)), self._meant(levels, line)
            self._asked[asked] = self.run(work, self.line(drawn), levels, seed)
        return self._asked[asked]

    @cached_property
    def _asked(self) -> dict[tuple[object, ...], Run]:
        """Cache of the results of `run_of`, because many claims need the same run."""
        return {}

    def run(self, work: Workload, line: Line, levels: Levels, seed: int) -> Run:
        """Returns the run of one of our lines on one of our workloads."""
        axes = [
            axis
            for axis in self.axes
            if axis.key not in work.ignores | line.ignores and axis.level(levels[axis.key]).matters
        ]
        chosen = tuple((axis.key, levels[axis.key]) for axis in axes)
        run = Run(work.name, line.key, chosen, seed)
        return run if self.is_random(run) else Run(work.name, line.key, chosen, 1)

    def is_random(self, run: Run) -> bool:
        chosen = (self.axis(axis).level(level).random for axis, level in run.levels)
        return self.workload(run.workload).random or any(chosen)

    def has(self, levels: Levels, workloads: Iterable[str]) -> bool:
        played = {work.name for work in self.workloads}
        return all(self._meant(levels, name) in played for name in workloads)

    def is_quick(self, levels: Levels, workloads: Iterable[str]) -> bool:
        """Returns whether a quick run includes the point with these workloads of the paper."""
        slow = any(self.workload(self._meant(levels, name)).slow for name in workloads)
        sizes = [axis for axis in self.axes if axis.ordered]
        return not slow or all(levels[axis.key] == axis.default for axis in sizes)

    def settings(self, run: Run, footprint: int) -> dict[str, str]:
        """Returns the settings in which the drive of a run differs from the device."""
        settings: dict[str, str] = {}
        for axis, level in run.levels:
            chosen = self.axis(axis).level(level).set
            settings |= chosen(footprint) if callable(chosen) else chosen
        work = self.workload(run.workload)
        settings |= {**self.line(run.line).set, **work.set}
        return dict(work.fit(settings)) if work.fit else settings

    def played(self, run: Run) -> Played:
        played = self.workload(run.workload).played
        chosen = [self.axis(axis).level(level).keys for axis, level in run.levels]
        keys = [f"{key}={value}" for one in chosen for key, value in one.items()]
        return replace(played, spec=",".join([played.spec, *keys])) if keys else played

    def simulate(self, bench: Bench, runs: Iterable[Run]) -> dict[Run, Result]:
        """Returns the results of the runs. Simulates each run once."""
        wanted = {run: self.played(run) for run in runs}
        sized = dict.fromkeys(played for run, played in wanted.items() if self._is_sized(run))
        pages = {played: bench.footprint(played) for played in sized}
        tasks = [
            Task(played, self.settings(run, pages.get(played, 0)), run.seed)
            for run, played in wanted.items()
        ]
        return dict(zip(wanted, bench.run(tasks), strict=True))

    def _is_sized(self, run: Run) -> bool:
        """Returns whether the drive depends on the number of pages that the workload touches."""
        return any(callable(self.axis(axis).level(level).set) for axis, level in run.levels)

    def _meant(self, levels: Levels, name: str) -> str:
        """Returns our line or workload for a name. An axis may replace a name that an earlier axis
        has set."""
        meant = name
        for axis in self.axes:
            level = axis.level(levels[axis.key])
            for names in (level.lines, level.workloads):
                meant = names.get(meant, meant)
        return self.stands_for.get(name, name) if meant == name else meant


class _Begun(NamedTuple):
    """The levels of a point on the first axes."""

    levels: Levels
    moved: frozenset[str]
    """Axes that are not at their defaults."""
    fixed: frozenset[str]
    """Axes that the levels keep at their defaults."""

    def at_default(self, axis: Axis) -> _Begun:
        return self._replace(levels={**self.levels, axis.key: axis.default})

    def at_level(self, axis: Axis, key: str) -> _Begun:
        moved = self.moved if key == axis.default else self.moved | {axis.key}
        fixed = self.fixed | axis.level(key).beside
        return _Begun({**self.levels, axis.key: key}, moved, fixed)
