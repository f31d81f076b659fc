"""Reading: compression, directories, mistakes of the user, limits, order, frames and Parquet."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import zstandard
from command_line import HANGS_S, Done, in_process
from conftest import Cli
from paths import DATA
from polars.testing import assert_frame_equal
from trace_rows import failure, write

from floatgate.traces import (
    TraceError,
    open_trace,
    read_trace,
    trace_info,
    write_parquet,
    write_trace,
)

LINES = [f"{i * 1000} {i % 3} {i * 17} 9 {i % 2}" for i in range(1, 2001)]


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
    assert "three.disksim" in failure(DATA / "three.disksim", format=form)


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


def test_a_directory_of_parquet_files_is_one_trace(tmp_path: Path) -> None:
    first = read_trace(DATA / "queue.blkparse")
    second = read_trace(DATA / "job.fio2")
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
    trace = read_trace(DATA / "three.disksim")
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


KINDS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gz": ("gzip", gzip.compress),
    "zst": ("zstd", zstandard.compress),
    "bz2": ("bzip2", bz2.compress),
    "xz": ("xz", lzma.compress),
}
HEADER = "timestamp_us,op,offset_bytes,size_bytes\n"
SKIPPED = b"\x50\x2a\x4d\x18" + struct.pack("<I", 7) + b"skipped"
"""A zstd frame that contains no data."""


def text(first: int, count: int = 50) -> bytes:
    rows = (f"{number},W,{number % 20 * 4096},4096\n" for number in range(first, first + count))
    return "".join(rows).encode()


def streams(kind: str) -> tuple[bytes, bytes]:
    """Returns two halves of a trace, each compressed separately."""
    compress = KINDS[kind][1]
    return compress(HEADER.encode() + text(0)), compress(text(50))


def height(folder: Path, data: bytes) -> int:
    path = folder / "trace"
    path.write_bytes(data)
    return read_trace(path).frame.height


@pytest.mark.parametrize("kind", KINDS)
def test_all_streams_are_read(kind: str, tmp_path: Path) -> None:
    one, two = streams(kind)
    many = b"".join(KINDS[kind][1](text(100 + row, 1)) for row in range(300))
    assert height(tmp_path, one + two) == 100
    assert height(tmp_path, one + two + many) == 400
    assert height(tmp_path, one + KINDS[kind][1](b"") + two) == 100


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("damage", ["bit", "garbage", "byte", "cut", "header", "zeros"])
def test_what_follows_a_stream_and_is_none_is_an_error(
    kind: str, damage: str, tmp_path: Path
) -> None:
    one, two = streams(kind)
    behind = {
        "bit": bytes([two[0] ^ 1]) + two[1:],
        "garbage": b"garbage",
        "byte": b"g",
        "cut": two[:-3],
        "header": two[:5],
        "zeros": b"\0" * 3 + two,
    }[damage]
    if (kind, damage) == ("gz", "zeros"):
        assert height(tmp_path, one + behind) == 100
        return
    with pytest.raises(TraceError, match=f"truncated or corrupt {KINDS[kind][0]} data"):
        height(tmp_path, one + behind)


@pytest.mark.parametrize("zeros", [4, 8, 1 << 18])
def test_xz_may_have_zero_bytes_behind_a_stream(zeros: int, tmp_path: Path) -> None:
    one, two = streams("xz")
    assert height(tmp_path, one + b"\0" * zeros + two + b"\0" * zeros) == 100


def test_zstd_may_have_frames_that_are_skipped(tmp_path: Path) -> None:
    one, two = streams("zst")
    assert height(tmp_path, SKIPPED + one + SKIPPED + two + SKIPPED) == 100
    with pytest.raises(TraceError, match="it ends inside frame 2"):
        height(tmp_path, one + SKIPPED[:-1])


@pytest.mark.parametrize("kind", KINDS)
def test_no_flipped_bit_of_a_written_trace_is_silent(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"trace.csv.{kind}"
    (tmp_path / "plain.csv").write_bytes(HEADER.encode() + text(0, 200))
    trace = read_trace(tmp_path / "plain.csv")
    write_trace(trace, path, f".csv.{kind}")
    content, draw = path.read_bytes(), random.Random(1)
    for _ in range(100):
        damaged = bytearray(content)
        damaged[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged)
        try:
            found = read_trace(path)
        except TraceError:
            continue
        assert found.frame.equals(trace.frame)


def test_a_command_names_the_stream(cli: Cli, tmp_path: Path) -> None:
    one, two = streams("xz")
    (tmp_path / "trace.csv.xz").write_bytes(one + bytes([two[0] ^ 1]) + two[1:])
    for call in (("trace", "info"), ("run",)):
        words = "floatgate: trace.csv.xz: truncated or corrupt xz data: stre"
        cli(*call, "trace.csv.xz").refused(words)


def test_a_bomb_is_expanded_in_blocks() -> None:
    """Each step expands a megabyte of zeros, not the gigabyte that a small file may contain."""
    from floatgate.traces.compressed import codec_of

    for compress in (bz2.compress, lzma.compress):
        data = compress(bytes(1 << 24))
        codec = codec_of(data)
        assert codec is not None
        assert max(map(len, codec.expand(io.BytesIO(data)))) <= 1 << 20


DIRECTORY_OF_TWO = ("trace/a.parquet", "trace/below/b.parquet")


def _directory(folder: Path) -> Path:
    """Makes a directory of Parquet files, with one of them in a subdirectory."""
    text = "timestamp_us,op,offset_bytes,size_bytes\n0,w,0,512\n5,r,0,512\n"
    small = folder / "small.csv"
    small.write_text(text)
    requests = read_trace(small).frame
    for name in DIRECTORY_OF_TWO:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        requests.write_parquet(path)
    return folder / "trace"


def test_a_directory_is_read_with_those_below_it(tmp_path: Path) -> None:
    trace = _directory(tmp_path)
    (trace / "none.parquet").mkdir()
    (trace / "other.csv").write_text("no trace")
    assert read_trace(trace).frame.height == 4


def _with_rights(folder: Path, *arguments: object) -> Done:
    """Runs the command subject to file modes. Root loses the right to ignore them."""
    if os.geteuid() != 0:
        return in_process(folder, *arguments)
    if shutil.which("setpriv") is None:
        pytest.skip("root may read everything, and setpriv is not installed (util-linux)")
    rights = "--bounding-set=-dac_override,-dac_read_search"
    command = ["setpriv", rights, sys.executable, "-m", "floatgate", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=HANGS_S)


@pytest.mark.skipif(sys.platform != "linux", reason="the rights of Linux")
@pytest.mark.parametrize("call", [("run",), ("trace", "info")], ids=" ".join)
@pytest.mark.parametrize(
    ("closed", "asked"),
    [
        ("trace/below", "trace"),
        ("trace", "trace"),
        ("trace", "trace/a.parquet"),
        ("trace/a.parquet", "trace/a.parquet"),
    ],
)
def test_what_may_not_be_looked_into_is_told(
    call: tuple[str, ...], closed: str, asked: str, tmp_path: Path
) -> None:
    """Closes a directory, a subdirectory, the directory of a file, and the file: half a trace is an
    error."""
    _directory(tmp_path)
    path = tmp_path / closed
    mode = path.stat().st_mode
    path.chmod(0)
    try:
        done = _with_rights(tmp_path, *call, asked)
    finally:
        path.chmod(mode)
    wrong = asked if asked.endswith(".parquet") else closed
    told = f"floatgate: {wrong}: cannot be read: Permission denied\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)


@pytest.mark.parametrize("read", [read_trace, open_trace])
def test_a_directory_that_cannot_be_listed_is_told(
    read: Callable[[object], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failing disk must have the same effect as missing permissions."""
    trace, listed = _directory(tmp_path), os.scandir

    def scandir(path: str) -> object:
        if Path(path).name == "below":
            raise OSError(5, "Input/output error", path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.raises(TraceError, match="below: cannot be read: Input/output error"):
        read(trace)
