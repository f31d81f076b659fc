"""Drives larger than their workload are scaled down and keep their number of erase units. A drive
that is too small is refused, and the message names a sufficient number of blocks."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from command_line import in_process

import floatgate as fg
from floatgate import _core
from floatgate.simulation import configs, scaling
from floatgate.simulation.options import RunOptions

ENV = {**os.environ, "NO_COLOR": "1"}
CLASSES = ("small-nvme", "tlc-client", "tlc-enterprise", "qlc-capacity")
SPEC = "uniform:span=64MiB,writes=20k"
PLAIN = {"timing": "none"}


def fitted(device: Any, span: int, set: dict[str, Any] | None = None, **options: Any) -> Any:
    """Returns `[flash]` of the drive that simulates a workload of `span` bytes, and its notes."""
    [drive] = configs.resolve_all(device, set or {}, {})
    drive = scaling.fit(drive, span, RunOptions(**options))
    return drive.config.table()["flash"], drive.notes


def units(device: str, span: int, **options: Any) -> int:
    config = configs.resolve(device, {})
    flash, _ = fitted(device, span, **options)
    sized = _core.Config(json.dumps(config.table() | {"flash": flash}))
    logical = sized.logical_bytes(span) / config.page_bytes
    return round(logical / (1 - config.spare_factor) / scaling.unit_pages(config, flash))


@pytest.mark.parametrize("device", CLASSES)
@pytest.mark.parametrize("span", [1 << 28, 3 << 29, 1 << 33, 1 << 36])
def test_presets_of_classes_have_many_units(device: str, span: int) -> None:
    assert units(device, span) >= 128
    pages = span / configs.resolve(device, {}).page_bytes
    if pages > 1 << 19:
        assert units(device, span) > 700


@pytest.mark.parametrize("device", CLASSES)
@pytest.mark.parametrize("many", [200, 500, 1000])
def test_as_many_units_as_asked_for(device: str, many: int) -> None:
    assert many * 0.7 < units(device, 4 << 30, units=many) < many * 1.6


def test_a_block_is_erased_in_as_much_less_time() -> None:
    whole = configs.resolve("tlc-enterprise", {}).table()["flash"]
    flash, (note,) = fitted("tlc-enterprise", 1 << 30)
    erase = 5_000_000 * flash["pages_per_block"] // whole["pages_per_block"]
    assert flash["erase"] == f"{erase}ns"
    for text in ("589,824", f"flash.superblock = {flash['superblock']}", "--full-size", "5,000"):
        assert text in note


def test_units_stay_on_many_dies() -> None:
    """With units on two dies, a drive would serve only two thirds of its random requests."""
    flash, _ = fitted("tlc-enterprise", 1 << 30)
    assert flash["superblock"] >= 32


@pytest.mark.parametrize("preset", [row["name"] for row in fg.devices()])
def test_presets_of_papers_keep_their_geometry(preset: str) -> None:
    if preset in CLASSES:
        return
    whole = configs.resolve(preset, {}).table()["flash"]
    span = 1 << 32
    assert fitted(preset, span) == (whole, ())


def test_what_is_set_is_not_scaled() -> None:
    for key, value in (
        ("flash.pages_per_block", 48),
        ("flash.superblock", 64),
        ("flash.blocks", 128 * 300),
    ):
        span = 1 << 40 if key == "flash.superblock" else 1 << 33
        flash, notes = fitted("tlc-enterprise", min(span, 1 << 43), {key: value})
        assert notes == () and flash[key.removeprefix("flash.")] == value
        with pytest.raises(fg.ConfigError, match=r"units: 100 given.*expected one of them"):
            fitted("tlc-enterprise", span, {key: value}, units=100)


def test_units_are_advised_where_they_help() -> None:
    """A warning about few units names `--units 1024` unless that would change nothing."""
    tiny = "uniform:span=1MiB,writes=2k"
    for options, is_advised in (
        ({}, True),
        ({"units": 1024}, False),
        ({"set": PLAIN | {"flash.pages_per_block": 16}}, False),
        ({"set": PLAIN | {"flash.blocks": 40}}, False),
    ):
        found = fg.run(tiny, **{"set": PLAIN, **options})
        [few] = [text for text in found.warnings if "erase units: with fewer" in text]
        assert ("--units 1024" in few) == is_advised, (options, few)


def test_units_and_full_size_are_one_or_the_other() -> None:
    with pytest.raises(fg.ConfigError, match="full_size"):
        fg.run(SPEC, units=100, full_size=True)
    with pytest.raises(fg.ConfigError, match="units: 7 given; expected at least 8"):
        fg.run(SPEC, units=7)


def test_a_drive_of_few_units_is_refused() -> None:
    for device in ("tlc-enterprise", "mqsim18"):
        with pytest.raises(fg.ConfigError, match=r"expected at least 8: .*--units 1024"):
            fg.run(SPEC, device=device, set=PLAIN, full_size=True)
    # A preset keeps its geometry only if the workload leaves it enough units.
    small = fg.run(SPEC, device="mqsim18", set=PLAIN)
    assert small.drive.units > 100
    assert any(note.startswith("scaled: erase units have") for note in small.notes)


def test_a_device_of_ones_own_is_scaled_where_it_has_a_class(tmp_path: Path) -> None:
    """A copy of a preset's file is scaled like the preset."""
    toml = next(row["toml"] for row in fg.devices() if row["name"] == "tlc-enterprise")
    copy = tmp_path / "copy.toml"
    copy.write_text(toml)
    assert fitted(copy, 1 << 30) == fitted("tlc-enterprise", 1 << 30)
    plain = {**configs.resolve("tlc-enterprise", {}).table()}
    with pytest.raises(fg.ConfigError, match=r"--units"):
        fitted(plain, 1 << 30)


def test_a_result_can_be_run_again_from_its_config() -> None:
    first = fg.run(SPEC, device="tlc-enterprise", set=PLAIN)
    again = fg.run(SPEC, device=first.config)
    assert again.drive == first.drive
    assert again.write_amplification == first.write_amplification
    assert any(note.startswith("scaled: erase units have") for note in first.notes)


def test_write_amplification_hardly_depends_on_the_scale() -> None:
    """For 15.36 % spare without a map, the closed form gives 3.4."""
    found = []
    for span in ("256MiB", "1GiB"):
        spec = f"uniform:span={span},writes={'300k' if span == '1GiB' else '100k'}"
        sets = PLAIN | {"start.fill": "random"}
        found.append(fg.run(spec, device="tlc-enterprise", set=sets).write_amplification)
    assert found[0] == pytest.approx(found[1], rel=0.04)


def test_rows_of_other_drives_are_marked() -> None:
    """Marks are for drives with few units, or with another spare factor than the configured one."""
    table = fg.compare(
        "uniform:span=40MiB,writes=20k",
        vary={"flash.pages_per_block": [64, 1024], "capacity.spare_factor": [0.07, 0.28]},
        set=PLAIN,
        device="classic",
    )
    assert table["drive"].to_list() == ["", "", "12 units, spare 14.8 %", "14 units"]


def marked(*options: str, columns: str = "140") -> str:
    words = ["uniform:span=40MiB,writes=20k", "--set", "timing=none", "-q"]
    environment = ENV | {"COLUMNS": columns}
    ended = in_process(Path.cwd(), "compare", *words, *options, environment=environment)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_marks_are_in_the_rows_of_the_terminal_and_of_files(tmp_path: Path) -> None:
    out = tmp_path / "out"
    text = marked("--vary", "flash.pages_per_block=64,1024", "--out", str(out))
    [row] = [line for line in text.splitlines() if "12 units" in line and "warn" not in line]
    assert "1024" in row and "spare" in text
    csv = (out / "table.csv").read_text()
    assert '"12 units, spare 14.8 %"' in csv
    assert "12 units, spare 14.8\N{NO-BREAK SPACE}%" in (out / "report.html").read_text()
    text = marked(
        "--vary", "flash.pages_per_block=64,1024", "--seeds", "2", "--out", str(out / "s")
    )
    assert "12 units" in text


def test_a_study_takes_units(tmp_path: Path) -> None:
    spec = {
        "traces": SPEC,
        "set": {"timing": "none"},
        "grid": {"device": ["tlc-enterprise", "qlc-capacity"]},
    }
    for options, least in (({}, 60), ({"units": 40}, 30), ({"full_size": True}, None)):
        name = "".join(options) or "plain"
        frame = fg.study(spec | {"options": options}, out=tmp_path / name).frame()
        if least is None:
            assert all("--units 1024" in error for error in frame["error"].to_list())
        else:
            assert min(frame["drive.units"].to_list()) >= least
    with pytest.raises(fg.ConfigError, match="units"):
        fg.study(spec | {"options": {"units": "many"}}, out=tmp_path / "wrong")


def test_other_commands_take_units_or_refuse_them() -> None:
    with pytest.raises(fg.ConfigError, match="units: 100 given, but recoveries"):
        fg.crash(SPEC, units=100)
    with pytest.raises(fg.ConfigError, match="units: 100 given, but nothing is simulated"):
        fg.map_curve(SPEC, units=100)
    found = fg.precondition(device="qlc-capacity", repeat=1, budget=16, workload="uniform")
    assert found.units > 50 and found.notes[0].startswith("scaled: ")


def test_a_tuned_drive_is_the_one_that_was_simulated(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    vary = {"cleaning.victim": ["greedy", "fifo"]}
    found = fg.tune(
        SPEC,
        objective="write_amplification",
        vary=vary,
        device="tlc-enterprise",
        set=PLAIN,
        trials=2,
        prune=False,
    )
    best = tmp_path / "best.toml"
    best.write_text(found.configs[0])
    assert fg.run(SPEC, device=best).drive.units > 100


def test_labels_do_not_name_what_was_scaled() -> None:
    from floatgate.report.runs import label_runs

    results = [
        fg.run(SPEC, device=device, set=PLAIN | {"capacity.spare_factor": spare})
        for device in ("tlc-enterprise", "qlc-capacity")
        for spare in (0.07, 0.28)
    ]
    names = [run.name for run in label_runs(results)]
    assert names == [
        f"{device}, {spare} % spare"
        for device in ("tlc-enterprise", "qlc-capacity")
        for spare in (7, 28)
    ]


TINY = "uniform:span=256KiB,writes=2k"


def refusal(blocks: int, **sets: object) -> str | None:
    try:
        fg.run(TINY, addresses="modulo", set={"flash.blocks": blocks, "timing": "none"} | sets)
    except fg.ConfigError as error:
        return str(error)
    return None


@pytest.mark.parametrize("blocks", [1, 2, 8, 9, 13, 14])
def test_the_smallest_drive_is_named_at_once(blocks: int) -> None:
    error = refusal(blocks)
    assert error is not None and "expected flash.blocks = 15 or more, or a larger spare" in error
    assert refusal(15) is None


@pytest.mark.parametrize(
    ("sets", "blocks"),
    [
        ({"capacity.spare_factor": 0.02}, 20),
        ({"mapping.scheme": "dftl", "mapping.cache": "16KiB"}, 20),
        ({"ftl.scheme": "bast"}, 10),
        ({"placement.scheme": "dac"}, 30),
        ({"flash.planes": 4, "flash.superblock": 4}, 40),
    ],
)
def test_the_number_that_is_named_runs(sets: dict[str, object], blocks: int) -> None:
    error = refusal(blocks, **sets)
    assert error is not None
    [least] = map(int, re.findall(r"expected flash.blocks = (\d+) or more", error))
    step = int(str(sets.get("flash.superblock", 1)))
    assert refusal(least, **sets) is None
    assert refusal(least - step, **sets) is not None


def test_a_spare_factor_that_no_number_helps_is_named() -> None:
    """Each further unit would add as many pages of data and map as it provides."""
    sets = {"capacity.spare_factor": 0.0005, "mapping.scheme": "dftl", "mapping.cache": "16KiB"}
    error = refusal(100, **sets)
    assert error is not None and error.endswith("expected a larger spare factor")


@pytest.mark.parametrize("span", ["4MiB", "16MiB", "64MiB"])
def test_units_of_an_unprotected_drive_have_rows_to_pad(span: str) -> None:
    """In units of one row, padding takes more than cleaning frees: the drive cannot be cleaned."""
    workload = f"hotcold:span={span},writes=8k"
    seven = fg.run(workload, device="tlc-client", units=512, set={"placement.scheme": "sepbit"})
    one = fg.run(workload, device="tlc-client", units=512)
    assert seven.drive.pages_per_unit >= 4 * 24
    assert one.amplification.pad is not None and seven.amplification.pad is not None
    assert one.amplification.pad < 0.1 and seven.amplification.pad < 1
    assert any("of the 512 requested" in note for note in seven.notes)
