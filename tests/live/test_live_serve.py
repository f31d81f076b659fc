"""`floatgate serve` with a stand-in for nbdkit: its start, its messages, its end."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from binary_traces import capture
from live_fixtures import Refused, Serving
from live_process import STAND_IN_CALL, is_alive, until

import floatgate as fg
from floatgate.live import images

if os.name == "nt":
    pytest.skip("no Unix sockets", allow_module_level=True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(tmp_path: Path, serving: Serving, number: int) -> None:
    with serving() as server:
        ready = server.ready
        assert ready["uri"] == f"nbd+unix:///?socket={tmp_path}/floatgate/drive.sock"
        assert (ready["bytes"], ready["device"], ready["page"]) == (1 << 30, "classic", None)
        assert (tmp_path / "floatgate").stat().st_mode & 0o777 == 0o700
        assert Path(ready["control"]).stat().st_mode & 0o777 == 0o600
        assert is_alive(ready["nbdkit_pid"])
        assert server.stop(number) == 0
        assert not is_alive(ready["nbdkit_pid"])
    assert list((tmp_path / "floatgate").iterdir()) == [], "both sockets are gone"


def test_what_the_server_did_is_a_result_with_a_report(
    tmp_path: Path, serving: Serving, document: dict[str, Any]
) -> None:
    with serving("--out", "kept") as server:
        assert server.stop() == 0
    kept = tmp_path / "kept"
    assert json.loads((kept / "result.json").read_text()) == document["result"]
    assert {path.name for path in kept.iterdir()} == {
        *("result.json", "timeline.parquet", "report.html")
    }


def test_people_are_told_how_to_attach_it_and_what_it_did(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    command = [sys.executable, "-c", STAND_IN_CALL, str(tmp_path / "plugin.so"), "serve"]
    words = ["--socket", "nbd.sock", "--device", "small-nvme", "--size", "64MiB"]
    with subprocess.Popen(
        [*command, *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    ) as process:
        assert process.stdout is not None
        told = ""
        while "Ctrl-C" not in told:
            line = process.stdout.readline()
            assert line, told
            told += line
        for words in ("nbd-client -unix", "nbdfuse", "--ioengine=nbd", "ctl --control", "small-nv"):
            assert words in told
        process.send_signal(signal.SIGINT)
        summary = process.stdout.read()
    assert process.returncode == 0
    for words in ("write amplification", "p99.9", "answers missed by", "nearly full"):
        assert words in summary


def test_a_crash_of_nbdkit_is_reported_with_what_it_said(tmp_path: Path, serving: Serving) -> None:
    crash = tmp_path / "crash"
    with serving(NBDKIT_CRASHES=str(crash)) as server:
        crash.touch()
        assert server.status == 1
        assert "nbdkit ended with SIGABRT: something broke" in server.said
        assert server.said.startswith("something broke\n"), "all of it is passed on"
        assert "the drive was in memory, and is gone" in server.said
    crash.unlink()
    words = ("--image", "a.img", "--size", "16MiB", "--set", "flash.pages_per_block=32")
    with serving(*words, NBDKIT_CRASHES=str(crash)) as server:
        crash.touch()
        assert server.status == 1
        assert "as after a loss of power: all that was flushed is in a.img" in server.said
    with serving(NBDKIT_FAILS="1") as server:
        assert (server.ready, server.status) == ({}, 1)
        assert server.said == "floatgate: nbdkit ended with status 1: error: the image is in use\n"


def test_nbdkit_or_the_plugin_is_missing(tmp_path: Path, serving: Serving) -> None:
    with serving(PATH=str(tmp_path / "empty")) as server:
        assert server.status == 1
        assert "apt install nbdkit" in server.said and "dnf install nbdkit" in server.said
    (tmp_path / "plugin.so").unlink()
    with serving() as server:
        assert server.status == 1 and "make build" in server.said


def test_the_folder_of_a_killed_server_goes_with_the_next(tmp_path: Path, serving: Serving) -> None:
    (tmp_path / "tmp").mkdir()
    words, temporary = ("--out", "kept"), {"TMPDIR": str(tmp_path / "tmp")}

    def folders() -> set[Path]:
        return set((tmp_path / "tmp").glob("floatgate-serve-*"))

    with serving(*words, **temporary) as server:
        server.process.kill()
        server.process.wait()
        until(lambda: not is_alive(server.ready["nbdkit_pid"]))
    left = folders()
    assert len(left) == 1 and len([*tmp_path.glob(".floatgate-*.part")]) == 1
    with (
        serving(*words, **temporary) as server,
        serving("--socket", "other.sock", **temporary) as other,
    ):
        assert len(folders()) == 2 and not left & folders(), "that of a server that runs stays"
        assert (server.stop(), other.stop()) == (0, 0)
    assert folders() == set() and [*tmp_path.glob(".floatgate-*.part")] == []


def test_a_socket_that_somebody_serves_is_left_alone(
    tmp_path: Path, serving: Serving, refused: Refused
) -> None:
    with serving():
        assert "is in use" in refused()
    (tmp_path / "file").write_text("mine")
    refused("--socket", "file")
    assert (tmp_path / "file").read_text() == "mine"
    assert "is no directory" in refused("--socket", "no/such/folder")
    assert "at most 107" in refused("--socket", "x" * 120)
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "left.sock"))
    with serving("--socket", "left.sock") as server:
        assert server.ready["control"] == str(tmp_path / "left.control")
        assert server.stop() == 0, "what a killed server has left is taken"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--port", "10809", "--socket", "x"], "leave out --socket"),
        (["--listen", "0.0.0.0"], "expected --port"),
        (["--tls-psk", "keys"], "'--tls-psk': needs --tls"),
        (["--tls-certificates", "keys"], "'--tls-certificates': needs --tls"),
        (["--tls-verify-peer"], "'--tls-verify-peer': needs --tls"),
        (["--size", "12"], "unit"),
        (["--device", "no-such"], "no-such"),
        (["--also", "no-such"], "--also no-such: "),
        (["--also", "classic", "--also", "classic"], "--also: two devices are called classic"),
        (["--tls", "require", "--tls-psk", "plugin.so"], "plugin.so has no line USER:KEY"),
        (["--tls", "on", "--tls-psk", "/etc/passwd"], "line 1 is not USER:KEY"),
        (["--tls", "on", "--tls-psk", "/dev/zero"], "--tls-psk: /dev/zero is no file"),
        (["--tls", "on", "--tls-psk", "nbdkit"], "nbdkit: line 2 is not USER:KEY with the key in"),
        (["--tls", "on", "--tls-certificates", "nbdkit"], "nbdkit is no directory"),
        (["--set", "start.fill=random"], "--set start.fill: a live drive begins erased"),
        (["--set", "mapping.scheme=belady"], "belady"),
        (["--set", "placement.scheme=python:2r"], "placement.scheme: a policy in Python"),
        (["--record", "x.csv"], "ends in .parquet"),
        (["--set", "mapping.scheme=belady", "--image", "x.img"], "belady"),
    ],
)
def test_a_wrong_call_is_a_line_and_leaves_nothing(
    tmp_path: Path, refused: Refused, words: list[str], expected: str
) -> None:
    before = {path.name for path in tmp_path.iterdir()} | {"floatgate"}
    assert expected in refused(*words)
    assert {path.name for path in tmp_path.iterdir()} <= before


def test_a_device_of_which_units_go_bad_is_refused(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "worn.toml").write_text("[faults]\nprogram = 1e-5\n")
    for words in (["--device", "worn.toml"], ["--set", "faults.factory_bad=0.01"]):
        for image in ([], ["--image", "a.img"]):
            said = refused(*words, *image)
            assert said.startswith("floatgate: [faults]: expected none, as recovery has no table")
            assert not (tmp_path / "a.img").exists()


def test_an_image_is_made_once_and_stays_what_it_is(
    tmp_path: Path, serving: Serving, refused: Refused
) -> None:
    first = ("--image", "a.img", "--size", "32MiB", "--set", "mapping.scheme=dftl")
    with serving(*first) as server:
        assert "made a.img" in server.said
        assert server.stop() == 0
    about = images.info(tmp_path / "a.img")
    assert (about["bytes"], about["config"]["mapping"]["scheme"]) == (32 << 20, "dftl")
    for words in (first, ("--image", "a.img"), (*first, "--device", "classic")):
        with serving(*words) as server:
            assert server.ready["bytes"] == 32 << 20
            assert server.stop() == 0
    for words, expected in (
        (("--size", "64MiB"), "--size: a.img exists and is of 33,554,432 bytes"),
        (("--set", "mapping.scheme=ideal"), "--set: a.img exists and has mapping.scheme = dftl"),
        (("--device", "small-nvme"), "--device: a.img exists and has "),
        (("--device", "classic"), "--device: a.img exists and has mapping.scheme = dftl"),
        (("--seed", "9"), "--seed: a.img exists and has the seed 1"),
    ):
        assert expected in refused("--image", "a.img", *words)


def test_an_image_is_a_regular_file(tmp_path: Path, refused: Refused) -> None:
    os.mkfifo(tmp_path / "fifo")
    for image in ("fifo", "/dev/null", tmp_path):
        assert f"{image} is no regular file; expected an image" in refused("--image", image)


SETS = {
    "tlc-client": ("flash.channels=2", "flash.dies=1", "flash.superblock=4", "slc.dynamic=4MiB"),
    "qlc-capacity": ("flash.channels=1", "flash.dies=1", "flash.superblock=4"),
    "dftl09": ("capacity.over_provisioning=0.4", "mapping.cache=65536B", "cleaning.low_water=3"),
}


@pytest.mark.parametrize("device", SETS)
def test_the_call_that_made_an_image_opens_it_again(
    serving: Serving, refused: Refused, device: str
) -> None:
    sets = [word for one in SETS[device] for word in ("--set", one)]
    words = ("--image", "a.img", "--device", device, "--size", "24MiB", *sets)
    for _ in range(2):
        with serving(*words) as server:
            assert server.ready.get("bytes") == 24 << 20, server.said
            assert server.stop() == 0
    # Without --device, settings apply to the drive of the image.
    with serving("--image", "a.img", *sets[:4]) as server:
        assert server.stop() == 0
    refused("--image", "a.img", "--set", "flash.channels=16")


def test_what_was_recorded_becomes_a_trace(
    tmp_path: Path, serving: Serving, refused: Refused
) -> None:
    (tmp_path / "capture").write_bytes(capture() + b"cut short")
    with serving("--record", "x.parquet", NBDKIT_CAPTURE=str(tmp_path / "capture")) as server:
        until(lambda: (tmp_path / "x.parquet.part").exists())
        assert server.stop() == 0
        assert "recorded 4 requests in x.parquet" in server.said
    assert not (tmp_path / "x.parquet.part").exists()
    frame = pl.read_parquet(tmp_path / "x.parquet")
    assert frame.select("at_ns", "op", "offset", "length").rows() == [
        (0, 1, 4096, 8192),
        (0, 0, 0, 512),
        (400, 2, 65536, 4096),
        (450, 3, 0, 0),
    ]
    assert fg.run(tmp_path / "x.parquet").workload.trims == 1
    assert "x.parquet: exists; --force" in refused("--record", "x.parquet")


def test_what_a_killed_server_recorded_is_not_lost(
    tmp_path: Path, serving: Serving, refused: Refused, cli: Any
) -> None:
    (tmp_path / "x.parquet.part").write_bytes(capture())
    said = refused("--record", "x.parquet")
    assert "floatgate trace import x.parquet.part -o x.parquet" in said
    cli("trace", "import", "x.parquet.part", "-o", "x.parquet").ok()
    (tmp_path / "capture").write_bytes(capture())
    crash = tmp_path / "crash"
    crashing = {"NBDKIT_CAPTURE": str(tmp_path / "capture"), "NBDKIT_CRASHES": str(crash)}
    words = ("--record", "y.parquet")
    with serving(*words, **crashing) as server:
        crash.touch()
        assert server.status == 1
    assert (
        pl.read_parquet(tmp_path / "y.parquet").rows()
        == pl.read_parquet(tmp_path / "x.parquet").rows()
    )


def test_a_drive_of_few_free_units_has_one_more(tmp_path: Path, serving: Serving) -> None:
    words = ("--device", "dftl09", "--image", "a.img", "--size", "32MiB")
    for is_new in (True, False):
        with serving(*words) as server:
            assert server.stop() == 0
            note = "note: cleaning.low_water is 4 in the place of 3"
            assert (note in server.said) is is_new
    assert images.info(tmp_path / "a.img")["config"]["cleaning"]["low_water"] == 4


def test_shadows_of_a_new_drive_begin_as_it_does(tmp_path: Path) -> None:
    from floatgate.live import backing

    (tmp_path / "aged.toml").write_text('[start]\nfill = "random"\n')
    (tmp_path / "other.toml").write_text("[capacity]\nspare_factor = 0.3\n")
    devices = ["classic", *(str(tmp_path / name) for name in ("aged.toml", "other.toml"))]
    image = tmp_path / "flash.img"
    for aged, fills in (
        (False, ["none", "random", "none"]),
        (True, ["steady", "random", "steady"]),
    ):
        start = backing.start_of(image, None, {}, aged)
        told = backing.shadows(devices, tmp_path, start=start)
        files = [Path(parameter.rpartition("=")[2]) for parameter in told]
        assert [json.loads(file.read_text())["start"]["fill"] for file in files] == fills
    # With an existing image, shadows start as the image was aged, or else as each config says.
    how = {"start.fill": "random", "start.overwrites": 0.5}
    images.create(image, "1MiB", set=how, aged=True)
    images.create(tmp_path / "new.img", "1MiB")
    for name, fills in (
        ("flash.img", ["random", "random", "random"]),
        ("new.img", ["sequential", "random", "sequential"]),
    ):
        start = backing.start_of(tmp_path / name, None, {}, False)
        told = backing.shadows(devices, tmp_path, start=start)
        files = [Path(parameter.rpartition("=")[2]) for parameter in told]
        assert [json.loads(file.read_text())["start"]["fill"] for file in files] == fills


@pytest.mark.parametrize(
    ("said", "wanted", "timing", "threads", "warns"),
    [
        ("nbdkit 1.34.0", None, "none", 16, False),
        ("nbdkit 1.34.0", None, "simulated", 32, False),
        ("nbdkit 1.40.1 (nbdkit-1.40.1-1.fc41)", 3, "simulated", 3, False),
        ("nbdkit 1.32.5", None, "none", 1, False),
        ("nbdkit 1.32.5", 1, "simulated", 1, False),
        ("nbdkit 1.32.5", 8, "none", 8, True),
        ("nbdkit 1.9.9", None, "simulated", 32, True),
        ("?", None, "none", 1, False),
    ],
)
def test_an_nbdkit_that_aborts_serves_requests_one_at_a_time(
    tmp_path: Path, said: str, wanted: int | None, timing: str, threads: int, warns: bool
) -> None:
    from floatgate.live import nbdkit

    program = tmp_path / "nbdkit"
    program.write_text(f"#!/bin/sh\necho '{said}'\n")
    program.chmod(0o755)
    several, warning = nbdkit.threads(str(program), wanted, timing, depth=32)
    assert (several, warning is not None) == (threads, warns)
    if wanted is None and threads > 1:
        for depth, several in ((1, 16), (100, 100), (1024, 256)):
            found, _ = nbdkit.threads(str(program), wanted, "simulated", depth)
            assert found == several
    assert warning is None or said in warning
