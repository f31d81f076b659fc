"""DiskMon logs of Windows: sequence, time, duration, disk, Read or Write, sector, sectors."""

from __future__ import annotations

from ..model import READ, WRITE, Parsed
from ..text import TIME, Head, match, parsed
from .base import Format

_LINE = (
    rf"^\s*\d+\t(?P<time>{TIME})\t{TIME}\t(?P<device>\d+)\t(?P<op>Read|Write)\t"
    r"(?P<offset>\d+)\t(?P<length>\d+)\s*$"
)
_OPS = {"Read": READ, "Write": WRITE}


def _claims(head: Head) -> bool:
    return bool(head.matches(_LINE))


def _read(data: bytes) -> Parsed:
    return parsed(match(data, _LINE), _OPS, ("s", "sectors", "sectors"))


FORMAT = Format(
    "diskmon",
    "DiskMon text: sequence, time, duration, disk, Read or Write, sector, sectors",
    "Sysinternals DiskMon",
    _claims,
    _read,
)
