"""`floatgate serve` with nbdkit and the plugin: a drive that is written, inspected and killed."""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from live_needs import needs, needs_plugin
from live_process import Serve, is_alive, replay_of_the_docs, until
from nbd_client import NbdClient, Refused
from paths import ROOT
from prometheus_client.parser import text_string_to_metric_families

import floatgate as fg
from floatgate.live import Live, images, nbdkit

pytestmark = [needs("nbdkit"), needs_plugin]

PAGE = 4096
MIB = 1 << 20
SMALL = ("--size", "16MiB", "--set", "flash.pages_per_block=32")


def _pages(seed: int, count: int, span: int = 16 * MIB // PAGE) -> list[tuple[int, bytes]]:
    rng = random.Random(seed)
    return [(rng.randrange(span) * PAGE, rng.randbytes(PAGE)) for _ in range(count)]


def _write_on(path: str, seconds: float = 3.0) -> None:
    """Writes for `seconds`."""
    with NbdClient(path) as client:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            client.write(0, bytes(PAGE))


def _write_to_the_end(path: str) -> None:
    """Writes until the drive refuses a write or is gone."""
    with contextlib.suppress(OSError), NbdClient(path) as client:
        for offset, data in itertools.cycle(_pages(8, 1000)):
            client.write(offset, data)


def test_clients_read_what_they_wrote_and_it_is_counted(tmp_path: Path) -> None:
    with Serve(tmp_path, *SMALL, "--out", "kept") as server:
        assert stat.S_IMODE(Path(server.ready["socket"]).stat().st_mode) == 0o600
        assert stat.S_IMODE(Path(server.ready["control"]).stat().st_mode) == 0o600
        written = dict(_pages(1, 300))
        with NbdClient(server.ready["socket"]) as client, Live(server.ready["control"]) as live:
            assert client.bytes == 16 * MIB
            for offset, data in written.items():
                client.write(offset, data)
            client.flush()
            assert all(client.read(offset, PAGE) == data for offset, data in written.items())
            with pytest.raises(Refused):
                client.read(16 * MIB, PAGE)
            status = live.status()
            assert status.server.requests.write == len(written) == status.result.workload.writes
            assert status.server.requests.flush == 1
            assert status.server.connections == 1
            blocks = live.blocks()
            assert sum(blocks.valid) >= len(written)
            assert len(blocks.valid) == len(blocks.stream) == blocks.units
            live.check()
            live.reset()
            assert live.status().server.requests.write == 0
        assert server.stop() == 0
    assert json.loads((tmp_path / "kept" / "result.json").read_text())["device"] == "classic"


def test_faults_and_the_plug_do_what_they_say(tmp_path: Path) -> None:
    with (
        Serve(tmp_path, *SMALL) as server,
        Live(server.ready["control"]) as live,
        NbdClient(server.ready["socket"]) as client,
    ):
        durable, lost = _pages(2, 50), _pages(3, 50)
        for offset, data in durable:
            client.write(offset, data)
        client.flush()
        for offset, data in lost:
            client.write(offset, data)
        assert live.plug().cuts == 1
        # A successful flush would also confirm `lost`, so the old client is refused until it
        # reconnects.
        for refused in (client.flush, lambda: client.read(0, PAGE)):
            with pytest.raises(Refused) as told:
                refused()
            assert told.value.errno == errno.ESHUTDOWN
        with NbdClient(server.ready["socket"]) as again:
            known = dict(durable)
            for offset, data in known.items():
                assert again.read(offset, PAGE) in (
                    data,
                    *(new for at, new in lost if at == offset),
                )
            assert live.faults(read_only=True).read_only
            with pytest.raises(Refused):
                again.write(0, bytes(PAGE))
            live.faults(read_only=False)
            page = random.Random(9).randbytes(PAGE)
            again.write(0, page)
            live.faults(read_error_share=1.0)
            with pytest.raises(Refused):
                again.read(0, PAGE)
            live.faults(read_error_share=0.0)
            assert again.read(0, PAGE) == page
        live.check()
        assert live.smart().unsafe_shutdowns == 1


def test_an_image_keeps_what_was_flushed_through_any_end(tmp_path: Path) -> None:
    data = dict(_pages(4, 100))
    with Serve(tmp_path, "--image", "a.img", *SMALL) as server:
        with Serve(tmp_path, "--image", "a.img", "--socket", "other.sock") as second:
            assert (second.ready, second.status) == ({}, 1)
            assert "a.img" in second.said and "use" in second.said
        with NbdClient(server.ready["socket"]) as client, Live(server.ready["control"]) as live:
            for offset, page in data.items():
                client.write(offset, page)
            client.flush()
            made = live.snapshot(tmp_path / "copy.img")
            assert made.bytes == (tmp_path / "copy.img").stat().st_size
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
            # A connected client does not keep nbdkit alive.
            until(lambda: not is_alive(server.ready["nbdkit_pid"]), 30)
    for name in ("a.img", "copy.img"):
        assert images.check(tmp_path / name)["problem_count"] == 0
        with (
            Serve(tmp_path, "--image", name) as server,
            NbdClient(server.ready["socket"]) as client,
        ):
            assert all(client.read(offset, PAGE) == page for offset, page in data.items())
            begin = time.monotonic()
            assert server.stop(signal.SIGINT) == 0, "nor does it now"
            assert time.monotonic() - begin < 30
        about = images.info(tmp_path / name)
        assert about["journal"]["pages_since"] <= about["pages"]["programmed"] // 2, "a checkpoint"
    assert images.check(tmp_path / "a.img")["problem_count"] == 0


@pytest.mark.parametrize("umask", [0, 0o022], ids=("0", "022"))
def test_what_a_server_writes_is_its_owners_alone(tmp_path: Path, cli: Any, umask: int) -> None:
    words = ("--image", "a.img", "--record", "x.parquet", "--ready-file", "ready")
    with Serve(tmp_path, *words, *SMALL, umask=umask) as server:
        with NbdClient(server.ready["socket"]) as client:
            client.write(0, bytes(PAGE))
        cli("ctl", "--control", server.ready["control"], "snapshot", "copy.img").ok()
        made = ["a.img", "copy.img", "x.parquet.part", "ready"]
        made += [server.ready["socket"], server.ready["control"]]
        modes = {name: f"{stat.S_IMODE((tmp_path / name).stat().st_mode):o}" for name in made}
        assert modes == dict.fromkeys(made, "600")
        assert server.stop() == 0


def test_the_log_of_a_life_outlives_a_killed_nbdkit(tmp_path: Path) -> None:
    for killed in range(1, 3):
        with Serve(tmp_path, "--image", "a.img", *SMALL) as server:
            assert stat.S_IMODE((tmp_path / "a.img").stat().st_mode) == 0o600
            with NbdClient(server.ready["socket"]) as client, Live(server.ready["control"]) as live:
                assert live.smart().unsafe_shutdowns == killed - 1
                for page in range(100):
                    client.write(page * PAGE, bytes([7]) * PAGE)
                client.flush()
                assert live.smart().host_bytes_written == 100 * PAGE * killed
            os.kill(server.ready["nbdkit_pid"], signal.SIGKILL)
            assert server.status == 1
    with Serve(tmp_path, "--image", "a.img") as server, Live(server.ready["control"]) as live:
        smart = live.smart()
        assert (smart.host_bytes_written, smart.unsafe_shutdowns) == (200 * PAGE, 2)
        assert smart.lifetime_media_bytes_written >= smart.media_bytes_written >= 200 * PAGE
        assert server.stop() == 0


def test_nbdkit_alone_serves_no_drive_in_zones(tmp_path: Path) -> None:
    settings = {"placement.scheme": "host", "flash.pages_per_block": 16}
    images.create(tmp_path / "zones.img", "16MiB", set=settings, zoned=True)
    words = ["nbdkit", "-f", "-U", tmp_path / "socket", nbdkit.PLUGIN, "image=zones.img"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "a drive in zones; expected floatgate serve --nvme" in done.stderr


def test_keys_that_clients_need_are_in_the_uri(tmp_path: Path) -> None:
    keys = tmp_path / "keys.psk"
    keys.write_text("# users\nalice:" + "0123456789abcdef" * 4 + "\n")
    keys.chmod(0o600)
    with Serve(tmp_path, *SMALL, "--tls", "require", "--tls-psk", "keys.psk") as server:
        uri = server.ready["uri"]
        assert uri.startswith("nbds+unix://alice@/?socket=") and uri.endswith(f"={keys}")
        if shutil.which("nbdinfo") is not None:
            words = ["nbdinfo", "--size", uri]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            assert (done.stdout, done.stderr) == (f"{16 * MIB}\n", "")
        assert server.stop() == 0


def test_a_replay_on_a_drive_with_more_spare_than_its_config_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sets = ("flash.channels=2", "flash.dies=1", "flash.superblock=4", "flash.pages_per_block=24")
    drive = (word for one in (*sets, "slc.dynamic=4MiB") for word in ("--set", one))
    words = ("--device", "tlc-client", "--size", "24MiB", *drive)
    with Serve(tmp_path, *words, "--record", "X.parquet", "--out", "kept") as server:
        with NbdClient(server.ready["socket"]) as client:
            for offset, data in _pages(9, 1500):
                client.write(offset, data)
        assert server.stop() == 0
    live = replay_of_the_docs(tmp_path, monkeypatch)["live"]
    assert live.drive.spare_factor > live.config["capacity"]["spare_factor"] + 0.01


def test_a_replay_of_a_record_counts_what_the_drive_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sets = ("mapping.scheme=dftl", "mapping.cache=4KiB", "flash.bus=1GB/s")
    # With several blocks per unit: flash.blocks counts blocks, not units.
    sets += ("flash.channels=2", "flash.superblock=2")
    drive = (word for one in sets for word in ("--set", one))
    words = (*SMALL, *drive, "--record", "X.parquet", "--out", "kept")
    with Serve(tmp_path, *words) as server:
        rng = random.Random(5)
        with NbdClient(server.ready["socket"]) as client:
            for number, (offset, data) in enumerate(_pages(5, 6000)):
                client.write(offset, data)
                if number % 7 == 0:
                    client.read(rng.randrange(4096) * PAGE, PAGE)
                if number % 500 == 0:
                    client.flush()
                if number % 900 == 0:
                    client.trim(rng.randrange(4000) * PAGE, 8 * PAGE)
        # The server is stopped while other clients still write.
        words = (server.ready["socket"],)
        others = [threading.Thread(target=_write_to_the_end, args=words) for _ in range(3)]
        for other in others:
            other.start()
        with Live(server.ready["control"]) as live_drive:
            until(lambda: live_drive.status().result.workload.writes > 6500)
        assert server.stop() == 0
        for other in others:
            other.join()
    names = replay_of_the_docs(tmp_path, monkeypatch)
    live = names["live"]
    assert live.config["flash"]["superblock"] == 2
    assert pl.read_parquet("X.parquet").height == live.workload.requests
    replayed = fg.run("X.parquet", device=live.config, set=names["same"], addresses="span")
    assert replayed.flash.programs.map > 0 and replayed.flash.erases.gc > 0
    for part in ("flash", "mapping", "cleaning", "placement", "wear"):
        assert getattr(replayed, part) == getattr(live, part), part
    for part in ("reads", "writes", "trims", "flushes", "read_pages", "trimmed_pages"):
        assert getattr(replayed.workload, part) == getattr(live.workload, part), part


def test_shadows_and_metrics_of_a_drive_with_a_page(tmp_path: Path) -> None:
    (tmp_path / "roomy.toml").write_text("[capacity]\nspare_factor = 0.3\n")
    words = (*SMALL, "--also", "roomy.toml", "--web", "--timing", "simulated")
    with Serve(tmp_path, *words) as server:
        with NbdClient(server.ready["socket"]) as client:
            for offset, data in _pages(6, 200):
                client.write(offset, data)
            client.read(0, PAGE)
        with Live(server.ready["control"]) as live:
            until(lambda: live.status().also[0].behind == 0)
            status = live.status()
            assert status.also[0].name == "roomy"
            assert status.also[0].result is not None
            assert status.also[0].result.start.fill == "none", "as the drive itself began"
            assert status.also[0].result.workload.writes == 200
            assert status.server.holding is not None
            writing = threading.Thread(target=_write_on, args=(server.ready["socket"],))
            writing.start()
            assert len(live.lanes(500.0).spans.lane) > 0
            writing.join()
            status = live.status()
        text = urllib.request.urlopen(server.ready["metrics"]).read().decode()
        found = {
            (sample.name, *sample.labels.values()): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }
        assert found["floatgate_requests_total", "write"] == status.server.requests.write > 200
        programs = status.result.flash.programs
        assert found["floatgate_media_programs_total", "host"] == programs.host
        assert ("floatgate_shadow_write_amplification", "roomy") in found
        assert server.stop() == 0


def test_the_calls_of_the_tutorial_serve_its_drives(tmp_path: Path) -> None:
    text = (ROOT / "docs/learn/database.md").read_text("utf-8")
    [roomy] = re.findall(r"^    (printf .* > roomy.toml)$", text, re.MULTILINE)
    [call] = re.findall(r"^    floatgate serve (.*)$", text, re.MULTILINE)
    subprocess.run(roomy, shell=True, check=True, cwd=tmp_path)
    with Serve(tmp_path, *shlex.split(call)) as server:
        assert server.ready["bytes"] == 256 << 20
        assert urllib.request.urlopen(server.ready["page"]).status == 200
        with Live(server.ready["control"]) as live:
            assert [shadow.name for shadow in live.status().also] == ["roomy"]
        with NbdClient(server.ready["socket"]) as client:
            client.write(0, bytes(PAGE))
        assert server.stop() == 0
    assert pl.read_parquet(tmp_path / "bank.parquet").height == 1


def _at_a_port(folder: Path) -> tuple[Serve, int]:
    """Starts a server on a free port. Another program may take the port first, so it retries."""
    for _ in range(5):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        server = Serve(folder, *SMALL, "--port", port)
        if server.ready:
            return server, port
        with server:
            assert "Address already in use" in server.said
    raise AssertionError("five ports were taken")


def test_tcp_is_on_loopback(tmp_path: Path) -> None:
    server, port = _at_a_port(tmp_path)
    with server:
        assert server.ready["uri"] == f"nbd://127.0.0.1:{port}"
        with socket.create_connection(("127.0.0.1", port), 10) as client:
            assert client.recv(8) == b"NBDMAGIC"
        assert server.stop() == 0


def test_ctl_and_the_drive_agree(tmp_path: Path, cli: Any) -> None:
    with Serve(tmp_path, *SMALL) as server:
        done = cli("ctl", "--control", server.ready["control"], "status", "--json").ok()
        assert json.loads(done.stdout)["bytes"] == 16 * MIB
        for words in (["status"], ["blocks"], ["smart"], ["check"], ["plug"]):
            cli("ctl", "--control", server.ready["control"], *words).ok()
        done = cli("ctl", "--control", server.ready["control"], "lanes")
        assert done.returncode == 1 and "timing" in done.stderr


def test_strangers_that_keep_connections_open_leave_the_drive_its_files(tmp_path: Path) -> None:
    with Serve(tmp_path, *SMALL) as server, contextlib.ExitStack() as stack:
        pid = server.ready["nbdkit_pid"]
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (256, 256))
        first = stack.enter_context(NbdClient(server.ready["socket"]))
        for path in (server.ready["socket"], server.ready["control"]):
            for _ in range(200):
                idle = stack.enter_context(socket.socket(socket.AF_UNIX))
                idle.settimeout(30)
                idle.connect(path)
        until(lambda: len(list(Path(f"/proc/{pid}/fd").iterdir())) < 220)
        first.write(0, b"x" * PAGE)
        assert first.read(0, PAGE) == b"x" * PAGE
        with Live(server.ready["control"]) as live:
            assert live.status().server.requests.write == 1
        assert server.stop() == 0
        said = server.said.splitlines()
    assert len(said) <= 4, "a line, and the number of those like it"
    assert "a connection was refused: too many are open" in said[0]


def test_requests_that_are_refused_fill_no_log(tmp_path: Path) -> None:
    with Serve(tmp_path, *SMALL) as server, NbdClient(server.ready["socket"]) as client:
        for number in range(300):
            with pytest.raises(Refused):
                client.read(16 * MIB + number * PAGE, PAGE)
        assert server.stop() == 0
        said = server.said.splitlines()
    assert len(said) == 2
    assert said[1].endswith("(the last of 299 such lines)")


@pytest.mark.parametrize("is_page", [False, True])
def test_a_document_ends_with_the_connection_too(tmp_path: Path, is_page: bool) -> None:
    with Serve(tmp_path, *SMALL, "--web") as server:
        if is_page:
            request = urllib.request.Request(
                server.ready["page"].partition("#")[0] + "api/faults",
                b'{"nope": 1}',
                {"Authorization": f"Bearer {server.ready['token']}"},
            )
            with urllib.request.urlopen(request) as answer:
                document = json.loads(answer.read())
        else:
            with socket.socket(socket.AF_UNIX) as control:
                control.connect(server.ready["control"])
                control.sendall(b'{"do": "faults", "nope": 1}')
                control.shutdown(socket.SHUT_WR)
                document = json.loads(control.makefile().read())
        assert document["error"].startswith("nope: faults has no such key; expected read_error_sh")
        with Live(server.ready["control"]) as live:
            assert str(live.faults(read_error_share=-0.0).read_error_share) == "0.0"
