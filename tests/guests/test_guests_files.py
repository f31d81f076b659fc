"""Policies of a file, which a config names `python:FILE.py` or `python:FILE.py:CLASS`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import Cli

import floatgate as fg

SMALL = "uniform:span=1MiB,writes=1k"
BY_PARITY = """
from dataclasses import dataclass

import floatgate as fg


@dataclass
class Seen:
    pages: int = 0


class ByParity(fg.Placement):
    streams = 2

    def stream(self, write):
        return write.lpn % 2
"""
OTHER = """

class Zero(fg.Placement):
    streams = 2

    def stream(self, write):
        return 0
"""
OLDEST = """

class Oldest(fg.Victim):
    def pick(self, candidates):
        return int(candidates.unit[candidates.sealed_order.argmin()])
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(BY_PARITY, "utf-8")
    return path


def shares(path: object, **more: object) -> list[int]:
    """Returns the pages that the host wrote to each stream."""
    found = fg.run(SMALL, set={"timing": "none", "placement.scheme": f"python:{path}", **more})
    return [stream.host_pages for stream in found.placement.streams]


def test_a_file_is_run_by_its_name(mine: Path) -> None:
    assert min(shares(mine)) > 100
    mine.write_text(BY_PARITY.replace("write.lpn % 2", "0"), "utf-8")
    os.utime(mine, ns=(1, 1))
    assert min(shares(mine)) == 0, "a changed file counts at once"


def test_one_of_several_classes_is_named(mine: Path) -> None:
    mine.write_text(BY_PARITY + OTHER, "utf-8")
    words = f"has ByParity and Zero for placement.scheme; expected one of them: python:{mine}:By"
    with pytest.raises(fg.ConfigError, match=words):
        shares(mine)
    assert min(shares(f"{mine}:Zero")) == 0 < min(shares(f"{mine}:ByParity"))


def test_a_file_may_have_a_placement_and_a_victim_policy(mine: Path) -> None:
    mine.write_text(BY_PARITY + OLDEST, "utf-8")
    assert min(shares(mine, **{"cleaning.victim": f"python:{mine}"})) > 100


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        (None, "mine.py", "mine.py: No such file or directory"),
        ("import floatgate as fg", "mine.py", "no such policy for placement.scheme; the file has"),
        ("import floatgate as fg" + OLDEST, "mine.py", "the file has Oldest for cleaning.victim"),
        (BY_PARITY, "mine.py:Zero", "no such policy for placement.scheme; the file has ByParity"),
        ("nothing", "mine.py", "mine.py cannot be loaded: NameError: name 'nothing'"),
        (BY_PARITY + "    def __init__(self, a): ...", "mine.py", "mine.py cannot be made: Type"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(
    cli: Cli, tmp_path: Path, content: str | None, name: str, words: str
) -> None:
    if content is not None:
        (tmp_path / "mine.py").write_text(content, "utf-8")
    cli("run", SMALL, "--set", f"placement.scheme=python:{name}").refused(words)


def test_commands_and_studies_take_a_file(cli: Cli, mine: Path, tmp_path: Path) -> None:
    call = ("compare", SMALL, "--vary", "placement.scheme=single,python:mine.py", "--json")
    rows = cli(*call).document()["table"]
    assert [row["placement.scheme"] for row in rows] == ["single", "python:mine.py"]
    # The path is relative to the study, whose folder is not the working directory.
    (tmp_path / "deep").mkdir()
    mine.rename(tmp_path / "deep" / "mine.py")
    study = tmp_path / "deep" / "study.toml"
    study.write_text(
        f'traces = "{SMALL}"\nset.timing = "none"\n'
        'grid.placement.scheme = ["single", "python:mine.py"]\n'
    )
    cli("study", study, "--out", "out").ok()
    rows = cli("study", "report", "out", "--json").document()
    assert "python:mine.py" in str(rows)
