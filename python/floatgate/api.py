"""`run` and `compare`, which simulate traces on devices, and the lists of presets and policies."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core
from .guests.registry import listed
from .simulation import configs, runner
from .simulation.configs import DEFAULT_DEVICE, Device, Vary
from .simulation.kept import Kept
from .simulation.options import RunOptions
from .simulation.watching import Progress

if TYPE_CHECKING:
    import polars as pl

    from .results.comparison import Comparison
    from .results.result import Result

__all__ = ["DEFAULT_DEVICE", "Progress"]

RUNS_MAX = 10_000
"""Maximum number of runs of one comparison. All results are in memory, some 50 KiB each."""


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
    close_gaps: str | None = None,
    streams: str = "trace",
    start_cache: str | Path | None = None,
    units: int | None = None,
    full_size: bool = False,
    progress: Progress | None = None,
) -> Result:
    """Simulates one trace on one device.

    `trace` is a path or URL of a trace in a supported format, the text of a generator such as
    "uniform:span=1GiB,writes=1M", or a Polars or Arrow table. Floatgate recognises the format of a
    trace; `format` sets it explicitly. `device` is a preset's name, the path of a TOML file or a
    config as nested dicts, such as {"flash": {"blocks": 4096}} or the `config` of a result. The
    default device is "classic". `set` maps config keys with dots to values: {"mapping.cache":
    "64KiB"}.

    `limit` keeps only the first `limit` requests. `repeat` (from 1) is the number of times that
    they are played. `time_scale` (above 0) multiplies the time between requests. Before that,
    `close_gaps`, such as "1h", shortens every longer gap between two requests of the trace to that
    duration. `addresses` sets how the devices of a trace become one address space: "fold" leaves
    out addresses that are never touched, "span" keeps them, and "modulo" wraps all addresses onto a
    drive with a given `flash.blocks`. `streams` chooses the source of placement handles, which a
    drive with `placement.scheme = "host"` uses: "trace", the column `stream` if the trace has one,
    or "device", the device number. `seed`, from 0 to 2^64 - 1, seeds every random choice. `verify`
    stores and checks the content of every page, which is slower. `start_cache` is a directory of
    start states: a drive with the same config, size, seed and build of the engine is read from
    there instead of being filled again. You may delete its files at any time.

    A drive without `flash.blocks` is as large as the workload. `units` (from 8) shrinks its erase
    units until the drive has about that many. Without `units`, devices with a table `[class]`, such
    as "tlc-enterprise", get 1,024 erase units, or fewer units of 256 pages. Their units keep their
    size with `full_size`, or if `set` has a key for that size. A drive with fewer than 8 large
    units is refused.

    Raises ConfigError or TraceError (both ValueError) for a wrong argument, config or trace, and
    RunError if the run fails.
    """
    how = RunOptions(
        *(repeat, limit, seed, addresses, time_scale, verify, format, close_gaps, streams),
        *(start_cache, units, full_size),
    )
    drive = configs.resolve_all(device, set or {}, {})
    return runner.simulate([trace], drive, [how], progress=progress)[0]


def compare(traces: Any, *, vary: Vary, **options: Any) -> pl.DataFrame:
    """Simulates every trace with every combination of the values in `vary`;
    returns one row per run.

    Takes the arguments of `compare_results` and returns the `table` of its comparison.
    """
    return compare_results(traces, vary=vary, **options).table()


def compare_results(
    traces: Any,
    *,
    vary: Vary,
    device: Device | None = None,
    set: Mapping[str, Any] | None = None,
    seeds: int | Sequence[int] | None = None,
    workers: int | None = None,
    keep: str | Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> Comparison:
    """Simulates every trace with every combination of the values in `vary`.

    `traces` is one trace as for `run`, or a list of traces. `vary` maps config keys to lists of
    values, e.g. {"placement.scheme": ["eti", "mbf"]}, and "device" to presets and files. Keys that
    change together are a tuple with tuples of values: {("placement.scheme", "cleaning.victim"):
    [("single", "greedy"), ("sepbit", "cat")]}. `seeds` runs each combination with several seeds: a
    list of seeds, or a number of seeds counted from `seed`. Results come in the order of the
    traces, then of the values, with the last key varying fastest, then of the seeds. They do not
    depend on `workers`, the number of runs at a time (default: all cores).

    `keep` is a directory. Each result is written there as JSON as soon as its run ends. `resume`
    reads results from that directory instead of running them again. A stored result counts if
    config, requests, seed and version of the engine are equal.

    A failed run does not end the others. When all runs have ended, its error is raised. The error
    has a list `results`: the results of the other runs, and None for each failed run.

    The other options are as for `run`.
    """
    how = RunOptions(**options)
    if workers is not None and workers < 1:
        raise _core.ConfigError(f"workers: {workers} given; expected at least 1")
    if resume and keep is None:
        raise _core.ConfigError("resume: given without keep; expected the directory of the runs")
    kept = None if keep is None else Kept.at(Path(keep), resume)
    found = list(traces) if isinstance(traces, (list, tuple)) else [traces]
    chosen = _seeds(seeds, how.seed)
    _check_count(len(found) * math.prod(map(len, vary.values())) * len(chosen))
    drives = configs.resolve_all(device, set or {}, vary)
    hows = [replace(how, seed=seed) for seed in chosen]
    results = runner.simulate(found, drives, hows, workers=workers, progress=progress, kept=kept)
    from .results.comparison import Comparison

    return Comparison(results, [*configs.by_key(configs.axes(vary))])


def _check_count(runs: int) -> None:
    """Raises ConfigError if one comparison would have more than `RUNS_MAX` runs."""
    if runs > RUNS_MAX:
        raise _core.ConfigError(
            f"a comparison of {runs:,} runs would hold all their results in memory; expected at "
            f"most {RUNS_MAX:,}: use fewer seeds or values, or floatgate study"
        )


def _seeds(seeds: int | Sequence[int] | None, first: int) -> Sequence[int]:
    """Returns the seeds of a comparison: the given seeds,
    or `seeds` of them counted from `first`.
    """
    if seeds is None:
        return [first]
    if isinstance(seeds, int) and seeds > 0:
        return range(first, first + seeds)
    found = [] if isinstance(seeds, int) else list(seeds)
    if not found or len({*found}) < len(found):
        raise _core.ConfigError(
            f"seeds: {seeds!r} given; expected a number of seeds from 1, or different seeds"
        )
    return found


def devices() -> list[dict[str, str]]:
    """Returns the presets: "name", "summary", "source" and the config itself, "toml"."""
    found: list[dict[str, str]] = json.loads(_core.presets())
    return found


def policies() -> dict[str, list[dict[str, Any]]]:
    """Returns the policies of each axis: "name", "doc", "source" and "parameters".

    Policies of installed packages come last; their names begin with "python:". Each parameter has
    "name" (its config key), "doc", "default" and "expected".
    """
    return listed()
