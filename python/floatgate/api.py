"""`run` and `compare`: traces and devices in, results out; and what there is to choose from."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from . import _core, configs, jobs, runner
from .comparison import Comparison
from .configs import DEFAULT_DEVICE, Device
from .guests.registry import listed
from .jobs import Progress
from .result import Result
from .run_options import RunOptions

__all__ = ["DEFAULT_DEVICE", "Progress"]

RUNS_MAX = 10_000
"""Runs of a comparison, whose results are all in memory at once, some 50 KiB each."""


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

    `trace` is a path or URL of a trace in any known format (`format` names it instead of
    recognising it), the text of a generator such as "uniform:span=1GiB,writes=1M", or a Polars
    or Arrow table. `device` is a preset's name, the path of a TOML file or a config as nested
    dicts, such as {"flash": {"blocks": 4096}} or the `config` of a result; without it, "classic".
    `set` maps config keys with dots to values: {"mapping.cache": "64KiB"}.

    `limit` keeps the first so many requests, `repeat` (from 1) plays them so often, `time_scale`
    (above 0) multiplies the time between them; before that, `close_gaps`, such as "1h", shortens
    every longer gap between two requests of the trace to that duration. `addresses` is how the
    devices of a trace become one address space: "fold" leaves out what is never touched, "span"
    keeps it, "modulo" wraps it onto a drive of given `flash.blocks`. `streams` says where placement
    handles come from, which a drive with `placement.scheme = "host"` looks at: the column `stream`
    of the "trace" if there is one, or the number of the "device". `seed`, from 0 to 2^64 - 1, is
    behind all that is random.
    `verify` keeps and checks the content of every page; slower. `start_cache` is a directory where
    start states are kept: a drive of the same config, size, seed and build of the engine is read
    from there instead of being filled again. Its files may be deleted at any time.

    A drive without `flash.blocks` is as large as the workload. `units` (from 8) makes its erase
    units smaller until there are about so many. Devices with a table `[class]`, such as
    "tlc-enterprise", have 1,024 without it, or fewer of 256 pages. Their units stay as they are
    with `full_size`, or where `set` has a key of them. Fewer than 8 large units are refused.

    Raises ConfigError or TraceError (both ValueError) for what is wrong with the call, RunError
    where the run fails.
    """
    how = RunOptions(
        *(repeat, limit, seed, addresses, time_scale, verify, format, close_gaps, streams),
        *(start_cache, units, full_size),
    )
    drive = configs.resolve_all(device, set or {}, {})
    return runner.simulate([trace], drive, [how], progress=progress)[0]


def compare(traces: Any, *, vary: Mapping[str, Sequence[Any]], **options: Any) -> pl.DataFrame:
    """Simulates every trace with every combination of the values in `vary`; a row per run.

    Takes what `compare_results` takes and is the `table` of what that returns.
    """
    return compare_results(traces, vary=vary, **options).table()


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
) -> Comparison:
    """Simulates every trace with every combination of the values in `vary`.

    `traces` is a list of what `run` takes, or a single one; `vary` maps config keys to lists of
    values, e.g. {"placement.scheme": ["eti", "mbf"]}, and "device" to presets and files. `seeds`
    runs each of these with several seeds: a list of them, or how many, from `seed` on. The results
    come in the order of the traces, then of the values, the last key varying fastest, then of the
    seeds; they do not depend on `workers`, the number of runs at a time (all cores without it).

    `keep` is a directory into which each result is written as soon as there is one, as JSON.
    `resume` takes what is there already instead of running it again; a result counts if it is of
    the same config, requests, seed and version of the engine.

    A run that fails does not end the others. Its error is raised when all have ended, with a list
    `results`: those of the others, and None for each that failed.

    The other options are as for `run`.
    """
    how = RunOptions(**options)
    if workers is not None and workers < 1:
        raise _core.ConfigError(f"workers: {workers} given; expected at least 1")
    if resume and keep is None:
        raise _core.ConfigError("resume: given without keep; expected the directory of the runs")
    kept = None if keep is None else jobs.Kept.at(Path(keep), resume)
    found = list(traces) if isinstance(traces, (list, tuple)) else [traces]
    chosen = _seeds(seeds, how.seed)
    _check_count(len(found) * math.prod(map(len, vary.values())) * len(chosen))
    drives = configs.resolve_all(device, set or {}, vary)
    hows = [replace(how, seed=seed) for seed in chosen]
    results = runner.simulate(found, drives, hows, workers=workers, progress=progress, kept=kept)
    return Comparison(results, list(vary))


def _check_count(runs: int) -> None:
    """Raises ConfigError for more runs than one comparison holds."""
    if runs > RUNS_MAX:
        raise _core.ConfigError(
            f"a comparison of {runs:,} runs would hold all their results in memory; expected at "
            f"most {RUNS_MAX:,}: use fewer seeds or values, or floatgate study"
        )


def _seeds(seeds: int | Sequence[int] | None, first: int) -> Sequence[int]:
    """The seeds of a comparison: those given, or `seeds` of them from the first on."""
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
    """The presets: "name", "summary", "source" and the config itself, "toml"."""
    found: list[dict[str, str]] = json.loads(_core.presets())
    return found


def policies() -> dict[str, list[dict[str, Any]]]:
    """The policies of each axis: "name", "doc", "source" and "parameters".

    Those of installed packages come last, with names that begin with "python:".
    Each of the parameters has "name" (its config key), "doc", "default" and "expected".
    """
    return listed()
