"""SPC traces of the UMass repository (Financial1/2, WebSearch1-3).

Each line is a request: `ASU,LBA,size,opcode,timestamp`, size in bytes, time in seconds; further
optional fields may follow. Each ASU is a device with its own addresses.
"""

from __future__ import annotations

from ..text import NUMBER, RW, RW_WORD, TIME, Head, TextReader, Usual
from .base import Format

_LINE = (
    rf"^\s*(?P<device>\d+)\s*,\s*(?P<offset>{NUMBER})\s*,\s*(?P<length>{NUMBER})\s*,"
    rf"\s*(?P<op>{RW_WORD})\s*,\s*(?P<time>{TIME})\s*(?:,.*)?$"
)
_USUAL = Usual("device:digits offset length op time", has_rest=True)
_HEADER = (r"(?i)^\s*asu\s*,\s*lba\s*,\s*size\s*,\s*opcode\s*,\s*timestamp\s*$", "the header")


def _claims(head: Head) -> bool:
    # Alibaba lines look similar, but the letter of the operation is their second field.
    return head.fits(_LINE, _HEADER[0])


def _reader() -> TextReader:
    guesses = {"address": "addresses taken as 512-byte sectors, as in the UMass files"}
    return TextReader(
        _LINE, RW, ("s", "sectors", "bytes"), other=_HEADER, guesses=guesses, usual=_USUAL
    )


FORMAT = Format(
    "spc",
    "SPC text (UMass): ASU,LBA,size,opcode,timestamp",
    "SPC Trace File Format Specification 1.0.1, Storage Performance Council",
    _claims,
    _reader,
)
