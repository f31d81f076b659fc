"""The memory of the engine: its large tables are on huge pages where the system has them."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import floatgate as fg

ENABLED = Path("/sys/kernel/mm/transparent_hugepage/enabled")
SMAPS = Path("/proc/self/smaps_rollup")


def _huge_kib() -> int:
    lines = SMAPS.read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("AnonHugePages:"))


def test_large_tables_are_on_huge_pages() -> None:
    if not ENABLED.exists() or "[never]" in ENABLED.read_text("ascii"):
        pytest.skip("this system gives no transparent huge pages")
    if not SMAPS.exists():
        pytest.skip("this system does not say what a process has of them")
    before = most = _huge_kib()
    has_ended = threading.Event()

    def run() -> None:
        # Map and owners take 8 bytes a page: 16 MiB.
        fg.run("uniform:span=8GiB,writes=2M", set={"timing": "none", "start.fill": "sequential"})
        has_ended.set()

    running = threading.Thread(target=run)
    running.start()
    while not has_ended.wait(0.005):
        most = max(most, _huge_kib())
    running.join()
    assert most - before >= 8 << 10
