"""Traces parsed in pieces: the same requests, units and notes for every piece size."""

from __future__ import annotations

import gc
import gzip
import os
import random
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from test_traces_formats import BINARY, TEXT, content

import floatgate as fg
from floatgate.traces import (
    Room,
    Stream,
    Trace,
    TraceError,
    open_trace,
    read_trace,
    write_opened,
)

COLUMNS = "time=1,device=2,offset=3,length=4,op=5,read=1,write=0"
SMALL = Room(requests=100, piece=1000)
SAMPLES = [name for name in (*TEXT, *BINARY) if name != "parquet"]


def check_same(one: Trace | str, other: Trace | str) -> None:
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return
    assert_frame_equal(one.frame, other.frame)
    notes = [note for note in other.notes if "were held in memory to sort them" not in note]
    assert notes == one.notes
    for name in ("name", "format", "units", "devices", "unparsed_lines", "first_unparsed"):
        assert getattr(one, name) == getattr(other, name)


def outcome(read: Any, source: Any, **options: Any) -> Trace | str:
    """Reads or opens a trace, and returns it or the error."""
    try:
        found = read(source, **options)
    except TraceError as error:
        return str(error)
    return found.hold() if isinstance(found, Stream) else found


def check_pieces(path: Path, piece: int, **options: Any) -> None:
    """Checks that reading in pieces of `piece` bytes, from memory or as a stream, equals reading at
    once."""
    whole = outcome(read_trace, path, **options)
    check_same(whole, outcome(read_trace, path, room=Room(piece=piece), **options))
    check_same(whole, outcome(open_trace, path, room=Room(1, piece), **options))


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("piece", [7, 61])
def test_pieces_make_no_difference(name: str, piece: int, tmp_path: Path) -> None:
    path = tmp_path / name
    data = content(name, tmp_path)
    path.write_bytes(data)
    check_pieces(path, piece)
    check_pieces(path, piece, limit=2, close_gaps="1us")
    path.write_bytes(gzip.compress(data))
    check_pieces(path, piece)


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@example(name="capture", seed=949, piece=100, limit=None)
@given(
    name=st.sampled_from(SAMPLES),
    seed=st.integers(0, 1000),
    piece=st.integers(1, 400),
    limit=st.none() | st.integers(1, 12),
)
def test_damaged_files_are_the_same_in_pieces(
    tmp_path: Path, name: str, seed: int, piece: int, limit: int | None
) -> None:
    draw = random.Random(seed)
    form = {**TEXT, **BINARY}[name]
    parts = content(name, tmp_path).splitlines(keepends=True)
    for _ in range(draw.randrange(3)):
        at = draw.randrange(len(parts))
        other = draw.choice([b"", b"\n", b"# a remark\n", b"nonsense\n", b"\xff\n", parts[at][:-2]])
        parts[at : at + draw.randrange(2)] = [other]
    path = tmp_path / "damaged"
    path.write_bytes(b"".join(parts * draw.randint(1, 60)))
    check_pieces(path, piece, format=form, limit=limit)


@pytest.mark.parametrize("header", ["", "t disk at bytes what\n", "my own\nlist of requests\n"])
@pytest.mark.parametrize("piece", [9, 100])
def test_named_columns_are_the_same_in_pieces(header: str, piece: int, tmp_path: Path) -> None:
    path = tmp_path / "mine"
    lines = [f"{i * 10}.5 {i % 3} {i * 17} 9 {i % 2}\n" for i in range(40)]
    path.write_text("\n# mine\n" + header + "".join(lines))
    check_pieces(path, piece, columns=COLUMNS)
    check_pieces(path, piece, columns=COLUMNS, units={"time": "us", "length": "pages"})


def test_the_first_issued_action_may_come_late(tmp_path: Path) -> None:
    line = "8,0 1 {} 0.{:09} 77 {} W {} + 8 [x]\n"
    queued = [line.format(i, i, "Q", 8 * i) for i in range(300)]
    path = tmp_path / "late"
    path.write_text("".join([*queued, line.format(301, 301, "D", 4096)]))
    check_pieces(path, 500)
    assert read_trace(path).frame.height == 1


def lines(count: int, backwards: bool = False) -> str:
    times = [*range(count)]
    if backwards:
        times[count // 2] = 0
    return "".join(f"0,{8 * (i % 500)},4096,{'RW'[i % 2]},{i / 1000}\n" for i in times)


def test_a_long_text_is_played_from_a_folder_that_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "kept"))
    (tmp_path / "kept").mkdir()
    path = tmp_path / "some.spc"
    path.write_text(lines(2000))
    found = open_trace(path, room=SMALL)
    assert isinstance(found, Stream) and found.requests == 2000
    assert [*(tmp_path / "kept").iterdir()]
    options: dict[str, Any] = {"set": {"flash.blocks": 64, "timing": "none"}, "repeat": 2}
    streamed = fg.run(found, **options)
    del found
    gc.collect()
    assert not [*(tmp_path / "kept").iterdir()]
    documents = [result.to_dict() for result in (streamed, fg.run(path, **options))]
    for document in documents:
        del document["engine"]
    assert documents[0] == documents[1]


def test_a_long_text_out_of_order_is_held_and_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "some.spc"
    path.write_text(lines(300, backwards=True))
    found = open_trace(path, room=SMALL)
    assert isinstance(found, Trace)
    assert found.notes[-1].startswith("300 requests were held in memory to sort them")


def test_a_folder_without_room_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("polars.DataFrame.write_parquet", full)
    path = tmp_path / "some.spc"
    path.write_text(lines(300))
    words = r"floatgate-\w+\.part: cannot be written: No space left on de"
    with pytest.raises(TraceError, match=words):
        open_trace(path, room=SMALL)


def test_an_import_of_a_long_text_is_that_of_a_short_one(tmp_path: Path) -> None:
    path = tmp_path / "some.spc"
    path.write_text(lines(1000) + lines(1).replace(",0.0\n", ",200000\n"))
    for name, room in (("a", SMALL), ("b", Room())):
        assert write_opened(open_trace(path, room=room), tmp_path / f"{name}.parquet") == 1001
    one, other = (read_trace(tmp_path / f"{name}.parquet") for name in "ab")
    assert_frame_equal(one.frame, other.frame)
    assert one.notes == other.notes
    assert any("--close-gaps" in note for note in one.notes)


def test_a_pipe_is_read_from_its_start(tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no pipes with a name")
    path, pipe = tmp_path / "some.spc", tmp_path / "pipe"
    path.write_text(lines(2000))
    os.mkfifo(pipe)
    for read in (read_trace, open_trace):
        writer = threading.Thread(target=lambda: pipe.write_bytes(path.read_bytes()))
        writer.start()
        found = outcome(read, pipe)
        writer.join()
        assert isinstance(found, Trace)
        assert_frame_equal(found.frame, read_trace(path).frame)
