"""`floatgate serve --nvme`: its start, hosts, logs, loss of power, its end, and what it refuses."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from command_line import Done
from live_process import Serve, is_alive, until
from nvme_host import (
    BLOCK,
    CLOSED,
    EMPTY,
    Disconnected,
    Refused,
    connect,
    number,
    serve_nvme,
)

from floatgate.live import Live, images

if sys.platform != "linux":
    pytest.skip("the NVMe target needs Linux", allow_module_level=True)

SMALL = ("--size", "16MiB", "--set", "flash.pages_per_block=16")


@pytest.fixture
def serving(tmp_path: Path) -> Callable[..., Serve]:
    def start(*words: object) -> Serve:
        return serve_nvme(tmp_path, *SMALL, *words)

    return start


def test_a_host_writes_with_handles_and_all_logs_agree(
    tmp_path: Path, serving: Callable[..., Serve]
) -> None:
    with serving("--handles", "4", "--record", "nvme.parquet", "--web") as server:
        ready = server.ready
        assert ready["uri"].startswith(f"nvme+tcp://127.0.0.1:{ready['port']}/nqn.")
        assert (ready["handles"], ready["socket"]) == (4, None)
        with connect(server) as host, Live(ready["control"]) as live:
            for block in range(8):
                host.io.write(block, bytes([block]) * BLOCK, handle=block % 4)
            host.io.flush()
            assert host.io.read(5, 2) == bytes([5]) * BLOCK + bytes([6]) * BLOCK
            assert host.io.room(4) == [14, 14, 14, 14]
            host.io.renew(2)
            assert host.io.room(4) == [14, 14, 16, 14]
            smart, fdp = live.smart(), host.admin.log(0x22, 64, group=1)
            assert number(fdp, 0) == smart.host_bytes_written == 8 * BLOCK
            assert number(fdp, 16) == smart.media_bytes_written
            assert number(fdp, 32) == smart.media_bytes_erased
            ocp = host.admin.log(0xC0)
            assert (number(ocp, 0), number(ocp, 16)) == (
                smart.media_bytes_written,
                smart.media_bytes_read,
            )
            status = live.status()
            assert status.server.connections == 1
            assert [row.host_pages for row in status.result.placement.owners] == [2, 2, 2, 2]
        assert server.stop() == 0, server.said
    recorded = pl.read_parquet(tmp_path / "nvme.parquet")
    writes = recorded.filter(pl.col("op") == 1)
    assert writes["stream"].to_list() == [0, 1, 2, 3] * 2


def test_durable_data_survive_a_loss_of_power_and_a_kill(
    tmp_path: Path, serving: Callable[..., Serve]
) -> None:
    words = ("--image", "flash.img", "--set", "buffer.scheme=lru", "--set", "buffer.capacity=1MiB")
    with serving(*words) as server:
        host = connect(server)
        host.io.write(0, b"a" * BLOCK, handle=1)
        host.io.flush()
        host.io.write(1, b"b" * BLOCK, fua=True)
        host.io.write(2, b"c" * BLOCK)
        with Live(server.ready["control"]) as live:
            live.plug()
        with pytest.raises(Disconnected):
            host.io.read(0)
        with connect(server) as again:
            assert again.io.read(0, 3) == b"a" * BLOCK + b"b" * BLOCK + bytes(BLOCK)
            again.io.write(2, b"d" * BLOCK, fua=True)
            os.kill(server.ready["target_pid"], signal.SIGKILL)
            assert server.status == 1
        assert "the NVMe target ended with SIGKILL" in server.said
        assert "all that was flushed is in flash.img" in server.said
    with serve_nvme(tmp_path, "--image", "flash.img") as server:
        with connect(server) as host:
            assert host.io.read(2) == b"d" * BLOCK
        assert server.stop() == 0, server.said


def test_it_ends_with_its_parent_and_leaves_nothing(
    tmp_path: Path, serving: Callable[..., Serve]
) -> None:
    with serving() as server:
        pid = server.ready["target_pid"]
        assert is_alive(pid)
        server.process.kill()
        server.process.wait()
        until(lambda: not is_alive(pid))
    with serving() as server:
        assert server.stop(signal.SIGINT) == 0
        assert not is_alive(server.ready["target_pid"])
    assert [*(tmp_path / "floatgate").iterdir()] == [], "the control socket is gone"


def test_people_are_told_how_to_attach_it(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    command = [sys.executable, "-m", "floatgate", "serve", "--nvme", "--port", port, *SMALL]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
    ) as process:
        assert process.stdout is not None
        printed = ""
        while "Ctrl-C" not in printed:
            line = process.stdout.readline()
            assert line, printed
            printed += line
        process.send_signal(signal.SIGINT)
        summary = process.stdout.read()
    nqn = f"nqn.2026-10.org.floatgate:drive-{port}"
    assert f"nvme connect -t tcp -a 127.0.0.1 -s {port} -n {nqn}" in printed
    assert "nvme fdp stats" in printed and "--ioengine=io_uring_cmd" in printed
    assert "--size=16777216" in printed, "fio's area fits on the drive"
    assert "without authentication" in printed
    assert process.returncode == 0 and "write amplification" in summary


@pytest.mark.parametrize(
    ("words", "handles"),
    [
        ((), 8),
        (("--handles", "0"), 0),
        (("--handles", "3"), 3),
        (("--set", "placement.scheme=sepbit"), 0),
        (("--device", "fast"), 0),
    ],
)
def test_a_new_drive_has_handles_unless_it_is_asked_for_others(
    tmp_path: Path, words: tuple[str, ...], handles: int
) -> None:
    from floatgate.cli.endpoints import Where
    from floatgate.live.backing import prepare

    asked = int(words[1]) if words[:1] == ("--handles",) else None
    settings: dict[str, Any] = {"flash.pages_per_block": "16"}
    if words[:1] == ("--set",):
        settings |= {"placement.scheme": "sepbit"}
    if words[:1] == ("--device",):
        settings |= {"ftl.scheme": "fast"}
    where = Where(None, None, None, None, None, None, False, True, asked, None, False, False)
    image = tmp_path / "flash.img"
    # The second time, the command opens the drive that it has made.
    for is_new in (True, False):
        drive = prepare(
            image,
            size="16MiB",
            device="classic",
            set=where.with_handles(settings, "classic", image)[0],
            seed=None,
            aged=False,
        )
        assert (drive.handles, drive.is_new) == (handles, is_new)


def test_one_address_has_one_server(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with Serve(tmp_path, "--nvme", "--port", taken.getsockname()[1], *SMALL) as server:
            assert (server.ready, server.status) == ({}, 1)
            assert "the NVMe target ended with status 1" in server.said
            assert "in use" in server.said


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--nvme", "--listen", "0.0.0.0"], "--listen: 0.0.0.0 given; expected a loopback address"),
        (["--nvme", "--listen", "::"], "there is no authentication"),
        (["--nvme", "--listen", "here"], "--listen: here given; expected an IP address"),
        (["--nvme", "--socket", "x"], "'--socket': is for NBD; leave out --nvme"),
        (["--nvme", "--tls", "on"], "'--tls': is for NBD"),
        (["--handles", "4"], "'--handles': is for NVMe; expected --nvme"),
        (["--block-size", "512"], "'--block-size': is for NVMe"),
        (["--allow-remote"], "'--allow-remote': is for NVMe"),
        (["--zns"], "'--zns': is for NVMe"),
        (["--nvme", "--handles", "129"], "129"),
        (["--nvme", "--zns", "--handles", "0"], "'--handles': 0 given; expected at least 1"),
        (["--nvme", "--zns", "--aged"], "'--aged': mixes the pages of zones in its units"),
        (
            ["--nvme", "--handles", "4", "--set", "placement.handles=2"],
            "--handles 4: --set placement.handles=2 given, too",
        ),
    ],
)
def test_a_wrong_call_is_refused(
    tmp_path: Path,
    cli: Callable[..., Done],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    expected: str,
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert expected in cli("serve", *words).refused()


def test_a_remote_address_may_be_allowed(tmp_path: Path) -> None:
    words = ("--listen", "0.0.0.0", "--allow-remote", *SMALL)
    with serve_nvme(tmp_path, *words) as server:
        with connect(server) as host:
            host.io.write(0, b"x" * BLOCK)
            assert host.io.read(0) == b"x" * BLOCK
        assert server.stop() == 0


def test_a_drive_in_zones(tmp_path: Path, serving: Callable[..., Serve]) -> None:
    with serving("--zns", "--handles", "3", "--image", "flash.img") as server:
        assert server.ready["zoned"] is True
        with connect(server) as host, Live(server.ready["control"]) as live:
            assert host.io.zones(2) == [(EMPTY, 0), (EMPTY, 0)]
            assert [host.io.append(16, bytes([at]) * BLOCK) for at in range(5)] == [*range(16, 21)]
            host.io.reset_zone(0)
            host.io.flush()
            with pytest.raises(Refused):
                host.io.write(3, bytes(BLOCK))
            live.plug()
        with connect(server) as host:
            assert host.io.zones(2) == [(EMPTY, 0), (CLOSED, 5)]
            assert host.io.read(20) == bytes([4]) * BLOCK
            with pytest.raises(Refused):
                host.admin.log(0x22, 64, group=1)
            host.io.append(16, b"x" * BLOCK)
            host.io.flush()
            os.kill(server.ready["target_pid"], signal.SIGKILL)
            assert server.status == 1
    # The image states that its drive is in zones.
    with serve_nvme(tmp_path, "--image", "flash.img") as server:
        with connect(server) as host, Live(server.ready["control"]) as live:
            assert host.io.zones(2) == [(EMPTY, 0), (CLOSED, 6)]
            assert host.io.read(20, 2) == bytes([4]) * BLOCK + b"x" * BLOCK
            zones = live.status().zones
            assert zones is not None
            assert (zones.states.closed, zones.active_max) == (1, 3)
            assert not any("clean" in one for one in live.status().all_warnings)
        assert server.stop() == 0, server.said


def test_other_handles_than_those_of_an_image_are_refused(
    cli: Callable[..., Done], tmp_path: Path
) -> None:
    settings = {"placement.scheme": "host", "placement.handles": 4}
    images.create(tmp_path / "a.img", "16MiB", set=settings)
    said = cli("serve", "--nvme", "--image", "a.img", "--handles", "2").refused()
    assert "--handles: a.img exists and has placement.handles = 4; 2 given" in said


def test_a_drive_is_in_zones_for_good(cli: Callable[..., Done], tmp_path: Path) -> None:
    images.create(tmp_path / "zones.img", "16MiB", set={"placement.scheme": "host"}, zoned=True)
    images.create(tmp_path / "other.img", "16MiB", set={"placement.scheme": "host"})
    for words, message in [
        (["--image", "zones.img"], "zones.img is a drive in zones; expected --nvme to serve it"),
        (
            ["--nvme", "--zns", "--image", "other.img"],
            "is a drive without zones",
        ),
    ]:
        done = cli("serve", *words)
        assert done.returncode == 2
        assert message in " ".join(done.stderr.split())
    assert images.info(tmp_path / "zones.img")["zoned"] is True


def test_two_servers_need_two_ports(tmp_path: Path, serving: Callable[..., Serve]) -> None:
    with serving() as server:
        port = server.ready["port"]
        with Serve(tmp_path, "--nvme", "--port", port, "--control", "other.sock") as second:
            assert second.status == 1
            assert f"127.0.0.1:{port}: Address already in use" in second.said
            assert "expected a free --port" in second.said
        assert server.stop() == 0


def test_a_drive_that_cannot_keep_zones_apart_is_refused(serving: Callable[..., Serve]) -> None:
    with serving("--zns", "--set", "placement.scheme=sepbit") as server:
        assert (server.ready, server.status) == ({}, 1)
        assert 'placement.scheme: "sepbit" given; expected "host"' in server.said


def test_blocks_of_512_bytes(serving: Callable[..., Serve]) -> None:
    with serving("--block-size", "512", "--handles", "0") as server:
        with connect(server) as host:
            assert number(host.admin.identify(0, 1), 0, 8) == (16 << 20) // 512
            with pytest.raises(Refused):
                host.admin.log(0x22, 64, group=1)
        assert server.stop() == 0
    assert json.dumps(server.ready["handles"]) == "0"
