"""The memory of the engine: its large tables are on huge pages where the system has them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ENABLED = Path("/sys/kernel/mm/transparent_hugepage/enabled")
SMAPS = Path("/proc/self/smaps_rollup")

# A process of its own has had no tables before. Map and owners take 8 bytes a page: 16 MiB.
LOOKING_ON = """
import threading
from pathlib import Path

import floatgate as fg

def huge_kib():
    lines = Path("/proc/self/smaps_rollup").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("AnonHugePages:"))

def run():
    fg.run("uniform:span=8GiB,writes=2M", set={"timing": "none", "start.fill": "sequential"})
    has_ended.set()

has_ended = threading.Event()
most = before = huge_kib()
threading.Thread(target=run).start()
while not has_ended.wait(0.005):
    most = max(most, huge_kib())
print(most - before)
"""


def test_large_tables_are_on_huge_pages() -> None:
    if not ENABLED.exists() or "[never]" in ENABLED.read_text("ascii"):
        pytest.skip("this system gives no transparent huge pages")
    if not SMAPS.exists():
        pytest.skip("this system does not say what a process has of them")
    done = subprocess.run(
        [sys.executable, "-c", LOOKING_ON], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) >= 8 << 10
