"""Figures and tables of ASA-FTL, from points made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from exhibits import by_key, cells
from verdicts import asa

from floatgate.papers import asa as asa_paper


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
