"""What is played for a paper: how often, on how large a drive, with which text of a generator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from floatgate.papers import asa, sources
from floatgate.papers.asa_runs import CAMBRIDGE, CLOSED, FINANCIAL1, SYNTH
from floatgate.papers.batch import Played
from floatgate.papers.sources import Source, find_traces, missing_warning

MIB = 1 << 20


class _Bench:
    """Traces that go to 64 MiB and write 10."""

    def span_bytes(self, played: Played) -> int:
        return 64 * MIB

    def written_bytes(self, played: Played) -> int:
        return 10 * MIB


BENCH: Any = _Bench()


def test_an_excerpt_is_repeated_until_it_has_written_the_drive() -> None:
    source = Source("Cambridge", CAMBRIDGE, "msr-sample-rw20-80-10k.trace.zst")
    work = asa._excerpt(BENCH, source, Path("dir/file"), 20)
    assert (work.name, work.family, work.set) == ("Cambridge", CAMBRIDGE, CLOSED)
    assert work.played == Played("dir/file", repeat=128, dense=True), "20 x 64 of 10 MiB"
    assert work.pages == 32_768, "of 2 KiB"
    assert asa._excerpt(BENCH, source, Path("x"), 0).played.repeat == 2
    timed = Source("Financial1", FINANCIAL1, asa.OWN_TIMES[0])
    assert asa._excerpt(BENCH, timed, Path("x"), 20).set == {"queue.arrivals": "open"}


def test_a_synthetic_load_has_the_skew_of_its_name() -> None:
    """x/10 of the writes go to (10 - x)/10 of the space; by the letter to (10 - x)/x of it."""
    work = asa._synthetic("synth9/10", asa.SKEWS["synth9/10"], 64 * MIB, 5)
    assert work.played.spec == ("hotcold:span=67108864B,size=2048B,r=0.9,f=0.100000,writes=163840")
    assert (work.family, work.pages) == (SYNTH, 32_768)
    assert work.set == CLOSED | {"start.fill": "random", "start.overwrites": "1"}
    for x in (9, 7, 5):
        assert asa.SKEWS[f"synth{x}/10"] == pytest.approx((x / 10, (10 - x) / 10))
    for x in (9, 7):
        mix = asa.LITERAL[f"synth{x}/10, literal"]
        assert mix == pytest.approx((x / 10, (10 - x) / x))
        assert asa._synthetic(f"synth{x}/10, literal", mix, MIB, 1).family == "literal"


def _directory(path: Path, *names: str) -> Path:
    path.mkdir()
    for name in names:
        (path / name).touch()
    return path


def test_traces_that_are_there_are_told_from_those_that_are_not(tmp_path: Path) -> None:
    one, two = Source("one", "family", "a.zst"), Source("two", "family", "b.zst")
    here = _directory(tmp_path / "here", "a.zst")
    assert find_traces((one, two), here) == ([(one, here / "a.zst")], [two])
    assert missing_warning([]) == []
    assert missing_warning([one, two]) == [
        "Traces not found: a.zst, b.zst. Name their directory with --traces or FLOATGATE_TRACES."
    ]


def test_where_traces_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source("one", "family", "a.zst")
    monkeypatch.setattr(sources, "__file__", str(tmp_path / "a/b/c/d/e/sources.py"))
    work = _directory(tmp_path / "work")
    monkeypatch.chdir(work)
    monkeypatch.delenv(sources.VARIABLE, raising=False)
    assert find_traces([source], None) == ([], [source]), "there is nowhere to look"
    beside = tmp_path / "shared"
    beside.mkdir()
    _directory(beside / "traces", "a.zst")
    assert len(find_traces([source], None)[0]) == 1
    named = _directory(tmp_path / "named", "a.zst")
    monkeypatch.setenv(sources.VARIABLE, str(named))
    assert find_traces([source], None)[0] == [(source, named / "a.zst")]
    given = _directory(tmp_path / "given", "a.zst")
    assert find_traces([source], given)[0] == [(source, given / "a.zst")]
