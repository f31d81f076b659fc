"""Plays hand-written requests on the engine, for the worked examples of papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from floatgate import api
from floatgate.traces.model import READ, SCHEMA, WRITE

if TYPE_CHECKING:
    from floatgate.results.result import Result


@dataclass(frozen=True)
class Request:
    """A read or write of `pages` consecutive pages."""

    first: int
    pages: int = 1
    write: bool = False
    at_ns: int = 0


def play(
    requests: Sequence[Request], page_bytes: int, device: str, set: Mapping[str, str]
) -> Result:
    """Plays the requests on a drive without any written page. Addresses stay as requested."""
    rows = [
        (r.at_ns, WRITE if r.write else READ, 0, r.first * page_bytes, r.pages * page_bytes)
        for r in requests
    ]
    frame = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return api.run(frame, device=device, set={"start.fill": "none", **set}, addresses="span")
