"""A drive with NVMe hosts as the live page, metrics, shadows, recordings and snapshots show it."""

from __future__ import annotations

import random
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from browser import Seen
from live_process import Serve, replay_of_the_docs, until
from nvme_host import BLOCK, Host, connect, number, serve_nvme
from prometheus_client.parser import text_string_to_metric_families

from floatgate.live import Live, images

if sys.platform != "linux":
    pytest.skip("the NVMe target needs Linux", allow_module_level=True)

MIB = 1 << 20
SMALL = ("--size", "16MiB", "--set", "flash.pages_per_block=16")
ROUNDS = 480
LARGE, PIECES = 16, 10
"""Blocks of a large object, and small objects written after each."""


def run_cache(host: Host, rounds: int = ROUNDS) -> None:
    """Writes a log of large objects with handle 0, and small ones at random with handle 1."""
    chosen = random.Random(7)
    log, small = 12 * MIB // BLOCK, 4 * MIB // BLOCK
    for turn in range(rounds):
        host.io.write(turn * LARGE % log, bytes([turn % 251]) * BLOCK * LARGE, handle=0)
        for _ in range(PIECES):
            host.io.write(log + chosen.randrange(small), bytes([turn % 251]) * BLOCK, handle=1)


def metrics(server: Serve) -> dict[tuple[str, ...], float]:
    """Returns the samples of the metrics by name and labels."""
    text = urllib.request.urlopen(server.ready["metrics"]).read().decode()
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_metrics_have_the_numbers_of_the_logs(tmp_path: Path) -> None:
    with serve_nvme(tmp_path, *SMALL, "--handles", "2", "--web") as server:
        with connect(server) as host, connect(server) as other:
            run_cache(host)
            other.io.read(0, 4)
            fdp, ocp = host.admin.log(0x22, 64, group=1), host.admin.log(0xC0)
            found = metrics(server)
            assert found[("floatgate_connections",)] == 2
            writes = ROUNDS * (1 + PIECES)
            requests = [found["floatgate_requests_total", kind] for kind in ("read", "write")]
            assert requests == [1, writes]
            logged = {
                "host_write_bytes": number(fdp, 0),
                "media_write_bytes": number(fdp, 16),
                "media_erase_bytes": number(fdp, 32),
                "media_read_bytes": number(ocp, 16),
            }
            smart = {name: found[(f"floatgate_smart_{name}_total",)] for name in logged}
            assert smart == logged
            assert logged["host_write_bytes"] == ROUNDS * (LARGE + PIECES) * BLOCK
        until(lambda: metrics(server)[("floatgate_connections",)] == 0)
        assert server.stop() == 0, server.said


def test_a_replay_of_a_record_has_the_write_amplification_of_each_handle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("--handles", "2", "--record", "X.parquet", "--out", "kept")
    with serve_nvme(tmp_path, *SMALL, *words) as server:
        with connect(server) as host:
            run_cache(host)
        assert server.stop() == 0, server.said
    names = replay_of_the_docs(tmp_path, monkeypatch)
    live, again = names["live"], names["again"]
    assert live.flash.erases.gc > 0
    log, small = live.placement.owners
    assert (log.host_pages, small.host_pages) == (ROUNDS * LARGE, ROUNDS * PIECES)
    assert small.write_amplification > log.write_amplification
    assert again.placement == live.placement


def test_a_shadow_shows_what_the_handles_save(tmp_path: Path) -> None:
    flash = "[flash]\npages_per_block = 16\n[placement]\n"
    (tmp_path / "mixed.toml").write_text(f'{flash}scheme = "single"\n')
    (tmp_path / "kept.toml").write_text(f'{flash}scheme = "host"\nhandles = 2\n')
    words = ("--handles", "2", "--also", "mixed.toml", "--also", "kept.toml", "--web")
    with serve_nvme(tmp_path, *SMALL, *words) as server:
        with connect(server) as host, Live(server.ready["control"]) as live:
            run_cache(host)
            until(lambda: all(shadow.behind == 0 for shadow in live.status().also))
            status = live.status()
            mixed, kept = (shadow.result for shadow in status.also)
            assert mixed is not None and kept is not None
            assert mixed.workload.writes == kept.workload.writes == ROUNDS * (1 + PIECES)
            pages = [owner.host_pages for owner in kept.placement.owners]
            assert pages == [owner.host_pages for owner in status.result.placement.owners]
            amplification = status.result.write_amplification
            assert amplification is not None and kept.write_amplification is not None
            assert mixed.write_amplification is not None
            assert mixed.write_amplification > max(amplification, kept.write_amplification) + 0.1
            shown = metrics(server)["floatgate_shadow_write_amplification", "mixed"]
            assert shown == pytest.approx(mixed.write_amplification)
        assert server.stop() == 0, server.said


def test_a_snapshot_keeps_what_was_there_and_is_another_drive(tmp_path: Path) -> None:
    with serve_nvme(tmp_path, *SMALL, "--handles", "2", "--image", "flash.img") as server:
        with connect(server) as host, Live(server.ready["control"]) as live:
            host.io.write(5, b"a" * BLOCK, handle=1)
            host.io.flush()
            live.snapshot(tmp_path / "copy.img")
            host.io.write(5, b"b" * BLOCK, handle=1)
            host.io.flush()
            serial = host.admin.identify(1)[4:24]
        assert server.stop() == 0, server.said
    for name, data in {"copy.img": b"a", "flash.img": b"b"}.items():
        assert images.check(tmp_path / name)["problem_count"] == 0
        with serve_nvme(tmp_path, "--image", name) as server:
            with connect(server) as host:
                assert host.io.read(5) == data * BLOCK, name
                assert host.io.room(2)
                # Hosts tell drives apart by their serial numbers.
                assert (host.admin.identify(1)[4:24] == serial) == (name == "flash.img")
            assert server.stop() == 0, server.said


def test_the_page_shows_the_drive_of_an_nvme_host(browser: Any, tmp_path: Path) -> None:
    words = (*SMALL, "--handles", "2", "--web", "--timing", "simulated")
    with serve_nvme(tmp_path, *words) as server:
        with connect(server) as host, Live(server.ready["control"]) as live:
            run_cache(host, 240)
            host.io.flush()
            with Seen(browser, server.ready["page"], until="shown") as seen:
                seen.page.get_by_label("stream", exact=True).check()
                legend = seen.page.locator("#blocks-legend")
                legend.get_by_text("stream 1").wait_for()
                amplification = live.status().result.write_amplification
                assert amplification is not None and amplification > 1.01
                tile = seen.page.locator("#tiles div", has_text="Since the last reset")
                tile.get_by_text(f"{amplification:.3f}").wait_for()
                seen.page.on("dialog", lambda dialog: dialog.accept())
                seen.page.get_by_role("button", name="Pull the plug").click()
                until(lambda: live.status().power.cuts == 1)
                assert seen.complaints == []
        with connect(server) as host:
            assert host.io.read(100 * LARGE) == bytes([100]) * BLOCK
        assert server.stop() == 0, server.said
