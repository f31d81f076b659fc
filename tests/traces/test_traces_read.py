"""Reading: compression, mistakes of the user, limits, order, frames and Parquet."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import zstandard
from paths import ROOT
from polars.testing import assert_frame_equal

from floatgate.traces import TraceError, read_trace, trace_info, write_parquet

SAMPLES = ROOT / "tests" / "data" / "traces"
LINES = [f"{i * 1000} {i % 3} {i * 17} 9 {i % 2}" for i in range(1, 2001)]
CODECS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zstd": zstandard.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}


def write(folder: Path, lines: list[str], name: str = "file") -> Path:
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


def failure(source: object, **options: object) -> str:
    with pytest.raises(TraceError) as caught:
        read_trace(source, **options)  # type: ignore[arg-type]
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("codec", CODECS)
def test_compression_is_recognised_by_content(codec: str, tmp_path: Path) -> None:
    path = write(tmp_path, LINES)
    plain = read_trace(path)
    data = path.read_bytes()
    path.write_bytes(CODECS[codec](data))
    assert_frame_equal(read_trace(path).frame, plain.frame)
    path.write_bytes(CODECS[codec](data[:5000]) + CODECS[codec](data[5000:]))
    assert_frame_equal(read_trace(path).frame, plain.frame)


@pytest.mark.parametrize("codec", CODECS)
def test_cut_or_damaged_compressed_data_is_an_error(codec: str, tmp_path: Path) -> None:
    path = write(tmp_path, LINES)
    packed = CODECS[codec](path.read_bytes())
    for broken in (packed[: len(packed) // 2], packed[:20] + bytes(40) + packed[60:]):
        path.write_bytes(broken)
        assert f"truncated or corrupt {codec} data" in failure(path)


def test_missing_empty_and_foreign_sources(tmp_path: Path) -> None:
    assert "no such file" in failure(tmp_path / "none")
    assert "without .parquet files" in failure(tmp_path)
    empty = tmp_path / "empty"
    empty.write_bytes(b"\n")
    assert "empty" in failure(empty)
    foreign = write(tmp_path, ["name,price,city", "apple,3,Rome", "pear,4,Oslo"])
    message = failure(foreign)
    assert "no known trace format" in message and "name,price,city" in message
    assert "at most 1 %" in failure(foreign, format="spc")
    assert "line 1: 'name,price,city'" in failure(foreign, format="spc")
    noise = tmp_path / "noise"
    noise.write_bytes(bytes(range(256)) * 9)
    assert "binary data" in failure(noise)
    assert "cannot be a int" in failure(3)


@pytest.mark.parametrize("form", ["fio", "vscsi", "hp-srt", "parquet", "blkparse"])
def test_a_format_given_wrongly_says_so(form: str) -> None:
    assert "three.disksim" in failure(SAMPLES / "three.disksim", format=form)


def test_wrong_options_are_named(tmp_path: Path) -> None:
    path = write(tmp_path, LINES)
    assert "'nope'" in failure(path, format="nope")
    assert "'days'" in failure(path, units={"time": "days"})
    assert "'weight'" in failure(path, units={"weight": "ns"})
    assert "limit" in failure(path, limit=0)


def test_one_percent_of_bad_lines_is_the_border(tmp_path: Path) -> None:
    bad = ["no request at all"] * 20
    trace = read_trace(write(tmp_path, LINES[:7] + bad + LINES[7:1980]))
    assert (trace.unparsed_lines, trace.frame.height) == (20, 1980)
    assert trace.first_unparsed == "line 8: 'no request at all'"
    assert trace_info(trace)["unparsed_lines"] == 20
    message = failure(write(tmp_path, LINES[:7] + bad + LINES[7:1979]))
    assert "20 of 1,999 lines" in message and "line 8: 'no request at all'" in message


def test_a_format_is_recognised_where_half_of_the_lines_have_it(tmp_path: Path) -> None:
    line = "5 0 9 8 1"
    assert "1 of 2 lines (50 %) cannot be read as disksim" in failure(write(tmp_path, [line, "?"]))
    assert "no known trace format" in failure(write(tmp_path, [line, "?", "?"]))


def test_numbers_out_of_range_do_not_parse(tmp_path: Path) -> None:
    wrong = ["5 0 99999999999999999999999 8 1", f"6 0 {1 << 50} 8 1", "7 0 -4 8 1"]
    assert read_trace(write(tmp_path, LINES + wrong)).unparsed_lines == 3


def test_carriage_returns_comments_blank_lines_and_odd_bytes(tmp_path: Path) -> None:
    path = tmp_path / "windows"
    text = "# a comment\r\n\r\n" + "\r\n".join(LINES)
    path.write_bytes(text.encode() + b"\r\n\xff\xfe not text\r\n")
    trace = read_trace(path)
    assert (trace.frame.height, trace.unparsed_lines) == (2000, 1)
    assert trace.notes == ["2 lines left out: an empty line or a comment"]
    assert read_trace(write(tmp_path, ["# a title", *LINES])).notes == []
    later = read_trace(write(tmp_path, [LINES[0], "# a remark", *LINES[1:]]))
    assert later.notes == ["1 line left out: an empty line or a comment"]


def test_lines_out_of_order_are_sorted_stably_and_told(tmp_path: Path) -> None:
    lines = ["9 0 1 1 0", "5 0 2 1 0", "9 0 3 1 0", "5 0 4 1 0"]
    trace = read_trace(write(tmp_path, lines), units={"time": "ns"})
    assert trace.frame["at_ns"].to_list() == [0, 0, 4, 4]
    assert trace.frame["offset"].to_list() == [1024, 2048, 512, 1536]
    assert trace.notes == ["2 lines stepped backwards in time; sorted by time"]


def test_empty_requests_are_dropped_and_told(tmp_path: Path) -> None:
    trace = read_trace(write(tmp_path, ["3 0 0 0 1", *LINES]))
    assert (trace.frame.height, trace.notes) == (2000, ["1 request of length 0 dropped"])
    assert "no request" in failure(write(tmp_path, ["3 0 7 0 1"]))


def test_limit_keeps_the_earliest_requests(tmp_path: Path) -> None:
    trace = read_trace(write(tmp_path, LINES[::-1]), limit=3)
    assert trace.frame["offset"].to_list() == [17 * 512, 34 * 512, 51 * 512]
    assert "only the first 3 of 2,000 requests" in trace.notes
    for limit in (2000, 2001):
        assert read_trace(write(tmp_path, LINES), limit=limit).notes == []


def test_times_in_seconds_keep_their_nanoseconds(tmp_path: Path) -> None:
    lines = ["0,8,512,R,1398396860.168065791", "0,8,512,R,1398396860.168065793"]
    assert read_trace(write(tmp_path, lines)).frame["at_ns"].to_list() == [0, 2]


def test_units_are_overridden(tmp_path: Path) -> None:
    path = write(tmp_path, ["0 0 3 2 1", "7 0 5 2 0"])
    trace = read_trace(path, units={"time": "s", "address": "pages", "length": "bytes"})
    assert trace.frame.rows() == [(0, 0, 0, 12288, 2), (7_000_000_000, 1, 0, 20480, 2)]
    assert trace.units.guessed == ()
    far = write(tmp_path, ["0 0 3 2 1", "99999999999 0 5 2 0"])
    assert "292 years" in failure(far, units={"time": "s"})


def test_parquet_round_trip(tmp_path: Path) -> None:
    trace = read_trace(SAMPLES / "queue.blkparse")
    path = tmp_path / "trace.parquet"
    write_parquet(trace, path)
    back = read_trace(path)
    assert_frame_equal(back.frame, trace.frame)
    assert (back.format, back.devices) == ("parquet", trace.devices)
    assert back.notes == ["imported from blkparse (s, sectors, sectors)", *trace.notes]
    assert [p.name for p in tmp_path.iterdir()] == ["trace.parquet"]


def test_a_directory_of_parquet_files_is_one_trace(tmp_path: Path) -> None:
    first = read_trace(SAMPLES / "queue.blkparse")
    second = read_trace(SAMPLES / "job.fio2")
    write_parquet(first, tmp_path / "a.parquet")
    write_parquet(second, tmp_path / "b.parquet")
    both = read_trace(tmp_path)
    assert both.frame.height == first.frame.height + second.frame.height
    assert both.devices == ["8,0", "8,16", "/dev/sda", "/dev/sdb"]
    assert_frame_equal(read_trace(f"file://{tmp_path}").frame, both.frame)


def test_a_url_is_read_through_fsspec(tmp_path: Path) -> None:
    path = write(tmp_path, LINES)
    assert_frame_equal(read_trace(f"file://{path}").frame, read_trace(path).frame)
    assert "no such file" in failure(f"file://{tmp_path}/none")
    assert "cannot be read" in failure("nosuchscheme://bucket/key")
    assert failure("c://key") == "c:/key: no such file"  # a Windows drive, not a URL


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = read_trace(SAMPLES / "three.disksim")
    path = tmp_path / "out.parquet"
    path.write_bytes(b"before")

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pl.DataFrame, "write_parquet", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_parquet(trace, path)
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("out.parquet", b"before")]
    with pytest.raises(TraceError, match="cannot be written"):
        write_parquet(trace, tmp_path / "none" / "out.parquet")


def test_frames_and_arrow_tables_are_traces() -> None:
    frame = pl.DataFrame({"at_ns": [5, 9], "op": [1, 3], "offset": [4096, 7], "length": [512, 7]})
    trace = read_trace(frame)
    assert trace.frame.rows() == [(0, 1, 0, 4096, 512), (4, 3, 0, 0, 0)]

    class Arrow:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return frame.__arrow_c_stream__(requested_schema)

    assert_frame_equal(read_trace(Arrow()).frame, trace.frame)
    assert "column offset is missing" in failure(frame.drop("offset"))
    assert "column op" in failure(frame.with_columns(op=pl.lit(4)))
    assert "column length" in failure(frame.with_columns(length=pl.lit(-1)))
    assert "column at_ns" in failure(frame.with_columns(at_ns=pl.lit("now")))
    assert "column device" in failure(frame.with_columns(device=pl.lit(None)))
