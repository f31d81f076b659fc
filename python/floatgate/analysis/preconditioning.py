"""Distance from the steady state at which recipes of preconditioning leave a drive."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean, stdev
from typing import Any

import polars as pl

from floatgate import _core, api
from floatgate.results.drawn import Shown
from floatgate.results.intervals import mean_and_half_width
from floatgate.results.result import Result
from floatgate.simulation import configs, scaling, sources
from floatgate.simulation.configs import Device, Resolved
from floatgate.simulation.options import RunOptions
from floatgate.simulation.watching import Progress
from floatgate.traces.model import WRITE

from . import steady
from .recipes import Recipe, all_recipes, whole, worn_evenly

WORKLOAD = "uniform"
SPAN = 256 << 20
"""Bytes that a drive holds if neither `flash.blocks` nor the workload sets its size."""

BUDGETS = (16, 32, 64)
"""Allowed numbers of volumes that the workload may take to become steady. With each, a window of a
curve is a whole number of windows of the timeline.
"""

PLAY = "start.play"

WINDOWS = 256
"""Windows of a run's timeline."""

PER_VOLUME = 4
"""Windows of a curve in a volume. SNIA's rounds have the same length."""

CURVE = 8
"""Volumes of the workload for which a recipe is observed."""

LEVELS = (1, 3, 5)
"""Distances in per cent at which recipes are judged."""

ERRORS = 3
"""A level is judged only if it is at least this many standard errors of a window."""

PROBE = 1 << 14
"""Requests of the workload that are examined before the runs."""


@dataclass(frozen=True)
class Estimate:
    """Mean over the seeds."""

    mean: float
    ci95: float | None
    """Half the width of its 95 % confidence interval; None for one seed."""


@dataclass(frozen=True)
class Start:
    """Course of the workload from one start state to its steady state."""

    name: str
    play: str
    """Writes before the workload: `start.play`."""
    volumes: int | None
    """Volumes of the workload before it was steady; None if it was not."""
    write_amplification: float
    """Write amplification of all volumes from then on; if it was not steady,
    of the last ten volumes.
    """


@dataclass(frozen=True)
class Steady:
    """Steady state of the workload."""

    write_amplification: Estimate | None
    """None if no steady state was found."""
    starts: tuple[Start, ...]
    window_error: float
    """Standard error of a window (the mean over the seeds) in the steady state, in per cent."""


@dataclass(frozen=True)
class Judged:
    """A recipe with its distance from the steady state."""

    name: str
    title: str
    volumes: float
    """Drive capacities that the host writes in the recipe.

    For SNIA's recipe, the mean over the seeds.
    """
    play: str
    """Part of the recipe that is not the workload itself: `start.play`."""
    write_amplification: Estimate
    """Write amplification in the workload's first window after the recipe."""
    distance: Estimate | None
    """Distance of that write amplification from the steady state, in per cent."""
    farthest: float | None
    """Largest absolute distance of any window, in per cent."""
    within: dict[str, bool | None]
    """For each level in per cent, whether all windows are within it;
    None if noise prevents an answer.
    """
    curve: tuple[float | None, ...]
    """Distance of each window (a quarter of a volume), in per cent."""


@dataclass(frozen=True, repr=False)
class Preconditioned(Shown):
    """Report that `precondition` returns."""

    device: str
    workload: str
    capacity_bytes: int
    """Bytes that the recipes write once: the bytes that the host can address,
    in whole requests of 128 KiB.
    """
    seeds: int
    budget: int
    """Volumes of the workload in each run."""
    window_volumes: float
    spare_factor: float
    """Share of all pages in service beyond the pages that the host can address."""
    units: int
    """Erase units of the drive."""
    steady: Steady
    recipes: tuple[Judged, ...]
    shortest: dict[str, str | None]
    """For each level in per cent, the name of the recipe within it that writes least;
    None if there is none.
    """
    warnings: tuple[str, ...]
    notes: tuple[str, ...]

    def _headline(self) -> str:
        steady = self.steady.write_amplification
        state = "not found" if steady is None else f"write amplification {steady.mean:.4g}"
        return f"{self.device} for {self.workload}: steady state {state}"

    def to_dict(self) -> dict[str, Any]:
        """Returns the document that `--json` prints."""
        return asdict(self)

    @property
    def points(self) -> pl.DataFrame:
        """All curves: `recipe`, `volumes` of the workload after it, `distance` in per cent."""
        return pl.DataFrame(
            [
                {"recipe": one.name, "volumes": (at + 1) / PER_VOLUME, "distance": distance}
                for one in self.recipes
                for at, distance in enumerate(one.curve)
            ],
            schema={"recipe": pl.String, "volumes": pl.Float64, "distance": pl.Float64},
        )


Series = list[list[float]]
"""Write amplification by window, for each seed."""


def precondition(
    *,
    device: Device | None = None,
    workload: str = WORKLOAD,
    set: Mapping[str, Any] | None = None,
    seed: int = 1,
    repeat: int = 5,
    budget: int = 32,
    workers: int | None = None,
    units: int | None = None,
    full_size: bool = False,
    progress: Progress | None = None,
) -> Preconditioned:
    """Measures how far recipes of preconditioning leave
    a drive from the steady state of a workload.

    `workload` is a generator without `writes` or `requests`, such as "zipf:theta=0.8". Without a
    `span` it covers the whole drive. `device` and `set` are as for `run`. `repeat` is the number of
    seeds, counted from `seed`. A drive without `flash.blocks` gets 256 MiB. `budget` is the number
    of volumes that the workload may take to become steady: 16, 32 or 64. Times are simulated only
    if `timing` is set or the drive cleans while it is idle. `units` and `full_size` are as for
    `run`.

    The workload itself finds the steady state, from two start states: one below it and one above
    it. `steady.steady_from` decides when a series of volumes is steady, and both series must reach
    the same level. If they do not, there is a warning, and no recipe is judged.

    Raises as `run` does.
    """
    if budget not in BUDGETS:
        raise _core.ConfigError(f"budget: {budget} given; expected 16, 32 or 64 volumes")
    if repeat < 1:
        raise _core.ConfigError(f"repeat: {repeat} given; expected at least 1 seed")
    sets = _sets(device, set or {})
    how = RunOptions(seed=seed, units=units, full_size=full_size)
    resolved = configs.resolve_all(device, sets, {})[0]
    drive, capacity, text = _sized(resolved, workload, budget, how)
    page = drive.config.page_bytes
    recipes = all_recipes(capacity, page)
    above = worn_evenly(capacity, page, drive.config.spare_factor)
    results = api.compare_results(
        text,
        device=device,
        set={key: value for key, value in sets.items() if key != PLAY} | scaling.shape(drive),
        vary={PLAY: list(dict.fromkeys([*(one.play for one in recipes), above]))},
        seeds=range(seed, seed + repeat),
        workers=workers,
        full_size=full_size,
        progress=progress,
    )
    judged = _report(results, recipes, above, (text, capacity, repeat, budget))
    return replace(judged, notes=(*drive.notes, *judged.notes))


def _report(
    results: Sequence[Result],
    recipes: Sequence[Recipe],
    above: str,
    asked: tuple[str, int, int, int],
) -> Preconditioned:
    """Returns the report on the runs.

    `asked` has the workload, the capacity, the seeds and the budget.
    """
    *_, budget = asked
    series: dict[str, Series] = {}
    for one in results:
        series.setdefault(one.setting(PLAY), []).append(_windows(one, budget))
    below = next(one.play for one in recipes if one.name == "fill")
    state = _steady({"sequential fill": below, "worn evenly": above}, series)
    judged, notes = _judge_all(recipes, series, state)
    drive = results[0].drive
    return Preconditioned(
        results[0].device,
        *asked,
        1 / PER_VOLUME,
        drive.spare_factor,
        drive.units,
        state,
        tuple(judged),
        _shortest(judged),
        (*_warnings(state, budget), *_engine_warnings(results, (below, above))),
        tuple(notes),
    )


def _sets(device: Device | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings of all runs: an erased drive,
    and no simulated time unless a setting needs it.
    """
    for key in given:
        if key.startswith("start."):
            raise _core.ConfigError(f"{key}: is given, but the recipes set the start state")
    sets = {**given, "start.fill": "none", PLAY: ""}
    idle = configs.resolve(device, sets).table()["cleaning"].get("idle_after")
    return sets if "timing" in sets or idle is not None else {**sets, "timing": "none"}


def _sized(
    drive: Resolved, workload: str, budget: int, how: RunOptions
) -> tuple[Resolved, int, str]:
    """Returns the drive as simulated, the bytes that the recipes write once, and the workload with
    its span and its requests.
    """
    if not sources.is_generator(f"{workload}{'' if ':' in workload else ':'}"):
        raise _core.ConfigError(f"workload: {workload!r} given; expected a generator")
    name, _, rest = workload.partition(":")
    keys = {part.partition("=")[0].strip() for part in rest.split(",")}
    if told := sorted(keys & {"writes", "requests"}):
        raise _core.ConfigError(
            f"workload: {told[0]} is given; expected none, because the workload runs until it is "
            "steady"
        )
    parts = [part for part in (rest.strip(),) if part]
    probe = ",".join([*parts, f"requests={PROBE}"])
    rows = {row["name"]: row for row in json.loads(_core.generators())}
    has_span = any(key["name"] == "span" for key in rows[name.strip()]["keys"])
    is_open = has_span and "span" not in keys
    generator = f"{name}:{probe}"
    span = SPAN if is_open else _core.Workload.generator(generator, how.seed).span_bytes
    drive = scaling.fit(drive, span, how)
    capacity = whole(drive.config.logical_bytes(span))
    if is_open:
        parts.append(f"span={capacity}")
    text = ",".join([f"{name}:{parts[0]}" if parts else f"{name}:", *parts[1:]])
    page = drive.config.page_bytes
    pages = _pages_written(f"{text},requests={PROBE}", how.seed, page)
    window = capacity / page * budget / WINDOWS
    return drive, capacity, f"{text},requests={WINDOWS * max(1, round(window / pages))}"


def _pages_written(text: str, seed: int, page: int) -> float:
    """Returns the mean pages that a request writes, from the first requests,
    which are representative.
    """
    pages = requests = 0
    for batch in _core.Workload.generator(text, seed).batches(PROBE):
        frame = pl.DataFrame(batch)
        writes = frame.filter(pl.col("op") == WRITE)
        first = writes["offset"] // page
        end = (writes["offset"] + writes["length"] + page - 1) // page
        pages += int((end - first).sum())
        requests += frame.height
    if not pages:
        raise _core.ConfigError(f"workload: {text} writes nothing; expected writes")
    return pages / requests


def _windows(result: Result, budget: int) -> list[float]:
    """Returns the write amplification in windows of a quarter of a volume."""
    timeline = result.timeline
    ends = [0, *timeline["host_bytes"]]
    programs = [
        (wa or 0.0) * (end - begin)
        for wa, begin, end in zip(timeline["write_amplification"], ends, ends[1:], strict=False)
    ]
    step = WINDOWS // budget // PER_VOLUME
    return [
        sum(programs[at : at + step]) / (ends[at + step] - ends[at])
        for at in range(0, WINDOWS, step)
    ]


def _steady(starts: Mapping[str, str], series: Mapping[str, Series]) -> Steady:
    """Returns the steady state that the workload reaches from each of the start states."""
    found = []
    for name, play in starts.items():
        means = [fmean(windows) for windows in zip(*series[play], strict=True)]
        volumes = [fmean(means[at : at + PER_VOLUME]) for at in range(0, len(means), PER_VOLUME)]
        first = steady.steady_from(volumes)
        tail = volumes[-steady.VOLUMES if first is None else first :]
        found.append(Start(name, play, first, fmean(tail)))
    known = [start.volumes for start in found if start.volumes is not None]
    begin = PER_VOLUME * max(known, default=0)
    tails = [
        [wa for play in starts.values() for wa in series[play][seed][begin:]]
        for seed in range(len(next(iter(series.values()))))
    ]
    mean = fmean(fmean(tail) for tail in tails)
    error = 100 * fmean(map(stdev, tails)) / mean / math.sqrt(len(tails))
    levels = [start.write_amplification for start in found]
    if len(known) < len(found) or not steady.agree(levels[0], levels[1]):
        return Steady(None, tuple(found), error)
    return Steady(_estimate([fmean(tail) for tail in tails]), tuple(found), error)


def _estimate(values: Sequence[float]) -> Estimate:
    mean, half = mean_and_half_width(values)
    assert mean is not None
    return Estimate(mean, half)


def _judge_all(
    found: Sequence[Recipe], series: Mapping[str, Series], state: Steady
) -> tuple[list[Judged], list[str]]:
    """Returns the judged recipes, and notes on the recipes that are left out."""
    judged, notes = [], []
    for recipe in found:
        own = [_own_windows(recipe, windows) for windows in series[recipe.play]]
        begins = [windows for windows in own if windows is not None]
        if len(begins) == len(own):
            judged.append(_judge(recipe, series[recipe.play], begins, state))
        else:
            notes.append(f"{recipe.title}: not complete within the volumes of the run")
    return judged, notes


def _own_windows(recipe: Recipe, windows: Sequence[float]) -> int | None:
    """Returns the windows of the workload that belong to the recipe;
    None if it did not complete.
    """
    if recipe.own_volumes is not None:
        return round(recipe.own_volumes * PER_VOLUME)
    # Throughput is assumed to be proportional to 1 / write amplification: flash programs limit it.
    seen = windows[: len(windows) - CURVE * PER_VOLUME]
    return steady.snia_rounds([1 / wa for wa in seen])


def _judge(recipe: Recipe, series: Series, begins: Sequence[int], state: Steady) -> Judged:
    after = [
        windows[begin : begin + CURVE * PER_VOLUME]
        for windows, begin in zip(series, begins, strict=True)
    ]
    first = _estimate([windows[0] for windows in after])
    own = fmean(begins) / PER_VOLUME
    known = (recipe.name, recipe.title, recipe.volumes + own, recipe.play, first)
    if state.write_amplification is None:
        nothing = dict.fromkeys(map(str, LEVELS))
        return Judged(*known, None, None, {**nothing}, (None,) * len(after[0]))
    level = state.write_amplification.mean
    distances = [[100 * (wa / level - 1) for wa in windows] for windows in after]
    curve = [fmean(at) for at in zip(*distances, strict=True)]
    farthest = max(map(abs, curve))
    within = {str(most): _is_within(farthest, most, state.window_error) for most in LEVELS}
    distance = _estimate([windows[0] for windows in distances])
    return Judged(*known, distance, farthest, within, tuple(curve))


def _is_within(farthest: float, most: float, error: float) -> bool | None:
    """Returns whether all windows are within the level;
    None if the windows are too noisy to decide.
    """
    if farthest - ERRORS * error > most:
        return False
    return farthest <= most if ERRORS * error <= most else None


def _shortest(judged: Sequence[Judged]) -> dict[str, str | None]:
    """Returns for each level the recipe within it that writes least."""
    found: dict[str, str | None] = {}
    for level in map(str, LEVELS):
        near = [one for one in judged if one.within[level]]
        found[level] = min(near, key=lambda one: one.volumes).name if near else None
    return found


def _warnings(state: Steady, budget: int) -> list[str]:
    if state.write_amplification is None:
        unsteady = [start.name for start in state.starts if start.volumes is None]
        levels = " and ".join(f"{start.write_amplification:.3f}" for start in state.starts)
        why = f"from {' and '.join(unsteady)}" if unsteady else "the same from two start states"
        text = (
            f"no steady state was found: in {budget} volumes write amplification did not become "
            f"steady {why} ({levels} in the last volumes); nothing is judged; use a larger "
            "budget, more seeds, or a larger drive"
        )
        return [text]
    coarse = [level for level in LEVELS if ERRORS * state.window_error > level]
    if not coarse:
        return []
    levels = " and ".join(f"{level} %" for level in coarse)
    error = f"the standard error of a window is {state.window_error:.2f} %"
    return [f"{levels} cannot be told: {error}; use more seeds or a larger drive"]


def _engine_warnings(results: Sequence[Result], plays: Sequence[str]) -> list[str]:
    """Returns the engine's warnings about the runs that lead to the steady state, once each."""
    runs = [result for result in results if result.setting(PLAY) in plays]
    return [*dict.fromkeys(text for result in runs for text in result.warnings)]
