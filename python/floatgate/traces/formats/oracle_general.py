"""libCacheSim's oracleGeneral: little-endian records of 24 bytes about cache objects.

u32 time in seconds, u64 object, u32 size in bytes, i64 next access (a request number; -1 or the
largest i64 mean never). Object numbers are identifiers, often hashes, and not addresses. So each
object gets an address range of its own: its largest size, rounded up to whole 4 KiB pages. The
ranges are in the order of the object numbers.
"""

from __future__ import annotations

from itertools import pairwise

import polars as pl

from ..binary import records, tail, wide, words
from ..model import READ, Parsed
from ..text import Head
from .base import Format, Whole

_SIZE = 24
_NEVER = (-1, (1 << 63) - 1)
_GUESS = (
    "addresses made up: each object has a range of its own in whole 4 KiB pages, "
    "in ascending order of object number"
)


def _claims(head: Head) -> bool:
    if head.complete and len(head.data) % _SIZE:
        return False
    found = list(records(head.data, "<IQIq"))
    # The next access is always later; random bytes or another format violate this at once.
    ahead = all(r[3] in _NEVER or number < r[3] < 1 << 48 for number, r in enumerate(found))
    ordered = all(a[0] <= b[0] for a, b in pairwise(found))
    return bool(found) and ahead and ordered


def _read(data: bytes) -> Parsed:
    raw = words(data, _SIZE).select(
        pl.col("w0").cast(pl.UInt64).alias("time"),
        wide("w1", "w2").alias("object"),
        pl.col("w3").cast(pl.UInt64).alias("length"),
    )
    pages = (pl.col("length").max() + 4095) // 4096
    places = raw.group_by("object").agg(pages.alias("pages")).sort("object")
    places = places.select("object", offset=(pl.col("pages").cum_sum() - pl.col("pages")) * 4096)
    frame = raw.join(places, on="object", how="left", maintain_order="left").select(
        "time",
        pl.lit(READ, pl.UInt8).alias("op"),
        pl.lit(0, pl.UInt32).alias("device"),
        "offset",
        "length",
    )
    broken = tail(len(data), _SIZE)
    return Parsed(
        frame,
        ("s", "bytes", "bytes"),
        guesses={"address": _GUESS},
        candidates=frame.height + (broken is not None),
        unparsed=int(broken is not None),
        first_unparsed=broken,
        notes=["the format holds no operations: every request is a read"],
    )


FORMAT = Format(
    "oracle-general",
    "libCacheSim oracleGeneral binary: objects, no addresses and no operations",
    "1a1a11a/libCacheSim, doc of trace formats",
    _claims,
    lambda: Whole(_read),
)
