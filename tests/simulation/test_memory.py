"""Memory: large tables are on huge pages, and what exceeds any machine is refused at the start."""

from __future__ import annotations

import resource
from functools import partial
from pathlib import Path

import pytest
from command_line import python
from conftest import Cli

import floatgate as fg
from floatgate.simulation import memory
from floatgate.studies.spec import StudySpec

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
    done = python("-c", script)
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


GIB = 1 << 30


def _limited(gib: float) -> None:
    """Limits the address space of a process."""
    resource.setrlimit(resource.RLIMIT_AS, (int(gib * GIB), int(gib * GIB)))


STUDY = 'traces = ["uniform:span=1MiB,writes=500"]\n'


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("compare", "t.csv", "--seeds", "1000000000"), "1,000,000,000 runs"),
        (("compare", "t.csv", "--seeds", "10001"), "10,001 runs"),
        (("study", "seeds.toml", "--out", "out"), "1,000,000,000 given; expected at most"),
        (("study", "draws.toml", "--out", "out"), "at most 5,000,000"),
        (("study", "product.toml", "--out", "out"), "30,000 seeds x 200 capacity.spare_factor"),
        (("crash", "uniform:span=1TiB,writes=10"), "a drive of 268,435,497 pages takes"),
        (("run", "uniform:span=1TiB,writes=10"), "a drive of 268,435,497 pages takes"),
        (("compare", "uniform:span=1TiB,writes=9", "--seeds", "2"), "takes some 2.75 GiB"),
    ],
)
def test_what_no_machine_has_is_refused(
    process: Cli, tmp_path: Path, words: tuple[str, ...], expected: str
) -> None:
    (tmp_path / "t.csv").write_text("timestamp_us,op,offset,length\n0,write,0,4096\n")
    (tmp_path / "seeds.toml").write_text(STUDY + "seeds = 1000000000\n")
    drawn = "draws = 20000000\nkeys = { capacity.spare_factor = { from = 0.1, to = 0.2 } }\n"
    (tmp_path / "draws.toml").write_text(f"{STUDY}[random]\n{drawn}")
    values = ", ".join(f"{0.1 + at / 1000}" for at in range(200))
    product = f"seeds = 30000\n[grid]\ncapacity.spare_factor = [{values}]\n"
    (tmp_path / "product.toml").write_text(STUDY + product)
    done = process(*words, timeout=60, preexec_fn=partial(_limited, 2.5))
    assert done.returncode == 2, done.stderr
    text = " ".join(done.stderr.split()).replace("\u202f", " ")
    assert expected in text and "Traceback" not in text and "MemoryError" not in text
    assert not (tmp_path / "out").exists()


def test_a_drive_that_fits_only_without_the_libraries_is_refused(process: Cli) -> None:
    """A comparison loads more libraries than a run; a drive of 2.75 GiB does not fit next to
    them in 3 GiB."""
    words = ("compare", "uniform:span=1TiB,writes=9", "--seeds", "2")
    done = process(*words, timeout=60, preexec_fn=partial(_limited, 3))
    assert done.returncode == 2, done.stderr
    assert "takes some 2.75" in done.stderr


def test_a_run_that_fits_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check counts map units: large map units take less memory."""
    workload = "uniform:span=64MiB,writes=10"
    drive = {"flash.superblock": 4, "flash.pages_per_block": 64, "timing": "none"}
    monkeypatch.setattr(memory, "available", lambda: 20_000)
    with pytest.raises(fg.ConfigError, match="takes some"):
        fg.run(workload)
    assert fg.run(workload, device="qlc-capacity", set=drive).workload.write_pages == 10
    with pytest.raises(fg.ConfigError, match="takes some"):
        fg.run(workload, device="qlc-capacity", set=drive, verify=True)
    with pytest.raises(fg.ConfigError, match="seed"):
        fg.compare(workload, vary={"mapping.scheme": ["ideal", "dftl"]}, seeds=0)


def test_seeds_that_are_named_are_counted() -> None:
    document = {"traces": ["uniform:span=1MiB,writes=500"], "seeds": [*range(30)]}
    assert StudySpec.model_validate(document).seeds == [*range(30)]
