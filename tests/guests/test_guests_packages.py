"""Policies of installed packages: found by entry point, listed, and selected in a config."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CODE = '''
import floatgate as fg

class Short(fg.Placement):
    """Short writes are hot.

    More of it.
    """

    source = "a test"
    streams = 2

    def stream(self, write):
        return int(write.request_pages <= 4)

class Mute(Short):
    streams = 3

class Needy(fg.Victim):
    def __init__(self, what):
        pass

    def pick(self, candidates):
        return 0
'''

POINTS = """[floatgate.policies]
short = small_policies:Short
needy = small_policies:Needy
mute = small_policies:Mute
gone = small_policies:Gone
number = small_policies:__name__
"""

OTHER_POINTS = """[floatgate.policies]
short = small_policies:Mute
2r = small_policies:Short
needy = small_policies:Needy
"""

TRACE = "uniform:span=2MiB,writes=2k,seed=1"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Returns an environment with a package, laid out as by `pip install --target`."""
    target = tmp_path_factory.mktemp("installed")
    (target / "small_policies.py").write_text(CODE)
    _install(target, "small-policies", POINTS)
    return {**os.environ, "PYTHONPATH": str(target)}


@pytest.fixture(scope="module")
def both(installed: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Returns an environment with a second package that declares some of the same names."""
    target = tmp_path_factory.mktemp("other")
    _install(target, "other-policies", OTHER_POINTS)
    return {**installed, "PYTHONPATH": f"{installed['PYTHONPATH']}{os.pathsep}{target}"}


def _install(target: Path, name: str, points: str) -> None:
    about = target / f"{name.replace('-', '_')}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(points)


def _floatgate(environment: dict[str, str], *arguments: str) -> Any:
    """Runs a process, because Python reads `PYTHONPATH` when it starts."""
    command = [sys.executable, "-m", "floatgate", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


def test_policies_of_packages_are_listed(installed: dict[str, str], tmp_path: Path) -> None:
    found = json.loads(_floatgate(installed, "policies", "--json").stdout)
    rows = {row["name"]: row for rows in found.values() for row in rows}
    assert rows["python:short"] in found["placement"]
    assert rows["python:short"]["doc"] == "Short writes are hot."
    assert rows["python:short"]["source"] == "a test"
    assert rows["python:mute"]["doc"] == "", "what a class says of itself is not of those below it"
    assert "cannot be loaded: AttributeError" in rows["python:gone"]["doc"]
    assert "expected a subclass of floatgate.Placement" in rows["python:number"]["doc"]
    assert "Short writes are hot." in _floatgate(installed, "policies", "python:short").stdout
    assert "python:short" not in _floatgate(dict(os.environ), "policies").stdout


def test_a_config_names_them(installed: dict[str, str], tmp_path: Path) -> None:
    drive = tmp_path / "drive.toml"
    drive.write_text('preset = "classic"\n[placement]\nscheme = "python:short"\n')
    run = ("run", TRACE, "--json", "-q", "--set", "start.fill=random")
    by_file = _floatgate(installed, *run, "--device", str(drive))
    by_key = _floatgate(installed, *run, "--set", "placement.scheme=python:short")
    built_in = _floatgate(installed, *run, "--set", "placement.scheme=length")
    documents = [json.loads(done.stdout) for done in (by_file, by_key, built_in)]
    assert documents[0]["flash"] == documents[1]["flash"] == documents[2]["flash"]
    assert documents[0]["config"]["placement"]["streams"] == 2


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("absent", "no installed package has this policy"),
        ("needy", "is a policy for cleaning.victim|cannot be made"),
        ("gone", "cannot be loaded"),
    ],
)
def test_a_policy_that_cannot_be_had_is_an_error(
    installed: dict[str, str], name: str, said: str
) -> None:
    done = _floatgate(installed, "run", TRACE, "--set", f"placement.scheme=python:{name}")
    assert done.returncode == 2
    assert any(part in done.stderr for part in said.split("|")), done.stderr
    assert done.stderr.count("\n") == 1


def test_policies_of_one_name_are_all_listed_with_their_packages(both: dict[str, str]) -> None:
    found = json.loads(_floatgate(both, "policies", "--json").stdout)["placement"]
    rows = {
        name: {(row["doc"], row["source"]) for row in found if row["name"] == f"python:{name}"}
        for name in ("short", "2r")
    }
    assert rows["short"] == {
        ("Short writes are hot.", "a test; of small-policies, one of 2 of this name"),
        ("", "a test; of other-policies, one of 2 of this name"),
    }
    assert {source.partition("; of ")[2] for _, source in rows["2r"]} == {
        "floatgate, one of 2 of this name",
        "other-policies, one of 2 of this name",
    }
    said = _floatgate(both, "policies", "python:short").stdout
    assert "of small-policies" in said and "of other-policies" in said


def test_a_name_that_several_packages_have_is_refused(both: dict[str, str]) -> None:
    done = _floatgate(both, "run", TRACE, "--set", "placement.scheme=python:short")
    assert done.returncode == 2
    for part in (
        "python:short: ",
        "small-policies (small_policies:Short)",
        " and ",
        "other-policies (small_policies:Mute)",
        "expected one of them",
    ):
        assert part in done.stderr
    assert done.stderr.count("\n") == 1
    # The same class under the same name is one policy, even if two packages declare it.
    done = _floatgate(both, "run", TRACE, "--set", "cleaning.victim=python:needy")
    assert "cannot be made" in done.stderr
