"""`floatgate image` as a user calls it: creates, shows, checks, writes and reads images."""

from __future__ import annotations

import io
import json
import os
import random
import subprocess
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

SMALL = ("--set", "flash.pages_per_block=16", "--set", "mapping.scheme=dftl")


def _rows(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def _made(cli, tmp_path: Path) -> Path:
    done = cli("image", "create", "flash.img", "--size", "8MiB", *SMALL)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "made flash.img\n")
    return tmp_path / "flash.img"


def _written(cli, tmp_path: Path) -> Path:
    path = _made(cli, tmp_path)
    drive = _core.Drive(path)
    for version in (b"a", b"b"):
        drive.write(5 * 4096, version * 8192)
        drive.write(900, b"x")
    drive.trim(6 * 4096, 4096)
    drive.close()
    return path


def test_create_makes_what_info_shows(cli, tmp_path: Path) -> None:
    arguments = ("image", "create", "new.img", "--size", "16MiB", "--json", *SMALL)
    made = cli(*arguments, "--device", "small-nvme").document()
    info = cli("image", "info", "new.img", "--json").document()
    assert made == info
    assert info["bytes"] == 16 << 20
    assert info["config"]["ftl"]["journal"] is True
    assert info["config"]["mapping"]["scheme"] == "dftl"
    assert info["pages"]["mapped"] == 0
    assert (
        info["file"]["disk_bytes"] < info["file"]["bytes"] == (tmp_path / "new.img").stat().st_size
    )
    text = cli("image", "info", "new.img").stdout
    for words in ("16,777,216 bytes", "dftl map", "last checkpoint", "erases of a unit"):
        assert words in text


def test_check_and_dump_agree(cli, tmp_path: Path) -> None:
    before = _written(cli, tmp_path).read_bytes()
    report = cli("image", "check", "flash.img", "--json").document()
    assert (report["problem_count"], report["problems"]) == (0, [])
    text = cli("image", "check", "flash.img").stdout
    assert text.endswith("no problems\n")
    rows = _rows(cli("image", "dump", "flash.img", "--json"))
    live = [row["owner"] for row in rows if row["state"] == "live"]
    counts = {owner: live.count(owner) for owner in ("data", "map", "journal")}
    assert counts == {owner: report["pages"][owner] for owner in counts}
    assert counts["data"] == 2
    versions = _rows(cli("image", "dump", "flash.img", "--lpn", 5, "--json"))
    assert [row["state"] for row in sorted(versions, key=lambda row: row["serial"])] == [
        "stale",
        "live",
    ]
    newest = max(versions, key=lambda row: row["serial"])
    unit = _rows(cli("image", "dump", "flash.img", "--unit", newest["unit"], "--json"))
    assert len(unit) == 16 and newest in unit
    lines = cli("image", "dump", "flash.img", "--lpn", 5).stdout.splitlines()
    assert len(lines) == 3 and "live" in lines[2]
    assert (tmp_path / "flash.img").read_bytes() == before


def _flip(image: Path, lpn: int) -> dict[str, Any]:
    """Flips a bit in the newest version of a page, and returns the row of this version."""
    rows: list[dict[str, Any]] = []
    images.dump(image, rows.extend, lpn=lpn)
    [row] = [row for row in rows if row["state"] == "live"]
    geometry = images.info(image)["geometry"]
    at = -(-(20480 + 40 * geometry["physical_pages"]) // 4096) * 4096
    at += (row["unit"] * geometry["pages_per_unit"] + row["page"]) * geometry["page_bytes"] + 99
    content = bytearray(image.read_bytes())
    content[at] ^= 1
    image.write_bytes(content)
    return row


def test_a_flipped_bit_is_found(cli, tmp_path: Path) -> None:
    path = _written(cli, tmp_path)
    row = _flip(path, lpn=5)
    done = cli("image", "check", path)
    assert (done.returncode, done.stderr) == (1, "")
    assert f"unit {row['unit']} page {row['page']}: logical page 5: its data is" in done.stdout
    assert done.stdout.endswith("1 problem\n")
    drive = _core.Drive(path)
    with pytest.raises(OSError, match="a page is damaged"):
        drive.read(5 * 4096, 10)
    assert drive.read(900, 1) == b"x"


def test_a_damaged_record_of_the_newest_page_is_found(cli, tmp_path: Path) -> None:
    drive = ("--set", "flash.pages_per_block=16", "--set", "ftl.scheme=bast")
    assert cli("image", "create", "flash.img", "--size", "1MiB", *drive).returncode == 0
    path = tmp_path / "flash.img"
    for version in (b"a", b"b"):
        (tmp_path / "page").write_bytes(version * 4096)
        assert cli("image", "write", path, "--input", "page").returncode == 0
    rows = _rows(cli("image", "dump", path, "--lpn", 0, "--json"))
    [row] = [row for row in rows if row["state"] == "live"]
    at = 20480 + 40 * (row["unit"] * images.info(path)["geometry"]["pages_per_unit"] + row["page"])
    bytes = bytearray(path.read_bytes())
    bytes[at + 8] ^= 1
    path.write_bytes(bytes)
    done = cli("image", "check", path)
    assert (done.returncode, done.stderr) == (1, "")
    assert f"unit {row['unit']} page {row['page']}: its record is damaged" in done.stdout
    assert "synced pages have a sound record" in done.stdout


def test_an_image_in_use_is_left_alone(cli, process, tmp_path: Path) -> None:
    """Another process too, because the lock on the image is there to keep other processes out."""
    path = _made(cli, tmp_path)
    drive = _core.Drive(path)
    for command, run in (("info", cli), ("check", process), ("dump", cli)):
        done = run("image", command, "flash.img")
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert "flash.img is in use by another process" in done.stderr
    with pytest.raises(_core.RunError, match="is in use"):
        _core.Drive(path)
    drive.close()
    assert cli("image", "check", "flash.img").returncode == 0


def _cut(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 5)


def _garbage(path: Path) -> None:
    path.write_bytes(b"no image" * 4000)


def _short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:37])


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/null")


def _header(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(100)
        file.write(b"??")


@pytest.mark.parametrize(
    ("harm", "expected"),
    [
        (_cut, "bytes long; by its header it should be"),
        (_garbage, "is not a Floatgate image"),
        (_header, "damaged header"),
        (_short, "was cut short: its 37 bytes are less than a header"),
        (_folder, "is no regular file; expected an image"),
        (_fifo, "is no regular file; expected an image"),
        (_device, "is no regular file; expected an image"),
        (Path.unlink, "No such file"),
    ],
)
def test_what_is_no_image_is_one_line(cli, tmp_path: Path, harm: Any, expected: str) -> None:
    harm(_made(cli, tmp_path))
    for command in ("info", "check", "dump", "read", "write"):
        done = cli("image", command, "flash.img")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert expected in done.stderr
        assert done.stderr.startswith("floatgate: flash.img ")


def test_a_file_that_is_there_is_not_overwritten(cli, tmp_path: Path) -> None:
    before = _made(cli, tmp_path).read_bytes()
    cli("image", "create", "flash.img", "--size", "1MiB").refused("flash.img exists already")
    assert (tmp_path / "flash.img").read_bytes() == before
    cli("image", "dump", "flash.img", "--lpn", 99_999).refused("logical page 99999: expected")


def test_a_drive_of_few_units_is_announced_with_settings_for_more(cli) -> None:
    few = ("image", "create", "--size", "4GiB", "--device", "qlc-capacity")
    done = cli(*few, "few.img")
    assert done.returncode == 0 and "note: fewer than 128 erase units: cleaning has" in done.stderr
    settings = done.stderr.partition("smaller units: ")[2].partition("\n")[0].split()
    assert settings[0] == "--set"
    assert cli(*few, "more.img", *settings).stderr == "made more.img\n"
    assert json.loads(cli("image", "info", "few.img", "--json").stdout)["geometry"]["units"] < 128
    assert json.loads(cli("image", "info", "more.img", "--json").stdout)["geometry"]["units"] >= 128


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
    _flip(image, lpn=5)
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
