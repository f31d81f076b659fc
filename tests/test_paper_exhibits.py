"""Figures and tables of the NCQ-aware buffer, from points made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from exhibits import by_key, cells
from verdicts import minus, ncq

from floatgate.papers import ncq as ncq_paper
from floatgate.papers.drawing import number_table
from floatgate.papers.ncq_runs import FASTER, FIRST, SECOND
from floatgate.papers.paper import Numbers


def test_ncq_tables_of_gains() -> None:
    def run(trace: str, line: str, size: int, gain: float, **numbers: Any) -> Any:
        known = {"hit_gain": gain, "bandwidth_gain": -3 * gain, "waiting": 1000 * gain}
        return ncq.point(trace, line, size, **(known | numbers))

    points = [
        run(SECOND, "ncq", 1, 0.0249),
        run(FIRST, "ncq", 1, 0.0293),
        run(FIRST, "ncq", 32, -0.0058),
        run(FIRST, "ncq-move", 1, 0.0007),
        run(FIRST, "ncq", 2, 0.0151, setup=FASTER.key),
        run(FIRST, "lru", 1, 0.9),
        run(FIRST, "belady", 1, 0.8),
    ]
    found = by_key(ncq_paper._exhibits(points))
    titles = ["Workload", "Setup", *(f"{size} MiB" for size in (1, 2, 4, 8, 16, 32))]
    names = [
        [FIRST, "As the preset has it"],
        [FIRST, "NCQ-aware, moves only"],
        [FIRST, "32 ways"],
        [SECOND, "As the preset has it"],
    ]
    # With 1, 2 and 32 MiB.
    for key, rows in (
        ("hits", ("2.93 – -0.58", "0.07 – –", "– 1.51 –", "2.49 – –")),
        ("bandwidth", ("-8.79% – 1.74%", "-0.21% – –", "– -4.53% –", "-7.47% – –")),
        ("waiting", ("29.3 – -5.8", "0.7 – –", "– 15.1 –", "24.9 – –")),
    ):
        expected = [
            [*name, one, two, "–", "–", "–", most]
            for name, row in zip(names, rows, strict=True)
            for one, two, most in [row.split()]
        ]
        assert cells(found[key]) == [titles, *expected]
    assert found["hits"].title == "Hit ratio over LRU, in points"


def test_ncq_figures() -> None:
    points = [
        ncq.point(FIRST, line, 4, hit_ratio=0.1 * n, write_mb_s=10.0 * n, iops=7.0 * n)
        for n, line in enumerate(("lru", "ncq", "fab", "bplru", "clc", "belady", "ncq-move"), 1)
    ]
    found = by_key(ncq_paper._exhibits([*points, replace(points[0], setup=FASTER.key)]))
    for key, metric, part in (
        ("figure-3", "hit_ratio", 0.1),
        ("figure-4", "write_mb_s", 10.0),
        ("figure-5", "iops", 7.0),
    ):
        lines = ("lru", "ncq", "fab", "bplru", "clc", "belady")
        assert [(row["line"], row[metric], row["buffer_mib"]) for row in found[key].rows] == [
            (line, part * n, 4) for n, line in enumerate(lines, 1)
        ]


def test_a_loss_has_the_sign_of_one() -> None:
    points = [ncq.point(FIRST, "ncq", 1, hit_gain=-0.02)]
    table = by_key(ncq_paper._exhibits(points))["hits"]
    assert isinstance(table, Numbers)
    [row] = number_table("", table.columns, table.rows).rows
    assert row[2].text == minus("-2.00")
