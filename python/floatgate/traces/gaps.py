"""Long gaps between requests: how a trace reports them, and how they are shortened.

If a clock is set during a recording, the trace contains years of idle time, and a simulated drive
would spend them cleaning. No rule can distinguish such a gap from a disk that was idle. So a trace
reports long gaps, and closes them only on request.
"""

from __future__ import annotations

import polars as pl

from .. import _core
from .model import TraceError, plural

_UNITS = {
    "ns": 1,
    "us": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "min": 60 * 10**9,
    "h": 3600 * 10**9,
    "d": 86_400 * 10**9,
}
_YEAR = 365.25 * _UNITS["d"]


def parse_duration(text: str) -> int:
    """Returns the nanoseconds of a text such as "90s", "1.5h" or "2d". Raises `TraceError`."""
    ns = _core.span_ns(str(text)) or 0
    if not 0 < ns < 1 << 63:
        raise TraceError(
            f"close_gaps: {text!r} given; expected a duration above 0, a number and one of "
            f"{', '.join(_UNITS)}"
        )
    return ns


def spell(ns: int) -> str:
    """Formats a duration with four digits, in the largest unit that it reaches."""
    if ns >= _YEAR:
        years = f"{ns / _YEAR:.4g}"
        return f"{years} year" if years == "1" else f"{years} years"
    unit = max((name for name in _UNITS if ns >= _UNITS[name]), key=_UNITS.__getitem__, default="s")
    return f"{ns / _UNITS[unit]:.4g} {unit}"


def long_gap(duration: int) -> int:
    """Returns the minimum length of a long gap, in ns, in a trace of `duration` ns.

    The minimum is a tenth of the trace, limited to the range from a minute to a day.
    """
    return min(_UNITS["d"], max(_UNITS["min"], -(-duration // 10)))


class Gaps:
    """Finds the long gaps between times that rise from 0, batch by batch."""

    def __init__(self) -> None:
        self._count = 0
        self._last = 0
        #: The longest gap, the number of requests before it, and the time of the last of them.
        self._longest = (0, 0, 0)
        #: Gaps that are long for the duration so far. The limit only rises with the duration.
        self._long: list[int] = []

    def add(self, at_ns: pl.Series) -> None:
        if at_ns.is_empty():
            return
        first = self._last if self._count else int(at_ns[0])
        times = pl.concat([pl.Series(at_ns.name, [first], at_ns.dtype), at_ns])
        gaps = times.diff().slice(1)
        at = gaps.arg_max()
        assert at is not None
        if int(gaps[at]) > self._longest[0]:
            self._longest = (int(gaps[at]), self._count + at, int(times[at]))
        self._count += at_ns.len()
        self._last = int(at_ns[-1])
        border = long_gap(self._last)
        if self._longest[0] >= border:
            found = gaps.filter(gaps >= border).to_list()
            self._long = [gap for gap in self._long + found if gap >= border]

    def told(self) -> list[str]:
        """Returns the note about long gaps, or an empty list."""
        duration = self._last
        border = long_gap(duration)
        long = [gap for gap in self._long if gap >= border]
        if not long:
            return []
        longest, after, at_ns = self._longest
        share = 100 * sum(long) / duration
        what = f"{plural(len(long), 'gap')} of {spell(border)} or more between requests"
        place = f"follows request {after:,}, {spell(at_ns)} after the first"
        size = f"{share:.3g} % of the trace's {spell(duration)}"
        most = spell(longest)
        return [f"{what}, {size}; the longest, {most}, {place}; --close-gaps shortens them"]


class Closing:
    """Shortens every gap longer than `most` ns to `most`, between times that rise from 0."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._last = self._removed = self._closed = 0

    def close(self, at_ns: pl.Series) -> pl.Series:
        """Returns the next times with shortened gaps; the caller passes them in batches."""
        before = pl.Series(at_ns.name, [self._last], at_ns.dtype)
        gaps = pl.concat([before, at_ns]).diff().slice(1)
        most = self._most
        excess = pl.select(pl.when(gaps > most).then(gaps - most).otherwise(0)).to_series()
        removed = excess.cum_sum() + self._removed
        closed: pl.Series = at_ns - removed
        if at_ns.len():
            self._last = int(at_ns[-1])
            self._closed += int((gaps > most).sum())
            self._removed = int(removed[-1])
        return closed

    def told(self) -> str:
        """Returns the note about the gaps shortened so far."""
        if not self._closed:
            return f"no gap between requests is longer than {spell(self._most)}: none shortened"
        return (
            f"{plural(self._closed, 'gap')} between requests shortened to {spell(self._most)}: "
            f"{spell(self._removed)} of {spell(self._last)} removed"
        )


def told(at_ns: pl.Series) -> list[str]:
    """Returns the note about long gaps between the times `at_ns`, which rise from 0."""
    gaps = Gaps()
    gaps.add(at_ns)
    return gaps.told()
