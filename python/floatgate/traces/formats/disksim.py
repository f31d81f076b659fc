"""ASCII traces of five numbers, `timestamp device address length op`, op 1 a read, 0 a write.

Three dialects share the line: DiskSim, SSDsim and MQSim (blanks, 512-byte sectors), the
flashsim-dchoices rewrite (tabs, lengths in 4 KiB pages) and the Heimdall windows of the MSR
traces (blanks, milliseconds, bytes). No line states its units, so each reader says what it took.
"""

from __future__ import annotations

import polars as pl

from ..model import READ, TIME_UNITS, WRITE, Parsed
from ..text import NUMBER, TIME, Head, Matched, match, parsed
from .base import Format


def _line(gap: str) -> str:
    return (
        rf"^[ \t]*(?P<time>{TIME}){gap}(?P<device>\d+){gap}(?P<offset>{NUMBER}){gap}"
        rf"(?P<length>{NUMBER}){gap}(?P<op>[01])\s*$"
    )


_BLANKS = _line(" +")
_TABS = _line(r"\t+")
_EITHER = _line(r"[ \t]+")
_OPS = {"0": WRITE, "1": READ}

#: More requests a second than this on one device, sustained over a file, is taken for a misread
#: time unit: it is beyond the disks and drives whose traces are kept in this format.
RATE_MAX = 100_000


def time_unit(frame: pl.DataFrame) -> tuple[str, str]:
    """The time unit of a DiskSim-like trace, and a sentence that says why.

    DiskSim writes milliseconds with a fraction, SSDsim and MQSim whole nanoseconds. Where that
    would mean more than `RATE_MAX` requests a second on each device, the next coarser unit that
    does not is taken.
    """
    time = frame["time"]
    whole = bool((time % 1 == 0).all())
    written = "whole numbers" if whole else "numbers with a fraction"
    steps = ("ns", "us", "ms", "s") if whole else ("ms", "s")
    ticks = float(time.max() - time.min()) if len(time) else 0.0  # type: ignore[arg-type, operator]
    allowed = RATE_MAX * max(frame["device"].n_unique(), 1)
    too_fast = []
    for unit in steps:
        seconds = ticks * TIME_UNITS[unit] / 1e9
        if not seconds or len(time) / seconds <= allowed:
            break
        too_fast.append(unit)
    why = f"times are {written}"
    if too_fast:
        why += f", and {too_fast[-1]} would mean more than {RATE_MAX:,} requests/s on a device"
    return unit, f"time taken as {unit}: {why}"


def _are_bytes(head: Head) -> bool:
    # Sector numbers and counts that are all multiples of 512 by chance do not occur in a trace.
    found = head.matches(_BLANKS)
    numbers = [int(m[group]) for m in found for group in ("offset", "length")]
    return bool(numbers) and not any(n % 512 for n in numbers)


def _claims_heimdall(head: Head) -> bool:
    return _are_bytes(head)


def _claims_disksim(head: Head) -> bool:
    return bool(head.matches(_BLANKS)) and not _are_bytes(head)


def _claims_pages(head: Head) -> bool:
    return bool(head.matches(_TABS))


def _read_heimdall(data: bytes) -> Parsed:
    space = "taken as bytes: the first ones are all multiples of 512"
    guesses = {"address": f"addresses {space}", "length": f"lengths {space}"}
    return _timed(match(data, _EITHER), ("ms", "bytes", "bytes"), guesses)


def _read_disksim(data: bytes) -> Parsed:
    return _timed(match(data, _EITHER), ("ns", "sectors", "sectors"), {})


def _read_pages(data: bytes) -> Parsed:
    guesses = {"length": "lengths taken as 4 KiB pages: the fields are separated by tabs"}
    return _timed(match(data, _EITHER), ("ms", "sectors", "pages"), guesses)


def _timed(matched: Matched, units: tuple[str, str, str], guesses: dict[str, str]) -> Parsed:
    result = parsed(matched, _OPS, units, guesses=guesses)
    unit, result.guesses["time"] = time_unit(result.frame)
    result.units = (unit, units[1], units[2])
    return result


HEIMDALL = Format(
    "heimdall",
    "Heimdall windows of MSR Cambridge: time device byte_offset byte_length op (1 read, 0 write)",
    "ucare-uchicago/Heimdall",
    _claims_heimdall,
    _read_heimdall,
)
DISKSIM = Format(
    "disksim",
    "DiskSim/SSDsim/MQSim ASCII: time device lba sectors op (1 read, 0 write)",
    "DiskSim 4.0 reference manual (CMU-PDL-08-101); MQSim README",
    _claims_disksim,
    _read_disksim,
)
PAGES = Format(
    "disksim-pages",
    "DiskSim ASCII with tabs and lengths in 4 KiB pages",
    "RVerschoren/flashsim-dchoices",
    _claims_pages,
    _read_pages,
)
