"""`floatgate devices NAME --measure`: closed forms, what is published of a class, the process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Cli

import floatgate as fg
from floatgate import _core
from floatgate.datasheet import CLASS, DataSheet, Line

READ, PROGRAM, ERASE, TRANSFER = 25.0, 200.0, 1500.0, 4096 / 40
"""Microseconds of the drive below: a page at 40 MB/s is 102.4 us."""

ONE_DIE = {
    "flash": {"read": "25us", "program": "200us", "erase": "1500us", "bus": "40MB/s"},
    "capacity": {"spare_factor": 0.2},
}


@pytest.fixture(scope="module")
def sheet() -> DataSheet:
    return fg.measure_device(ONE_DIE, quick=True)


def _line(sheet: DataSheet, name: str) -> Line:
    return next(line for line in sheet.lines if line.name == name)


def test_reads_on_one_die_are_the_sum_of_their_parts(sheet: DataSheet) -> None:
    whole = READ + TRANSFER
    for depth, latency in ((1, whole), (32, 32 * whole)):
        line = next(
            one
            for one in sheet.latencies
            if one.name == "read latency" and one.conditions == f"4 KiB, QD{depth}"
        )
        # The first commands find an empty queue.
        assert line.mean_us == pytest.approx(latency, rel=1e-9 if depth == 1 else 0.001)
        assert line.p50_us == pytest.approx(latency, rel=0.001)
        assert line.p999_us == pytest.approx(latency, rel=0.001)
    random, in_order = _line(sheet, "random read"), _line(sheet, "sequential read")
    assert random.fresh == pytest.approx(1e6 / whole, rel=1e-9)
    assert random.steady == random.fresh
    assert in_order.fresh == pytest.approx(4096 / whole, rel=1e-9)
    assert in_order.steady == in_order.fresh


def test_writes_on_one_die_are_the_sum_of_their_parts(sheet: DataSheet) -> None:
    page = PROGRAM + TRANSFER
    random, in_order = _line(sheet, "random write"), _line(sheet, "sequential write")
    assert random.fresh == pytest.approx(1e6 / page, rel=1e-9)
    assert in_order.fresh == pytest.approx(4096 / page, rel=1e-9)
    # In the steady state a unit of 64 pages is erased for 64 pages programmed, within one unit.
    assert in_order.steady == pytest.approx(4096 / (page + ERASE / 64), rel=0.01)
    wa = sheet.write_amplification
    host = wa * (page + ERASE / 64) + (wa - 1) * (READ + TRANSFER)
    assert random.steady == pytest.approx(1e6 / host, rel=0.01)
    assert wa == pytest.approx(2.6, rel=0.05)
    assert _line(sheet, "random mixed").fresh is None


def test_the_scale_and_the_capacities_are_told(sheet: DataSheet) -> None:
    assert sheet.blocks == 128
    assert sheet.blocks_full is None
    assert sheet.user_bytes == int(128 * 64 * 0.8) * 4096
    assert sheet.raw_bytes > 128 * 64 * 4096
    assert sheet.spare_factor == pytest.approx(0.2, abs=1e-4)
    assert sheet.notes == (
        "scaled: measured with 128 blocks (it names no size); spare, dies and buses as they are",
    )
    assert sheet.warnings == ()
    assert sheet.source is None


def test_a_drive_that_is_small_is_measured_whole() -> None:
    found = fg.measure_device({**ONE_DIE, "flash": {"blocks": 100}}, quick=True)
    assert (found.blocks, found.blocks_full) == (100, 100)
    assert found.notes == ("measured on the whole drive, 100 blocks",)


def test_a_short_queue_is_the_device_s_own() -> None:
    found = fg.measure_device({**ONE_DIE, "queue": {"depth": 4, "queues": 2}}, quick=True)
    conditions = {line.conditions for line in found.lines}
    assert conditions == {"128 KiB, QD8", "4 KiB, QD8", "4 KiB, QD8, 70% reads"}
    depths = [line.conditions for line in found.latencies]
    assert depths == ["4 KiB, QD1"] * 2 + ["4 KiB, QD8"] * 2


CLASS_TEXT = """
preset = "classic"

[class]
source = "made up for a test"
random_read_iops = [30000, 50000]
random_write_iops = [85000, 145000]
sequential_read_mb_s = [100, 200]
read_latency_us = [25, 25.5]
write_latency_us = [1, 2]
"""


def test_what_is_outside_its_class_is_marked(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "mine.toml").write_text(CLASS_TEXT, "utf-8")
    done = cli("devices", "mine.toml", "--measure", "--quick", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document["source"] == "made up for a test"
    outside = {line["name"]: line["outside"] for line in document["lines"]}
    assert outside.pop("random write") is True
    assert set(outside.values()) == {False}
    assert [line["outside"] for line in document["latencies"]] == [False, True, False, False]
    shown = cli("devices", "mine.toml", "--measure", "--quick").stdout
    marks = ("below", "above")
    marked = [line.split() for line in shown.splitlines() if line.rstrip().endswith(marks)]
    assert [(words[0], words[-1]) for words in marked] == [("random", "below"), ("write", "above")]
    assert "85 000 to" in shown.replace("\N{NARROW NO-BREAK SPACE}", " ")
    # The table changes no run, and a file with it is a drive as any other.
    assert cli("run", "uniform:span=1MiB,writes=10", "--device", "mine.toml").returncode == 0


def test_command_prints_a_sheet(cli: Cli) -> None:
    done = cli("devices", "classic", "--measure", "--quick")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "classic, measured on the model"
    names = ["raw capacity", "user capacity", "write amplification", "fresh", "sequential read"]
    for name in [*names, "random mixed", "latency", "read", "write", "note: scaled"]:
        assert any(line.startswith(name) for line in lines), name
    assert "class" not in done.stdout.replace("classic", "")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("random_iops = [1, 2]", "class.random_iops: is not known; expected one of source, "),
        ("mixed_iops = 5", "class.mixed_iops = 5: expected [least, most]"),
        ("mixed_iops = [5, 4]", "class.mixed_iops = [5, 4]: expected [least, most]"),
        ("mixed_iops = [4, 5]", "class.source: is missing"),
        ("class = 5", "class = 5: expected a table"),
    ],
)
def test_a_class_that_is_wrong_is_named(tmp_path: Path, table: str, words: str) -> None:
    file = tmp_path / "wrong.toml"
    source = "" if "[4, 5]" in table else 'source = "x"\n'
    file.write_text(table if table == "class = 5" else f"[class]\n{source}{table}\n", "utf-8")
    with pytest.raises(fg.ConfigError) as error:
        fg.measure_device(file)
    assert words in str(error.value)


def test_command_refuses_what_is_wrong(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "counts.toml").write_text('timing = "none"\n', "utf-8")
    for arguments, words in (
        (("counts.toml", "--measure"), "counts.toml: its time is not simulated"),
        (("no-such", "--measure"), "unknown preset `no-such`"),
        (("--measure",), "needs the name of a device"),
        (("classic", "--quick"), "is for --measure"),
    ):
        done = cli("devices", *arguments)
        assert done.returncode == 2, arguments
        assert words in done.stderr
        assert done.stdout == ""


def test_memory_that_is_not_scaled_is_told() -> None:
    cached = {**ONE_DIE, "mapping": {"scheme": "dftl", "cache": "1KiB"}}
    assert fg.measure_device(cached, quick=True).notes[1].startswith("the map cache and")


def test_every_preset_s_class_is_right() -> None:
    for preset in fg.devices():
        said = json.loads(_core.said(preset["name"], None)).get("class", {})
        assert set(said) <= {"source", *CLASS}


@pytest.mark.long
def test_the_sheet_in_the_documentation_is_what_comes_out(cli: Cli) -> None:
    page = (Path(__file__).resolve().parents[1] / "docs" / "datasheet.md").read_text("utf-8")
    shown = [line.strip() for line in page.splitlines()]
    done = cli("devices", "small-nvme", "--measure", "-q")
    missing = [line for line in done.stdout.splitlines() if line.strip() not in shown]
    assert not missing, done.stdout
