"""DiskMon logs of Windows: sequence, time, duration, disk, Read or Write, sector, sectors."""

from __future__ import annotations

from ..text import NUMBER, RW, RW_WORD, TIME, Head, TextReader, Usual
from .base import Format

_LINE = (
    rf"^\s*\d+\t(?P<time>{TIME})\t{TIME}\t(?P<device>\d+)\t(?P<op>{RW_WORD})\t"
    rf"(?P<offset>{NUMBER})\t(?P<length>{NUMBER})\s*$"
)


def _claims(head: Head) -> bool:
    return bool(head.matches(_LINE))


def _reader() -> TextReader:
    usual = Usual("digits time number device:digits op offset length", gap="\t")
    return TextReader(_LINE, RW, ("s", "sectors", "sectors"), usual=usual)


FORMAT = Format(
    "diskmon",
    "DiskMon text: sequence, time, duration, disk, Read or Write, sector, sectors",
    "Sysinternals DiskMon",
    _claims,
    _reader,
)
