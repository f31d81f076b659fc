"""The command `floatgate calibrate`: what it prints, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from calibrate_kit import synthetic_in, wa_rows, write_start, write_table
from conftest import Cli


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synthetic_in(tmp_path_factory.mktemp("synthetic"))


def test_the_command_writes_the_drive_and_tells_what_it_did(
    cli: Cli, synthetic: Path, tmp_path: Path
) -> None:
    common = ["calibrate", synthetic, "--device", synthetic.parent / "start.toml"]
    common += ["--fit", "capacity.spare_factor=0.2..0.35", "--run", "s-a", "--scale", "1/32"]
    done = cli(*common, "-o", "drive.toml").ok()
    assert "capacity.spare_factor = 0.2" in done.stdout and "held out" in done.stdout
    assert "# Fitted, to s-a" in (tmp_path / "drive.toml").read_text()
    again = cli(*common, "-o", "drive.toml")
    assert again.returncode == 2 and "exists; --force replaces it" in again.stderr
    told = cli(*common, "-o", "drive.toml", "--force", "--json", "--holdout", "s-b", "-q")
    document = json.loads(told.stdout)
    assert document["runs"] == ["s-a"] and document["fitted"][0]["fixed_by_data"]
    assert document["held_out"][0]["run"] == "s-b"
    assert {"steady_error", "curve_mean", "curve_worst"} <= {*document["held_out"][0]["numbers"]}
    assert len(document["on_fitted"][0]["simulated"]) == 80


def test_a_call_that_fails_leaves_no_file(cli: Cli, synthetic: Path, tmp_path: Path) -> None:
    start = synthetic.parent / "start.toml"
    spare = "capacity.spare_factor"
    for arguments, words in (
        ((synthetic, "--fit", spare, "--run", "s-z"), "'s-z' is not in the data"),
        ((synthetic, "--fit", "x=1..2", "--run", "s-a"), "x"),
        ((synthetic, "--fit", spare, "--run", "s-a", "--scale", "2"), "expected 1/N"),
        ((synthetic, "--fit", spare, "--run", "s-a,"), "expected names between commas"),
        (("no.csv", "--fit", spare), "no.csv: cannot be read"),
        ((synthetic,), "'--fit': missing; expected --fit KEY,... and --out DRIVE.toml"),
        ((synthetic, "--predict"), "'--out': is of a fit"),
        ((synthetic, "--fit", spare, "--size", "2GiB", "--set", "flash.blocks=3"), "size"),
        ((synthetic, "--fit", spare, "--set", "flash.blocks"), "expected KEY=VALUE"),
    ):
        cli("calibrate", *arguments, "--device", start, "-o", "drive.toml").refused(words)
        assert not list(tmp_path.glob("*drive.toml*"))
    cli("calibrate", synthetic, "--device", start).refused("'--fit' and '--out': missing")
    onto = ("--device", start, "-o", synthetic)
    cli("calibrate", synthetic, "--fit", spare, *onto).refused("is the input")


def test_a_fit_that_explains_nothing_is_refused(cli: Cli, tmp_path: Path) -> None:
    """The fit is printed, but the process fails and writes no drive."""
    rows = [row[:-3] + "9.9" if row.endswith(",2.2") else row for row in wa_rows()]
    data, start = write_table(tmp_path / "wa.csv", rows), write_start(tmp_path)
    call = ["calibrate", data, "--device", start, "--scale", "1/64", "-o", "drive.toml"]
    done = cli(*call, "--fit", "capacity.spare_factor=0.2..0.3", "--no-intervals")
    assert done.returncode == 1
    assert "capacity.spare_factor = 0.2" in done.stdout and "steady" in done.stdout
    assert "floatgate: no drive is written: the drive differs from the data by" in done.stderr
    assert not (tmp_path / "drive.toml").exists()
    # Uniform writes do not depend on the unit size, so the data do not determine it.
    done = cli(
        *(*call[:-2], "-o", "-", "--fit", "flash.pages_per_block=2048..8192", "--json", "-q"),
        *("--noise", "0.5", "--force"),
    )
    assert done.returncode == 1
    assert "do not fix flash.pages_per_block" in json.loads(done.stdout)["refused"]


def test_predictions_without_a_fit(cli: Cli, synthetic: Path, tmp_path: Path) -> None:
    """A preset's size and keys describe the measured drive: there is no fit and no file."""
    call = ["calibrate", synthetic, "--device", synthetic.parent / "start.toml", "--predict"]
    call += ["--set", "capacity.spare_factor=0.27", "--size", "2GiB", "--scale", "1/16"]
    before = sorted(tmp_path.iterdir())
    done = cli(*call).ok()
    assert "nothing fitted" in done.stdout and "predicted" in done.stdout
    assert sorted(tmp_path.iterdir()) == before
    document = json.loads(cli(*call, "--json", "--run", "s-b", "-q").stdout)
    [run] = document["predicted"]
    assert run["run"] == "s-b" and abs(run["numbers"]["steady_error"]) < 0.02
    assert document["left_out"] == {"s-a": "not asked for"}
    assert [(one["run"], one["scale"]) for one in document["scales"]] == [("s-b", 8), ("s-b", 32)]
    for option in (("--fit", "x"), ("--out", "d.toml"), ("--holdout", "rest"), ("--noise", "0.1")):
        done = cli(*call, *option)
        assert done.returncode == 2 and f"'{option[0]}': is of a fit" in done.stderr
    assert cli(*call, "--no-intervals").returncode == 2


def test_labels_and_numbers_are_whole_at_every_width(
    cli: Cli, synthetic: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "s-a-run-of-which-the-name-is-long"
    data = tmp_path / "long.csv"
    data.write_text(synthetic.read_text().replace("s-a,", f"{name},"))
    call = ["calibrate", data, "--device", synthetic.parent / "start.toml", "--predict"]
    call += ["--size", "2GiB", "--run", name, "--scale", "1/64"]
    numbers = json.loads(cli(*call, "--json").stdout)["predicted"][0]["numbers"]
    for columns in ("40", "72", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        done = cli(*call, "-q")
        lines = done.stdout.splitlines()
        assert any(line.startswith(f"{name}  predicted") for line in lines)
        words = done.stdout.split()
        for key in ("steady_measured", "steady_simulated"):
            assert f"{numbers[key]:.4g}" in words, (columns, done.stdout)
        assert "…" not in done.stdout
        if int(columns) >= 72:
            assert max(map(len, lines)) <= int(columns)


def test_progress_is_lines_where_there_is_no_terminal(cli: Cli, synthetic: Path) -> None:
    call = ["calibrate", synthetic, "--device", synthetic.parent / "start.toml", "--predict"]
    call += ["--scale", "1/64"]
    assert cli(*call).stderr.startswith("simulating runs: 0 of 6 done\n")
    assert cli(*call, "-q").stderr == ""
