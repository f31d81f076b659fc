"""`tune`: tries configs on a trace, and ends trials early if they begin badly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any, NamedTuple

from floatgate import _core
from floatgate.results.result import Result
from floatgate.results.table import comparison_table
from floatgate.simulation import configs, pool, runner, scaling, sources
from floatgate.simulation.configs import Device, Resolved
from floatgate.simulation.options import RunOptions
from floatgate.simulation.watching import Progress

from .optimizer import Direction, Optimizer, check_installed
from .outcome import Goal, Tried, Tuned, front, told
from .ranges import Value
from .space import Asked, Given, asked, check_axes, config_text

TRIALS = 40

EARLY = 0.2
"""Share of the requests after which a trial is evaluated."""

UNPRUNED = 5
"""Trials that are never ended early, so that later trials have a median for comparison."""

ORACLE = {"placement.scheme": "oracle"}


def tune(
    trace: Any,
    *,
    objective: str | Sequence[str],
    vary: Mapping[str, Given],
    device: Device | None = None,
    set: Mapping[str, Any] | None = None,
    trials: int = TRIALS,
    seed: int = 1,
    sampler: str = "tpe",
    prune: bool = True,
    progress: Progress | None = None,
    **options: Any,
) -> Tuned:
    """Finds the best config for a trace, or the configs on the Pareto front of several objectives.

    `objective` is the path of a number in a result, such as "write_amplification",
    "latency.read.p99_us" or "max:throughput.iops"; several objectives give a Pareto front. `vary`
    maps config keys to choices ("greedy,fifo", or a list) or to ranges: "1..12" for whole numbers,
    "0.05..0.3" for other numbers, "64KiB..4MiB" for sizes, which double from the first. ":log"
    after a range makes equal ratios equally likely. A range may also be a table as in a study file,
    {"from": 1, "to": 12, "log": True}. `sampler` is "tpe" (a tree-structured Parzen estimator) or
    "random". All runs use the same `seed`, so that random differences cancel. The sampler uses it,
    too, so the same call returns the same result.

    A trial is pruned if, after a fifth of the requests, it is worse in every objective than the
    median of the trials before it. `device`, `set`, `trace` and the other options are as for `run`.
    All keys, values and objectives are checked before any run. Raises as `run` does.
    """
    named = [objective] if isinstance(objective, str) else [*objective]
    given = asked(named, vary, trials=trials, seed=seed, sampler=sampler, prune=prune)
    check_axes(given.axes, device, set or {})
    check_installed()
    how = RunOptions(seed=seed, **options)
    search = _Search(trace, given, device, dict(set or {}), how, progress)
    return search.run()


class Said(NamedTuple):
    """Messages about a run."""

    warnings: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass
class _Search:
    """A search in progress."""

    trace: Any
    given: Asked
    device: Device | None
    set: dict[str, Any]
    how: RunOptions
    progress: Progress | None
    tried: list[Tried] = field(default_factory=list)
    known: dict[tuple[str, bool], tuple[float, ...]] = field(default_factory=dict)
    """Objectives by config, and by whether they are from the early part: no run is made twice."""
    said: dict[str, Said] = field(default_factory=dict)
    """Messages about runs of the whole trace, by config."""
    shown: dict[str, Said] = field(default_factory=dict)
    """Messages about runs whose numbers are shown, by their names."""

    def run(self) -> Tuned:
        """Runs the whole search: the drive as given, the trials, the bound."""
        self._open()
        default = self._shown("as given", {})
        self._search()
        values = {
            one.number: [
                goal.sign * value
                for goal, value in zip(self.given.objectives, one.values, strict=True)
            ]
            for one in self.tried
            if one.values is not None
        }
        if not values:
            reasons = {one.reason for one in self.tried}
            raise _core.ConfigError(f"no trial was completed: {'; '.join(sorted(reasons)[:3])}")
        return self._found(default, values)

    def _open(self) -> None:
        """Opens the trace, and its early part."""
        if self.progress is not None:
            self.progress("read", 0, 0)
        self.whole = sources.open_source(self.trace, self.how)
        self.requests = self.whole.load(None).workload.requests
        if not self.requests:
            raise _core.ConfigError(
                f"{self.whole.name}: only a time ends its jobs, and a search tries an early part "
                "of the requests; expected jobs that their size ends"
            )
        once = self.requests // self.how.repeat
        early = replace(self.how, limit=max(1, round(once * EARLY)), repeat=1)
        self.part = sources.open_source(self.trace, early)

    def _found(self, default: Sequence[float], values: Mapping[int, Sequence[float]]) -> Tuned:
        """Returns the report; `values` has the complete trials, and smaller is better."""
        best = front(values)
        for one in best:
            self._shown(f"trial {one}", self.tried[one].settings)
        drives = [self._scaled(self.tried[one].settings) for one in best]
        goals = self._goals(default, {one: values[one] for one in best})
        return Tuned(
            self.whole.name,
            configs.name(self.device),
            self.given.sampler,
            self.given.seed,
            self.part.how.limit or 0,
            self.requests,
            tuple(goals),
            tuple(self.tried),
            tuple(best),
            tuple(configs.to_toml(drive) for drive in drives),
            told({name: said.warnings for name, said in self.shown.items()}),
            told({name: said.notes for name, said in self.shown.items()}),
        )

    def _search(self) -> None:
        """Tries the proposed configs."""
        given = self.given
        ways: dict[str, Direction] = {"min": "minimize", "max": "maximize"}
        directions = [ways[one.direction] for one in given.objectives]
        optimizer = Optimizer(given.axes, directions, given.seed, given.sampler)
        for number in range(given.trials):
            if self.progress is not None:
                self.progress("trials", number, given.trials)
            proposal = optimizer.ask()
            one = self._try(number, proposal.values)
            self.tried.append(one)
            optimizer.tell(proposal, one.values, one.early or ())

    def _try(self, number: int, proposed: Mapping[str, Value]) -> Tried:
        settings = {key: config_text(self.given.axes[key], one) for key, one in proposed.items()}
        early: tuple[float, ...] | None = None
        state, reason, values = "complete", "", None
        try:
            drive = self._resolved(settings)
            if self.given.prune and len(self._begun()) >= UNPRUNED:
                early = self._values(drive, early=True)
                reason = self._worse(early)
            if not reason:
                values = self._values(drive, early=False)
                early = early or (self._values(drive, early=True) if self.given.prune else None)
            else:
                state = "pruned"
        except _core.ConfigError as error:
            state, reason = "refused", str(error)
        except _core.RunError as error:
            state, reason = "failed", str(error)
        return Tried(number, state, settings, early, values, reason)

    def _begun(self) -> list[tuple[float, ...]]:
        return [one.early for one in self.tried if one.early is not None]

    def _worse(self, early: Sequence[float]) -> str:
        """Returns the reason to end a trial; empty if it continues."""
        middles = [median(column) for column in zip(*self._begun(), strict=True)]
        goals = self.given.objectives
        pairs = list(zip(goals, early, middles, strict=True))
        if all(goal.sign * value > goal.sign * middle for goal, value, middle in pairs):
            told = ", ".join(
                f"{goal.metric} {value:.4g}, median {m:.4g}" for goal, value, m in pairs
            )
            return f"after {EARLY:.0%} of the requests worse than the median: {told}"
        return ""

    def _resolved(self, settings: Mapping[str, str]) -> Resolved:
        return configs.resolve_all(self.device, {**self.set, **settings}, {})[0]

    def _shown(self, name: str, settings: Mapping[str, str]) -> tuple[float, ...]:
        """Returns a drive's objectives for all requests, and records the messages of its run."""
        drive = self._resolved(settings)
        values = self._values(drive, early=False)
        self.shown[name] = self.said[drive.config.text]
        return values

    def _values(self, drive: Resolved, *, early: bool) -> tuple[float, ...]:
        """Returns the objectives of a drive, for all requests or for the early part."""
        at = (drive.config.text, early)
        if at not in self.known:
            result = self._run(drive, early)
            if not early:
                self.said[drive.config.text] = Said(result.warnings, result.notes)
            row = comparison_table([result], []).row(0, named=True)
            found = []
            for goal in self.given.objectives:
                if (value := row.get(goal.metric)) is not None:
                    found.append(float(value))
                else:
                    raise _core.ConfigError(
                        f"objective: {goal.metric} does not exist in this run (nothing of the kind "
                        "happened, or time is not simulated)"
                    )
            self.known[at] = tuple(found)
        return self.known[at]

    def _scaled(self, settings: Mapping[str, str]) -> dict[str, Any]:
        """Returns the config of a trial's drive as it was simulated."""
        span = self.whole.load(None).span
        return scaling.fit(self._resolved(settings), span, self.how).config.table()

    def _run(self, drive: Resolved, early: bool) -> Result:
        source = self.part if early else self.whole
        return pool.run_all([runner.only(source, drive, source.how)], 1, None)[0]

    def _goals(self, default: Sequence[float], values: Mapping[int, Sequence[float]]) -> list[Goal]:
        """Returns the objectives with bounds; `values` has the front, and smaller is better."""
        found = []
        for at, goal in enumerate(self.given.objectives):
            bound, what = None, "no bound is known for this metric"
            if "write_amplification" in goal.metric and goal.direction == "min":
                # With several objectives, the drive that is best in this objective.
                best = min(values, key=lambda number: (values[number][at], number))
                bound, what = self._bound(at, self.tried[best].settings, values[best][at])
            found.append(Goal(goal.metric, goal.direction, default[at], bound, what))
        return found

    def _bound(self, at: int, settings: Mapping[str, str], best: float) -> tuple[float | None, str]:
        """Returns the value that the oracle's placement reaches on a drive, with an explanation."""
        try:
            name = f"oracle for {self.given.objectives[at].metric}"
            bound = self._shown(name, {**settings, **ORACLE})[at]
        except (_core.ConfigError, _core.RunError) as error:
            return None, f"no oracle on the best drive: {error}"
        if bound > best:
            # The oracle knows when data die, but not how the victim policy handles its streams.
            return None, f"placement by an oracle on the best drive is no better: {bound:.4g}"
        return bound, "placement by an oracle on the best drive: the best found, not a proof"
