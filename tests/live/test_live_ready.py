"""Paths of `floatgate serve`: the ready-file, and options that name the same file twice."""

from __future__ import annotations

import json
import os
import socket
import stat
import threading
from pathlib import Path

import pytest
from live_fixtures import Refused, Serving
from live_process import until

from floatgate.live import images

if os.name == "nt":
    pytest.skip("no Unix sockets", allow_module_level=True)

EARLIER = '{"ready": true, "stale": 1}\n'
SMALL = ("--size", "16MiB", "--set", "flash.pages_per_block=32")


def test_a_ready_file_is_there_as_long_as_the_server(
    tmp_path: Path, serving: Serving, refused: Refused
) -> None:
    ready = tmp_path / "ready"
    ready.write_text(EARLIER)
    with serving("--ready-file", "ready") as server:
        assert json.loads(ready.read_text()) == server.ready
        assert stat.S_IMODE(ready.stat().st_mode) == 0o600
        said = refused("--ready-file", "ready", "--socket", "other.sock")
        assert "is the ready-file of a server that runs" in said
        assert json.loads(ready.read_text()) == server.ready, "others wait for it"
        assert server.stop() == 0
    assert not ready.exists()
    ready.write_text(EARLIER)
    with serving("--ready-file", "ready", NBDKIT_FAILS="1") as server:
        assert server.status == 1
    assert not ready.exists()


def test_a_ready_file_that_somebody_replaced_stays(tmp_path: Path, serving: Serving) -> None:
    with serving("--ready-file", "ready") as server:
        (tmp_path / "ready").write_text("mine")
        assert server.stop() == 0
    assert (tmp_path / "ready").read_text() == "mine"


@pytest.mark.parametrize(
    "words",
    [("--listen", "::1"), ("--port", "99999"), ("--set", "x"), ("--tls-psk", "x")],
)
def test_an_earlier_ready_file_is_gone_before_anything_is_refused(
    tmp_path: Path, refused: Refused, words: tuple[str, ...]
) -> None:
    (tmp_path / "ready").write_text(EARLIER)
    refused(*words, "--ready-file", "ready")
    assert not (tmp_path / "ready").exists()


@pytest.mark.parametrize("content", ["", "precious\n", "[1]", '{"ready": false}', "[" * 100_000])
def test_any_other_file_stays_and_is_refused(
    tmp_path: Path, refused: Refused, content: str
) -> None:
    (tmp_path / "notes.txt").write_text(content)
    said = refused("--ready-file", "notes.txt", "--socket", "s")
    assert "notes.txt exists and is no ready-file of an earlier server" in said
    assert (tmp_path / "notes.txt").read_text() == content


def test_links_folders_and_sockets_are_no_ready_files(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "link").symlink_to("notes.txt")
    assert "is no ready-file" in refused("--ready-file", "link")
    assert "is a directory" in refused("--ready-file", ".")
    assert "is no directory" in refused("--ready-file", "no/such")
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "left"))
    assert "is no ready-file" in refused("--ready-file", "left")
    assert (tmp_path / "left").is_socket() and (tmp_path / "link").read_text() == "mine"


def test_a_fifo_gets_the_document_and_stays(tmp_path: Path, serving: Serving) -> None:
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    heard: list[str] = []
    with serving("--ready-file", "pipe") as server:
        reader = threading.Thread(target=lambda: heard.append(fifo.read_text()), daemon=True)
        reader.start()
        reader.join(30)
        assert json.loads(heard[0]) == server.ready
        assert server.stop() == 0
    with serving("--ready-file", "pipe") as server:
        assert server.stop() == 0, "the drive does not wait for a reader that never comes"
    assert fifo.is_fifo()


def test_a_device_gets_the_document_and_stays(serving: Serving) -> None:
    import pty

    reader, device = pty.openpty()
    name = os.ttyname(device)
    with serving("--ready-file", name) as server:
        assert json.loads(os.read(reader, 1 << 16).partition(b"\r")[0]) == server.ready
        assert server.stop() == 0
    assert Path(name).is_char_device()
    os.close(device)
    os.close(reader)


def test_a_device_that_takes_nothing_is_a_warning(serving: Serving) -> None:
    if not Path("/dev/full").is_char_device():
        pytest.skip("no /dev/full")
    with serving("--ready-file", "/dev/full") as server:
        until(lambda: "/dev/full: No space left on device" in server.said)
        assert server.stop() == 0
    assert Path("/dev/full").is_char_device()


def test_a_dash_is_standard_output(tmp_path: Path, serving: Serving) -> None:
    with serving("--ready-file", "-") as server:
        assert server.ready["ready"] is True
        assert server.stop() == 0
        assert server.process.stdout is not None and server.process.stdout.read() == ""
    assert not (tmp_path / "-").exists()


def test_a_record_takes_the_place_of_a_file_alone(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "dir.parquet").mkdir()
    (tmp_path / "file.parquet").touch()
    os.mkfifo(tmp_path / "fifo.parquet")
    assert "'--record': dir.parquet: is a directory" in refused("--record", "dir.parquet")
    forced = ("--force", "--record")
    assert "is a directory" in refused(*forced, "dir.parquet")
    assert "is a device or a FIFO" in refused(*forced, "fifo.parquet")
    assert "file.parquet: exists; --force" in refused("--record", "file.parquet")


def test_an_image_is_no_ready_file(tmp_path: Path, refused: Refused) -> None:
    images.create(tmp_path / "x", "16MiB", set={"flash.pages_per_block": 32})
    before = (tmp_path / "x").read_bytes()
    assert "x exists and is no ready-file" in refused("--image", "x", "--ready-file", "x")
    assert (tmp_path / "x").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "option", "other"),
    [
        (["--image", "new", "--ready-file", "new"], "--ready-file", "--image"),
        (["--image", "x", "--control", "hard"], "--control", "--image"),
        (["--image", "new", "--ready-file", "dir/../new"], "--ready-file", "--image"),
        (["--image", "x", "--socket", "x"], "--socket", "--image"),
        (["--image", "x", "--control", "soft"], "--control", "--image"),
        (["--socket", "x", "--control", "x"], "--control", "--socket"),
        (["--socket", "a.sock", "--ready-file", "a.control"], "--ready-file", "--control"),
        (["--image", "x.parquet", "--record", "x.parquet"], "--record", "--image"),
        (["--image", "x.parquet.part", "--record", "x.parquet"], "--record", "--image"),
        (["--out", "new", "--ready-file", "new"], "--out", "--ready-file"),
        (["--out", "dir", "--record", "dir/timeline.parquet"], "--out", "--record"),
        (["--out", "dir", "--ready-file", "dir/result.json"], "--out", "--ready-file"),
        (["--image", "d.toml", "--device", "d.toml"], "--image", "--device"),
        (["--out", "dir", "--image", "d.toml", "--also", "d.toml"], "--image", "--also"),
        (["--socket", "psk", "--tls", "on", "--tls-psk", "psk"], "--socket", "--tls-psk"),
        (
            ["--socket", "dir/ca.pem", "--tls", "on", "--tls-certificates", "dir"],
            "--socket",
            "--tls-certificates",
        ),
    ],
)
def test_no_two_options_are_one_file(
    tmp_path: Path, refused: Refused, words: list[str], option: str, other: str
) -> None:
    images.create(tmp_path / "x", "16MiB", set={"flash.pages_per_block": 32})
    (tmp_path / "dir").mkdir()
    (tmp_path / "hard").hardlink_to(tmp_path / "x")
    (tmp_path / "soft").symlink_to("x")
    for name in ("d.toml", "psk", "dir/ca.pem"):
        (tmp_path / name).write_text("mine")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    said = refused(*words)
    assert f"Invalid value for '{option}': " in said and f"is also {other}; expected" in said
    assert {path: path.read_bytes() for path in before} == before
