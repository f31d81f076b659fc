"""Hand-made papers, and the site of all of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

import pytest
from typer.testing import CliRunner

from floatgate import papers
from floatgate.cli import app
from floatgate.papers.kit import parallel as beside
from floatgate.papers.kit.claims import Measured, Statement, stated
from floatgate.papers.kit.exhibits import Column, Numbers
from floatgate.papers.kit.outcome import Outcome
from floatgate.papers.kit.verdicts import AS_CLAIMED, LESS

TWO = ("one", "two")


def found(*cases: str, left_out: tuple[str, ...] = ()) -> Measured:
    """Returns measurements with these cases at the points of a domain."""
    known = [(case, None) for case in cases] + [(case, "with a backlog") for case in left_out]
    rows = [{"case": c, "case_at_once": c, "of": "", "rejected": why} for c, why in known]
    return Measured("1.0", "why & how", rows=rows)


def outcome_of(name: str) -> Outcome:
    """Returns three claims (one met, one met in part, one not checked), a table, and a warning."""
    measured = [
        found(AS_CLAIMED),
        found(AS_CLAIMED, LESS),
        Measured(why="no <trace>"),
    ]
    claims = [
        (Statement(f"c{i}", f"claim {i} of {name}", stated("section 1", "30x", "so it is")), one)
        for i, one in enumerate(measured)
    ]
    table = Numbers(
        key="table-1",
        title="Table 1",
        caption="",
        rows=[{"what": "50 % & more", "n": 1234.5}],
        columns=[Column("what", "what"), Column("n_1", "n", "{:.1f}".format)],
    )
    return Outcome(
        listed=papers.Listed(name, f"Title of {name}", "who, when"),
        mode="quick",
        labels={},
        exhibits=[table],
        claims=claims,
        points=[],
        results=[],
        columns=[],
        shown="",
        warnings=[f"{name} lacks a <trace>"],
    )


@pytest.fixture
def two_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces the papers by two hand-made ones. Threads see them, and processes would not."""
    listed = tuple(papers.Listed(name, f"Title of {name}", "who") for name in TWO)
    monkeypatch.setattr(papers, "PAPERS", listed)
    monkeypatch.setattr(papers, "reproduce", lambda name, **_: outcome_of(name))
    monkeypatch.setattr(beside, "_workers", _threads)


@contextlib.contextmanager
def _threads(*_: object) -> Iterator[Executor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


@pytest.fixture
def site(tmp_path: Path, two_papers: None) -> Path:
    """Writes the site of `floatgate paper all` for them."""
    done = CliRunner().invoke(app, ["paper", "all", "--no-cache", "--out", str(tmp_path / "site")])
    assert done.exit_code == 0, done.output
    return tmp_path / "site"
