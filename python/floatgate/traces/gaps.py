"""Long times without a request: what a trace has of them, and how they are shortened.

A clock that was set during a recording makes years of idle time, which a simulated drive spends
cleaning. No rule can tell that from a disk that was idle, so long gaps are said and never closed
unasked.
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
    """Nanoseconds of a text such as "90s", "1.5h" or "2d"; raises `TraceError`."""
    ns = _core.span_ns(str(text)) or 0
    if not 0 < ns < 1 << 63:
        raise TraceError(
            f"close_gaps: {text!r} given; expected a duration above 0, a number and one of "
            f"{', '.join(_UNITS)}"
        )
    return ns


def spell(ns: int) -> str:
    """A duration in the largest unit of which there is one, to four digits."""
    if ns >= _YEAR:
        years = f"{ns / _YEAR:.4g}"
        return f"{years} year" if years == "1" else f"{years} years"
    unit = max((name for name in _UNITS if ns >= _UNITS[name]), key=_UNITS.__getitem__, default="s")
    return f"{ns / _UNITS[unit]:.4g} {unit}"


def long_gap(duration: int) -> int:
    """From how many nanoseconds on a gap is long in a trace of `duration` ns.

    A tenth of the trace, but at least a minute and at most a day.
    """
    return min(_UNITS["d"], max(_UNITS["min"], -(-duration // 10)))


def told(at_ns: pl.Series) -> list[str]:
    """What is to be said about long gaps between the times `at_ns`, which rise from 0."""
    if at_ns.len() < 2:
        return []
    duration = int(at_ns[-1])
    border = long_gap(duration)
    gaps = at_ns.diff()
    long = gaps.filter(gaps >= border)
    if long.is_empty():
        return []
    longest = gaps.arg_max()
    assert longest is not None
    share = 100 * int(long.sum()) / duration
    what = f"{plural(long.len(), 'gap')} of {spell(border)} or more between requests"
    place = f"follows request {longest:,}, {spell(int(at_ns[longest - 1]))} after the first"
    size = f"{share:.3g} % of the trace's {spell(duration)}"
    most = spell(int(gaps[longest]))
    return [f"{what}, {size}; the longest, {most}, {place}; --close-gaps shortens them"]


def close(at_ns: pl.Series, most: int) -> tuple[pl.Series, str]:
    """The times with every gap longer than `most` ns shortened to `most`, and what was done."""
    gaps = at_ns.diff().fill_null(0)
    excess = pl.select(pl.when(gaps > most).then(gaps - most).otherwise(0)).to_series()
    closed = int((gaps > most).sum())
    if not closed:
        return at_ns, f"no gap between requests is longer than {spell(most)}: none shortened"
    removed = excess.cum_sum()
    note = (
        f"{plural(closed, 'gap')} between requests shortened to {spell(most)}: "
        f"{spell(int(removed[-1]))} of {spell(int(at_ns[-1]))} removed"
    )
    return at_ns - removed, note
