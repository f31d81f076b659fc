"""Address layouts, compared with a naive reference that follows every byte range, and placement
handles: traces with handles, devices used as handles, and files."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import floatgate as fg
from floatgate.simulation import options
from floatgate.traces import Trace, TraceError, lay_out, read_trace, trace_info, write_trace
from floatgate.traces.layout import ADDRESSES, Footprint

MIB = 1 << 20
Request = tuple[int, int, int, int]  # op, device, offset, length

requests = st.lists(
    st.one_of(
        st.tuples(
            st.sampled_from([0, 1, 2]),
            st.integers(0, 2),
            st.one_of(st.integers(0, 40 * MIB), st.integers(0, 40).map(lambda n: n * MIB)),
            st.one_of(st.integers(1, 9 * MIB), st.integers(1, 3).map(lambda n: n * MIB)),
        ),
        st.just((3, 0, 0, 0)),
    ),
    min_size=1,
    max_size=12,
)


def trace_of(rows: list[Request]) -> Trace:
    columns = list(zip(*rows, strict=True))
    frame = pl.DataFrame(
        {
            "at_ns": range(len(rows)),
            "op": columns[0],
            "device": columns[1],
            "offset": columns[2],
            "length": columns[3],
        }
    )
    return read_trace(frame)


def bases(rows: list[Request]) -> tuple[dict[int, int], int]:
    """Returns the base of each device, and the end of the last device."""
    spans: dict[int, int] = {}
    for _, device, offset, length in rows:
        spans[device] = max(spans.get(device, 0), -(-(offset + length) // MIB) * MIB)
    base, at = {}, 0
    for device in sorted(spans):
        base[device] = at
        at += spans[device]
    return base, at


def spanned(rows: list[Request]) -> list[tuple[int, int, int]]:
    base, _ = bases(rows)
    return [(op, offset + (base[d] if op < 3 else 0), length) for op, d, offset, length in rows]


def folded(rows: list[Request]) -> tuple[list[tuple[int, int, int]], int]:
    touched = set()
    for op, offset, length in spanned(rows):
        if op < 2:
            touched.update(range(offset // MIB, (offset + length - 1) // MIB + 1))
    place = {region: at for at, region in enumerate(sorted(touched))}
    result = []
    for op, offset, length in spanned(rows):
        if op == 3:
            result.append((3, 0, 0))
            continue
        pieces = []
        for region in range(offset // MIB, (offset + length - 1) // MIB + 1):
            if region in place:
                low, high = max(offset, region * MIB), min(offset + length, (region + 1) * MIB)
                moved = (place[region] - region) * MIB
                pieces.append((low + moved, high + moved))
        assert all(a[1] == b[0] for a, b in pairwise(pieces))
        if pieces:
            result.append((op, pieces[0][0], pieces[-1][1] - pieces[0][0]))
    return result, len(touched) * MIB


def placed(trace: Trace, mode: str, capacity: int | None = None) -> list[tuple[int, int, int]]:
    return lay_out(trace, mode, capacity=capacity).frame.select("op", "offset", "length").rows()


@settings(max_examples=200, deadline=None)
@given(requests)
def test_span_keeps_everything(rows: list[Request]) -> None:
    trace = trace_of(rows)
    assert placed(trace, "span") == spanned(rows)
    assert lay_out(trace, "span").span_bytes == bases(rows)[1]


@settings(max_examples=200, deadline=None)
@given(requests)
def test_fold_agrees_with_the_naive_reference(rows: list[Request]) -> None:
    trace = trace_of(rows)
    layout = lay_out(trace)
    expected, span = folded(rows)
    assert placed(trace, "fold") == expected
    assert layout.span_bytes == span
    assert layout.frame["at_ns"].is_sorted()
    before, after = (sum(r[2] for r in x if r[0] == 2) for x in (spanned(rows), expected))
    assert bool(layout.notes) == (before != after)
    if before != after:
        assert f"{before - after:,} bytes" in layout.notes[0]


@settings(max_examples=100, deadline=None)
@given(requests)
def test_fold_keeps_order_length_and_overlaps_of_reads_and_writes(rows: list[Request]) -> None:
    rows = [row for row in rows if row[0] < 2] or [(1, 0, 0, 1)]
    old, new = spanned(rows), placed(trace_of(rows), "fold")
    for (_, a, n), (_, b, m) in zip(old, new, strict=True):
        assert (n, a % MIB) == (m, b % MIB)
        for (_, c, k), (_, d, _) in zip(old, new, strict=True):
            assert (a < c) == (b < d)
            assert (a < c + k and c < a + n) == (b < d + k and d < b + n)


@settings(max_examples=200, deadline=None)
@given(requests, st.integers(1, 3000).map(lambda n: n * 4096))
def test_modulo_wraps_and_splits(rows: list[Request], capacity: int) -> None:
    expected = []
    for op, offset, length in spanned(rows):
        start, rest = offset % capacity, min(length, capacity)
        first = min(rest, capacity - start)
        expected.append((op, start, first))
        if rest > first:
            expected.append((op, 0, rest - first))
    assert placed(trace_of(rows), "modulo", capacity) == expected


def test_wrong_modes_and_capacities() -> None:
    trace = trace_of([(1, 0, 0, 4096)])
    for mode, capacity in [
        ("nope", None),
        ("modulo", None),
        ("modulo", 0),
        ("modulo", 9 * 512),
        ("fold", 4096),
    ]:
        with pytest.raises(TraceError):
            lay_out(trace, mode, capacity=capacity)


@settings(max_examples=200, deadline=None)
@given(requests)
def test_page_counts_agree_with_sets_of_pages(rows: list[Request]) -> None:
    touched, written, writes = set(), set(), 0
    for op, device, offset, length in rows:
        if op < 2:
            pages = {(device, p) for p in range(offset // 4096, (offset + length - 1) // 4096 + 1)}
            touched |= pages
            if op == 1:
                written |= pages
                writes += len(pages)
    info = trace_info(trace_of(rows))
    assert (info["footprint_pages"], info["written_pages"]) == (len(touched), len(written))
    assert info["page_writes_per_written_page"] == (writes / len(written) if written else None)


def test_the_example_of_the_documentation() -> None:
    trace = trace_of(
        [(1, 0, 0, MIB), (1, 0, 5 * MIB, MIB), (2, 0, 3 * MIB, 4 * MIB), (0, 1, 2 * MIB, MIB)]
    )

    def ranges(mode: str, capacity: int | None = None) -> list[tuple[int, int]]:
        return [(o // MIB, (o + n) // MIB) for _, o, n in placed(trace, mode, capacity)]

    assert ranges("span") == [(0, 1), (5, 6), (3, 7), (9, 10)]
    assert ranges("fold") == [(0, 1), (1, 2), (1, 2), (2, 3)]
    assert ranges("modulo", 4 * MIB) == [(0, 1), (1, 2), (3, 4), (0, 3), (1, 2)]
    assert [lay_out(trace, mode).span_bytes // MIB for mode in ("span", "fold")] == [10, 3]


def test_adjacent_touched_regions_are_one_run() -> None:
    # Requests touch regions 0 to 2 and 4 to 5: some overlap, some are adjacent, and one region is
    # skipped.
    rows = [
        (1, 0, 0, MIB),
        (0, 0, MIB, 2 * MIB),
        (1, 0, 2 * MIB + 4096, 4096),
        (1, 0, 4 * MIB, MIB),
        (2, 0, 6 * MIB, MIB),
        (0, 0, 5 * MIB + 512, 512),
    ]
    footprint = Footprint()
    footprint.add(trace_of(rows).frame)
    runs = footprint.place("it", "fold", None).runs
    assert runs is not None and runs.rows() == [(0, 3 * MIB, 0), (4 * MIB, 2 * MIB, 3 * MIB)]
    assert placed(trace_of(rows), "fold") == [
        (1, 0, MIB),
        (0, MIB, 2 * MIB),
        (1, 2 * MIB + 4096, 4096),
        (1, 3 * MIB, MIB),
        (0, 4 * MIB + 512, 512),
    ]


@pytest.mark.parametrize("ends", [(2, 6), (6, 2)])
def test_devices_that_get_one_number_span_what_the_larger_does(ends: tuple[int, int]) -> None:
    """Files of a directory number their devices independently. The larger device counts, whichever
    comes last."""
    footprint = Footprint()
    footprint.add(trace_of([(1, at, end * MIB, MIB) for at, end in enumerate(ends)]).frame)
    numbered = footprint.numbered({0: 5, 1: 5})
    placing = numbered.place("it", "span", None)
    assert placing.span_bytes == 7 * MIB
    apart = footprint.numbered({0: 5, 1: 6}).place("it", "span", None)
    assert apart.span_bytes == 10 * MIB


def test_what_a_layout_changes_is_counted() -> None:
    rows = [(1, 0, 0, MIB), (2, 0, 0, 2 * MIB), (2, 0, 5 * MIB, MIB), (2, 0, 7 * MIB, 512)]
    (note,) = lay_out(trace_of(rows)).notes
    assert note.startswith(f"2 trims dropped and 1 clipped: {2 * MIB + 512:,} bytes in regions")
    assert lay_out(trace_of(rows), "span").notes == []
    wrapped = lay_out(trace_of([(1, 0, 4096, 8192), (0, 0, 0, 9000)]), "modulo", capacity=8192)
    assert wrapped.notes == [
        "1 request longer than the drive clipped to its size",
        "1 request split in two at the end of the drive",
    ]
    assert wrapped.span_bytes == 8192


def test_devices_may_not_span_more_than_addresses_reach() -> None:
    # The last region of 1 MiB below 2^61 bytes. Two such devices would reach 2^62.
    last = (1 << 49) - 256

    def trace(second: int) -> Trace:
        columns = {"at_ns": [0, 1], "op": [1, 1], "device": [0, 1], "length": [1, 1]}
        pages = {"address": "pages"}
        return read_trace(pl.DataFrame(columns | {"offset": [last, second]}), units=pages)

    assert lay_out(trace(last - 1), "span").span_bytes == (1 << 62) - MIB
    with pytest.raises(TraceError, match=f"span {1 << 62:,} bytes together"):
        lay_out(trace(last), "span")


def test_a_run_accepts_the_ways_to_lay_out_and_no_others() -> None:
    assert options.ADDRESSES == ADDRESSES


HOST: dict[str, Any] = {
    "placement.scheme": "host",
    "placement.handles": 3,
    "placement.isolation": "persistently",
    "capacity.spare_factor": 0.1,
}
ROWS = 6000


def frame(**columns: pl.Expr) -> pl.DataFrame:
    """Returns single-page writes spread over 16 MiB."""
    row = pl.int_range(ROWS, dtype=pl.UInt64)
    return pl.select(
        at_ns=row * 1000,
        op=pl.lit(1, pl.UInt8).repeat_by(ROWS).explode(),
        offset=row * 7 % 4096 * 4096,
        length=row * 0 + 4096,
        **columns,
    )


def handles() -> pl.Expr:
    return pl.int_range(ROWS, dtype=pl.UInt64) % 3


def pages(result: fg.Result) -> list[int]:
    return [stream.host_pages for stream in result.placement.streams]


def test_a_column_names_the_handle(tmp_path: Path) -> None:
    whole = frame(stream=handles())
    assert pages(fg.run(whole, set=HOST)) == [2000, 2000, 2000]
    assert pages(fg.run(frame(), set=HOST)) == [6000, 0, 0]
    path = tmp_path / "x.parquet"
    whole.write_parquet(path)
    for addresses in ("fold", "span", "modulo"):
        sets = {**HOST, "flash.blocks": 100} if addresses == "modulo" else HOST
        assert pages(fg.run(path, set=sets, addresses=addresses)) == [2000, 2000, 2000]
    # Repeats and limits keep each request together with its handle.
    assert pages(fg.run(path, set=HOST, repeat=2)) == [4000, 4000, 4000]
    assert pages(fg.run(path, set=HOST, limit=4)) == [2, 1, 1]


def test_requests_that_are_sorted_or_split_keep_their_handles() -> None:
    backwards = frame(stream=handles()).reverse()
    assert pages(fg.run(backwards, set=HOST)) == [2000, 2000, 2000]
    # The trim shrinks to the areas that other requests touch.
    trace = pl.DataFrame(
        {
            "at_ns": [0, 1, 2, 3],
            "op": [1, 1, 2, 1],
            "offset": [0, 1 << 20, 3 << 20, 5 << 20],
            "length": [4096, 8192, 4 << 20, 4096],
            "stream": [0, 1, 2, 2],
        }
    )
    assert pages(fg.run(trace, set=HOST)) == [1, 2, 1]


def test_devices_stand_for_handles() -> None:
    trace = frame(device=handles().cast(pl.UInt32))
    assert pages(fg.run(trace, set=HOST, streams="device")) == [2000, 2000, 2000]
    assert pages(fg.run(trace, set=HOST)) == [6000, 0, 0]
    with pytest.raises(fg.ConfigError, match="streams: 'name' given; expected trace or device"):
        fg.run(trace, set=HOST, streams="name")


def test_files_keep_handles(tmp_path: Path) -> None:
    path, copy = tmp_path / "x.parquet", tmp_path / "y.parquet"
    frame(stream=handles()).write_parquet(path)
    trace = read_trace(path)
    assert trace.frame["stream"].dtype == pl.UInt16
    write_trace(trace, copy, ".parquet")
    assert read_trace(copy).frame.equals(trace.frame)
    with pytest.raises(TraceError, match="placement handles, for which CSV has no column"):
        write_trace(trace, tmp_path / "x.csv", ".csv")


@pytest.mark.parametrize("wrong", [-1, 65536, None, 0.5])
def test_a_handle_is_a_number_of_16_bits(wrong: Any) -> None:
    values = [0] * (ROWS - 1) + [wrong]
    with pytest.raises(TraceError, match="column stream: expected integers from 0 to 65535"):
        fg.run(frame().with_columns(pl.Series("stream", values, strict=False)), set=HOST)


def test_a_generator_of_tenants_names_handles(tmp_path: Path) -> None:
    spec = "tenants:span=16MiB,tenants=3,ratio=1,writes=6k"
    direct = fg.run(spec, set=HOST)
    assert sum(pages(direct)) == 6000 and min(pages(direct)) > 1800
    # A repeated trace plays from memory, and must have the same handles.
    twice = fg.run(spec, set=HOST, repeat=2)
    assert pages(twice) == [2 * count for count in pages(direct)]
    # If all tenants share a handle, write amplification rises.
    keys = "tenants:span=32MiB,tenants=4,ratio=2,writes=60k"
    sets = {**HOST, "placement.handles": 4, "flash.pages_per_block": 16}
    apart = fg.run(keys, set=sets).write_amplification
    shared = fg.run(f"{keys},handles=1", set=sets).write_amplification
    assert apart == 1.0 and shared is not None and shared > 1.2


def test_a_partition_that_begins_inside_a_page_is_noted() -> None:
    """Three of four requests begin 3,584 bytes behind a page boundary."""
    inside = [(1, 0, 3584 + 4096 * at, 4096) for at in range(3)]
    [note] = trace_info(trace_of([*inside, (0, 0, 8192, 512)]))["notes"]
    assert note.startswith("75 % of reads and writes begin 3584 bytes behind a multiple of 4 KiB")
    aligned = [(1, 0, 4096 * at, 4096) for at in range(3)]
    assert not trace_info(trace_of([*aligned, (0, 0, 3584, 512)]))["notes"]
