"""ASCII traces of five numbers, `timestamp device address length op`.

op is 0 for a write, 1 for a read, and 2 for a trim in forks of SSDsim and MQSim.

Three dialects share the line: DiskSim, SSDsim and MQSim (blanks, 512-byte sectors), the
flashsim-dchoices rewrite (tabs, lengths in 4 KiB pages) and the Heimdall windows of the MSR
traces (blanks, milliseconds, bytes). No line states its units, so each reader reports the units
that it assumed.
"""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import polars as pl

from ..headers import unit_in
from ..model import READ, TIME_UNITS, TRIM, WRITE, Parsed, shorten
from ..text import NUMBER, TIME, Head, TextReader, Usual
from .base import Format


def _line(gap: str) -> str:
    return (
        rf"^[ \t]*(?P<time>{TIME}){gap}(?P<device>\d+){gap}(?P<offset>{NUMBER}){gap}"
        rf"(?P<length>{NUMBER}){gap}(?P<op>\d)\s*$"
    )


_BLANKS = _line(" +")
_TABS = _line(r"\t+")
_EITHER = _line(r"[ \t]+")
_USUAL = Usual("time device:digits offset length op", gap="")
_OPS = {"0": WRITE, "1": READ, "2": TRIM}

#: Highest plausible rate on one device, in requests per second over a whole file. A higher rate
#: means a misread time unit: no disk or drive with traces in this format reaches it.
RATE_MAX = 100_000


#: Range of times that count as dates, in seconds since 1970: from 2001 to 2039.
_UNIX_S = (10**9, 22 * 10**8)

#: Ticks per second of each clock unit, and the seconds from the zero of the clock to 1970: Windows
#: counts from 1601.
_CLOCKS = {
    "s": (1, 0),
    "ms": (10**3, 0),
    "us": (10**6, 0),
    "ns": (10**9, 0),
    "100ns": (10**7, 11_644_473_600),
}

#: Longest mean time between requests, in seconds, for times that count as dates.
_PAUSE_MAX = 3600

#: Maximum number of decimals of a clock: for a time in ms, and for a time in s. A float has more.
_DECIMALS_MS, _DECIMALS_S = 6, 9


class UntimedReader(TextReader):
    """Guesses the time unit of a DiskSim-like trace.

    A column title states the unit, if there is one. Times that are dates from 2001 to 2039 count
    from 1970, or from 1601 on Windows. Times with seven to nine decimals are seconds: the last
    decimal of milliseconds would be less than a nanosecond. Otherwise times with a fraction are
    milliseconds, as in DiskSim, and whole times are nanoseconds, as in SSDsim and MQSim. If this
    unit means more than `RATE_MAX` requests a second on each device, the reader takes the next
    coarser unit that does not.
    """

    title = ""
    _count = 0
    _is_whole = True
    _decimals = 0
    _times: tuple[Any, ...] = ()
    _devices: frozenset[str] = frozenset()

    def take(self, data: bytes, last: bool) -> tuple[pl.DataFrame, int]:
        frame, used = super().take(data, last)
        time = frame["time"]
        if len(time):
            self._count += len(time)
            self._is_whole = self._is_whole and bool((time % 1 == 0).all())
            times = (*self._times, time.min(), time.max())
            self._times = (min(times), max(times))
            self._devices |= set(frame["device"].unique())
        return frame, used

    def rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        decimals = frame.select(pl.col("time").str.extract(r"\.(\d+)$").str.len_chars().max())
        self._decimals = max(self._decimals, decimals.item() or 0)
        return frame

    def usual_rows(self, frame: pl.DataFrame, decimals: int) -> pl.DataFrame:
        self._decimals = max(self._decimals, decimals)
        return frame

    def told(self) -> Parsed:
        unit, self.guesses["time"] = self._unit()
        self.units = (unit, *self.units[1:])
        return super().told()

    def _unit(self) -> tuple[str, str]:
        """Returns the unit and a sentence with the reason."""
        unit, why = self._stated() or self._by_rate()
        return unit, f"time taken as {unit}: {why}"

    def _stated(self) -> tuple[str, str] | None:
        """Returns the unit that the title, the dates or the decimals state, and the reason."""
        if unit := unit_in(self.title, "time"):
            return unit, f"its column is called {shorten(self.title)}"
        if self._times:
            first, last = map(float, self._times)
            for unit, (ticks, zero) in _CLOCKS.items():
                begin, end = first / ticks - zero, last / ticks - zero
                is_date = _UNIX_S[0] <= begin and end < _UNIX_S[1]
                if is_date and end - begin <= _PAUSE_MAX * self._count:
                    day = datetime.fromtimestamp(begin, timezone.utc)
                    clock = "a Windows file time" if zero else "a Unix time"
                    return unit, f"the first one is {clock} of {day:%Y-%m-%d}"
        if _DECIMALS_MS < self._decimals <= _DECIMALS_S:
            return "s", f"{self._decimals} decimals of ms would be less than a nanosecond"
        return None

    def _by_rate(self) -> tuple[str, str]:
        written = "whole numbers" if self._is_whole else "numbers with a fraction"
        steps = ("ns", "us", "ms", "s") if self._is_whole else ("ms", "s")
        ticks = float(self._times[1] - self._times[0]) if self._times else 0.0
        allowed = RATE_MAX * max(len(self._devices), 1)
        too_fast = []
        for unit in steps:
            seconds = ticks * TIME_UNITS[unit] / 1e9
            if not seconds or self._count / seconds <= allowed:
                break
            too_fast.append(unit)
        why = f"times are {written}"
        if too_fast:
            why += f", and {too_fast[-1]} would mean more than {RATE_MAX:,} requests/s on a device"
        return unit, why


def _are_bytes(head: Head) -> bool:
    # In a trace, sector numbers and counts are never all multiples of 512 by chance.
    found = head.matches(_BLANKS)
    numbers = [int(m[group]) for m in found for group in ("offset", "length")]
    return bool(numbers) and not any(n % 512 for n in numbers)


def _claims_heimdall(head: Head) -> bool:
    return _are_bytes(head)


def _claims_disksim(head: Head) -> bool:
    return bool(head.matches(_BLANKS)) and not _are_bytes(head)


def _claims_pages(head: Head) -> bool:
    return bool(head.matches(_TABS))


def _heimdall() -> TextReader:
    space = "taken as bytes: the first ones are all multiples of 512"
    guesses = {"address": f"addresses {space}", "length": f"lengths {space}"}
    units = ("ms", "bytes", "bytes")
    return UntimedReader(_EITHER, _OPS, units, guesses=guesses, usual=_USUAL)


def _disksim() -> TextReader:
    return UntimedReader(_EITHER, _OPS, ("ns", "sectors", "sectors"), usual=_USUAL)


def _pages() -> TextReader:
    guesses = {"length": "lengths taken as 4 KiB pages: the fields are separated by tabs"}
    units = ("ms", "sectors", "pages")
    return UntimedReader(_EITHER, _OPS, units, guesses=guesses, usual=_USUAL)


HEIMDALL = Format(
    "heimdall",
    "Heimdall windows of MSR Cambridge: time device byte_offset byte_length op (as DiskSim)",
    "ucare-uchicago/Heimdall",
    _claims_heimdall,
    _heimdall,
)
DISKSIM = Format(
    "disksim",
    "DiskSim/SSDsim/MQSim ASCII: time device lba sectors op (0 write, 1 read, 2 trim)",
    "DiskSim 4.0 reference manual (CMU-PDL-08-101); MQSim README",
    _claims_disksim,
    _disksim,
)
PAGES = Format(
    "disksim-pages",
    "DiskSim ASCII with tabs and lengths in 4 KiB pages",
    "RVerschoren/flashsim-dchoices",
    _claims_pages,
    _pages,
)
