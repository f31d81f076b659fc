"""Traces of Florida International University (SyLab): homes, mail, web-vm, online and others.

Fields are separated by blanks: time in ns, process id, process name, sector, sectors, W or R, major
and minor number of the device, and digests of the content. File names end in `.blkparse`.
"""

from __future__ import annotations

import polars as pl

from ..text import NUMBER, RW, RW_WORD, Head, TextReader, Usual
from .base import Format

# The name of a process may contain blanks.
_LINE = (
    rf"^\s*(?P<time>\d+)\s+\d+\s+\S.*?\s+(?P<offset>{NUMBER})\s+(?P<length>{NUMBER})\s+"
    rf"(?P<op>{RW_WORD})\s+(?P<major>\d+)\s+(?P<minor>\d+)(?:\s[\s0-9A-Fa-f]*)?$"
)


def _claims(head: Head) -> bool:
    return bool(head.matches(_LINE))


def _reader() -> TextReader:
    device = pl.concat_str("major", "minor", separator=",")
    cells = "whole_time digits text offset length op major:digits minor:digits hex"
    usual = Usual(cells, gap="")
    return TextReader(_LINE, RW, ("ns", "sectors", "sectors"), device=device, usual=usual)


FORMAT = Format(
    "fiu",
    "FIU (SyLab) text: time_ns pid process sector sectors op major minor digests",
    "Koller and Rangaswami, I/O Deduplication, FAST '10; SNIA IOTTA",
    _claims,
    _reader,
)
