"""Figures and tables of ASA-FTL and the NCQ-aware buffer, from points made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from exhibits import by_key, cells
from verdicts import asa, minus, ncq

from floatgate.papers import asa as asa_paper
from floatgate.papers import ncq as ncq_paper
from floatgate.papers.drawing import number_table
from floatgate.papers.ncq_runs import FASTER, FIRST, SECOND
from floatgate.papers.paper import Numbers


def test_asa_figures_are_of_their_ratio() -> None:
    points = [
        replace(
            asa.point("synth9/10", "synth", line, 0.3 + n, 0.4 + n),
            gc_reads_ratio=0.1 + n,
            erases_ratio=0.2 + n,
        )
        for n, line in enumerate(("dftl", "asa-bytes", "asa-entries", "asa-free", "oracle"))
    ]
    labels = {line.key: line.label for line in asa_paper.LINES + asa_paper.VARIANTS}
    found = by_key(asa_paper._exhibits(points, [], [], labels))
    for n, (metric, part, title) in enumerate(
        (
            ("gc_reads_ratio", 0.1, "GC page reads"),
            ("gc_writes_ratio", 0.3, "GC page writes"),
            ("erases_ratio", 0.2, "block erasures"),
            ("mean_ratio", 0.4, "mean response time"),
        ),
        1,
    ):
        figure = found[f"figure-2-{n}"]
        assert figure.title == f"Figure 2: {title}"
        expected = {"asa-bytes": 1, "asa-entries": 2, "asa-free": 3, "oracle": 4}
        assert {row["line"]: row[metric] for row in figure.rows} == {
            line: i + part for line, i in expected.items()
        }


def test_asa_gc_writes_by_spare_space_and_cache() -> None:
    def points(first: float, **numbers: Any) -> list[Any]:
        return [
            replace(asa.point(trace, "synth", line, first + n, 1.0), **numbers)
            for n, (trace, line) in enumerate(
                (trace, line) for trace in ("one", "two") for line in ("dftl", "asa-bytes")
            )
        ]

    spares = [*points(10.0, spare=0.03), *points(20.0, spare=0.15)]
    labels = {"dftl": "DFTL", "asa-bytes": "ASA-FTL"}
    every = labels | {"asa-entries": "entries", "asa-free": "free", "oracle": "known"}
    found = by_key(asa_paper._exhibits(points(1.0), spares, points(30.0, cached=0.5), every))
    for key, first in (("gc-writes", 1), ("gc-writes-03", 10), ("gc-writes-15", 20)):
        assert cells(found[key]) == [
            ["", "one", "two"],
            ["DFTL", f"{first}.000", f"{first + 2}.000"],
            ["ASA-FTL", f"{first + 1}.000", f"{first + 3}.000"],
        ]
    assert found["gc-writes-15"].title == "GC page writes against DFTL, 15% spare"
    assert {
        (r["cached"], r["trace"], r["line"]): r["gc_writes_ratio"] for r in (found["caches"].rows)
    } == {
        (cached, trace, line): first + n
        for cached, first in ((0.25, 1.0), (0.5, 30.0))
        for n, (trace, line) in enumerate(
            (trace, line) for trace in ("one", "two") for line in ("dftl", "asa-bytes")
        )
    }


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
