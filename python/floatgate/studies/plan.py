"""From a study to its runs, in their order, each with its digest."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from random import Random
from typing import Any

from floatgate import _core, configs, ranges, sources
from floatgate.builds import build
from floatgate.configs import DEVICE, Resolved
from floatgate.jobs import digest_of
from floatgate.ranges import Value
from floatgate.run_options import RunOptions
from floatgate.traces import TraceError
from floatgate.traces.read import check_head
from floatgate.traces.source import contents, is_url

from .spec import Options, Search, StudySpec, TraceSpec
from .tasks import Task

OF_TRACE = "trace."
"""Keys that begin so are keys of the generators, where others are keys of the config."""

OF_EACH = "traces."
"""What begins so in what a plan has `fixed` is of one trace."""

CONFIGS = 4096
"""Configs that are kept once they are resolved."""

BESIDE = 32
"""Draws of other values, and combinations, beside which a value of a search is tried."""

Combination = dict[str, Value]

Settings = tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class Shard:
    """One part of `parts` of a study: runs are dealt by their digests."""

    part: int
    """From 1."""
    parts: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Of "I/N". Raises ConfigError."""
        part, slash, parts = text.partition("/")
        if slash and part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts):
            return cls(int(part), int(parts))
        raise _core.ConfigError(f"shard: {text!r} given; expected I/N with I from 1 to N")

    def has(self, digest: str) -> bool:
        """Whether a run is of this part."""
        return int(digest, 16) % self.parts == self.part - 1


@dataclass(frozen=True)
class Played:
    """A workload: a generator, a trace, or a volume of one."""

    name: str
    source: str
    identity: str
    """A generator's text, or a digest of a trace's bytes."""
    options: Options
    volume: str | None = None
    format: str | None = None
    """What the file of a volume was read as: the volume itself is a file of another format."""


Split = Callable[[Played], Sequence[Played]]
"""Gives the volumes of a trace."""


class Plan:
    """The runs of a study, but for those of a search, which come as it goes on.

    Paths in the study are relative to `base`. Raises ConfigError or TraceError for what is wrong
    with the study, when its runs are asked for.
    """

    def __init__(self, spec: StudySpec, base: Path, split: Split) -> None:
        self.spec = spec
        self._base = base
        self._split = split
        self._resolved = lru_cache(CONFIGS)(self._resolve)
        self._generated = lru_cache(CONFIGS)(self._generate)

    def fixed(self) -> dict[str, Any]:
        """What tells none of the study's runs from another, and so is no column of them.

        The device, a digest behind it if it is a file; `set.KEY`, `options.KEY`; and for each trace
        `traces.TRACE`, its own options.
        """
        device = configs.name(self.spec.device)
        if device.endswith(".toml"):
            device += f" {digest_of(configs.source(str(self._base / device)))}"
        found: dict[str, Any] = {"device": device}
        found |= {f"set.{key}": value for key, value in self.spec.settings.items()}
        found |= {f"options.{key}": value for key, value in _changing(self.spec.options).items()}
        for one in self.spec.traces:
            own = _changing(one) | ({"split": one.split} if one.split else {})
            found.setdefault(f"{OF_EACH}{one.trace}", []).append(own)
        return found

    def check(self) -> None:
        """Raises ConfigError for a policy's own key that varies where no run has that policy, and
        for a value of a search that no drive has."""
        texts = itertools.chain(self._proposable(), self._configs())
        varied = [key for key in self.spec.varied if not key.startswith(OF_TRACE)]
        configs.check_used(varied, map(json.loads, texts))

    def _configs(self) -> Iterator[str]:
        for values in combinations(self.spec):
            yield self._resolved(_parted(values)[0]).config

    def _proposable(self) -> list[str]:
        """For each value of a search, or end of its range, a config that has it."""
        search = self.spec.optuna
        keys = search.keys.items() if search else ()
        return [
            self._with(search, {key: end})
            for key, of in keys
            if search and not key.startswith(OF_TRACE)
            for end in ranges.ends(of)
        ]

    def _with(self, search: Search, value: Combination) -> str:
        """A config with this value: one may need another, and what is refused alone is tried
        beside others."""
        random = Random(search.seed)
        refused: list[_core.ConfigError] = []
        for values in itertools.islice(combinations(self.spec), BESIDE):
            for at in range(BESIDE):
                drawn = {key: ranges.draw(of, random) for key, of in search.keys.items()}
                chosen = values | (drawn if at else {}) | value
                try:
                    return self._resolved(_parted(chosen)[0]).config
                except _core.ConfigError as error:
                    refused.append(error)
        raise refused[0]

    def tasks(self) -> Iterator[Task]:
        """Every trace with every combination and every seed, the last varying fastest."""
        for played in self.played:
            for values in combinations(self.spec):
                yield from self._seeds(played, values)

    def trial(self, proposed: Combination) -> Iterator[Task]:
        """The runs of one trial of a search; where no drive has its config, they are refused."""
        for played in self.played:
            for values in combinations(self.spec):
                chosen = values | proposed
                try:
                    yield from self._seeds(played, chosen)
                except _core.ConfigError as error:
                    yield from self._refused(played, chosen, str(error))

    def notes(self) -> list[str]:
        """What there is to say of the workloads: traces whose runs are those of another."""
        first: dict[Any, str] = {}
        again: dict[tuple[str, str], None] = {}
        for played in self.played:
            how = replace(RunOptions(**played.options.given()), start_cache=None)
            name = first.setdefault((played.identity, played.volume, how), played.name)
            if name != played.name:
                again[played.name, name] = None
        return [
            f"{name} has the bytes of {other}: their runs are the same, and are called {other}"
            for name, other in again
        ]

    @cached_property
    def played(self) -> list[Played]:
        """The workloads, traces that are split already in their volumes."""
        found: list[Played] = []
        if any(spec.split for spec in self.spec.traces):
            # Splitting takes long: what is wrong with a config is said before.
            for values in combinations(self.spec):
                self._resolved(_parted(values)[0])
        for spec in self.spec.traces:
            for one in self._opened(spec):
                found += self._split(one) if spec.split else [one]
        return found

    def _opened(self, spec: TraceSpec) -> Iterator[Played]:
        text = spec.trace
        known = spec.given()
        options = Options(**(self.spec.options.given() | known))
        if sources.is_generator(text):
            if spec.split:
                raise _core.ConfigError(f"traces: {text} is a generator; it cannot be split")
            yield Played(text, text, text, options)
            return
        for name, source in self._files(text):
            parts = contents(source)
            check_head(parts, format=options.format)
            yield Played(name, source, digest_of(*(part.digest() for part in parts)), options)

    def _files(self, text: str) -> list[tuple[str, str]]:
        """Names and places of the files that a trace means."""
        if is_url(text):
            return [(text, text)]
        path = self._base / text
        if not any(mark in text for mark in "*?[") or path.exists():
            return [(text, str(path.resolve()))]
        # What is named from the root on is called so; else it is named from the study's file on.
        anchor = Path(text).anchor
        base = Path(anchor) if anchor else self._base
        found = sorted(base.glob(text.removeprefix(anchor)))
        if not found:
            raise TraceError(f"traces: no file is {text} in {base}")
        names = [anchor + str(path.relative_to(base)) for path in found]
        return [(name, str(path.resolve())) for name, path in zip(names, found, strict=True)]

    def _generate(self, played: Played, keys: Settings) -> Played:
        """The workload with these keys behind its own. Raises ConfigError."""
        text = played.source
        if not sources.is_generator(text):
            if keys:
                raise _core.ConfigError(
                    f"{OF_TRACE}{keys[0][0]}: {played.name} is no generator, it has no keys"
                )
            return played
        for key, value in keys:
            text += f"{',' if ':' in text else ':'}{key}={ranges.text(value)}"
        # It says at once what is wrong with its text.
        _core.Workload.generator(text, self.spec.seeds[0])
        return replace(played, source=text, identity=text)

    def _seeds(self, played: Played, values: Combination) -> Iterator[Task]:
        of_drive, of_trace = _parted(values)
        played = self._generated(played, of_trace)
        yield from self._runs(played, values, self._resolved(of_drive))

    def _refused(self, played: Played, values: Combination, why: str) -> Iterator[Task]:
        """Runs that are not: what is there of them is told from others by what varies."""
        device = configs.name(self.spec.device)
        for task in self._runs(played, values, Resolved("", device, json.dumps(values))):
            yield replace(task, digest=digest_of(task.digest, why), refused=why)

    def _runs(self, played: Played, values: Combination, drive: Resolved) -> Iterator[Task]:
        how = RunOptions(**played.options.given())
        if how.start_cache is not None:
            how = replace(how, start_cache=str(self._base / how.start_cache))
        # Start states that are kept change nothing but the time of a run.
        told = asdict(replace(how, start_cache=None))
        for seed in self.spec.seeds:
            what = (played.identity, played.volume, told | {"seed": seed})
            scaled = (drive.is_class, drive.shaped)
            digest = digest_of(build(), drive.config, scaled, *what)
            chosen = replace(how, seed=seed)
            yield Task(
                digest,
                played.name,
                played.source,
                played.identity,
                played.volume,
                values,
                drive,
                chosen,
                told | {"format": played.format or how.format},
                self.spec.memory,
            )

    def _resolve(self, values: Settings) -> Resolved:
        chosen: dict[str, Any] = dict(values)
        device = chosen.pop(DEVICE, self.spec.device)
        if isinstance(device, str) and device.endswith(".toml"):
            device = str(self._base / device)
        return configs.resolve_all(device, {**self.spec.settings, **chosen}, {})[0]


def differences(there: Mapping[str, Any], own: Mapping[str, Any]) -> list[str]:
    """Where what two plans have `fixed` is not the same: a study may have more or fewer traces."""
    keys = dict.fromkeys([*there, *own])
    both = there.keys() & own.keys()
    found = [key for key in keys if key in both or not key.startswith(OF_EACH)]
    return [
        f"{key} = {json.dumps(there.get(key))}, and now {json.dumps(own.get(key))}"
        for key in found
        if there.get(key) != own.get(key)
    ]


def _changing(options: Options) -> dict[str, Any]:
    """The options that are given, but for the one that changes no result."""
    return {key: value for key, value in options.given().items() if key != "start_cache"}


def _parted(values: Combination) -> tuple[Settings, Settings]:
    """What is of the drive, and what is of the generator, without `OF_TRACE`."""
    generator = tuple(
        (key.removeprefix(OF_TRACE), value)
        for key, value in values.items()
        if key.startswith(OF_TRACE)
    )
    drive = ((key, value) for key, value in values.items() if not key.startswith(OF_TRACE))
    return tuple(drive), generator


def combinations(spec: StudySpec) -> Iterator[Combination]:
    """The grid's last key varies slowest of all that follows it: `list`, then `random`."""
    draws = [*_draws(spec)] if spec.random else [{}]
    for values in itertools.product(*spec.grid.values()):
        chosen = dict(zip(spec.grid, values, strict=True))
        for point in spec.points or [{}]:
            for drawn in draws:
                yield chosen | point | drawn


def _draws(spec: StudySpec) -> Iterator[Combination]:
    assert spec.random is not None
    random = Random(spec.random.seed)
    for _ in range(spec.random.draws):
        yield {key: ranges.draw(of, random) for key, of in spec.random.keys.items()}
