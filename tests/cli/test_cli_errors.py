"""Errors of the command line: one line, the right exit status, and no file written."""

from __future__ import annotations

from pathlib import Path

import pytest
import zstandard
from paths import ROOT

DATA = ROOT / "tests" / "data" / "traces"
SMALL = "uniform:span=16MiB,writes=5k"
ENDLESS = "uniform:span=16MiB,writes=4000000000"


def _truncated(folder: Path) -> str:
    whole = zstandard.compress((DATA / "financial.spc").read_bytes() * 50)
    (folder / "cut.spc.zst").write_bytes(whole[: len(whole) // 2])
    return "cut.spc.zst"


def _csv(folder: Path) -> str:
    (folder / "people.csv").write_text("name,age\nAda,36\nAlan,41\n")
    return "people.csv"


def _toml(folder: Path) -> str:
    (folder / "mine.toml").write_text("[flash]\nblox = 3\n")
    return "mine.toml"


def _folder(folder: Path) -> str:
    (folder / "drives").mkdir()
    return "drives"


RUN_OUT = ("--out", "results")

CASES = {
    "truncated zstd": (("run", _truncated, *RUN_OUT), "truncated or corrupt zstd"),
    "another CSV": (("run", _csv, *RUN_OUT), "no known trace format"),
    "missing trace": (("run", "absent.csv", *RUN_OUT), "absent.csv: no such file"),
    "missing device": (("run", SMALL, "--device", "absent.toml", *RUN_OUT), "absent.toml"),
    "unknown preset": (("run", SMALL, "--device", "clasic", *RUN_OUT), "clasic"),
    "a directory as a device": (
        ("run", SMALL, "--device", _folder, *RUN_OUT),
        "drives: cannot be read: Is a directory",
    ),
    "bad device file": (("run", SMALL, "--device", _toml, *RUN_OUT), "mine.toml: "),
    "unknown key": (("run", SMALL, "--set", "flash.blox=9", *RUN_OUT), "flash.blox"),
    "bad value": (("run", SMALL, "--set", "capacity.spare_factor=1.2", *RUN_OUT), "spare_factor"),
    "no value": (("run", SMALL, "--set", "capacity.spare_factor", *RUN_OUT), "KEY=VALUE"),
    "drive too small": (("run", SMALL, "--set", "flash.blocks=20", *RUN_OUT), "flash.blocks"),
    "modulo onto what": (("run", SMALL, "--addresses", "modulo", *RUN_OUT), "flash.blocks"),
    "bad generator": (("run", "unifrom:span=1MiB", *RUN_OUT), "unifrom"),
    "bad generator key": (("run", "uniform:span=1MiB,writes=5,wirtes=5", *RUN_OUT), "wirtes"),
    "no number": (("run", SMALL, "--limit", "10x", *RUN_OUT), "'10x' given"),
    "bad limit": (("run", SMALL, "--limit", "0", *RUN_OUT), "limit"),
    "bad scale": (("run", SMALL, "--time-scale", "-1", *RUN_OUT), "time_scale"),
    "bad seed": (("run", SMALL, "--seed", "-1", *RUN_OUT), "seed"),
    "bad format": (("run", DATA / "financial.spc", "--format", "xls", *RUN_OUT), "xls"),
    "unknown option": (("run", SMALL, "--colour", "red"), "--colour"),
    "no trace": (("run",), "TRACE"),
    "unknown command": (("fly",), "fly"),
    "pictures, but where": (("run", SMALL, "--pictures", "svg"), "--out"),
    "vary nothing": (("compare", SMALL), "--vary"),
    "vary without values": (("compare", SMALL, "--vary", "mapping.scheme"), "--vary"),
    "vary an empty value": (("compare", SMALL, "--vary", "mapping.scheme=dftl,"), "--vary"),
    "vary an unknown value": (("compare", SMALL, "--vary", "mapping.scheme=dftl,x"), "scheme"),
    "vary an unknown key": (("compare", SMALL, "--vary", "maping.scheme=dftl,none"), "maping"),
    "vary what is set": (
        ("compare", SMALL, "--vary", "queue.depth=1,2", "--set", "queue.depth=3"),
        "queue.depth",
    ),
    "one run of two fails": (
        ("compare", SMALL, "--vary", "flash.blocks=20,400"),
        "flash.blocks=20",
    ),
    "vary what no run uses": (("compare", SMALL, "--vary", "asa.samples=10,20"), "asa.samples"),
    "vary what another victim uses": (
        ("compare", SMALL, "--vary", "windowed.window=0.1,0.2", "--set", "cleaning.victim=fifo"),
        "windowed.window is a key of windowed, which no run uses",
    ),
    "vary the device and give it": (
        ("compare", SMALL, "--vary", "device=classic,dftl09", "--device", "classic"),
        "device is also given",
    ),
    "vary an unknown device": (("compare", SMALL, "--vary", "device=classic,dftl9"), "dftl9"),
    "no number of seeds": (("compare", SMALL, "--seeds", "few"), "--seeds"),
    "no seeds": (("compare", SMALL, "--seeds", "0"), "seeds: 0"),
    "baseline that no run is": (
        ("compare", SMALL, "--vary", "queue.depth=1,2", "--baseline", "queue.depth=3"),
        "queue.depth=3; expected one of 1, 2",
    ),
    "baseline of what does not vary": (
        ("compare", SMALL, "--vary", "queue.depth=1,2", "--baseline", "queue.queues=1"),
        "queue.queues does not vary",
    ),
    "device twice": (("run", SMALL, "--device", "classic", "--device", "dftl09"), "'--device'"),
    "pictures twice": (
        ("run", SMALL, "--out", "o", "--pictures", "svg", "--pictures", "png"),
        "'--pictures': is given more than once",
    ),
    "short and long": (
        ("trace", "import", DATA / "financial.spc", "-o", "x.csv", "--out", "y.csv"),
        "more than once",
    ),
    "a flag twice": (("run", SMALL, "--verify", "--verify"), "more than once"),
    "empty out": (("run", SMALL, "--out", ""), "'--out': is empty"),
    "empty -o": (("trace", "generate", SMALL, "-o", ""), "is empty"),
    "empty device": (("run", SMALL, "--device", ""), "'--device': is empty"),
    "empty trace": (("run", ""), "'TRACE': is empty"),
    "info of nothing": (("trace", "info", "absent.csv"), "absent.csv"),
    "bad unit": (("trace", "info", DATA / "financial.spc", "--time-unit", "h"), "time"),
    "import nothing": (("trace", "import", "absent.csv", "-o", "x.parquet"), "absent.csv"),
    "import to nowhere": (
        ("trace", "import", DATA / "financial.spc", "-o", "absent/x.parquet"),
        "absent",
    ),
    "generate nothing": (("trace", "generate", "absent:span=1MiB", "-o", "x.parquet"), "absent"),
    "unknown policy": (("policies", "dtfl"), "dtfl"),
    "impossible prediction": (("predict", "--spare-factor", "1.2"), "spare factor"),
    "half a mix": (("predict", "--hot", "0.9"), "hot"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_wrong_call_is_one_line_and_status_2(cli, tmp_path: Path, name: str) -> None:
    call, expected = CASES[name]
    arguments = [part(tmp_path) if callable(part) else part for part in call]
    before = sorted(tmp_path.iterdir())
    done = cli(*arguments)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("floatgate: ")
    assert done.stderr.count("\n") == 1
    assert expected in done.stderr
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "command", [("run", ENDLESS), ("compare", ENDLESS, DATA / "three.disksim")]
)
def test_an_unwritable_directory_is_found_before_the_run(cli, tmp_path: Path, command) -> None:
    (tmp_path / "file").touch()
    done = cli(*command, "--out", "file/results")
    assert done.returncode == 2
    assert done.stderr.startswith("floatgate: ")
    assert "file/results: cannot be written" in done.stderr
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
