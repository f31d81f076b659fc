"""Tables of hot and cold data, of the map curve and of a trace, number by number."""

from __future__ import annotations

import re
from typing import Any

import pytest
from plainly import PER_CENT, THIN, decimals, share, size, texts, three, whole

from floatgate.analysis import curve_tables, hot_tables, hotness
from floatgate.analysis.hotness import Hotness, MergedExtents, OneSequence, Runs, TopShare
from floatgate.cli.hot_summary import print_hotness
from floatgate.cli.summary import print_map_curve, print_trace


def _runs(n: int) -> Runs:
    shares, sizes = (n / 1e4, (n + 7) / 1e4), (1009 * n, 1013 * n, 1019 * n, 1021 * n)
    return Runs(1000 + n, 2003 * n, *shares, 31 * n, n / 7, n * 997.0, *sizes)


@pytest.fixture
def found() -> Hotness:
    """Returns a result in which no number occurs twice. The numbers need not agree with each
    other."""
    return Hotness(
        name="fin1",
        page_bytes=4096,
        gb_bytes=2_000_000_000,
        hot_from=5,
        rounding="cover",
        write_requests=50021,
        written_bytes=60013,
        page_writes=70001,
        written_pages=8009,
        sequences=2,
        partial_bytes=9001,
        partial_counted=False,
        means=hotness.SequenceMeans(1234.4, 2345.4, 3456.4, 45670.4, 6.789),
        extents=(MergedExtents(1, 11.26, 0.0), MergedExtents(64, 5.34, 0.1234)),
        skew=hotness.Skew(
            0.8765,
            tuple(TopShare(at, at + 0.0321) for at in (0.001, 0.01, 0.05, 0.1, 0.2, 0.5)),
        ),
        overwrites=hotness.Overwrites(
            400,
            0.4321,
            98.7,
            tuple(hotness.DistanceQuantile(q, int(q * 1000)) for q in (0.1, 0.5, 0.99)),
            (hotness.DistanceBar(1, 2, 100), hotness.DistanceBar(2048, 4096, 300)),
        ),
        sequentiality=hotness.Sequentiality(_runs(41), _runs(43), _runs(47)),
        each=(
            OneSequence(51, 52, 53, 54, 5.5, 56, 57, 58),
            OneSequence(61, 62, 63, 64, 6.5, 66, 67, 68),
        ),
        notes=("told", "new"),
    )


def test_means_of_a_sequence(found: Hotness) -> None:
    table = hot_tables.means_table(found)
    assert table.columns[1:] == [
        "Hot pages",
        "Cold pages",
        "Hot writes",
        "Cold writes",
        "Write length",
    ]
    known = found.means
    numbers = (known.hot_pages, known.cold_pages, known.hot_writes, known.cold_writes)
    assert texts(table) == [["pages", *(whole(n or 0) for n in numbers), "6.79"]]


def test_extents_skew_and_distances(found: Hotness) -> None:
    assert texts(hot_tables.extents_table(found)) == [
        ["none merged", "11.3", f"0.00{PER_CENT}"],
        ["64", "5.3", f"12.34{PER_CENT}"],
    ]
    top = texts(hot_tables.top_table(found))
    assert top[:2] == [["0.1 %", f"3.31{PER_CENT}"], ["1 %", f"4.21{PER_CENT}"]] and top[-1] == [
        "50 %",
        f"53.21{PER_CENT}",
    ]
    # 100 overwrites are one page write away, and 300 at least 2048 pages of 4 KiB.
    assert texts(hot_tables.distances_table(found)) == [
        ["1 to 1", f"4{THIN}KiB", "100", f"25.00{PER_CENT}"],
        [f"2{THIN}048 to 4{THIN}095", f"8{THIN}MiB", "300", f"75.00{PER_CENT}"],
    ]


def test_sequentiality_by_kind(found: Hotness) -> None:
    table = hot_tables.runs_table(found)
    short = hot_tables.runs_table(found, short=True)
    titles = ["Requests", "Continuing", "By bytes", "Runs", "In a run", "Mean run"]
    titles += ["p50", "p90", "p99", "Longest"]
    assert table.columns[1:] == titles
    left_out = ("Requests", "p50", "p90", "p99")
    assert short.columns[1:] == [title for title in titles if title not in left_out]
    kinds = {"all": found.sequentiality.all, "reads": found.sequentiality.reads}
    kinds["writes"] = found.sequentiality.writes
    for row, few, (kind, runs) in zip(texts(table), texts(short), kinds.items(), strict=True):
        expected = {
            "Requests": whole(runs.requests),
            "Continuing": share(runs.continuing_requests_share or 0),
            "By bytes": share(runs.continuing_bytes_share or 0),
            "Runs": whole(runs.runs),
            "In a run": decimals(runs.run_requests_mean or 0, 2),
            "Mean run": size(runs.run_bytes_mean or 0),
            "p50": size(runs.run_bytes_p50 or 0),
            "p90": size(runs.run_bytes_p90 or 0),
            "p99": size(runs.run_bytes_p99 or 0),
            "Longest": size(runs.run_bytes_max or 0),
        }
        assert row == [kind, *expected.values()]
        assert few == [kind, *(text for title, text in expected.items() if title not in left_out)]


def test_the_sequences_one_by_one(found: Hotness) -> None:
    assert texts(hot_tables.sequences_table(found)) == [
        ["1", "51", "52", "53", "54", "5.50", "56"],
        ["2", "61", "62", "63", "64", "6.50", "66"],
    ]


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Returns a function that calls another one and returns its output, with two blanks between
    columns."""
    monkeypatch.setenv("COLUMNS", "300")

    def call(function: Any, *arguments: Any) -> list[str]:
        function(*arguments)
        lines = capsys.readouterr().out.splitlines()
        return [re.sub(r" {2,}", "  ", line.strip()) for line in lines if line.strip()]

    return call


TOP = (("4.21", 1), ("8.21", 5), ("13.21", 10), ("23.21", 20))
"""Share of the page writes that go to the most written pages: both in per cent."""


def test_hot_data_in_a_terminal(found: Hotness, printed: Any) -> None:
    lines = [
        " ".join(line.split(" ")).replace("   ", "  ")
        for line in printed(print_hotness, found, ["told"])
    ]
    joined = "\n".join(lines)
    most = [f"{share}{PER_CENT} to {pages} %" for share, pages in TOP]
    for text in (
        "2 of 2 GB of writes",
        "5 writes in a sequence or more; counted: every page touched",
        f"of the page writes {', '.join(most)} of the",
        "Gini coefficient of the writes per page 0.87",
        f"43.21{PER_CENT} of the page writes",
        "in page writes: p10 100, p50 500, p99 990",
        f"the median is {size(500 * 4096)} of writes",
        "note: new",
    ):
        assert text in joined, text
    assert "note: told" not in joined


CURVE: dict[str, Any] = {
    "name": "fin1",
    "accesses": 20011,
    "distinct_pages": 2309,
    "entry_bytes": 8,
    "expected_error": 0.0123,
    "hit_ratio_max": 0.885,
    "page_bytes": 4096,
    "sample": {"rate": 0.0511, "pages": 118},
    "trims_ignored": 3,
    "notes": ["told", "new"],
    "points": [
        {"bytes": 8 * n, "entries": n, "error": 0.01, "hit_ratio": n / 3001}
        for n in (1, 2, 3, 4, 1024, 2048, 2309)
    ],
    "needed": [
        {"bytes": 8, "entries": 1, "error": 0.01, "hit_ratio": 0.4423, "percent": 50},
        {"bytes": 9816, "entries": 1227, "error": 0.01, "hit_ratio": 0.7971, "percent": 90},
    ],
}


def test_the_sizes_of_a_map_cache() -> None:
    every = texts(curve_tables.sizes_table(CURVE))
    assert every == [
        [size(8 * n), whole(n), share(n / 3001)] for n in (1, 2, 3, 4, 1024, 2048, 2309)
    ]
    # The short table has the powers of two, and the last size.
    short = texts(curve_tables.sizes_table(CURVE, short=True))
    assert short == [row for row in every if row[1] != "3"]
    # A sample has no information about sizes below its first one.
    assert texts(curve_tables.needed_table(CURVE)) == [
        ["50 %", f"≤ 8{THIN}B", "1", f"44.23{PER_CENT}"],
        ["90 %", size(9816), f"1{THIN}227", f"79.71{PER_CENT}"],
    ]
    exact = CURVE | {"sample": None}
    assert texts(curve_tables.needed_table(exact))[0][1] == f"8{THIN}B"


def test_the_map_curve_in_a_terminal(printed: Any) -> None:
    lines = printed(print_map_curve, CURVE, ["told"])
    assert lines[0].startswith(
        f"map curve  sampled: 5.11{PER_CENT} of the pages (118); "
        f"the mean error is below 1.23{PER_CENT}"
    )
    assert lines[0].endswith(f"; pages of 4{THIN}KiB, entries of 8{THIN}B")
    assert (
        lines[1] == f"20{THIN}011 page accesses to 2{THIN}309 pages; hits at most 88.50{PER_CENT}"
    )
    assert lines[-1] == "note: new" and "note: told" not in lines
    exact = printed(print_map_curve, CURVE | {"sample": None}, [])
    assert exact[0].startswith("map curve  exact; pages of ")
    empty = printed(print_map_curve, CURVE | {"points": [], "needed": [], "notes": []}, [])
    assert len(empty) == 2


TRACE: dict[str, Any] = {
    "name": "fin1",
    "format": "spc",
    "units": {"time": "s", "address": "sectors", "length": "bytes"},
    "requests": 10007,
    "reads": 2011,
    "writes": 3011,
    "trims": 4013,
    "flushes": 5003,
    "mean_read_bytes": 6000,
    "mean_write_bytes": 7000,
    "duration_s": 81.26,
    "footprint_pages": 9001,
    "written_pages": 1103,
    "page_writes_per_written_page": 12.345,
    "aligned_share": 0.1357,
    "devices": 9,
    "device_names": [f"d{i}" for i in range(9)],
    "handles": {"0": 3001, "7": 10},
    "trimmed_bytes": 14 * 1024,
    "unparsed_lines": 15,
    "checked": None,
    "first_unparsed": "line 3",
    "guessed": ["a guess"],
    "notes": ["a note"],
}


def test_a_trace_in_a_terminal(printed: Any) -> None:
    assert printed(print_trace, TRACE) == [
        "trace  fin1",
        "format  spc",
        "units  time s, addresses sectors, lengths bytes",
        (
            f"requests  10{THIN}007: 2{THIN}011 reads, 3{THIN}011 writes, 4{THIN}013 trims, "
            f"5{THIN}003 flushes"
        ),
        f"mean size  read {size(6000)}, write {size(7000)}",
        f"duration  {three(81.26)} s",
        f"footprint  9{THIN}001 pages ({size(9001 * 4096)}) read or written",
        f"written  1{THIN}103 pages ({size(1103 * 4096)}), each 12.35 times",
        f"aligned  13.57{PER_CENT} of reads and writes, to 4 KiB",
        "devices  9: d0, d1, d2, d3, d4, d5, d6, d7, ...",
        f"handles  2: 3{THIN}001 writes with 0, 10 writes with 7",
        f"trimmed  14{THIN}KiB",
        "warning: 15 lines could not be read, the first: line 3",
        "note: a guess",
        "note: a note",
    ]


def test_a_trace_without_what_need_not_be_there(printed: Any) -> None:
    lines = printed(
        print_trace,
        TRACE
        | {"mean_read_bytes": None, "mean_write_bytes": None, "trims": 0, "unparsed_lines": 1}
        | {"page_writes_per_written_page": None, "devices": 1, "device_names": ["d0"]}
        | {"handles": None},
    )
    assert "mean size  -" in lines and "devices  1: d0" in lines
    assert not any(line.startswith(("trimmed", "handles")) for line in lines)
    assert f"written  1{THIN}103 pages ({size(1103 * 4096)})" in lines
    assert "warning: 1 line could not be read, the first: line 3" in lines
