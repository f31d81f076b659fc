"""Counts beyond any machine's memory are refused before memory is allocated for them."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

import floatgate as fg
from floatgate.simulation import memory
from floatgate.studies.spec import StudySpec

GIB = 1 << 30
STUDY = 'traces = ["uniform:span=1MiB,writes=500"]\n'


def _limited(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs a command with at most 3 GiB of address space and at most a minute."""
    return subprocess.run(
        [sys.executable, "-m", "floatgate", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (3 * GIB, 3 * GIB)),
    )


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
        (("compare", "uniform:span=1TiB,writes=9", "--seeds", "2"), "takes some 2.5"),
    ],
)
def test_what_no_machine_has_is_refused(
    tmp_path: Path, words: tuple[str, ...], expected: str
) -> None:
    (tmp_path / "t.csv").write_text("timestamp_us,op,offset,length\n0,write,0,4096\n")
    (tmp_path / "seeds.toml").write_text(STUDY + "seeds = 1000000000\n")
    drawn = "draws = 20000000\nkeys = { capacity.spare_factor = { from = 0.1, to = 0.2 } }\n"
    (tmp_path / "draws.toml").write_text(f"{STUDY}[random]\n{drawn}")
    values = ", ".join(f"{0.1 + at / 1000}" for at in range(200))
    product = f"seeds = 30000\n[grid]\ncapacity.spare_factor = [{values}]\n"
    (tmp_path / "product.toml").write_text(STUDY + product)
    done = _limited(tmp_path, *words)
    assert done.returncode == 2, done.stderr
    text = " ".join(done.stderr.split()).replace("\u202f", " ")
    assert expected in text and "Traceback" not in text and "MemoryError" not in text
    assert not (tmp_path / "out").exists()


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
