"""`floatgate crash`: as a function, and as a process."""

from __future__ import annotations

import json

import pytest
from conftest import Cli

import floatgate as fg

SMALL = "uniform:span=64KiB,writes=150,reads=0.1,trim=0.1,flush=0.1"


def test_nothing_is_lost() -> None:
    found = fg.crash(SMALL, set={"mapping.scheme": "dftl", "mapping.cache": "1KiB"})
    assert found["lost"] == 0
    assert found["first_loss"] is None
    assert found["every"] == 1
    assert found["points"] == found["moments"] + found["second_cuts"]
    assert found["recoveries"] == found["points"]
    assert 0 < found["torn_seen"] < found["points"]
    assert found["went_on"] == pytest.approx(found["moments"] / 16, abs=100)
    assert 0 < found["reads_mean"] <= found["reads_max"]
    # A page read takes 25 us and more on the one die of the default drive.
    assert found["mount_us_mean"] > 25 * found["reads_mean"]


def test_a_point_is_explored_by_itself_and_cut_again() -> None:
    found = fg.crash(SMALL, point=40)
    assert (found["points"] - found["second_cuts"], found["every"]) == (1, None)
    assert found["second_cuts"] > 0


def test_the_same_call_gives_the_same_numbers() -> None:
    assert fg.crash(SMALL, seed=7, every=5) == fg.crash(SMALL, seed=7, every=5)


def test_many_moments_are_sampled_and_that_is_said() -> None:
    found = fg.crash("uniform:span=16MiB,writes=20000", limit=8000, second=1000)
    assert found["every"] > 1
    assert any("--every 1" in note for note in found["notes"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"every": 0}, "every: 0 given; expected at least 1"),
        ({"point": 3, "every": 2}, "point: 3 given"),
        ({"addresses": "modulo"}, "addresses"),
        ({"set": {"placement.scheme": "oracle"}}, "does not know the future"),
        ({"set": {"mapping.scheme": "belady"}}, "does not know the future"),
        ({"set": {"ftl.checkpoint_every": 0}}, "ftl.checkpoint_every = 0"),
    ],
)
def test_wrong_calls(options: dict[str, object], words: str) -> None:
    with pytest.raises(fg.ConfigError, match=words):
        fg.crash(SMALL, **options)  # type: ignore[arg-type]


def test_as_a_process(cli: Cli) -> None:
    done = cli("crash", SMALL, "--set", "ftl.scheme=bast", "--set", "bast.log_blocks=4")
    assert done.returncode == 0
    assert "nothing was lost" in done.stdout
    document = json.loads(cli("crash", SMALL, "--json", "--quiet").stdout)
    assert {"points", "lost", "torn_seen", "recoveries"} <= document.keys()


def test_a_journal_costs_programs_in_a_run() -> None:
    trims = "uniform:span=4MiB,writes=5000,trim=0.2,flush=0.1"
    plain = fg.run(trims).to_dict()
    kept = fg.run(trims, set={"ftl.journal": True, "ftl.checkpoint_every": 1000}).to_dict()
    programs = [run["flash"]["programs"] for run in (plain, kept)]
    assert programs[0]["journal"] == 0
    assert programs[1]["journal"] > 500
    assert programs[1]["host"] == programs[0]["host"]
