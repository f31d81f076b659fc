"""Digests of rows, and Parquet traces with one: damage never changes requests silently."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import Cli
from polars.testing import assert_frame_equal

import floatgate as fg
from floatgate.files.digests import Digest, digest_of
from floatgate.live import recording
from floatgate.traces import (
    Room,
    Stream,
    Trace,
    TraceError,
    open_trace,
    read_trace,
    write_parquet,
    write_trace,
)

KEY = "floatgate"
REQUESTS = 400
DIFFER = "the requests differ from those that were written"


def trace(requests: int = REQUESTS, devices: int = 2) -> Trace:
    """Returns a trace of requests to several devices, with a note."""
    draw = random.Random(7)
    rows = [
        (at * 1000, draw.randrange(3), draw.choice("ab"[:devices]), draw.randrange(99) * 4096, 4096)
        for at in range(requests)
    ]
    names = ["at_ns", "op", "device", "offset", "length"]
    found = read_trace(pl.DataFrame(rows, names, orient="row"))
    found.notes.append("made for a test")
    return found


def outcome(path: Path, opened: bool = False, **options: Any) -> Trace | str:
    """Reads a trace, at once or in batches, and returns it or the error."""
    try:
        found = (
            open_trace(path, room=Room(requests=10), **options)
            if opened
            else read_trace(path, **options)
        )
        return found.hold() if isinstance(found, Stream) else found
    except TraceError as error:
        return str(error)


@pytest.mark.parametrize("opened", [False, True])
def test_no_flipped_bit_is_other_requests(opened: bool, tmp_path: Path) -> None:
    path, whole = tmp_path / "trace.parquet", trace()
    write_parquet(whole, path)
    content, draw = path.read_bytes(), random.Random(4)
    refused = 0
    for _ in range(150):
        damaged = bytearray(content)
        damaged[draw.randrange(4, len(content))] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged)
        found = outcome(path, opened)
        if isinstance(found, str):
            refused += 1
            continue
        assert_frame_equal(found.frame, whole.frame)
        assert found.devices == whole.devices or found.checked is False
    assert refused > 75


def rewritten(path: Path, **changes: Any) -> None:
    """Rewrites the file with other rows or metadata, but keeps the old digest."""
    about = json.loads(pl.read_parquet_metadata(path)[KEY])
    frame = pl.read_parquet(path).with_columns(**changes.pop("columns", {}))
    frame.write_parquet(path, metadata={KEY: json.dumps(about | changes)})


CHANGES: dict[str, dict[str, Any]] = {
    "a column": {"columns": {"offset": pl.col("offset") + 4096}},
    "the order": {"columns": {"offset": pl.col("offset").reverse()}},
    "the type": {"columns": {"op": pl.col("op").cast(pl.Int64)}},
    "one more column": {"columns": {"more": pl.lit(1)}},
    "the devices": {"devices": ["b", "a"]},
    "the notes": {"notes": []},
    "the digest": {"digest": "0" * 32},
    "no text": {"digest": 1},
}


@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_is_refused(change: str, opened: bool, tmp_path: Path) -> None:
    path = tmp_path / "trace.parquet"
    write_parquet(trace(), path)
    rewritten(path, **CHANGES[change])
    message = outcome(path, opened)
    assert isinstance(message, str) and message.startswith(f"{path}: {DIFFER}")
    # With a limit only the first requests are read, so nothing is compared.
    limited = outcome(path, opened, limit=20)
    assert isinstance(limited, Trace) and limited.frame.height == 20 and not limited.checked


def test_a_file_of_other_programs_has_nothing_to_compare(tmp_path: Path) -> None:
    path, whole = tmp_path / "trace.parquet", trace()
    whole.frame.write_parquet(path)
    assert read_trace(path).checked is False
    about = {"format": "spc", "units": ["s"] * 3, "guessed": [], "devices": ["x", "y"], "notes": []}
    whole.frame.write_parquet(path, metadata={KEY: json.dumps(about)})
    found = read_trace(path)
    assert (found.checked, found.devices) == (False, ["x", "y"])
    write_parquet(whole, path)
    assert read_trace(path).checked is True
    assert read_trace(path.read_bytes() and f"file://{path}").checked is True
    assert read_trace(whole.frame).checked is None


def test_each_file_of_a_directory_has_its_digest(tmp_path: Path) -> None:
    for name in "ab":
        write_parquet(trace(), tmp_path / f"{name}.parquet")
    assert read_trace(tmp_path).checked is True
    rewritten(tmp_path / "b.parquet", columns={"op": pl.lit(1, pl.UInt8)})
    for opened in (False, True):
        message = outcome(tmp_path, opened)
        assert isinstance(message, str) and message.startswith(
            f"{tmp_path / 'b.parquet'}: {DIFFER}"
        )


@pytest.mark.parametrize("handles", [False, True])
def test_batches_of_any_size_have_the_same_digest(handles: bool, tmp_path: Path) -> None:
    whole = trace()
    if handles:
        whole.frame = whole.frame.with_columns(stream=pl.lit(3, pl.UInt16))
    for size in (1, 7, REQUESTS):
        path = tmp_path / f"{size}.parquet"
        write_trace(whole, path, ".parquet", whole.frame.iter_slices(size))
        found = read_trace(path)
        assert found.checked
        assert_frame_equal(found.frame, whole.frame)


def test_a_written_file_without_requests_is_checked(tmp_path: Path) -> None:
    empty = trace()
    empty.frame = empty.frame.clear()
    write_parquet(empty, tmp_path / "trace.parquet")
    assert "no requests" in str(outcome(tmp_path / "trace.parquet"))


def test_commands_write_digests_and_compare_them(cli: Cli, tmp_path: Path) -> None:
    spec = "uniform:span=1MiB,writes=500"
    for command in (
        ("generate", spec, "-o", "a.parquet"),
        ("import", "a.parquet", "-o", "b.parquet"),
    ):
        assert cli("trace", *command).returncode == 0
    for name in ("a.parquet", "b.parquet"):
        assert json.loads(cli("trace", "info", name, "--json").stdout)["checked"] is True
        rewritten(tmp_path / name, columns={"op": pl.lit(0, pl.UInt8)})
    for call in (("run", "a.parquet"), ("trace", "import", "b.parquet", "-o", "c.parquet")):
        cli(*call).refused(f"floatgate: {call[-3] if len(call) > 2 else call[1]}: {DIFFER}")
    pl.read_parquet(tmp_path / "a.parquet").write_parquet(tmp_path / "plain.parquet")
    done = cli("trace", "info", "plain.parquet")
    assert (done.returncode, "has no digest of its requests" in done.stdout) == (0, True)


def test_a_recording_has_a_digest(tmp_path: Path) -> None:
    from test_traces_formats import content

    path = tmp_path / "x.parquet"
    recording.capture_of(path).write_bytes(content("capture", tmp_path))
    assert recording.keep(path)
    assert read_trace(path).checked is True


SHAPES = {
    "a list": "[]",
    "a number": "1",
    "null": "null",
    "a text": '"x"',
    "nothing": "{}",
    "cut": "{",
    "too deep": "[" * 100_000,
    "too deep in it": '{"notes": ' + "[" * 100_000,
}
ABOUT = {"format": "spc", "units": ["s"] * 3, "guessed": [], "devices": ["x"], "notes": []}
ENTRIES: dict[str, Any] = {
    "notes": [1],
    "units": None,
    "guessed": "abc",
    "devices": {},
    "format": 1,
}
for name, value in ENTRIES.items():
    SHAPES[f"another {name}"] = json.dumps(ABOUT | {name: value})
    SHAPES[f"no {name}"] = json.dumps({key: ABOUT[key] for key in ABOUT if key != name})


@pytest.mark.parametrize("shape", SHAPES)
def test_metadata_of_another_shape_are_told(shape: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.parquet"
    trace().frame.write_parquet(path, metadata={KEY: SHAPES[shape]})
    for opened in (False, True):
        message = outcome(path, opened)
        assert isinstance(message, str)
        assert message.startswith(f"{path}: damaged Parquet data: metadata {KEY}")
    with pytest.raises(fg.TraceError, match="metadata floatgate"):
        fg.run(path)


def test_a_panic_of_polars_is_told_as_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "trace.parquet"
    write_parquet(trace(), path)

    def panic(*_: Any, **__: Any) -> None:
        raise pl.exceptions.PanicException("index out of bounds")

    monkeypatch.setattr(pl.LazyFrame, "collect_batches", panic)
    assert outcome(path) == f"{path}: damaged Parquet data: index out of bounds"


TABLE = pl.DataFrame(
    {
        "count": pl.Series([1, None, 3, 4], dtype=pl.UInt32),
        "name": ["x", None, "é\0", 'y","z'],
        "notes": [["a", "b"], None, [], ["a,b", None]],
        "share": [0.1, float("nan"), None, -0.0],
        "done": [True, None, False, True],
    }
)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_digest_is_the_same_however_rows_are_cut(size: int) -> None:
    digest = Digest(TABLE.schema)
    for part in TABLE.iter_slices(size):
        digest.add(part)
        digest.add(part.clear())
    assert digest.text() == digest_of(TABLE)


@pytest.mark.parametrize("group", [1, 4])
def test_the_digest_is_the_same_after_a_parquet_file(group: int) -> None:
    file = io.BytesIO()
    TABLE.write_parquet(file, row_group_size=group)
    file.seek(0)
    assert digest_of(pl.read_parquet(file)) == digest_of(TABLE)


def test_every_change_gives_another_digest() -> None:
    changed = [
        TABLE.reverse(),
        TABLE.head(3),
        TABLE.head(0),
        TABLE.drop("done"),
        TABLE.rename({"done": "over"}),
        TABLE.cast({"count": pl.Int32}),
        TABLE.with_columns(pl.col("count").fill_null(0)),
        TABLE.with_columns(pl.col("share").fill_nan(1.0)),
        TABLE.with_columns(pl.col("share").abs()),
        TABLE.with_columns(pl.col("name").fill_null("null")),
        TABLE.with_columns(notes=pl.Series([["a", "b"], None, None, ["a,b", None]])),
        TABLE.with_columns(notes=pl.Series([["a", "b"], None, [], ["a", "b", None]])),
        TABLE.with_columns(done=pl.Series([True, False, False, True])),
        TABLE.with_columns(done=pl.Series([None, True, False, True])),
        TABLE.select(reversed(TABLE.columns)),
    ]
    digests = {digest_of(table) for table in (TABLE, *changed)}
    assert len(digests) == 1 + len(changed)
