"""Errors of the command line: one line, the right exit status, and no file written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import zstandard
from paths import DATA

SMALL = "uniform:span=16MiB,writes=5k"
FEW = "uniform:span=64KiB,writes=50"
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


def _counting(folder: Path) -> str:
    (folder / "counts.toml").write_text('timing = "none"\n')
    return "counts.toml"


def _folder(folder: Path) -> str:
    (folder / "drives").mkdir()
    return "drives"


RUN_OUT = ("--out", "results")

UNTIMED = ("--set", "timing=none")
FULL = ("--set", "latency.distribution=full")
DEPTHS = ("--vary", "queue.depth=1,2")
GAPS = ("--close-gaps", "1 year")
COLUMNS = ("--columns", "time=3,op=5,offset=2,length=9")

CASES: list[tuple[tuple[Any, ...], str]] = [
    (("run", _truncated, *RUN_OUT), "truncated or corrupt zstd"),
    (("run", _csv, *RUN_OUT), "no known trace format"),
    (("run", "absent.csv", *RUN_OUT), "absent.csv: no such file"),
    (("run", SMALL, "--device", "absent.toml", *RUN_OUT), "absent.toml"),
    (("run", SMALL, "--device", "clasic", *RUN_OUT), "clasic"),
    (
        ("run", SMALL, "--device", _folder, *RUN_OUT),
        "drives: cannot be read: Is a directory",
    ),
    (("run", SMALL, "--device", _toml, *RUN_OUT), "mine.toml: "),
    (("run", SMALL, "--set", "flash.blox=9", *RUN_OUT), "flash.blox"),
    (("run", SMALL, "--set", "capacity.spare_factor=1.2", *RUN_OUT), "spare_factor"),
    (("run", SMALL, "--set", "capacity.spare_factor", *RUN_OUT), "KEY=VALUE"),
    (("run", SMALL, "--set", "flash.blocks=20", *RUN_OUT), "flash.blocks"),
    (("run", SMALL, "--addresses", "modulo", *RUN_OUT), "flash.blocks"),
    (("run", "unifrom:span=1MiB", *RUN_OUT), "unifrom"),
    (("run", "uniform:span=1MiB,writes=5,wirtes=5", *RUN_OUT), "wirtes"),
    (("run", SMALL, "--limit", "10x", *RUN_OUT), "'10x' is not a valid int"),
    (("run", SMALL, "--limit", "0", *RUN_OUT), "limit"),
    (("run", SMALL, "--limit", 1 << 64, *RUN_OUT), "expected 1 to 2^63 - 1 requests"),
    (("run", SMALL, "--repeat", 1 << 64, *RUN_OUT), "repeat: 18446744073709551616 given"),
    (("run", SMALL, "--time-scale", "-1", *RUN_OUT), "time_scale"),
    (("run", SMALL, "--seed", "-1", *RUN_OUT), "seed"),
    (("run", DATA / "financial.spc", "--format", "xls", *RUN_OUT), "xls"),
    (("run", SMALL, "--colour", "red"), "--colour"),
    (("run",), "TRACE"),
    (("fly",), "fly"),
    (("run", SMALL, "--pictures", "svg"), "--out"),
    (("compare", SMALL), "--vary"),
    (("compare", SMALL, "--vary", "mapping.scheme"), "--vary"),
    (("compare", SMALL, "--vary", "mapping.scheme=dftl,"), "--vary"),
    (("compare", SMALL, "--vary", "mapping.scheme=dftl,x"), "scheme"),
    (("compare", SMALL, "--vary", "maping.scheme=dftl,none"), "maping"),
    (
        ("compare", SMALL, "--vary", "queue.depth=1,2", "--set", "queue.depth=3"),
        "queue.depth",
    ),
    (
        ("compare", SMALL, "--vary", "flash.blocks=20,400"),
        "flash.blocks=20",
    ),
    (("compare", SMALL, "--vary", "asa.samples=10,20"), "asa.samples"),
    (
        ("compare", SMALL, "--vary", "windowed.window=0.1,0.2", "--set", "cleaning.victim=fifo"),
        "windowed.window is a key of windowed, which no run uses",
    ),
    (
        ("compare", SMALL, "--vary", "device=classic,dftl09", "--device", "classic"),
        "device is also given",
    ),
    (("compare", SMALL, "--vary", "device=classic,dftl9"), "dftl9"),
    (("compare", SMALL, "--seeds", "few"), "--seeds"),
    (("compare", SMALL, "--seeds", "0"), "seeds: 0"),
    (
        ("compare", SMALL, "--vary", "queue.depth=1,2", "--baseline", "queue.depth=3"),
        "queue.depth=3; expected one of 1, 2",
    ),
    (
        ("compare", SMALL, "--vary", "queue.depth=1,2", "--baseline", "queue.queues=1"),
        "queue.queues does not vary",
    ),
    (("run", SMALL, "--device", "classic", "--device", "dftl09"), "'--device'"),
    (
        ("run", SMALL, "--out", "o", "--pictures", "svg", "--pictures", "png"),
        "'--pictures': is given more than once",
    ),
    (
        ("trace", "import", DATA / "financial.spc", "-o", "x.csv", "--out", "y.csv"),
        "more than once",
    ),
    (("run", SMALL, "--verify", "--verify"), "more than once"),
    (("run", SMALL, "--out", ""), "'--out': is empty"),
    (("trace", "generate", SMALL, "-o", ""), "is empty"),
    (("run", SMALL, "--device", ""), "'--device': is empty"),
    (("run", ""), "'TRACE': is empty"),
    (("trace", "info", "absent.csv"), "absent.csv"),
    (("trace", "info", DATA / "financial.spc", "--time-unit", "h"), "time"),
    (("trace", "import", "absent.csv", "-o", "x.parquet"), "absent.csv"),
    (
        ("trace", "import", DATA / "financial.spc", "-o", "absent/x.parquet"),
        "absent",
    ),
    (("trace", "generate", "absent:span=1MiB", "-o", "x.parquet"), "absent"),
    (("policies", "dtfl"), "dtfl"),
    (("predict", "--spare-factor", "1.2"), "spare factor"),
    (("predict", "--hot", "0.9"), "hot"),
    (("run", "/dev/zero"), "/dev/zero: cannot be read: a character device; expected a file or a"),
    (("run", SMALL, "--device", "/dev/zero"), "/dev/zero: cannot be read: a character device"),
    # A key, an option or a setting that another section or command has.
    (("run", SMALL, "--set", "spare_factor=0.1"), "did you mean `capacity.spare_factor`?"),
    (("compare", SMALL, "--vary", "victim=fifo,greedy"), "`cleaning.victim` or"),
    (("run", SMALL, "--set", "scheme=dftl"), "`mapping.scheme`"),
    (("run", SMALL, "--vary", "queue.depth=1,2"), "compare"),
    (("run", SMALL, "--seeds", "3"), "No such option: --seeds; compare has it"),
    (("compare", SMALL, "--hotness"), "trace info has it"),
    (("run", SMALL, "--spare-factor=0.1"), "--set KEY=VALUE; predict has it"),
    (("run", SMALL, "--over-provisioning", "0.1"), "`capacity.over_provisioning` is a config"),
    (("run", SMALL, "--sede", "3"), "--seed"),
    # Latencies and lanes.
    (("run", SMALL, "--latencies", "full", *UNTIMED), 'expected "summary" with timing = "none"'),
    (
        ("compare", SMALL, *DEPTHS, "--latencies", "full", *UNTIMED),
        'expected "summary" with timing',
    ),
    (("run", SMALL, "--latencies", "summary", *FULL), "--set latency.distribution is full"),
    (("run", SMALL, "--lanes", "soon"), 'lanes.window = "soon": expected a duration'),
    (
        ("run", SMALL, "--lanes", "1ms", "--lanes-at", "p99"),
        'lanes.around = "p99": expected "worst"',
    ),
    (("run", SMALL, "--lanes-at", "1s"), "expected lanes.window to be set as well"),
    (("run", SMALL, "--lanes", "1ms", *UNTIMED), 'expected none with timing = "none"'),
    (("run", SMALL, "--lanes", "1ms", "--set", "lanes.window=2ms"), "--set lanes.window is 2ms"),
    # Traces.
    (("trace", "generate", "--list", "fited"), "did you mean `fitted`?"),
    (("trace", "generate"), "'SPEC': is missing; --list shows the generators"),
    (("trace", "generate", SMALL), "'--out' / '-o': is missing"),
    (("trace", "generate", SMALL, "-o", "x", "--json"), "'--json': is for --list"),
    (("trace", "info", SMALL, "--gb", "1GB"), "is for --hotness"),
    (("trace", "info", SMALL, "--partial"), "is for --hotness"),
    (("trace", "info", SMALL, "--rounding", "cover"), "is for --hotness"),
    (("trace", "info", SMALL, "--out", "o"), "is for --map-curve or --hotness"),
    (("trace", "info", SMALL, "--hotness", "--gb", "x"), "gb: 'x' given"),
    (("trace", "info", SMALL, "--sample", "0.01"), "is for --map-curve"),
    (("trace", "info", SMALL, "--map-curve", "--page", "5"), "page: '5' given"),
    (("trace", "info", SMALL, "--map-curve", "--sample", "7"), "sample: '7' given"),
    (("trace", "info", SMALL, "--time-unit", "s"), "is a generator"),
    (("trace", "info", SMALL, *COLUMNS), "is a generator"),
    (("trace", "info", _csv, "--columns", "time=1"), "op is missing"),
    (("trace", "import", _csv, "--columns", "time=1", "-o", "x.parquet"), "op is missing"),
    (("trace", "info", _csv, *COLUMNS), "length=9 given"),
    (("run", _csv, *GAPS), "close_gaps: '1 year' given; expected a duration above 0, a number"),
    (("compare", _csv, *DEPTHS, *GAPS), "close_gaps: '1 year' given; expected a duration above 0"),
    (("trace", "info", _csv, *GAPS), "close_gaps: '1 year' given; expected a duration above 0"),
    (("trace", "import", _csv, "-o", "x.parquet", *GAPS), "close_gaps: '1 year' given; expected"),
    # Analyses of drives.
    (("devices", _counting, "--measure"), "counts.toml: its time is not simulated"),
    (("devices", "no-such", "--measure"), "unknown preset `no-such`"),
    (("devices", "--measure"), "needs the name of a device"),
    (("devices", "classic", "--quick"), "is for --measure"),
    (("precondition", "--budget", "5"), "budget: 5 given"),
    (("precondition", "--set", "start.play=x"), "start.play: is given"),
    (("precondition", "--workload", "nothing:a=1"), "no generator 'nothing'"),
    (("precondition", "--device", "no-such"), "unknown preset `no-such`"),
    (("crash", FEW, "--point", "1000000000"), "point: 1000000000 given; this workload has"),
    (("advise", "nothing.csv"), "nothing.csv"),
    (("advise", SMALL, "--device", "nvme9"), "nvme9"),
    (("advise", SMALL, "--limit", "0"), "limit"),
    # Images.
    (("image", "create", "x.img"), "'--size'"),
    (("image", "create", "x.img", "--size", "much"), "size: expected a size"),
    (("image", "create", "x.img", "--size", "0"), "a drive of 0 bytes"),
    (("image", "create", "x.img", "--size", "1MiB", "--device", "clasic"), "clasic"),
    (("image", "create", "x.img", "--size", "1MiB", "--set", "mapping.scheme=belady"), "belady"),
    (("image", "create", "x.img", "--size", "8MiB", "--set", "flash.blocks=8"), "flash.blocks"),
    (
        ("image", "create", "x.img", "--size", "8MiB", "--set", "spare_factor=0.1"),
        "`capacity.spare",
    ),
    (("image", "dump", "x.img", "--unit", "1", "--lpn", "1"), "'--lpn'"),
]
"""Wrong calls, and a part of the error. A function makes a file and returns its name."""


@pytest.mark.parametrize(("call", "expected"), CASES)
def test_a_wrong_call_is_one_line_and_status_2(cli, tmp_path: Path, call, expected: str) -> None:
    arguments = [part(tmp_path) if callable(part) else part for part in call]
    before = sorted(tmp_path.iterdir())
    cli(*arguments).refused(expected)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "command", [("run", ENDLESS), ("compare", ENDLESS, DATA / "three.disksim")]
)
def test_an_unwritable_directory_is_found_before_the_run(cli, tmp_path: Path, command) -> None:
    (tmp_path / "file").touch()
    cli(*command, "--out", "file/results").refused("file/results: cannot be written")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
