"""Figures and tables of TLLLP, ASA-FTL and the NCQ-aware buffer, from points made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from exhibits import by_key, cells
from verdicts import asa, minus, ncq, tlllp

from floatgate.papers import asa as asa_paper
from floatgate.papers import ncq as ncq_paper
from floatgate.papers import tlllp as tlllp_paper
from floatgate.papers.drawing import number_table
from floatgate.papers.ncq_runs import FASTER, FIRST, SECOND
from floatgate.papers.paper import Numbers


def test_tlllp_figures() -> None:
    lines = ("none", "ideal", "dftl", "tlllp", "belady", "tlllp-prev", "dftl-batch", "tpftl")
    points = [
        tlllp.point(
            "MSR",
            line,
            arrivals=arrivals,
            hit_ratio=(n + 1) / 20,
            mean_us=100.0 + n + shift,
            stdev_us=200.0 + n,
        )
        for n, line in enumerate(lines)
        for arrivals, shift in (("open", 0), ("closed", 50))
    ]
    labels = tlllp_paper.BOUNDS | {
        line.key: line.label for line in tlllp_paper.LINES + tlllp_paper.MORE_LINES
    }
    found = by_key(tlllp_paper._exhibits(True, points, labels))
    main = {line: n for n, line in enumerate(lines) if line != "tpftl"}
    others = {"dftl": 2, "tlllp": 3, "tpftl": 7}
    for key, numbers in (("figure", main), ("others", others)):
        name = "figure-{}" if key == "figure" else "figure-{}-others"
        for n, metric in ((2, "hit_ratio"), (3, "mean_us"), (4, "stdev_us")):
            rows = found[name.format(n)].rows
            expected = {
                "hit_ratio": {line: (i + 1) / 20 for line, i in numbers.items()},
                "mean_us": {line: 100.0 + i for line, i in numbers.items()},
                "stdev_us": {line: 200.0 + i for line, i in numbers.items()},
            }[metric]
            assert {row["line"]: row[metric] for row in rows} == expected
            assert {row["cache_bytes"] for row in rows} <= {None, 4096}
    closed = {row["line"]: row["mean_us"] for row in found["closed-loop"].rows}
    assert closed == {"none": 150, "ideal": 151, "dftl": 152, "tlllp": 153, "belady": 154}
    quick = by_key(tlllp_paper._exhibits(False, points, labels))
    assert set(quick) == {"figure-2", "figure-3", "figure-4"}
    assert "tlllp-prev" not in {row["line"] for row in quick["figure-2"].rows}


def test_tlllp_a_backlog_is_told_where_requests_wait() -> None:
    def told(*points: Any) -> list[str]:
        return tlllp_paper._saturated(points)

    busy = tlllp.point("MSR", "dftl", utilization=0.95, queue_share=0.5)
    worse = replace(busy, line="tlllp", utilization=0.99, queue_share=0.75)
    assert told(busy, worse, replace(busy, queue_share=0.625)) == [
        (
            "MSR comes faster than the device serves it: up to 75% of the mean response time is "
            "waiting in a backlog, whose length grows with the trace."
        )
    ]
    assert len(told(busy, replace(busy, trace="other"))) == 2
    assert told(replace(busy, utilization=0.94)) == []
    assert told(replace(busy, arrivals="closed")) == []
    assert told(replace(busy, queue_share=0.0)) == [], "a load without times never waits"


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
