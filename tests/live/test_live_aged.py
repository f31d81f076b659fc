"""Live drives that are aged before their first client, and images that get lost."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from live_needs import needs, needs_plugin
from live_process import STARTS_S, Serve, replay_of_the_docs, until
from nbd_client import NbdClient, Refused

from floatgate._core import Cancelled, ConfigError
from floatgate.live import Live, images

pytestmark = [needs("nbdkit"), needs_plugin]

PAGE = 4096
MIB = 1 << 20
SMALL = ("--size", "8MiB", "--set", "flash.pages_per_block=32")


def _work(path: str, seed: int, count: int = 600) -> None:
    rng = random.Random(seed)
    with NbdClient(path) as client:
        for _ in range(count):
            client.write(rng.randrange(8 * MIB // PAGE) * PAGE, rng.randbytes(PAGE))
        client.flush()


@pytest.mark.parametrize("image", [(), ("--image", "flash.img")])
def test_a_recording_of_an_aged_drive_comes_to_the_same_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, image: tuple[str, ...]
) -> None:
    words = (*SMALL, *image, "--aged", "--seed", "7", "--record", "X.parquet", "--out", "kept")
    with Serve(tmp_path, *words, "--set", "mapping.scheme=dftl", "--also", "classic") as server:
        with NbdClient(server.ready["socket"]) as client:
            assert client.read(0, 8 * MIB) == bytes(8 * MIB), "aged pages are zeros"
        with Live(server.ready["control"]) as live:
            before = live.status()
        assert before.aged and before.smart.host_bytes_written == 0
        assert before.result.start.fill == before.also[0].result.start.fill == "steady"
        assert before.smart.erases_mean > 1
        _work(server.ready["socket"], 1)
        assert server.stop() == 0
    live = replay_of_the_docs(tmp_path, monkeypatch)["live"]
    assert live.flash.erases.gc > 0, "it has to clean from the first page on"


def test_an_aged_image_says_that_it_is(tmp_path: Path, cli: Any) -> None:
    image = tmp_path / "flash.img"
    how = ("--set", "start.fill=random", "--set", "start.overwrites=1", *SMALL)
    cli("image", "create", image, "--aged", *how).ok()
    about = images.info(image)
    assert about["aged"] and about["config"]["start"]["overwrites"] == 1
    assert about["pages"]["mapped"] >= 8 * MIB // PAGE
    assert images.check(image)["problem_count"] == 0
    assert [path.name for path in tmp_path.iterdir()] == ["flash.img"]
    again = cli("image", "create", image, "--aged", *how)
    assert again.returncode == 2 and "exists" in again.stderr
    for words in ((), ("--aged", *how)):
        with Serve(tmp_path, "--image", image, *words) as server:
            assert server.ready, server.said
            with Live(server.ready["control"]) as live:
                assert live.status().aged
            assert server.stop() == 0
    images.create(tmp_path / "new.img", 8 * MIB)
    with Serve(tmp_path, "--image", "new.img", "--aged") as server:
        assert server.status == 2
        assert "--aged: new.img exists and began erased" in server.said


def test_how_a_drive_is_aged(tmp_path: Path) -> None:
    def fill(device: Any, **set: Any) -> Any:
        given = {f"start.{key}": value for key, value in set.items()}
        return images.aged_start(device, given)["start.fill"]

    assert fill("classic") == "steady"
    assert fill("eti16") == "random", "as its paper ages it"
    assert fill("asa14") == "steady", "its fill writes nothing over"
    assert fill("classic", fill="shuffled") == "shuffled", "who says so has it so"
    assert fill("classic", play="uniform:span=1MiB,writes=9") == "sequential"
    with pytest.raises(ConfigError, match='expected "random" or "steady"'):
        images.create(tmp_path / "a.img", MIB, set={"start.fill": "none"}, aged=True)
    with pytest.raises(ConfigError, match="or give --aged"):
        images.create(tmp_path / "a.img", MIB, set={"start.fill": "random"})
    told: list[tuple[str, int, int]] = []
    images.create(tmp_path / "a.img", MIB, aged=True, progress=lambda *how: told.append(how))
    assert told[-1][1] > MIB // PAGE
    assert [path.name for path in tmp_path.iterdir()] == ["a.img"]


@pytest.mark.parametrize("words", [("serve", "--image"), ("image", "create")])
def test_ctrl_c_while_it_ages_leaves_nothing(tmp_path: Path, words: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "floatgate", *words, "flash.img", "--aged", "--size", "64GiB"]
    running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    time.sleep(2)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=STARTS_S)
    assert running.returncode not in (0, 1, 2) and "Traceback" not in said
    assert list(tmp_path.iterdir()) == []
    assert Cancelled.__name__ not in said


def test_host_bytes_are_those_of_the_commands(tmp_path: Path) -> None:
    """A map unit of 64 KiB is programmed for each write of 4 KiB."""
    words = ("--device", "qlc-capacity", "--size", "64MiB", "--web")
    small = ("--set", "flash.pages_per_block=4", "--set", "flash.superblock=4")
    with Serve(tmp_path, *words, *small) as server:
        with NbdClient(server.ready["socket"]) as client:
            for page in range(100):
                client.write(page * 65536, b"\x33" * PAGE)
                client.read(page * 65536, PAGE)
            client.flush()
        with Live(server.ready["control"]) as live:
            status = live.status()
        assert status.smart.host_bytes_written == status.smart.host_bytes_read == 100 * PAGE
        assert status.smart.media_bytes_written == 100 * 65536
        assert status.smart.write_amplification == status.result.write_amplification == 16
        assert status.result.workload.write_bytes == 100 * PAGE
        assert server.stop() == 0


def test_an_image_that_is_gone_is_an_error_at_the_end(tmp_path: Path) -> None:
    for what in ("removed", "replaced"):
        image = tmp_path / f"{what}.img"
        with Serve(tmp_path, *SMALL, "--image", image) as server:
            _work(server.ready["socket"], 2, 50)
            if what == "replaced":
                images.create(tmp_path / "other.img", 8 * MIB)
                (tmp_path / "other.img").replace(image)
            else:
                image.unlink()
            until(lambda: "is not the file that was served any more" in server.said)
            with Live(server.ready["control"]) as live:
                assert live.status().image_gone is not None
                live.snapshot(tmp_path / f"{what}.copy")
            assert server.stop() == 1
            assert server.said.count("floatgate: ") >= 2, server.said
        assert image.exists() == (what == "replaced")
        assert images.check(tmp_path / f"{what}.copy")["problem_count"] == 0


def test_a_drive_whose_file_has_failed_says_so_everywhere(tmp_path: Path, cli: Any) -> None:
    image = tmp_path / "flash.img"
    with Serve(tmp_path, *SMALL, "--image", image) as server:
        _work(server.ready["socket"], 3, 50)
        with image.open("r+b") as file:
            file.truncate(0)
        control = ("ctl", "--control", server.ready["control"])
        smart = json.loads(cli(*control, "smart", "--json").stdout)
        assert "the image has failed: " in smart["critical_warnings"][0]
        status = cli(*control, "status")
        assert "the image has failed: " in " ".join(status.stdout.split())
        check = cli(*control, "check")
        assert check.returncode == 1 and "the image has failed: " in check.stderr
        with NbdClient(server.ready["socket"]) as client, pytest.raises(Refused):
            client.read(0, PAGE)
        assert server.stop() == 1
