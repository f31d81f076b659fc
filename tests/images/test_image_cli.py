"""`floatgate image` as a user calls it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from floatgate import _core
from floatgate.live import images

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="images need a Unix file system")

SMALL = ("--set", "flash.pages_per_block=16", "--set", "mapping.scheme=dftl")


def _document(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


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
    made = _document(cli(*arguments, "--device", "small-nvme"))
    info = _document(cli("image", "info", "new.img", "--json"))
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
    report = _document(cli("image", "check", "flash.img", "--json"))
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


def test_a_flipped_bit_is_found(cli, tmp_path: Path) -> None:
    path = _written(cli, tmp_path)
    [row] = [
        row
        for row in _rows(cli("image", "dump", path, "--lpn", 5, "--json"))
        if row["state"] == "live"
    ]
    geometry = images.info(path)["geometry"]
    pages, page = geometry["physical_pages"], geometry["page_bytes"]
    at = -(-(20480 + 40 * pages) // 4096) * 4096
    at += (row["unit"] * geometry["pages_per_unit"] + row["page"]) * page + 99
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1]))
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
    """A process, because the lock on the image is there to keep other processes out."""
    path = _made(cli, tmp_path)
    drive = _core.Drive(path)
    for command in ("info", "check", "dump"):
        done = process("image", command, "flash.img")
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


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("create", "flash.img"), "'--size'"),
        (("create", "flash.img", "--size", "much"), "size: expected a size"),
        (("create", "flash.img", "--size", "0"), "a drive of 0 bytes"),
        (("create", "flash.img", "--size", "1MiB", "--device", "clasic"), "clasic"),
        (("create", "flash.img", "--size", "1MiB", "--set", "mapping.scheme=belady"), "belady"),
        (("create", "flash.img", "--size", "8MiB", "--set", "flash.blocks=8"), "flash.blocks"),
        (("dump", "flash.img", "--unit", "1", "--lpn", "1"), "'--lpn'"),
    ],
)
def test_a_wrong_call_makes_no_image(cli, tmp_path: Path, arguments: Any, expected: str) -> None:
    done = cli("image", *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert expected in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_not_overwritten(cli, tmp_path: Path) -> None:
    before = _made(cli, tmp_path).read_bytes()
    done = cli("image", "create", "flash.img", "--size", "1MiB")
    assert done.returncode == 2
    assert "flash.img exists already" in done.stderr
    assert (tmp_path / "flash.img").read_bytes() == before
    beyond = cli("image", "dump", "flash.img", "--lpn", 99_999)
    assert (beyond.returncode, "logical page 99999: expected" in beyond.stderr) == (2, True)


def test_a_drive_of_few_units_is_announced_with_settings_for_more(cli) -> None:
    few = ("image", "create", "--size", "4GiB", "--device", "qlc-capacity")
    done = cli(*few, "few.img")
    assert done.returncode == 0 and "note: fewer than 128 erase units: cleaning has" in done.stderr
    settings = done.stderr.partition("smaller units: ")[2].partition("\n")[0].split()
    assert settings[0] == "--set"
    assert cli(*few, "more.img", *settings).stderr == "made more.img\n"
    assert json.loads(cli("image", "info", "few.img", "--json").stdout)["geometry"]["units"] < 128
    assert json.loads(cli("image", "info", "more.img", "--json").stdout)["geometry"]["units"] >= 128
