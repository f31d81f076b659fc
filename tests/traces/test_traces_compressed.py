"""Compressed traces: every stream of a file is read, and a lost stream is an error."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from conftest import Cli

from floatgate.traces import TraceError, read_trace, write_trace

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
        done = cli(*call, "trace.csv.xz")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("floatgate: trace.csv.xz: truncated or corrupt xz data: stre")


def test_a_bomb_is_expanded_in_blocks() -> None:
    """Each step expands a megabyte of zeros, not the gigabyte that a small file may contain."""
    from floatgate.traces.compressed import codec_of

    for compress in (bz2.compress, lzma.compress):
        data = compress(bytes(1 << 24))
        codec = codec_of(data)
        assert codec is not None
        assert max(map(len, codec.expand(io.BytesIO(data)))) <= 1 << 20
