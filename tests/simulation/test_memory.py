"""Memory of the engine: its large tables are on huge pages if the system has them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from command_line import HANGS_S

ENABLED = Path("/sys/kernel/mm/transparent_hugepage/enabled")
SMAPS = Path("/proc/self/smaps_rollup")

HUGE_KIB = """
from pathlib import Path

def huge_kib():
    lines = Path("/proc/self/smaps_rollup").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("AnonHugePages:"))
"""

# Measures the huge pages that any process gets if it asks like the engine, for twice the memory.
ASKING = f"""{HUGE_KIB}
import mmap

pages = mmap.mmap(-1, 32 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
pages.madvise(mmap.MADV_HUGEPAGE)
before = huge_kib()
pages.write(bytes(len(pages)))
print(huge_kib() - before)
"""

# A separate process has no earlier tables. Map and owners take 8 bytes a page: 16 MiB.
LOOKING_ON = f"""{HUGE_KIB}
from concurrent.futures import ThreadPoolExecutor, wait

import floatgate as fg

def run():
    settings = {{"timing": "none", "start.fill": "sequential"}}
    fg.run("uniform:span=8GiB,writes=2M", set=settings)

most = before = huge_kib()
with ThreadPoolExecutor(1) as pool:
    running = pool.submit(run)
    while not wait([running], 0.005).done:
        most = max(most, huge_kib())
running.result()
print(most - before)
"""


def _kib(script: str) -> int:
    """Runs a script in a process, and returns the number that it prints."""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS_S)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_large_tables_are_on_huge_pages() -> None:
    if not ENABLED.exists() or "[never]" in ENABLED.read_text("ascii"):
        pytest.skip("this system gives no transparent huge pages")
    if not SMAPS.exists():
        pytest.skip("this system does not say what a process has of them")
    if _kib(ASKING) < 16 << 10:
        pytest.skip("this system has no huge pages left: its memory is in small pieces")
    assert _kib(LOOKING_ON) >= 8 << 10
