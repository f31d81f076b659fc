"""`floatgate crash`: as a function, and as a command."""

from __future__ import annotations

import json
import math

import pytest
from conftest import Cli

import floatgate as fg
from floatgate import _core
from floatgate.analysis import crash
from floatgate.cli import output

SMALL = "uniform:span=64KiB,writes=150,reads=0.1,trim=0.1,flush=0.1"
WORKLOAD = _core.Workload.generator(SMALL, 1)
FAST = {"ftl.scheme": "fast", "flash.pages_per_block": 4, "capacity.spare_factor": 0.2}


def test_nothing_is_lost() -> None:
    found = fg.crash(SMALL, set={"mapping.scheme": "dftl", "mapping.cache": "1KiB"})
    assert found["lost"] == 0
    assert found["first_loss"] is None
    assert found["every"] == 1
    assert found["points"] == found["moments"] + found["second_cuts"]
    assert found["recoveries"] == found["points"]
    assert 0 < found["torn_seen"] < found["points"]
    assert found["went_on"] == found["moments"] // 16
    # Only every 50th recovery is cut, at each of its moments.
    assert 0 < found["second_cuts"] < found["recovery_moments"]
    assert found["left_out"] == found["recovery_moments"] - found["second_cuts"]
    assert found["requests"] == WORKLOAD.requests
    assert 0 < found["reads_mean"] <= found["reads_max"]
    # A page read takes at least 25 us on the single die of the default drive.
    assert found["mount_us_mean"] > 25 * found["reads_mean"]


def test_a_point_is_explored_by_itself_and_cut_again() -> None:
    found = fg.crash(SMALL, point=40)
    assert (found["points"] - found["second_cuts"], found["every"]) == (1, None)
    assert found["second_cuts"] == found["recovery_moments"] > 0
    assert found["left_out"] == found["moments"] - 1
    assert found["notes"] == []
    last = fg.crash(SMALL, point=found["moments"] - 1)
    assert last["points"] - last["second_cuts"] == 1


def test_a_point_beyond_the_last_is_refused() -> None:
    moments = fg.crash(SMALL, every=100)["moments"]
    words = f"point: {moments} given; this workload has {moments} moments .* numbered from 0"
    with pytest.raises(fg.ConfigError, match=words):
        fg.crash(SMALL, point=moments)


def test_the_same_call_gives_the_same_numbers() -> None:
    assert fg.crash(SMALL, seed=7, every=5) == fg.crash(SMALL, seed=7, every=5)


@pytest.mark.parametrize("scheme", ["page", "bast", "fast"])
def test_what_is_too_much_is_left_out_and_that_is_said(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crash, "POINTS", 60)
    found = fg.crash(SMALL, set={**FAST, "ftl.scheme": scheme})
    moments, inside = found["moments"], found["recovery_moments"]
    seconds = found["second_cuts"]
    firsts = found["points"] - seconds
    assert found["every"] == math.ceil(moments / 60) > 1
    assert firsts == math.ceil(moments / found["every"])
    # About one of 50 recoveries is cut. It may have fewer moments than the limit.
    assert 0 <= seconds <= 60
    assert found["left_out"] == moments - firsts + inside - seconds
    left = f"{moments - firsts:,} of {moments:,} moments of the workload were left out"
    inner = f"{inside - seconds:,} of {inside:,} moments of recoveries were left out"
    all_of_them = ("--every 1 explores them all", "--second 1 explores them all")
    assert found["notes"] == [f"{left}; {all_of_them[0]}", f"{inner}; {all_of_them[1]}"]
    # An eighth of the moments, and each recovery at every moment: explicit options have no limit.
    asked = fg.crash(SMALL, set={**FAST, "ftl.scheme": scheme}, every=8, second=1)
    assert asked["second_cuts"] == asked["recovery_moments"]


def test_a_larger_drive_has_fewer_points() -> None:
    drives = (1, 20_000, 40_000, 8_000_000, 10**9)
    assert [crash.points_most(pages) for pages in drives] == [20_000, 20_000, 10_000, 50, 50]


def test_progress_says_what_is_done_and_how_far() -> None:
    seen: list[tuple[str, int, int]] = []
    found = fg.crash(SMALL, set=FAST, progress=lambda *at: seen.append(at))
    # The progress calls before the last depend on the speed of this machine.
    assert seen[-1] == ("crash", found["moments"], found["moments"])
    order = ["", "fill", "count", "fill", "crash"]
    assert [phase for phase, _, _ in seen if phase not in order] == []
    assert all(done <= total for phase, done, total in seen if phase == "crash")
    named = output.PHASES
    assert {named["count"], named["crash"]} == {"counting moments", "cutting the power"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"every": 0}, "every: 0 given; expected at least 1"),
        ({"second": 0}, "second: 0 given; expected at least 1"),
        ({"point": -1}, "point: -1 given; expected 0 or more"),
        ({"point": 3, "every": 2}, "point: 3 given"),
        ({"addresses": "modulo"}, "addresses"),
        ({"set": {"placement.scheme": "oracle"}}, "cannot look ahead in the trace"),
        ({"set": {"mapping.scheme": "belady"}}, "cannot look ahead in the trace"),
        ({"set": {"ftl.checkpoint_every": 0}}, "ftl.checkpoint_every = 0"),
    ],
)
def test_wrong_calls(options: dict[str, object], words: str) -> None:
    with pytest.raises(fg.ConfigError, match=words):
        fg.crash(SMALL, **options)  # type: ignore[arg-type]


def test_the_command_prints_what_it_found(cli: Cli) -> None:
    done = cli("crash", SMALL, "--set", "ftl.scheme=bast", "--set", "bast.log_blocks=4")
    assert done.returncode == 0
    assert "nothing was lost" in done.stdout
    document = json.loads(cli("crash", SMALL, "--json", "--quiet").stdout)
    assert {"points", "lost", "torn_seen", "recoveries"} <= document.keys()


def test_log_blocks_are_bounded(cli: Cli) -> None:
    done = cli("crash", "uniform:span=1MiB,writes=60,flush=0.1", "--set", "ftl.scheme=fast").ok()
    points = int(done.stdout.split(" power losses", 1)[0].replace(",", ""))
    assert 0 < points <= 2 * crash.POINTS
    assert "moments of recoveries were left out" in done.stdout
    assert "nothing was lost" in done.stdout


def test_a_journal_costs_programs_in_a_run() -> None:
    trims = "uniform:span=4MiB,writes=5000,trim=0.2,flush=0.1"
    plain = fg.run(trims).to_dict()
    kept = fg.run(trims, set={"ftl.journal": True, "ftl.checkpoint_every": 1000}).to_dict()
    programs = [run["flash"]["programs"] for run in (plain, kept)]
    assert programs[0]["journal"] == 0
    assert programs[1]["journal"] > 500
    assert programs[1]["host"] == programs[0]["host"]
