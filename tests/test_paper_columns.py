"""The columns of the tables of all runs: each number of a point as it is printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import pytest
from exhibits import printed
from verdicts import shrd

from floatgate.papers import shrd as shrd_paper
from floatgate.papers.paper import Column
from floatgate.papers.shrd_runs import MIXED

POINTS: dict[str, tuple[Any, Sequence[Column], dict[str, str]]] = {
    "shrd": (
        replace(
            shrd.point("mixed", MIXED, "shrd", 131_072, 2322.0),
            log=32 << 20,
            mean_read_us=44.56,
            mean_write_us=7.891,
            commands=0.0194,
            packed=121.26,
            loads=0.63912,
            data_programs=1.4567,
            window=1023.6,
            read_share=0.34,
        ),
        shrd_paper.COLUMNS,
        {
            "Workload": "mixed",
            "Scheme": "shrd",
            "Map cache": "128 KiB",
            "Log": "32 MiB",
            "Threshold": "16 KiB",
            "Requests/s": "2 322",
            "Read, µs": "44.6",
            "Write, µs": "7.89",
            "Commands per request": "0.019",
            "Requests per twrite": "121.3",
            "Map loads per write": "0.6391",
            "Data programs per write": "1.457",
            "Pages per window": "1 024",
            "Reads": "34.00%",
        },
    ),
}


@pytest.mark.parametrize("paper", POINTS)
def test_all_runs(paper: str) -> None:
    point, columns, expected = POINTS[paper]
    titles, cells = printed(columns, [asdict(point)])
    assert dict(zip(titles, cells, strict=True)) == expected
