"""Requests that papers play: how often, on how large a drive, and from which text of a
generator."""

from __future__ import annotations

from pathlib import Path

import pytest

from floatgate.papers.kit import trace_files as sources
from floatgate.papers.kit.trace_files import Source, find_traces, missing_warning

MIB = 1 << 20


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
    monkeypatch.setattr(sources, "__file__", str(tmp_path / "a/b/c/d/e/f/trace_files.py"))
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
