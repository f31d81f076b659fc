"""`floatgate image write` and `read`: bytes into and out of an image."""

from __future__ import annotations

import io
import random
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from command_line import DoneBytes, in_process_bytes

from floatgate import _core
from floatgate.live import images

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="images need a Unix file system")

SIZE = 1 << 20
PAGE = 4096
TINY = {"flash.pages_per_block": 16, "mapping.scheme": "dftl"}

Call = Callable[..., DoneBytes]


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """An image of 1 MiB without any written page."""
    path = tmp_path / "flash.img"
    images.create(path, SIZE, set=TINY)
    return path


@pytest.fixture
def call(tmp_path: Path) -> Call:
    """Returns a function that runs `floatgate image` with bytes on standard input."""
    return partial(in_process_bytes, tmp_path, "image")


def _bytes(count: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(count)


def _expect(done: DoneBytes, status: int, words: str) -> None:
    assert done.returncode == status, done.stderr
    assert words in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("offset", [0, PAGE, 3 * PAGE + 17, SIZE - 10_000])
def test_a_file_comes_back_and_its_neighbours_stay(
    call: Call, image: Path, tmp_path: Path, offset: int
) -> None:
    before, data = _bytes(SIZE), _bytes(10_000, 2)
    images.write(image, io.BytesIO(before))
    (tmp_path / "in.bin").write_bytes(data)
    done = call("write", "flash.img", "--offset", f"{offset}B", "--input", "in.bin")
    _expect(done, 0, "wrote 10,000 bytes to flash.img")
    assert done.stdout == b""
    done = call(
        "read", "flash.img", "--offset", f"{offset}B", "--length", "10000B", "-o", "out.bin"
    )
    _expect(done, 0, "read 10,000 bytes of flash.img")
    assert (tmp_path / "out.bin").read_bytes() == data
    whole = call("read", "flash.img", "--quiet")
    assert whole.stderr == b""
    assert whole.stdout == before[:offset] + data + before[offset + 10_000 :]
    assert images.check(image)["problem_count"] == 0


def test_pipes_on_both_sides(call: Call, image: Path) -> None:
    data = _bytes(3 * PAGE + 5)
    _expect(call("write", "flash.img", "--offset", "8KiB", data=data), 0, "wrote 12,293 bytes")
    done = call("read", "flash.img", "--offset", "8KiB", "--length", "12293B", "--out", "-")
    assert (done.returncode, done.stdout) == (0, data)
    # Unwritten pages read as zeros.
    assert call("read", "flash.img", "--length", "8KiB").stdout == bytes(8192)


def test_what_is_said_to_be_written_needs_no_recovery(call: Call, image: Path) -> None:
    _expect(call("write", "flash.img", data=_bytes(SIZE)), 0, "wrote 1,048,576 bytes")
    rows: list[dict[str, Any]] = []
    images.dump(image, rows.extend)
    # The drive's last write was its checkpoint, and all of it was synced.
    newest = max(row["serial"] for row in rows if row["owner"] != "journal")
    assert images.info(image)["journal"]["checkpoint_serial"] == newest
    with image.open("rb") as file:
        file.seek(16 << 10)
        sync_point = int.from_bytes(file.read(8), "little")
    assert sync_point > max(row["serial"] for row in rows) > newest


def test_reading_changes_nothing_and_others_may_look(call: Call, image: Path) -> None:
    data = _bytes(SIZE)
    images.write(image, io.BytesIO(data))
    before = image.read_bytes()
    reader = _core.Reader(image)
    assert reader.size == SIZE
    assert call("read", "flash.img", "-q").stdout == data
    _expect(call("write", "flash.img", data=b"x"), 1, "is in use by another process")
    assert reader.read(5, 7) == data[5:12]
    del reader
    assert image.read_bytes() == before
    drive = _core.Drive(image)
    _expect(call("read", "flash.img"), 1, "is in use by another process")
    drive.close()


@pytest.mark.parametrize(
    ("arguments", "data", "words"),
    [
        (("--offset", "1MiB"), b"x", "1 bytes from byte 1,048,576 on end beyond the drive"),
        (("--offset", "2MiB"), b"", "0 bytes from byte 2,097,152 on end beyond the drive"),
        ((), bytes(SIZE + 1), "end beyond the drive, which has 1,048,576"),
        (("--input", "large"), b"", "1,048,577 bytes from byte 0 on end beyond"),
        (("--input", "/dev/zero"), b"", "end beyond the drive"),
        (("--offset", "64"), b"x", "offset: expected a size with a unit"),
        (("--offset", "-1B"), b"x", "offset: expected a size"),
        (("--offset", ""), b"x", "'--offset': is empty"),
        (("--input", "absent"), b"", "'absent' cannot be read: No such file"),
        (("--input", ""), b"", "'--input / -i': is empty"),
        (("--input", "."), b"", "'.' cannot be read: Is a directory"),
        (("--input", "flash.img"), b"", "flash.img is the image itself"),
        (("--input", "link"), b"", "link is the image itself"),
    ],
)
def test_a_wrong_write_changes_no_byte(
    call: Call, image: Path, tmp_path: Path, arguments: Any, data: bytes, words: str
) -> None:
    (tmp_path / "large").write_bytes(bytes(SIZE + 1))
    (tmp_path / "link").symlink_to("flash.img")
    held = _bytes(SIZE)
    images.write(image, io.BytesIO(held))
    _expect(call("write", "flash.img", *arguments, data=data), 2, words)
    assert call("read", "flash.img", "-q").stdout == held


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--offset", "1MiB", "--length", "1B"), "1 bytes from byte 1,048,576 on end beyond"),
        (("--length", "2MiB"), "2,097,152 bytes from byte 0 on end beyond the drive"),
        (("--offset", "2MiB"), "end beyond the drive"),
        (("--length", "64"), "length: expected a size with a unit"),
        (("--out", "there"), "there: exists; --force"),
        (("--out", ""), "'--out / -o': is empty"),
        (("--out", "flash.img", "--force"), "flash.img: is the input"),
        (("--out", "link", "--force"), "link: is the input"),
        (("--out", "nowhere/x"), "cannot be written"),
    ],
)
def test_a_wrong_read_leaves_no_output(
    call: Call, image: Path, tmp_path: Path, arguments: Any, words: str
) -> None:
    (tmp_path / "there").write_bytes(b"precious")
    (tmp_path / "link").symlink_to("flash.img")
    before, names = image.read_bytes(), sorted(tmp_path.iterdir())
    done = call("read", "flash.img", *arguments)
    _expect(done, 2, words)
    assert done.stdout == b""
    assert (tmp_path / "there").read_bytes() == b"precious"
    assert (image.read_bytes(), sorted(tmp_path.iterdir())) == (before, names)


def test_an_output_is_replaced_if_that_is_said(call: Call, image: Path, tmp_path: Path) -> None:
    (tmp_path / "there").write_bytes(b"old")
    done = call("read", "flash.img", "--length", "4B", "--out", "there", "--force")
    _expect(done, 0, "read 4 bytes")
    assert (tmp_path / "there").read_bytes() == bytes(4)


def test_a_damaged_page_is_named_and_nothing_is_put_out(
    call: Call, image: Path, tmp_path: Path
) -> None:
    images.write(image, io.BytesIO(_bytes(SIZE)))
    rows: list[dict[str, Any]] = []
    images.dump(image, rows.extend, lpn=5)
    [row] = [row for row in rows if row["state"] == "live"]
    geometry = images.info(image)["geometry"]
    at = -(-(20480 + 40 * geometry["physical_pages"]) // 4096) * 4096
    at += (row["unit"] * geometry["pages_per_unit"] + row["page"]) * PAGE
    with image.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))
    done = call("read", "flash.img", "--out", "out.bin")
    _expect(done, 1, "flash.img: the page at byte 20480 is damaged")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["flash.img"]
    # A partial write must read the rest of its page. A write of the whole page need not.
    _expect(call("write", "flash.img", "--offset", "20481B", data=b"x"), 1, "a page is damaged")
    _expect(call("write", "flash.img", "--offset", "20KiB", data=bytes(PAGE)), 0, "wrote 4,096")
    assert call("read", "flash.img", "--offset", "20KiB", "--length", "4KiB").stdout == bytes(PAGE)


def test_no_size_of_a_call_goes_without_a_unit(call: Call, tmp_path: Path) -> None:
    for size in ("64", "4096", " 64 ", "64 Gi", "1.5"):
        done = call("create", "new.img", "--size", size)
        _expect(done, 2, f'size: expected a size with a unit, such as "4KiB", not "{size}"')
    for name in ("", ".", "/"):
        expected = f"'{name}' given; expected the name of a file" if name else "is empty"
        _expect(call("create", name, "--size", "1MiB"), 2, expected)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(_core.ConfigError, match="size: -5 given"):
        images.create(tmp_path / "new.img", -5)


def test_as_functions(image: Path) -> None:
    data = _bytes(3 << 20)
    with pytest.raises(_core.ConfigError, match="3,145,728 bytes from byte 0 on end beyond"):
        images.write(image, io.BytesIO(data))
    source = io.BytesIO(data[: SIZE // 2 + 3])
    source.seek(3)
    assert images.write(image, source, offset="512KiB") == SIZE // 2
    out = io.BytesIO()
    assert images.read(image, out, offset=SIZE // 2, length=100) == 100
    assert out.getvalue() == data[3:103]
    assert images.read(image, out, offset=SIZE) == 0
