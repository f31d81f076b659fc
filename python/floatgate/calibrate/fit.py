"""Search for the values that explain the data, and for the intervals that the data allow.

The search minimises the root mean square of the residuals, ln(simulated / measured). A simulation
counts whole pages, so this error is a step function of the keys, and its derivatives only show the
steps. Every evaluation has the same seed, so that random effects cancel in a comparison.

One key is searched by Brent's bounded method: golden sections, with parabolas where these help.
Several keys are searched by Nelder and Mead's bounded simplex. Neither method needs a derivative,
and neither leaves the range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .keys import Key

SCAN = 6
"""Number of steps across the range; the search for one key continues around the best step."""
SHARE_TOLERANCE = 0.002
"""A search ends when its steps become smaller than this share of the ranges."""
SEARCH_MOST = 80
"""Maximum number of simulations in a search for several keys."""
REFIT_MOST = 16
"""Maximum number of simulations in a search for the other keys while one key is fixed."""
HALVINGS = 8
"""Number of halvings of the bracket around an end of an interval."""
END_SHARE = 0.01
"""A value counts as at an end of its range if it is within this share of the range from the end."""
ALIKE = 0.95
"""Minimum cosine of two keys' effects at which the keys count as indistinct."""

Residuals = Callable[[Mapping[str, str]], Sequence[float]]


@dataclass(frozen=True)
class Interval:
    """Values of a key that explain the data equally well if all other keys are fitted again."""

    low: float
    high: float
    open_low: bool
    open_high: bool
    """Whether the end of the interval is the end of the range."""

    @property
    def is_open(self) -> bool:
        """Whether the interval is the whole range."""
        return self.open_low and self.open_high


@dataclass(frozen=True)
class Fitted:
    """A key with its fitted value, and the interval that the data allow."""

    key: Key
    value: float
    interval: Interval | None
    """None if no interval was computed."""

    @property
    def is_idle(self) -> bool:
        """Whether every value of the range explains the data equally well."""
        return self.interval is not None and self.interval.is_open

    @property
    def is_at_end(self) -> bool:
        """Whether the value is at an end of its range, beyond which there may be a better value.

        A lower end of 0 does not count: no value lies below it.
        """
        share = self.key.share(self.value)
        return share >= 1 - END_SHARE or (share <= END_SHARE and self.key.low > 0)


@dataclass(frozen=True)
class Fit:
    """Result of a search."""

    fitted: tuple[Fitted, ...]
    error: float
    """Root mean square of the residuals; a small value is close to the relative error."""
    noise: float
    """Relative difference between repeated measurements; errors below the noise mean nothing."""
    indistinct: tuple[str, ...]
    """Questions that the data cannot answer, in words."""
    evaluations: int

    @property
    def settings(self) -> dict[str, str]:
        """The fitted values, as texts for the config."""
        return {one.key.name: one.key.text(one.value) for one in self.fitted}


def rms(residuals: Sequence[float]) -> float:
    """Returns the root mean square."""
    return math.sqrt(sum(one * one for one in residuals) / len(residuals))


def weighted(runs: Sequence[Sequence[float]]) -> list[float]:
    """Joins the residuals of runs into one list in which every run has the same weight.

    A rate beyond the knee has one residual, and a rate below the knee has four. Without weights, a
    rate beyond the knee would count a fourth as much.
    """
    count = sum(len(run) for run in runs)
    return [one * math.sqrt(count / len(runs) / len(run)) for run in runs for one in run]


class _Search:
    """Residuals as a function of shares of the ranges; no value is simulated twice."""

    def __init__(self, keys: Sequence[Key], residuals: Residuals) -> None:
        self.keys = keys
        self.evaluations = 0
        self._residuals = residuals
        self._known: dict[tuple[str, ...], Sequence[float]] = {}

    def settings(self, shares: Sequence[float]) -> dict[str, str]:
        pairs = zip(self.keys, shares, strict=True)
        return {key.name: key.text(key.at(share)) for key, share in pairs}

    def residuals(self, shares: Sequence[float]) -> Sequence[float]:
        settings = self.settings(shares)
        values = tuple(settings.values())
        if values not in self._known:
            self.evaluations += 1
            self._known[values] = self._residuals(settings)
        return self._known[values]

    def error(self, shares: Sequence[float]) -> float:
        return rms(self.residuals(shares))

    def best(self, begin: Sequence[float], free: Sequence[int], most: int) -> list[float]:
        """Returns the best shares; only the shares in `free` may differ from `begin`."""
        if not free:
            return list(begin)

        def error(moved: Sequence[float]) -> float:
            return self.error(_moved(begin, free, moved))

        found = (
            [_one(lambda x: error([x]))]
            if len(free) == 1
            else _several(error, [begin[i] for i in free], most)
        )
        candidates = [list(begin), _moved(begin, free, found)]
        return min(candidates, key=self.error)


def _moved(begin: Sequence[float], free: Sequence[int], values: Sequence[float]) -> list[float]:
    shares = list(begin)
    for i, value in zip(free, values, strict=True):
        shares[i] = min(max(float(value), 0.0), 1.0)
    return shares


def _one(error: Callable[[float], float]) -> float:
    """Minimises a function on 0 to 1: takes the best of some values, then searches around it."""
    from scipy.optimize import minimize_scalar

    values = [i / SCAN for i in range(SCAN + 1)]
    best = min(values, key=error)
    around = (max(0.0, best - 1 / SCAN), min(1.0, best + 1 / SCAN))
    options = {"xatol": SHARE_TOLERANCE}
    found = minimize_scalar(error, bounds=around, method="bounded", options=options)
    return min(best, float(found.x), key=error)


def _several(
    error: Callable[[Sequence[float]], float], begin: Sequence[float], most: int
) -> list[float]:
    from scipy.optimize import minimize

    # The simplex starts with steps of a quarter of the range. The function's own steps are smaller.
    corners = [list(begin)]
    for i, at in enumerate(begin):
        corner = list(begin)
        corner[i] = at + 0.25 if at <= 0.5 else at - 0.25
        corners.append(corner)
    found = minimize(
        error,
        begin,
        method="Nelder-Mead",
        bounds=[(0.0, 1.0)] * len(begin),
        options={
            "initial_simplex": corners,
            "xatol": SHARE_TOLERANCE,
            "fatol": 1e-5,
            "maxfev": most,
        },
    )
    return [float(x) for x in found.x]


def fit(
    keys: Sequence[Key],
    residuals: Residuals,
    noise_at: Callable[[Mapping[str, str]], float],
    *,
    intervals: bool = True,
) -> Fit:
    """Fits the keys to the residuals; `noise_at` returns the noise of repeated runs of a drive.

    Without `intervals` the search finds only the best values, in at most a third of the
    simulations.
    """
    search = _Search(keys, residuals)
    best = search.best([0.5] * len(keys), list(range(len(keys))), SEARCH_MOST)
    error = search.error(best)
    noise = noise_at(search.settings(best))
    if not intervals:
        fitted = tuple(
            Fitted(key, key.at(share), None) for key, share in zip(keys, best, strict=True)
        )
        return Fit(fitted, error, noise, (), search.evaluations)
    limit = math.hypot(error, noise)
    found = [_interval(search, best, i, limit) for i in range(len(keys))]
    fitted = tuple(
        Fitted(key, key.at(share), interval)
        for key, share, interval in zip(keys, best, found, strict=True)
    )
    indistinct = _indistinct(search, best, found, noise)
    return Fit(fitted, error, noise, tuple(indistinct), search.evaluations)


def _interval(search: _Search, best: Sequence[float], i: int, limit: float) -> Interval:
    """Returns the values of key `i` within the error limit, with the other keys fitted again."""
    others = [other for other in range(len(best)) if other != i]

    def within(share: float) -> bool:
        held = [*best[:i], share, *best[i + 1 :]]
        # If the error is within the limit already, the other keys need no new fit.
        if search.error(held) <= limit:
            return True
        return bool(others) and search.error(search.best(held, others, REFIT_MOST)) <= limit

    def end(edge: float) -> tuple[float, bool]:
        if within(edge):
            return edge, True
        inside, outside = best[i], edge
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if within(middle) else (inside, middle)
        return inside, False

    (low, open_low), (high, open_high) = end(0.0), end(1.0)
    key = search.keys[i]
    return Interval(key.at(low), key.at(high), open_low, open_high)


def _indistinct(
    search: _Search, best: Sequence[float], intervals: Sequence[Interval], noise: float
) -> list[str]:
    """Describes the keys without an effect, and pairs of keys with the same effect."""
    keys = search.keys
    anew = ", if the others are fitted anew" if len(keys) > 1 else ""
    found = [
        f"{key.name}: every value from {key.text(one.low)} to {key.text(one.high)} "
        f"explains the data as well{anew}"
        for key, one in zip(keys, intervals, strict=True)
        if one.is_open
    ]
    effects = [_effect(search, best, i, one) for i, one in enumerate(intervals)]
    for i, one in enumerate(effects):
        for j, other in enumerate(effects[:i]):
            both = rms(one) * rms(other) * len(one)
            if min(rms(one), rms(other)) < noise / 4:
                continue
            cosine = sum(a * b for a, b in zip(one, other, strict=True)) / both
            if abs(cosine) >= ALIKE:
                pair = f"{keys[j].name} and {keys[i].name}"
                found.append(f"{pair}: their effects are alike (cosine {cosine:+.2f})")
    return found


def _effect(search: _Search, best: Sequence[float], i: int, one: Interval) -> list[float]:
    """Returns the change of the residuals over the interval of key `i`.

    On each side of the best value, the interval is limited to a tenth of the range, and widened to
    at least a fiftieth.
    """
    key = search.keys[i]
    low = max(key.share(one.low), best[i] - 0.1)
    high = min(key.share(one.high), best[i] + 0.1)
    low, high = min(low, max(0.0, best[i] - 0.02)), max(high, min(1.0, best[i] + 0.02))
    ends = [search.residuals([*best[:i], share, *best[i + 1 :]]) for share in (low, high)]
    return [after - before for before, after in zip(*ends, strict=True)]
