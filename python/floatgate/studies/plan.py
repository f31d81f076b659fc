"""Expands a study to its runs, in their order, each with its digest."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from random import Random
from typing import Any

from floatgate import _core
from floatgate.guests.from_file import placed
from floatgate.results.marks import DEVICE
from floatgate.simulation import configs, sources
from floatgate.simulation.builds import build
from floatgate.simulation.configs import Resolved
from floatgate.simulation.fio_jobs import is_job_file
from floatgate.simulation.fio_jobs.resolving import read_job_file
from floatgate.simulation.identity import digest_of
from floatgate.simulation.options import RunOptions
from floatgate.traces import TraceError
from floatgate.traces.read import check_head
from floatgate.traces.source import contents, is_url
from floatgate.tuning import ranges
from floatgate.tuning.ranges import Value

from .planned import Task
from .spec import Options, Search, StudySpec, TraceSpec

OF_TRACE = "trace."
"""Prefix of the keys of generators; all other keys are keys of the config."""

OF_EACH = "traces."
"""Prefix of the entries in `Plan.fixed` that belong to one trace."""

CONFIGS = 4096
"""Maximum number of resolved configs in the cache."""

BESIDE = 32
"""Maximum number of combinations, and of draws of the other keys for each of them, with which a
value of a search is tried.
"""

Combination = dict[str, Value]

Settings = tuple[tuple[str, Value], ...]


@dataclass(frozen=True)
class Shard:
    """One of the `parts` of a study; the digest of a run determines its part."""

    part: int
    """Number of the part, from 1."""
    parts: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Parses "I/N". Raises ConfigError."""
        part, slash, parts = text.partition("/")
        if slash and part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts):
            return cls(int(part), int(parts))
        raise _core.ConfigError(f"shard: {text!r} given; expected I/N with I from 1 to N")

    def has(self, digest: str) -> bool:
        """Returns whether a run belongs to this part."""
        return int(digest, 16) % self.parts == self.part - 1


@dataclass(frozen=True)
class Played:
    """A workload: a generator, a trace, or one volume of a trace."""

    name: str
    source: str
    identity: str
    """Text of a generator, or digest of the bytes of a trace."""
    options: Options
    volume: str | None = None
    format: str | None = None
    """Format in which the trace of a volume was read; the volume is a file of another format."""


def _job_file(name: str, path: Path, options: Options, is_split: bool) -> Played:
    """Returns the workload of a job file. Its identity is that of the file and of those that it
    includes. Raises ConfigError.
    """
    if is_split:
        raise _core.ConfigError(f"traces: {name} is a job file; it cannot be split")
    files = (one.read_bytes().hex() for one in read_job_file(path).files)
    return Played(name, str(path), digest_of(*files), options)


Split = Callable[[Played], Sequence[Played]]
"""Returns the volumes of a trace."""


class Plan:
    """The runs of a study, except the runs of a search, which are planned trial by trial.

    Paths in the study are relative to `base`. The methods raise ConfigError or TraceError for
    mistakes in the study.
    """

    def __init__(self, spec: StudySpec, base: Path, split: Split) -> None:
        self.spec = spec
        self._base = base
        self._split = split
        self._resolved = lru_cache(CONFIGS)(self._resolve)
        self._generated = lru_cache(CONFIGS)(self._generate)

    def fixed(self) -> dict[str, Any]:
        """Returns the settings that are equal for all runs, or for all runs of a trace.

        The keys are `device`, with a digest if it is a file; `set.KEY`; `options.KEY`; and for each
        trace `traces.TRACE`, with its own options.
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
        """Raises ConfigError for a varied key of a policy that no run has.

        Also raises it for a value of a search that no drive accepts.
        """
        found = itertools.chain(self._proposable(), self._configs())
        varied = [key for key in self.spec.varied if not key.startswith(OF_TRACE)]
        configs.check_used(varied, (config.table() for config in found))

    def _configs(self) -> Iterator[_core.Config]:
        for values in combinations(self.spec):
            yield self._resolved(_parted(values)[0]).config

    def _proposable(self) -> list[_core.Config]:
        """Returns a config for each value of each key of a search, or for the ends of its range."""
        search = self.spec.optuna
        keys = search.keys.items() if search else ()
        return [
            self._with(search, {key: end})
            for key, of in keys
            if search and not key.startswith(OF_TRACE)
            for end in ranges.ends(of)
        ]

    def _with(self, search: Search, value: Combination) -> _core.Config:
        """Returns a config with this value.

        A value may require another value. So a value that is refused alone is tried together with
        draws of the other keys.
        """
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
        """Yields every trace with every combination and every seed; seeds vary fastest."""
        for played in self.played:
            for values in combinations(self.spec):
                yield from self._seeds(played, values)

    def trial(self, proposed: Combination) -> Iterator[Task]:
        """Yields the runs of one trial of a search; they are refused if no drive has the config."""
        for played in self.played:
            for values in combinations(self.spec):
                chosen = values | proposed
                try:
                    yield from self._seeds(played, chosen)
                except _core.ConfigError as error:
                    yield from self._refused(played, chosen, str(error))

    def notes(self) -> list[str]:
        """Returns notes on the workloads: traces whose runs equal the runs of another trace."""
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
        """The workloads; a trace that is to be split is replaced by its volumes."""
        found: list[Played] = []
        if any(spec.split for spec in self.spec.traces):
            # Splitting takes long, so mistakes in a config are reported first.
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
            if is_job_file(source, options.format):
                yield _job_file(name, Path(source), options, bool(spec.split))
                continue
            parts = contents(source)
            check_head(parts, format=options.format)
            yield Played(name, source, digest_of(*(part.digest() for part in parts)), options)

    def _files(self, text: str) -> list[tuple[str, str]]:
        """Returns the names and paths of the files that a trace stands for."""
        if is_url(text):
            return [(text, text)]
        path = self._base / text
        if not any(mark in text for mark in "*?[") or path.exists():
            return [(text, str(path.resolve()))]
        # A pattern from the root gives absolute names; any other pattern, names below the study.
        anchor = Path(text).anchor
        base = Path(anchor) if anchor else self._base
        found = sorted(base.glob(text.removeprefix(anchor)))
        if not found:
            raise TraceError(f"traces: no file is {text} in {base}")
        names = [anchor + str(path.relative_to(base)) for path in found]
        return [(name, str(path.resolve())) for name, path in zip(names, found, strict=True)]

    def _generate(self, played: Played, keys: Settings) -> Played:
        """Returns the workload with these keys after its own. Raises ConfigError."""
        text = played.source
        if not sources.is_generator(text):
            if keys:
                raise _core.ConfigError(
                    f"{OF_TRACE}{keys[0][0]}: {played.name} is no generator, it has no keys"
                )
            return played
        for key, value in keys:
            text += f"{',' if ':' in text else ':'}{key}={ranges.text(value)}"
        # The generator reports mistakes in its text immediately.
        _core.Workload.generator(text, self.spec.seeds[0])
        return replace(played, source=text, identity=text)

    def _seeds(self, played: Played, values: Combination) -> Iterator[Task]:
        of_drive, of_trace = _parted(values)
        played = self._generated(played, of_trace)
        yield from self._runs(played, values, self._resolved(of_drive))

    def _refused(self, played: Played, values: Combination, why: str) -> Iterator[Task]:
        """Yields runs that cannot start; the varied values distinguish their rows."""
        for task in self._runs(played, values, None):
            yield replace(task, digest=digest_of(task.digest, why), refused=why)

    def _runs(self, played: Played, values: Combination, drive: Resolved | None) -> Iterator[Task]:
        how = RunOptions(**played.options.given())
        if how.start_cache is not None:
            how = replace(how, start_cache=str(self._base / how.start_cache))
        # A cache of start states changes nothing but the time of a run.
        told = asdict(replace(how, start_cache=None))
        config = drive.config.text if drive else json.dumps(values)
        scaled = (drive.is_class, drive.shaped) if drive else (False, "")
        for seed in self.spec.seeds:
            what = (played.identity, played.volume, told | {"seed": seed})
            digest = digest_of(build(), config, scaled, *what)
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
        settings = {**self.spec.settings, **chosen}
        settings = {key: placed(value, self._base) for key, value in settings.items()}
        return configs.resolve_all(device, settings, {})[0]


def differences(there: Mapping[str, Any], own: Mapping[str, Any]) -> list[str]:
    """Returns the differences of `fixed` in two plans. Traces of only one plan do not count."""
    keys = dict.fromkeys([*there, *own])
    both = there.keys() & own.keys()
    found = [key for key in keys if key in both or not key.startswith(OF_EACH)]
    return [
        f"{key} = {json.dumps(there.get(key))}, and now {json.dumps(own.get(key))}"
        for key in found
        if there.get(key) != own.get(key)
    ]


def _changing(options: Options) -> dict[str, Any]:
    """Returns the given options, except `start_cache`, which changes no result."""
    return {key: value for key, value in options.given().items() if key != "start_cache"}


def _parted(values: Combination) -> tuple[Settings, Settings]:
    """Splits values into keys of the drive and keys of the generator, without `OF_TRACE`."""
    generator = tuple(
        (key.removeprefix(OF_TRACE), value)
        for key, value in values.items()
        if key.startswith(OF_TRACE)
    )
    drive = ((key, value) for key, value in values.items() if not key.startswith(OF_TRACE))
    return tuple(drive), generator


def combinations(spec: StudySpec) -> Iterator[Combination]:
    """Yields the combinations of `grid`, `list` and `random`.

    Draws of `random` vary fastest, then entries of `list`, then the keys of `grid` from its last.
    """
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
