"""Requests that papers play: traces without gaps, in rounds, with windows in another order; loads
that move."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from floatgate.papers.kit.batch import Bench, Played, Task, fold_pages, shuffle_windows
from floatgate.traces import read_trace
from floatgate.traces.model import SCHEMA


def test_pages_that_are_not_touched_are_left_out() -> None:
    frame = pl.DataFrame(
        {
            "at_ns": [0, 1, 2, 3],
            "op": [1, 0, 1, 1],
            "offset": [1 << 30, 8192 + 512, 1 << 20, (1 << 30) + 4096],
            "length": [4096, 512, 8192, 100],
        }
    )
    folded, pages = fold_pages(read_trace(frame))
    assert pages == 5
    assert folded["offset"].to_list() == [3 * 4096, 512, 4096, 4 * 4096]
    assert folded["length"].to_list() == [4096, 512, 8192, 100]


def _rounds(windows: int, seed: int) -> pl.DataFrame:
    """Two rounds of ten requests, which come after 0, 1, 2 ... ns."""
    frame = pl.DataFrame(
        {
            "at_ns": [0, 1, 3, 6, 10, 15, 21, 28, 36, 45],
            "op": [1] * 10,
            "offset": [4096 * i for i in range(10)],
            "length": [512] * 10,
        }
    )
    return shuffle_windows(frame, windows, 2, seed)


def test_windows_are_in_another_order_in_each_round() -> None:
    played = _rounds(5, 1)
    pages = [offset // 4096 for offset in played["offset"]]
    first, second = pages[:10], pages[10:]
    assert sorted(first) == sorted(second) == list(range(10))
    assert first != second
    assert all(b == a + 1 for a, b in zip(pages[::2], pages[1::2], strict=True)), "windows of two"
    assert [offset // 4096 for offset in _rounds(5, 2)["offset"]] != pages
    assert _rounds(5, 1).equals(played)


def test_a_request_keeps_its_gap_and_a_round_its_length() -> None:
    played = _rounds(4, 3)
    gaps = played["at_ns"].diff().fill_null(played["at_ns"][0])
    assert gaps.to_list() == [offset // 4096 for offset in played["offset"]]
    assert played["at_ns"][-1] == 2 * 45


def test_how_often_a_round_writes_a_page(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "at_ns": [0, 1, 2, 3],
            "op": [1, 0, 1, 1],
            "offset": [0, 1 << 20, 4096, 1 << 30],
            "length": [8192, 4096, 4096, 4096],
        }
    )
    frame.write_parquet(tmp_path / "trace.parquet")
    # Pages 0 and 1, page 1 again, and one far away: four page writes to three pages. A read does
    # not count.
    played = Played(str(tmp_path / "trace.parquet"), repeat=7, dense=True)
    assert Bench("asa14", None).overwrites(played) == pytest.approx(4 / 3)


def test_windows_of_a_trace_that_keeps_the_pages_it_does_not_touch(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "at_ns": range(8),
            "op": [1] * 8,
            "offset": [(1 << 20) * i for i in range(8)],
            "length": [4096] * 8,
        }
    )
    frame.write_parquet(tmp_path / "trace.parquet")
    played = Played(str(tmp_path / "trace.parquet"), repeat=3, windows=4)
    bench = Bench("asa14", None)
    # Eight regions of 1 MiB are touched.
    assert bench.span_bytes(played) == 8 << 20
    settings = {"mapping.scheme": "ideal", "timing": "none", "queue.arrivals": "closed"}
    [found] = bench.run([Task(played, settings)])
    assert (found.workload.writes, found.workload.footprint_pages) == (24, 16)
    assert "each round has its 4 windows in another order" in found.notes


def test_how_many_different_ends_writes_have(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "at_ns": range(6),
            "op": [1, 1, 0, 1, 1, 1],
            "offset": [0, 4096, 1 << 20, 0, 8192 + 512, 4096],
            "length": [8192, 8192, 4096, 4096, 512, 4096],
        }
    )
    frame.write_parquet(tmp_path / "trace.parquet")
    played, bench = Played(str(tmp_path / "trace.parquet")), Bench("asa14", None)
    # Writes of pages 0-1 and 1-2 have the ends 0, 1, 2 and 3, as have writes of pages 0 and 2. A
    # write of page 1 has the ends 1 and 2.
    assert bench.write_ends(played, 1) == 2
    assert bench.write_ends(played, 2) == 4
    assert bench.write_ends(played, 100) == 4


def test_a_trace_is_played_from_a_later_request(tmp_path: Path) -> None:
    """The run has the fourth to the eighth of ten writes, as if the trace began there."""
    frame = pl.DataFrame(
        {
            "at_ns": [10 * i for i in range(10)],
            "op": [1] * 10,
            "offset": [4096 * (i % 6) for i in range(10)],
            "length": [4096] * 10,
        }
    )
    frame.write_parquet(tmp_path / "whole.parquet")
    part = frame.slice(3, 5).with_columns(pl.col("at_ns") - 30)
    part.write_parquet(tmp_path / "part.parquet")
    bench = Bench("asa14", None)
    later = Task(Played(str(tmp_path / "whole.parquet"), limit=5, skip=3), {"timing": "none"})
    alone = Task(Played(str(tmp_path / "part.parquet")), {"timing": "none"})
    found, same = bench.run([later, alone])
    assert found.workload.requests == 5
    assert found.workload.hash == same.workload.hash
    assert "the first 3 requests are left out" in found.notes


def test_what_is_hot_moves_on_around_the_span() -> None:
    """The load writes four of eight points. Each later quarter of the run writes the points two
    further on."""
    bench = Bench("asa14", None)
    spec = "hotcold:span=16KiB,size=2KiB,r=1,f=0.5,writes=4000,arrivals=fixed,interarrival=1us"
    stays, moves = (bench._load(Played(spec, moves=n)).workload for n in (0, 3))
    [before], [after] = (
        [pl.DataFrame(batch) for batch in load.batches(4000)][:1] for load in (stays, moves)
    )
    assert before.drop("offset").equals(after.drop("offset")), "when and how much, as before"
    for part in range(4):
        rows = slice(1000 * part, 1000 * part + 1000)
        written = set(after["offset"].to_list()[rows])
        assert written == {(2048 * levels + 4096 * part) % 16384 for levels in range(4)}
        pairs = zip(before["offset"].to_list()[rows], after["offset"].to_list()[rows], strict=True)
        assert all((old + 4096 * part) % 16384 == new for old, new in pairs)
    [result] = bench.run([Task(Played(spec, moves=3), {"timing": "none"})])
    assert result.workload.footprint_pages == 8
    assert "addresses: in 4 parts of the requests, each 4,096 bytes further on" in result.notes


def test_requests_can_be_made_from_the_seed() -> None:
    """Each seed makes its own requests, once, and the name of the workload is the text."""
    made: list[int] = []

    def make(seed: int) -> pl.DataFrame:
        made.append(seed)
        pages = [seed, seed + 1, seed]
        columns = {"at_ns": [0] * 3, "op": [1] * 3, "device": [0] * 3}
        return pl.DataFrame(
            columns | {"offset": [4096 * page for page in pages], "length": [4096] * 3},
            schema=SCHEMA,
        )

    tasks = [Task(Played("three writes", made=make), {"start.fill": "none"}, s) for s in (5, 6, 5)]
    results = Bench("classic", None).run(tasks)
    assert made == [5, 6]
    assert {result.workload.name for result in results} == {"three writes"}
    assert results[0].workload.hash == results[2].workload.hash != results[1].workload.hash
    assert [result.workload.footprint_pages for result in results] == [2, 2, 2]
