"""`run` and `compare`: traces and devices in, results out."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from . import _core
from .result import Result
from .traces import Trace, lay_out, read_trace
from .traces.gaps import parse_duration
from .traces.layout import MODES

DEFAULT_DEVICE = "classic"

POLL_SECONDS = 0.1
"""How often a waiting caller looks up: for progress, and for Ctrl-C."""

BATCH = 1 << 16
"""Requests of a generator that are turned into columns at once."""

_T = TypeVar("_T")

Progress = Callable[[str, int, int], None]
"""Called with the phase ("read", "fill" or "run") and the requests done and in all, of all runs
together; 0 in all where that is not known. From the thread that called, some ten times a second."""


def run(
    trace: Any,
    *,
    device: str | Path | None = None,
    set: Mapping[str, Any] | None = None,
    repeat: int = 1,
    limit: int | None = None,
    seed: int = 1,
    addresses: str = "fold",
    time_scale: float = 1.0,
    verify: bool = False,
    format: str | None = None,
    close_gaps: str | None = None,
    progress: Progress | None = None,
) -> Result:
    """Simulates one trace on one device.

    `trace` is a path or URL of a trace in any known format (`format` names it instead of
    recognising it), the text of a generator such as "uniform:span=1GiB,writes=1M", or a Polars
    or Arrow table. `device` is a preset's name or the path of a TOML file; without it, "classic".
    `set` maps config keys with dots to values: {"mapping.cache": "64KiB"}.

    `limit` keeps the first so many requests, `repeat` (from 1) plays them so often, `time_scale`
    (above 0) multiplies the time between them; before that, `close_gaps`, such as "1h", shortens
    every longer gap between two requests of the trace to that duration. `addresses` is how the
    devices of a trace become one address space: "fold" leaves out what is never touched, "span"
    keeps it, "modulo" wraps it onto a drive of given `flash.blocks`. `seed`, from 0 to 2^64 - 1, is
    behind all that is random.
    `verify` keeps and checks the content of every page; slower.

    Raises ConfigError or TraceError (both ValueError) for what is wrong with the call, RunError
    where the run fails.
    """
    return compare_results(
        [trace],
        vary={},
        device=device,
        set=set,
        workers=1,
        repeat=repeat,
        limit=limit,
        seed=seed,
        addresses=addresses,
        time_scale=time_scale,
        verify=verify,
        format=format,
        close_gaps=close_gaps,
        progress=progress,
    )[0]


def compare(traces: Any, *, vary: Mapping[str, Sequence[Any]], **options: Any) -> pl.DataFrame:
    """Simulates every trace with every combination of the values in `vary`; a row per run.

    Takes what `compare_results` takes and is `comparison_table` of its results.
    """
    return comparison_table(compare_results(traces, vary=vary, **options), list(vary))


def compare_results(
    traces: Any,
    *,
    vary: Mapping[str, Sequence[Any]],
    device: str | Path | None = None,
    set: Mapping[str, Any] | None = None,
    workers: int | None = None,
    repeat: int = 1,
    limit: int | None = None,
    seed: int = 1,
    addresses: str = "fold",
    time_scale: float = 1.0,
    verify: bool = False,
    format: str | None = None,
    close_gaps: str | None = None,
    progress: Progress | None = None,
) -> list[Result]:
    """Simulates every trace with every combination of the values in `vary`.

    `traces` is a list of what `run` takes, or a single one; `vary` maps config keys to lists of
    values, e.g. {"placement.scheme": ["eti", "mbf"]}. The results come in the order of the
    traces, then of the values, the last key varying fastest; they do not depend on `workers`, the
    number of runs at a time (all cores without it). The rest is as for `run`.
    """
    how = _How(repeat, limit, seed, addresses, time_scale, verify, format, close_gaps)
    if workers is not None and workers < 1:
        raise _core.ConfigError(f"workers: {workers} given; expected at least 1")
    configs = _configs(device, set or {}, vary)
    jobs = []
    for trace in list(traces) if isinstance(traces, (list, tuple)) else [traces]:
        if progress is not None:
            progress("read", 0, 0)
        source = _open(trace, how)
        for label, config in configs:
            load = source.load(_capacity(config) if addresses == "modulo" else None)
            jobs.append(_Job(f"{source.name}, {label}" if label else source.name, config, load))
    return _run_all(jobs, how, workers or _cores(), progress)


def comparison_table(results: Sequence[Result], keys: Sequence[str]) -> pl.DataFrame:
    """One row per result: `trace`, the config keys `keys`, then every metric.

    A metric's column has the path that it has in the result: `write_amplification`,
    `latency.all.p99_us`, `flash.programs.gc`. Units are those of `Result`.
    """
    rows = []
    for result in results:
        document = result.to_dict()
        row = {"trace": result.workload.name}
        row |= {key: _at(document["config"], key) for key in keys}
        row |= {name: document[name] for name in ("write_amplification", _DATA)}
        for section in ("latency", "throughput", "mapping", "buffer", "flash", "wear", "host"):
            row |= _numbers(document[section], f"{section}.")
        rows.append(row | {"warnings": len(result.warnings)})
    return pl.DataFrame(rows, infer_schema_length=None, strict=False)


_DATA = "data_write_amplification"


def _at(config: Mapping[str, Any], key: str) -> Any:
    value: Any = config
    for step in key.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _numbers(table: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The numbers (and nulls) in nested tables under dotted names; lists are left out."""
    flat: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            flat |= _numbers(value, f"{prefix}{name}.")
        elif value is None or isinstance(value, (int, float)):
            flat[f"{prefix}{name}"] = value
    return flat


@dataclass(frozen=True)
class _How:
    """The options of a run that are no part of the config."""

    repeat: int
    limit: int | None
    seed: int
    addresses: str
    time_scale: float
    verify: bool
    format: str | None
    close_gaps: str | None = None

    def __post_init__(self) -> None:
        def expect(holds: bool, name: str, expected: str) -> None:
            if not holds:
                given = getattr(self, name)
                raise _core.ConfigError(f"{name}: {given!r} given; expected {expected}")

        expect(self.repeat >= 1, "repeat", "at least 1")
        expect(self.limit is None or self.limit >= 1, "limit", "at least 1 request")
        expect(0 <= self.seed < 1 << 64, "seed", "0 to 2^64 - 1")
        expect(self.addresses in MODES, "addresses", " or ".join(MODES))
        scale = self.time_scale
        expect(math.isfinite(scale) and scale > 0, "time_scale", "a number above 0")
        if self.close_gaps is not None:
            parse_duration(self.close_gaps)


@dataclass(frozen=True)
class _Load:
    """What a job replays, and what is to be said about it in its result."""

    workload: _core.Workload
    span_bytes: int | None
    notes: list[str]
    skipped: int


@dataclass(frozen=True)
class _Job:
    label: str
    config: str
    load: _Load


def _configs(
    device: str | Path | None, set: Mapping[str, Any], vary: Mapping[str, Sequence[Any]]
) -> list[tuple[str, str]]:
    """Label and resolved config (JSON) of every combination; all are checked before any runs."""
    for key, values in vary.items():
        if isinstance(values, str) or not values:
            raise _core.ConfigError(f"vary: {key} has {values!r}; expected a list of values")
        if key in set:
            raise _core.ConfigError(f"vary: {key} is also set, to {set[key]!r}; expected one")
    preset, text = _device(device)
    fixed = [(key, _text(value)) for key, value in set.items()]
    found = []
    for values in itertools.product(*vary.values()):
        chosen = [(key, _text(value)) for key, value in zip(vary, values, strict=True)]
        label = ", ".join(f"{key}={value}" for key, value in chosen)
        found.append((label, _core.resolve(preset, text, fixed + chosen)))
    return found


def _text(value: Any) -> str:
    """A Python value as the config's own text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _device(device: str | Path | None) -> tuple[str | None, str | None]:
    """Preset name and TOML text: one or the other."""
    if device is None:
        return DEFAULT_DEVICE, None
    path = Path(device)
    known = {preset["name"] for preset in json.loads(_core.presets())}
    if device in known or not (path.suffix == ".toml" or path.is_file()):
        return str(device), None
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise _core.ConfigError(f"{path}: cannot be read: {reason}") from error
    try:
        _core.resolve(None, text, [])
    except _core.ConfigError as error:
        raise _core.ConfigError(f"{path}: {error}") from error
    return None, text


def _capacity(config: str) -> int:
    """Bytes that the host can address on a drive whose blocks are given, in whole 4 KiB."""
    if json.loads(config)["flash"].get("blocks") is None:
        raise _core.ConfigError(
            "addresses: modulo wraps onto a drive of known size; expected flash.blocks to be set"
        )
    return _core.logical_bytes(config, 0) // 4096 * 4096


@dataclass
class _Source:
    """A trace that was read once, for all runs of a comparison.

    A generator that is played as it is has no `trace`: it makes its requests on the fly.
    """

    name: str
    how: _How
    workload: _core.Workload | None
    trace: Trace | None
    loads: dict[int | None, _Load] = field(default_factory=dict)

    def load(self, capacity: int | None) -> _Load:
        """The workload; `capacity` in bytes is what addresses are wrapped onto, if they are."""
        if capacity not in self.loads:
            self.loads[capacity] = self._load(capacity)
        return self.loads[capacity]

    def _load(self, capacity: int | None) -> _Load:
        if self.trace is None:
            assert self.workload is not None
            return _Load(self.workload, None, [], 0)
        # A generator has said its span; it is not less because a part of it was not touched.
        mode = "span" if self.workload and capacity is None else self.how.addresses
        layout = lay_out(self.trace, mode, capacity=capacity)
        span = layout.span_bytes
        if self.workload and capacity is None:
            span = self.workload.span_bytes
        workload = _core.Workload.recorded(
            self.name, layout.frame, self.how.repeat, self.how.time_scale
        )
        return _Load(workload, span, _notes(self.trace) + layout.notes, self.trace.unparsed_lines)


def _notes(trace: Trace) -> list[str]:
    notes = [*trace.units.guessed, *trace.notes]
    if trace.unparsed_lines:
        lines = f"{trace.unparsed_lines:,} line{'s' if trace.unparsed_lines > 1 else ''}"
        notes.append(f"{lines} of the trace could not be read, the first: {trace.first_unparsed}")
    return notes


def _open(trace: Any, how: _How) -> _Source:
    if isinstance(trace, str) and _is_generator(trace):
        return _generated(trace, how)
    read = read_trace(trace, format=how.format, limit=how.limit, close_gaps=how.close_gaps)
    return _Source(read.name, how, None, read)


def _is_generator(text: str) -> bool:
    """Whether `text` is NAME:key=value,... with the name of a generator.

    Raises ConfigError for what looks like one but has another name, and is no file either.
    """
    known = [row["name"] for row in json.loads(_core.generators())]
    name, colon, _ = text.partition(":")
    if name in known:
        return bool(colon) or not Path(text).exists()
    if re.match(r"\w+:\w+=", text) and not Path(text).exists():
        raise _core.ConfigError(
            f"trace: no file and no generator {name!r}; the generators are {', '.join(known)}"
        )
    return False


def _generated(text: str, how: _How) -> _Source:
    for name in ("format", "close_gaps"):
        if (given := getattr(how, name)) is not None:
            raise _core.ConfigError(f"{name}: {given!r} given, but {text} is a generator")
    workload = _core.Workload.generator(text, how.seed)
    whole = how.limit is None or how.limit >= workload.requests
    if whole and how.repeat == 1 and how.time_scale == 1 and how.addresses != "modulo":
        return _Source(workload.name, how, workload, None)
    frames = []
    missing = workload.requests if how.limit is None else how.limit
    for batch in workload.batches(BATCH):
        frames.append(pl.DataFrame(batch).head(missing))
        missing -= frames[-1].height
        if not missing:
            break
    trace = read_trace(pl.concat(frames))
    if not whole:
        trace.notes.append(f"only the first {how.limit:,} of {workload.requests:,} requests")
    return _Source(workload.name, how, workload, trace)


def measure(
    engine: Callable[..., str],
    workload: _core.Workload,
    progress: Progress | None,
    **options: object,
) -> dict[str, Any]:
    """What the engine says of a workload."""
    control = _core.Control()

    def tell() -> None:
        if progress is not None:
            progress(*control.progress())

    text = watched(lambda: engine(workload, **options, control=control), control.cancel, tell)
    document: dict[str, Any] = json.loads(text)
    return document


def watched(work: Callable[[], _T], stop: Callable[[], None], tell: Callable[[], None]) -> _T:
    """What `work` returns. It runs in a thread of its own, so that Ctrl-C is heard.

    `tell` is called some ten times a second and at the end, `stop` in any case: it must make
    `work` end soon.
    """
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        try:
            while not wait([future], POLL_SECONDS).done:
                tell()
        finally:
            stop()
    tell()
    return future.result()


def _cores() -> int:
    """The cores that this process may use; a container may have fewer than the machine."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _run_all(
    jobs: Sequence[_Job], how: _How, workers: int, progress: Progress | None
) -> list[Result]:
    """Runs the jobs, `workers` at a time. The first that fails, or Ctrl-C, ends them all."""
    controls = [_core.Control() for _ in jobs]
    with ThreadPoolExecutor(workers) as pool:
        futures = [
            pool.submit(_simulate, job, how, control)
            for job, control in zip(jobs, controls, strict=True)
        ]
        try:
            pending = True
            while pending:
                done, running = wait(futures, POLL_SECONDS, FIRST_EXCEPTION)
                failed = any(future.exception() for future in done)
                pending = bool(running) and not failed
                if progress is not None:
                    progress(*_sum(jobs, controls, futures))
        finally:
            for future, control in zip(futures, controls, strict=True):
                future.cancel()
                control.cancel()
    for job, future in zip(jobs, futures, strict=True):
        _raise(job.label if len(jobs) > 1 else "", future)
    return [future.result() for future in futures]


def _raise(label: str, future: Future[Result]) -> None:
    """Raises what made the job fail; one that was cancelled because of another is no failure."""
    error = None if future.cancelled() else future.exception()
    if error is None or isinstance(error, _core.Cancelled):
        return
    if label and isinstance(error, (_core.ConfigError, _core.RunError)):
        raise type(error)(f"{label}: {error}") from error
    raise error


def _sum(
    jobs: Sequence[_Job], controls: Sequence[_core.Control], futures: Sequence[Future[Result]]
) -> tuple[str, int, int]:
    """Phase, requests done and requests in all over all jobs."""
    if len(jobs) == 1:
        return controls[0].progress()
    done = total = 0
    for job, control, future in zip(jobs, controls, futures, strict=True):
        requests = job.load.workload.requests
        phase, at, _ = control.progress()
        done += requests if future.done() else at if phase == "run" else 0
        total += requests
    return "run", done, total


def _simulate(job: _Job, how: _How, control: _core.Control) -> Result:
    text = _core.simulate(
        job.config,
        job.load.workload,
        seed=how.seed,
        span_bytes=job.load.span_bytes,
        verify=how.verify,
        control=control,
    )
    document = json.loads(text)
    document["notes"] = [*job.load.notes, *document["notes"]]
    document["workload"]["skipped"] += job.load.skipped
    return Result.from_dict(document)
