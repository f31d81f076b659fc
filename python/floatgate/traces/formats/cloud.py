"""CSV traces of cloud block storage and virtual desktops: Alibaba, Tencent, Systor '17.

The three formats differ in the order of their columns and in their units.
"""

from __future__ import annotations

import polars as pl

from ..model import READ, WRITE, plural
from ..text import NUMBER, RW, RW_WORD, TIME, Head, TextReader, Usual
from .base import Format

_PLACE = rf"(?P<offset>{NUMBER}),(?P<length>{NUMBER})"
_ALIBABA = (
    rf"^\s*(?P<device>\d+),(?P<op>{RW_WORD}),{_PLACE},(?P<time>\d+)\s*$",
    (r"(?i)^\s*device_id,opcode,", "the header"),
)
_TENCENT = (
    rf"^\s*(?P<time>\d+),{_PLACE},(?P<op>[01]),(?P<device>\d+)\s*$",
    (r"(?i)^\s*timestamp,offset,size,io_?type,", "the header"),
)
_SYSTOR = (
    rf"^\s*(?P<time>{TIME}),[^,]*,(?P<op>(?:{RW_WORD})?),(?P<device>\d+),{_PLACE}\s*$",
    (r"(?i)^\s*timestamp,response,", "the header"),
)
_DIGITS = {"0": READ, "1": WRITE}


def _claims_alibaba(head: Head) -> bool:
    return head.fits(_ALIBABA[0], _ALIBABA[1][0])


def _claims_tencent(head: Head) -> bool:
    return head.fits(_TENCENT[0], _TENCENT[1][0])


def _claims_systor(head: Head) -> bool:
    return head.fits(_SYSTOR[0], _SYSTOR[1][0])


def _alibaba() -> TextReader:
    usual = Usual("device:digits op offset length whole_time")
    return TextReader(_ALIBABA[0], RW, ("us", "bytes", "bytes"), other=_ALIBABA[1], usual=usual)


def _tencent() -> TextReader:
    usual, units = Usual("whole_time offset length op device:digits"), ("s", "sectors", "sectors")
    return TextReader(_TENCENT[0], _DIGITS, units, other=_TENCENT[1], usual=usual)


class _Systor(TextReader):
    """Reader that leaves out requests without a type, which are the requests without a response."""

    def __init__(self) -> None:
        usual = Usual("time any op device:digits offset length")
        super().__init__(_SYSTOR[0], RW, ("s", "bytes", "bytes"), other=_SYSTOR[1], usual=usual)
        self._untyped = 0

    def rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        typed = frame.filter((pl.col("op") != "").fill_null(True))
        self._untyped += frame.height - typed.height
        return typed

    def notes(self) -> list[str]:
        if not self._untyped:
            return []
        return [f"{plural(self._untyped, 'request')} left out: no type, as it got no response"]


ALIBABA = Format(
    "alibaba",
    "Alibaba block CSV: device_id,opcode,offset,length,timestamp_us",
    "Li et al., IISWC '20; github.com/alibaba/block-traces",
    _claims_alibaba,
    _alibaba,
)
TENCENT = Format(
    "tencent",
    "Tencent CBS CSV: timestamp_s,offset_sectors,size_sectors,iotype,volume_id",
    "Zhang et al., OSCA, USENIX ATC '20; SNIA IOTTA",
    _claims_tencent,
    _tencent,
)
SYSTOR = Format(
    "systor17",
    "Systor '17 CSV: Timestamp,Response,IOType,LUN,Offset,Size",
    "Lee et al., Understanding Storage Traffic Characteristics on Enterprise VDI, SYSTOR '17",
    _claims_systor,
    _Systor,
)
