"""The columns of the tables of all runs: each number of a point as it is printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import pytest
from exhibits import printed
from verdicts import asa, eti, ncq

from floatgate.papers import asa as asa_paper
from floatgate.papers import eti as eti_paper
from floatgate.papers import ncq as ncq_paper
from floatgate.papers.ncq_runs import FIRST
from floatgate.papers.paper import Column

POINTS: dict[str, tuple[Any, Sequence[Column], dict[str, str]]] = {
    "asa": (
        replace(
            asa.point("synth7/10", "synth", "asa-bytes", 1.1, 1.2),
            spare=0.03,
            cached=0.125,
            write_amplification=2.3456,
            gc_reads=1234,
            gc_writes=2345,
            erases=34,
            mean_us=456.7,
            volumes=12.34,
            hit_ratio=0.5678,
        ),
        asa_paper.COLUMNS,
        {
            "Workload": "synth7/10",
            "FTL": "asa-bytes",
            "Spare": "3.00%",
            "Cached": "12.50%",
            "Data write amplification": "2.346",
            "GC reads": "1 234",
            "GC writes": "2 345",
            "Erasures": "34",
            "Mean, µs": "457",
            "Map hit ratio": "56.78%",
            "Volumes": "12.3",
        },
    ),
    "ncq": (
        replace(
            ncq.point(FIRST, "ncq", 4),
            hit_ratio=0.0789,
            write_mb_s=161.8,
            iops=647.3,
            hit_gain=0.0293,
            bandwidth_gain=-0.0456,
            iops_gain=0.9,
            busy=0.9876,
            waiting=30.96,
            write_amplification=1.0625,
            switch=7890,
            partial=12,
            full=3,
        ),
        ncq_paper.COLUMNS,
        {
            "Workload": FIRST,
            "Setup": "main",
            "Buffer": "ncq",
            "MiB": "4",
            "Hit ratio": "7.89%",
            "MB/s": "162",
            "IOPS": "647",
            "Hits over LRU, points": "2.93",
            "Bandwidth over LRU": "-4.56%",
            "Busy": "98.76%",
            "Waiting": "31.0",
            "Programs per page written": "1.062",
            "Switch merges": "7 890",
            "Partial": "12",
            "Full": "3",
        },
    ),
    "eti": (
        eti.point(
            "usr_0",
            "eti",
            4.5678,
            hot_share=0.0321,
            victim_valid=0.7654,
            memory_bytes=9232,
            extents=1987,
            volumes=2.046,
        ),
        eti_paper.COLUMNS,
        {
            "Trace": "usr_0",
            "Kind": "stand-in",
            "Scheme": "eti",
            "Victim": "greedy",
            "Write amplification": "4.568",
            "Hot": "3.21%",
            "Valid in a victim": "76.54%",
            "Memory": "9.016 KiB",
            "Extents at the end": "1 987",
            "Volumes": "2.05",
        },
    ),
}


@pytest.mark.parametrize("paper", POINTS)
def test_all_runs(paper: str) -> None:
    point, columns, expected = POINTS[paper]
    titles, cells = printed(columns, [asdict(point)])
    assert dict(zip(titles, cells, strict=True)) == expected
