"""Placement handles from Python: traces with handles, devices used as handles, and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import floatgate as fg
from floatgate.traces import TraceError, read_trace

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
    from floatgate.traces import write_trace

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
