"""An experiment as data: lines on workloads, along the axes that a paper leaves open.

A *place* is a choice on every axis. A claim speaks of the lines and workloads of the paper by what
they are there, say "DFTL" on "Financial1"; a choice may change the drive, or say which of our
lines or workloads is meant. What cannot matter to a run is no part of it, so it is run once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

from .batch import Bench, Played, Task

if TYPE_CHECKING:
    from floatgate.results.result import Result

Settings = Mapping[str, str]
ByFootprint = Callable[[int], Settings]
"""Settings that depend on how many pages a workload touches."""

QUICK_SEEDS = 3
"""Student's t multiplies the standard error by 4.3 with three seeds, with two by 12.7: three are
the fewest whose interval says more of the runs than of their number."""
FULL_SEEDS = 5


def seeds_of(full: bool) -> range:
    return range(1, 1 + (FULL_SEEDS if full else QUICK_SEEDS))


Place = Mapping[str, str]


@dataclass(frozen=True)
class Choice:
    """One way to settle what the paper leaves open."""

    key: str
    """As verdicts and tables call it."""
    set: Settings | ByFootprint = field(default_factory=dict)
    keys: Settings = field(default_factory=dict)
    """Further keys of the generators that are played: {"span": "64MiB"}. What is a file ignores the
    axis."""
    lines: Mapping[str, str] = field(default_factory=dict)
    """Our lines for those of the paper."""
    workloads: Mapping[str, str] = field(default_factory=dict)
    """The same for workloads."""
    random: bool = False
    """Whether runs with it differ from seed to seed."""
    quick: bool = True
    """Whether a quick reproduction has it."""
    beside: frozenset[str] = frozenset()
    """Axes that are at their defaults where a claim sweeps its axis to it: they are nothing to it,
    so that a point would be there twice, or all of their choices would take too many runs."""

    @property
    def matters(self) -> bool:
        """Whether it changes the drive, or what is played."""
        return bool(self.set or self.keys)


@dataclass(frozen=True)
class Axis:
    """What the paper leaves open, and the choices that are swept; the first, or the middle one of
    an ordered axis, is taken where a claim does not sweep it."""

    key: str
    text: str
    """As a sentence calls it: "the spare space"."""
    choices: tuple[Choice, ...]
    reason: str
    """Why this range; not for what came out."""
    ordered: bool = False
    """Whether the choices are sizes, from the least to the largest."""
    paper: str = ""
    """What the paper has, if that is known: one of the choices."""

    @property
    def default(self) -> str:
        return self.choices[len(self.choices) // 2 if self.ordered else 0].key

    def choice(self, key: str) -> Choice:
        return self._by_key[key]

    @cached_property
    def _by_key(self) -> Mapping[str, Choice]:
        return {choice.key: choice for choice in self.choices}

    def side(self, full: bool) -> list[str]:
        return [choice.key for choice in self.choices if full or choice.quick]


@dataclass(frozen=True)
class Line:
    """What is compared: a scheme with its parameters."""

    key: str
    label: str
    set: Settings
    ignores: frozenset[str] = frozenset()
    """Axes that cannot matter to it."""


@dataclass(frozen=True)
class Workload:
    """What is played."""

    name: str
    family: str
    """Which of the paper's it stands for."""
    played: Played
    ignores: frozenset[str] = frozenset()
    """Axes that cannot matter to it."""
    slow: frozenset[str] = frozenset()
    """Choices with which a quick reproduction has only the middle of each ordered axis."""
    random: bool = False
    """Whether its runs differ from seed to seed whatever is chosen: its requests do, or the start
    of its drive is random."""
    fit: Callable[[Settings], Settings] | None = None
    """Makes of the settings that axes and a line ask for those of a drive of its size."""


@dataclass(frozen=True)
class Run:
    """One simulation of an experiment."""

    workload: str
    line: str
    place: tuple[tuple[str, str], ...]
    """The choices that matter to it, of those that change the drive or what is played."""
    seed: int

    def at(self, axis: str) -> str | None:
        """The choice on an axis; None where it does not matter."""
        return dict(self.place).get(axis)

    def named(self, *axes: str) -> dict[str, Any]:
        """The fields that say which run it is, with its choices on these axes."""
        own = {"trace": self.workload, "line": self.line, "seed": self.seed}
        return own | {axis: self.at(axis) for axis in axes}


@dataclass(frozen=True)
class Experiment:
    """Everything that can be run for a paper."""

    device: str
    axes: tuple[Axis, ...]
    workloads: tuple[Workload, ...]
    lines: tuple[Line, ...]
    stands_for: Mapping[str, str]
    """Our line or workload for one of the paper's, where no axis says another."""

    def axis(self, key: str) -> Axis:
        return next(axis for axis in self.axes if axis.key == key)

    def line(self, key: str) -> Line:
        return next(line for line in self.lines if line.key == key)

    def workload(self, name: str) -> Workload:
        return next(work for work in self.workloads if work.name == name)

    def places(self, swept: Iterable[str], full: bool) -> list[dict[str, str]]:
        """The points of a domain: all, or quickly the corners of the ordered axes and their middle.

        The axes that are not swept are at their defaults.
        """
        keys = set(swept)
        sides = {a.key: a.side(full) if a.key in keys else [a.default] for a in self.axes}
        sizes = [axis for axis in self.axes if axis.ordered and axis.key in keys]
        found = [place for place in grid(sides) if self._goes(place, keys)]
        return found if full else [p for p in found if _is_corner(sizes, p) or _is_middle(sizes, p)]

    def _goes(self, place: Place, swept: set[str]) -> bool:
        chosen = (axis.choice(place[axis.key]) for axis in self.axes if axis.key in swept)
        fixed = {key for choice in chosen for key in choice.beside}
        return all(place[axis.key] == axis.default for axis in self.axes if axis.key in fixed)

    def run_of(self, place: Place, workload: str, line: str, seed: int) -> Run:
        """The run of one of the paper's lines on one of its workloads. What is not random has
        seed 1."""
        asked = (*place.items(), workload, line, seed)
        if asked not in self._asked:
            work, drawn = self.workload(self._meant(place, workload)), self._meant(place, line)
            self._asked[asked] = self.run(work, self.line(drawn), place, seed)
        return self._asked[asked]

    @cached_property
    def _asked(self) -> dict[tuple[object, ...], Run]:
        """Which run is meant: many claims ask for the same."""
        return {}

    def run(self, work: Workload, line: Line, place: Place, seed: int) -> Run:
        """The run of a line on a workload of ours."""
        axes = [
            axis
            for axis in self.axes
            if axis.key not in work.ignores | line.ignores and axis.choice(place[axis.key]).matters
        ]
        choices = tuple((axis.key, place[axis.key]) for axis in axes)
        run = Run(work.name, line.key, choices, seed)
        return run if self.is_random(run) else Run(work.name, line.key, choices, 1)

    def is_random(self, run: Run) -> bool:
        """Whether the run depends on its seed."""
        chosen = (self.axis(axis).choice(choice).random for axis, choice in run.place)
        return self.workload(run.workload).random or any(chosen)

    def has(self, place: Place, workloads: Iterable[str]) -> bool:
        known = {work.name for work in self.workloads}
        return all(self._meant(place, name) in known for name in workloads)

    def is_quick(self, place: Place, workloads: Iterable[str]) -> bool:
        """Whether a quick reproduction has the place, with these of the paper's workloads."""
        slow = {s for name in workloads for s in self.workload(self._meant(place, name)).slow}
        sizes = [axis for axis in self.axes if axis.ordered]
        return not slow & set(place.values()) or _is_middle(sizes, place)

    def settings(self, run: Run, footprint: int) -> dict[str, str]:
        """How the drive of a run differs from the device."""
        found: dict[str, str] = {}
        for axis, choice in run.place:
            chosen = self.axis(axis).choice(choice).set
            found |= chosen(footprint) if callable(chosen) else chosen
        found |= self.line(run.line).set
        fit = self.workload(run.workload).fit
        return dict(fit(found)) if fit else found

    def played(self, run: Run) -> Played:
        played = self.workload(run.workload).played
        chosen = [self.axis(axis).choice(choice).keys for axis, choice in run.place]
        keys = [f"{key}={value}" for one in chosen for key, value in one.items()]
        return replace(played, spec=",".join([played.spec, *keys])) if keys else played

    def simulate(self, bench: Bench, runs: Iterable[Run]) -> dict[Run, Result]:
        """The results of the runs, each of them once."""
        wanted = {run: self.played(run) for run in runs}
        sized = dict.fromkeys(played for run, played in wanted.items() if self._is_sized(run))
        pages = {played: bench.footprint(played) for played in sized}
        tasks = [
            Task(played, self.settings(run, pages.get(played, 0)), run.seed)
            for run, played in wanted.items()
        ]
        return dict(zip(wanted, bench.run(tasks), strict=True))

    def _is_sized(self, run: Run) -> bool:
        """Whether its drive depends on how many pages the workload touches."""
        return any(callable(self.axis(axis).choice(choice).set) for axis, choice in run.place)

    def _meant(self, place: Place, name: str) -> str:
        """Ours for a line or workload: what one axis says of it, a later axis may say more of."""
        meant, is_said = name, False
        for axis in self.axes:
            choice = axis.choice(place[axis.key])
            for known in (choice.lines, choice.workloads):
                if meant in known:
                    meant, is_said = known[meant], True
        return meant if is_said else self.stands_for[name]


def grid(sides: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """Every combination of a choice on each axis, the last axis varying fastest."""
    return [dict(zip(sides, choices, strict=True)) for choices in product(*sides.values())]


def _is_corner(sizes: Sequence[Axis], place: Place) -> bool:
    return all(place[a.key] in (a.choices[0].key, a.choices[-1].key) for a in sizes)


def _is_middle(sizes: Sequence[Axis], place: Place) -> bool:
    return all(place[axis.key] == axis.default for axis in sizes)
