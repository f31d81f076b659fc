"""BIOtracer logs of smartphones (Nexus 5).

Fields are separated by tabs: start sector, sectors, bytes, access type, then four times in seconds.
The first time is the creation of the request and becomes its arrival time; lines are in another
order. The lowest bit of the access type is 1 for a write.
"""

from __future__ import annotations

import polars as pl

from ..model import READ, WRITE
from ..text import NUMBER, Head, TextReader, Usual
from .base import Format

_LINE = (
    rf"^\s*(?P<offset>{NUMBER})\t+\d+\t+(?P<length>{NUMBER})\t+(?P<kind>\d+)\t+"
    r"(?P<time>\d+\.\d+)(?:\t+\d+\.\d+){3}\s*$"
)
_USUAL = Usual("offset digits length op_bit fraction_time fraction fraction fraction", gap="\t+")
_OPS = {"0": READ, "1": WRITE}


def _claims(head: Head) -> bool:
    return bool(head.matches(_LINE))


class _Reader(TextReader):
    def rows(self, frame: pl.DataFrame) -> pl.DataFrame:
        low_bit = pl.col("kind").cast(pl.UInt64, strict=False) % 2
        return frame.with_columns(low_bit.cast(pl.String).alias("op"))


def _reader() -> TextReader:
    return _Reader(_LINE, _OPS, ("s", "sectors", "bytes"), usual=_USUAL)


FORMAT = Format(
    "biotracer",
    "BIOtracer text: sector, sectors, bytes, access type, four times in seconds",
    "Zhou et al., I/O Characteristics of Smartphone Applications, IISWC '15",
    _claims,
    _reader,
)
