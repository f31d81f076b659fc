"""What is played for a paper: how often, on how large a drive, with which text of a generator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from floatgate.papers import eti, sources
from floatgate.papers.batch import Played
from floatgate.papers.eti_runs import CAPTURED, EXCERPT, TABLE_1, blocks_for, pages_of
from floatgate.papers.sources import Source, find_traces, missing_warning

MIB = 1 << 20


class _Bench:
    """Traces that go to 64 MiB and write 10."""

    def span_bytes(self, played: Played) -> int:
        return 64 * MIB

    def written_bytes(self, played: Played) -> int:
        return 10 * MIB


BENCH: Any = _Bench()


def test_a_real_trace_is_played_whole_or_for_two_volumes() -> None:
    pages = 16_384
    blocks = blocks_for(pages)
    assert pages_of(blocks - 1) < pages <= pages_of(blocks)
    whole = eti._real(BENCH, Source("pgbench", CAPTURED, "x", 600), Path("file"))
    assert (whole.kind, whole.blocks) == (CAPTURED, blocks)
    assert whole.played == Played("file", 600)
    short = eti._real(BENCH, Source("HP", EXCERPT, "x"), Path("file"))
    assert short.played == Played("file", repeat=13), "2 x 64 of 10 MiB"


def test_a_stand_in_on_a_drive_that_it_spans() -> None:
    row = TABLE_1[2]
    work = eti._spanned(BENCH, row)
    assert work.blocks == blocks_for(16_384)
    # Two volumes in writes of 1.9 pages.
    assert work.writes == round(2 * pages_of(work.blocks) / 1.9)
    assert work.played.spec == f"fitted:row=src2_0,writes={work.writes}"


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
