"""`run` and `compare`: traces and devices in, results out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import polars as pl

from . import _core, configs, jobs, sources
from .configs import DEFAULT_DEVICE, DEVICE, Device
from .jobs import Progress
from .result import Result
from .sources import RunOptions

__all__ = ["DEFAULT_DEVICE", "Progress"]


def run(
    trace: Any,
    *,
    device: Device | None = None,
    set: Mapping[str, Any] | None = None,
    repeat: int = 1,
    limit: int | None = None,
    seed: int = 1,
    addresses: str = "fold",
    time_scale: float = 1.0,
    verify: bool = False,
    format: str | None = None,
    progress: Progress | None = None,
) -> Result:
    """Simulates one trace on one device.

    `trace` is a path or URL of a trace in any known format (`format` names it instead of
    recognising it), the text of a generator such as "uniform:span=1GiB,writes=1M", or a Polars
    or Arrow table. `device` is a preset's name, the path of a TOML file or a config as nested
    dicts, such as {"flash": {"blocks": 4096}} or the `config` of a result; without it, "classic".
    `set` maps config keys with dots to values: {"mapping.cache": "64KiB"}.

    `limit` keeps the first so many requests, `repeat` (from 1) plays them so often, `time_scale`
    (above 0) multiplies the time between them. `addresses` is how the devices of a trace become
    one address space: "fold" leaves out what is never touched, "span" keeps it, "modulo" wraps it
    onto a drive of given `flash.blocks`. `seed`, from 0 to 2^64 - 1, is behind all that is random.
    `verify` keeps and checks the content of every page; slower.

    Raises ConfigError or TraceError (both ValueError) for what is wrong with the call, RunError
    where the run fails.
    """
    how = RunOptions(repeat, limit, seed, addresses, time_scale, verify, format)
    return compare_results(
        [trace], vary={}, device=device, set=set, workers=1, progress=progress, **asdict(how)
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
    device: Device | None = None,
    set: Mapping[str, Any] | None = None,
    seeds: int | Sequence[int] | None = None,
    workers: int | None = None,
    keep: str | Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> list[Result]:
    """Simulates every trace with every combination of the values in `vary`.

    `traces` is a list of what `run` takes, or a single one; `vary` maps config keys to lists of
    values, e.g. {"placement.scheme": ["eti", "mbf"]}, and "device" to presets and files. `seeds`
    runs each of these with several seeds: a list of them, or how many, from `seed` on. The results
    come in the order of the traces, then of the values, the last key varying fastest, then of the
    seeds; they do not depend on `workers`, the number of runs at a time (all cores without it).

    `keep` is a directory into which each result is written as soon as there is one, as JSON.
    `resume` takes what is there already instead of running it again; a result counts if it is of
    the same config, requests, seed and version of the engine.

    The other options (`repeat`, `limit`, `seed`, `addresses`, `time_scale`, `verify`, `format`)
    are as for `run`.
    """
    how = RunOptions(**options)
    if workers is not None and workers < 1:
        raise _core.ConfigError(f"workers: {workers} given; expected at least 1")
    if resume and keep is None:
        raise _core.ConfigError("resume: given without keep; expected the directory of the runs")
    kept = None if keep is None else jobs.Kept(Path(keep), resume)
    drives = configs.resolve_all(device, set or {}, vary)
    hows = [replace(how, seed=seed) for seed in _seeds(seeds, how.seed)]
    planned = []
    for trace in list(traces) if isinstance(traces, (list, tuple)) else [traces]:
        if progress is not None:
            progress("read", 0, 0)
        opened = _open_all(trace, hows)
        planned += [_job(opened[how.seed], drive, how) for drive in drives for how in hows]
    if len(planned) == 1:
        planned = [replace(planned[0], label="")]
    return jobs.run_all(planned, workers or jobs.cores(), progress, kept)


def _seeds(seeds: int | Sequence[int] | None, first: int) -> list[int]:
    """The seeds of a comparison: those given, or so many from the first on."""
    if seeds is None:
        return [first]
    found = list(range(first, first + seeds)) if isinstance(seeds, int) else list(seeds)
    if not found or len({*found}) < len(found):
        raise _core.ConfigError(
            f"seeds: {seeds!r} given; expected a number of seeds from 1, or different seeds"
        )
    return found


def _open_all(trace: Any, hows: Sequence[RunOptions]) -> dict[int, sources.Source]:
    """The requests for each seed. A recording is read once: it has no use for a seed."""
    first = sources.open_source(trace, hows[0])
    if first.workload is None:
        return {how.seed: first for how in hows}
    return {how.seed: sources.open_source(trace, how) for how in hows}


def _job(source: sources.Source, drive: configs.Resolved, how: RunOptions) -> jobs.Job:
    wrapped = configs.capacity(drive.config) if how.addresses == "modulo" else None
    label = f"{source.name}, {drive.label}" if drive.label else source.name
    load = source.load(wrapped)
    return jobs.Job(label, drive.config, load, how.seed, how.verify, drive.device)


def comparison_table(results: Sequence[Result], keys: Sequence[str]) -> pl.DataFrame:
    """One row per result: `trace`, the config keys `keys`, then every metric.

    With several seeds among the results, `seed` comes before the metrics. A metric's column has
    the path that it has in the result: `write_amplification`, `latency.all.p99_us`,
    `flash.programs.gc`. Units are those of `Result`.
    """
    rows = []
    several = len({result.seed for result in results}) > 1
    for result in results:
        document = result.to_dict()
        row: dict[str, Any] = {"trace": result.workload.name}
        row |= {key: value_of(document, key) for key in keys}
        row |= {"seed": result.seed} if several else {}
        row |= {name: document[name] for name in ("write_amplification", _DATA)}
        for section in ("latency", "throughput", "mapping", "buffer", "flash", "wear", "host"):
            row |= _numbers(document[section], f"{section}.")
        rows.append(row | {"warnings": len(result.warnings)})
    return pl.DataFrame(rows, infer_schema_length=None, strict=False)


_DATA = "data_write_amplification"


def value_of(document: Mapping[str, Any], key: str) -> Any:
    """What a result's document has for a key that varied: one of its config, or "device"."""
    if key == DEVICE:
        return document[DEVICE]
    value: Any = document["config"]
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
