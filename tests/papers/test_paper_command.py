"""Output of `floatgate paper` for a hand-made outcome: the document, and text for people."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from floatgate import papers
from floatgate.cli import app, paper
from floatgate.papers.kit.claims import OURS, AnyClaim, Measured, Statement, stated
from floatgate.papers.kit.exhibits import Column, Lines, Numbers
from floatgate.papers.kit.outcome import Outcome, Summary, claims_table, findings


@dataclass(frozen=True)
class _Point:
    trace: str
    line: str
    waste: float | None


POINTS = [
    _Point("one", "dftl", 1.25),
    _Point("one", "tlllp", 2.5),
    _Point("two", "dftl", 3.75),
    _Point("two", "other", 9.5),
    _Point("two", "tlllp", None),
]
TRACES = ("one", "two")
LABELS = {"tlllp": "TLLLP", "dftl": "DFTL", "sftl": "S-FTL"}


def _result(seed: int) -> Any:
    return SimpleNamespace(
        workload=SimpleNamespace(name=f"trace {seed}"),
        seed=seed,
        floatgate="1.2.3",
        engine=SimpleNamespace(version="4.5.6", wall_seconds="not shown"),
        config={"mapping": {"scheme": f"scheme {seed}"}},
        latency="not shown",
    )


def _claim(key: str, found: Measured) -> AnyClaim:
    origin = stated(f"where {key} is", f"paper's {key}", "it is so")
    return Statement(key, f"text of {key}", origin), found


COUNTED = {"as_claimed": 0, "more": 0, "less": 0, "open": 0, "left_out": 0}
POINT = {"case_at_once": "open", "of": "dftl", "rejected": None}


def _outcome() -> Outcome:
    rows: list[dict[str, Any]] = [
        {"line": "TLLLP", "one": 2.5, "two": None},
        {"line": "DFTL", "one": 1.25, "two": 3.75},
    ]
    columns = [Column("", "line"), *(Column(name, name, "{:.3f}".format) for name in TRACES)]
    return Outcome(
        listed=papers.Listed("made-up", "A paper", "Its authors; 2026"),
        mode="quick",
        labels=LABELS,
        exhibits=[
            Numbers(key="waste", title="Waste", caption="By hand.", rows=rows, columns=columns),
            Numbers(key="none", title="Nothing", caption="Not shown.", rows=[], columns=columns),
            Lines(
                key="line",
                title="A line",
                caption="Not in a terminal.",
                rows=[asdict(point) for point in POINTS if point.line in LABELS and point.waste],
                metric="waste",
                style=".3f",
                labels=LABELS,
                x="waste",
                x_title="x",
                x_text=str,
            ),
        ],
        claims=[
            _claim("first", Measured("12.5 points", "", 0.125, [POINT | {"case": "more"}])),
            _claim("second", Measured("-7.5%", "1 slow", -0.075, [POINT | {"case": "less"}])),
            _claim("third", Measured(why="it takes a trace")),
        ],
        points=POINTS,
        results=[_result(n) for n in range(len(POINTS))],
        columns=[Column("Trace", "trace")],
        shown="tlllp",
        warnings=["a warning"],
        notes=["a note", "another"],
    )


def test_the_document_has_what_was_found() -> None:
    document = json.loads(json.dumps(_outcome().document()))
    assert document["paper"] == {
        "name": "made-up",
        "title": "A paper",
        "citation": "Its authors; 2026",
    }
    assert document["mode"] == "quick"
    assert document["claims"] == [
        {
            "id": "first",
            "claim": "text of first",
            "where": "where first is",
            "paper": "paper's first",
            "basis": "stated",
            "quote": "it is so",
            "ours": "12.5 points",
            "number": 0.125,
            "verdict": "0 of 1 as claimed, 1 more",
            "why": "",
            "points": COUNTED | {"more": 1},
            "points_at_once": COUNTED | {"open": 1},
            "domain": [POINT | {"case": "more"}],
        },
        {
            "id": "second",
            "claim": "text of second",
            "where": "where second is",
            "paper": "paper's second",
            "basis": "stated",
            "quote": "it is so",
            "ours": "-7.5%",
            "number": -0.075,
            "verdict": "0 of 1 as claimed, 1 less",
            "why": "1 slow",
            "points": COUNTED | {"less": 1},
            "points_at_once": COUNTED | {"open": 1},
            "domain": [POINT | {"case": "less"}],
        },
        {
            "id": "third",
            "claim": "text of third",
            "where": "where third is",
            "paper": "paper's third",
            "basis": "stated",
            "quote": "it is so",
            "ours": "not measured",
            "number": None,
            "verdict": "not checked",
            "why": "it takes a trace",
        },
    ]
    assert document["figures"] == {
        "waste": [
            {"line": "TLLLP", "one": 2.5, "two": None},
            {"line": "DFTL", "one": 1.25, "two": 3.75},
        ],
        "none": [],
        "line": [
            {"trace": "one", "line": "dftl", "waste": 1.25},
            {"trace": "one", "line": "tlllp", "waste": 2.5},
            {"trace": "two", "line": "dftl", "waste": 3.75},
        ],
    }
    assert (document["warnings"], document["notes"]) == (["a warning"], ["a note", "another"])
    assert len(document["runs"]) == len(POINTS)
    assert document["runs"][3] == {
        "trace": "two",
        "line": "other",
        "waste": 9.5,
        "workload": {"name": "trace 3"},
        "seed": 3,
        "floatgate": "1.2.3",
        "engine": "4.5.6",
        "config": {"mapping": {"scheme": "scheme 3"}},
    }


def test_the_page_has_the_claims_with_their_places() -> None:
    table = claims_table(findings(_outcome()))
    assert table.columns == ["Claim", "Basis", "Paper", "Ours", "Verdict", "Why"]
    first, second, third = [[cell.text for cell in row] for row in table.rows]
    assert first == [
        *("text of first (where first is)", "stated", "paper's first", "12.5 points"),
        *("0 of 1 as claimed, 1 more", "decided by dftl in 1"),
    ]
    assert second[4:] == ["0 of 1 as claimed, 1 less", "decided by dftl in 1; 1 slow"]
    assert third[3:] == ["not measured", "not checked", "it takes a trace"]


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Calls the command with a hand-made paper, in a directory that stays empty."""
    asked: list[tuple[str, bool]] = []
    caches: list[Any] = []

    def reproduce(
        name: str, *, full: bool, traces: Path | None, progress: Any, kept: Any
    ) -> Outcome:
        asked.append((name, full))
        caches.append(kept)
        return _outcome()

    monkeypatch.setattr(papers, "reproduce", reproduce)
    monkeypatch.setattr("floatgate.papers.kit.parallel.write_outcome", lambda *_: None)
    monkeypatch.setattr("floatgate.papers.kit.parallel.finished", lambda *_: None)
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, width: int = 400) -> tuple[str, list[tuple[str, bool]]]:
        done = CliRunner().invoke(app, ["paper", *arguments], env={"COLUMNS": str(width)})
        assert done.exit_code == 0, done.output
        assert (caches[-1] is None) == ("--no-cache" in arguments)
        return done.stdout, asked

    return call


def test_json_is_the_document_and_writes_nothing(said: Any, tmp_path: Path) -> None:
    text, asked = said("made-up", "--json", "--full", "--no-cache")
    assert json.loads(text) == _outcome().document()
    assert asked == [("made-up", True)]
    assert list(tmp_path.iterdir()) == []


def test_text_has_claims_reasons_tables_warnings_and_notes(said: Any, tmp_path: Path) -> None:
    text, asked = said("made-up", "--quiet")
    lines = [
        " | ".join(part.strip() for part in line.split("  ") if part.strip())
        for line in text.splitlines()
    ]
    assert asked == [("made-up", False)]
    assert [line for line in lines if line] == [
        "A paper (Its authors; 2026), quick",
        "3 claims of the paper: 1 as claimed or more, 1 less, 1 not checked.",
        *("1 | text of first", "paper | paper's first (stated)", "ours | 12.5 points"),
        *("verdict | 0 of 1 as claimed, 1 more", "decided | by dftl in 1"),
        *("2 | text of second", "paper | paper's second (stated)", "ours | -7.5%"),
        *("verdict | 0 of 1 as claimed, 1 less", "decided | by dftl in 1", "why | 1 slow"),
        *("3 | text of third", "paper | paper's third (stated)", "ours | not measured"),
        *("verdict | not checked", "why | it takes a trace"),
        "Waste. By hand.",
        "one | two",
        "TLLLP | 2.500 | –",
        "DFTL | 1.250 | 3.750",
        "warning: a warning",
        f"note: {OURS}",
        "note: a note",
        "note: another",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["floatgate-paper-made-up"]


@pytest.mark.parametrize("width", [80, 120, 200])
def test_claims_are_read_at_any_width(said: Any, width: int, monkeypatch: Any) -> None:
    """No column is so narrow that words are cut, regardless of the length of the other columns."""
    why = "24 points with a backlog and 12 without a sure gain of half a per cent on Financial1"
    rows = [POINT | {"case": "more"}] * 27
    found = Measured("WebSearch -34.7% to Financial1 +4.4% (of all)", why, rows=rows)
    outcome = replace(_outcome(), claims=[_claim("order " * 12 + "once", found)])
    monkeypatch.setitem(globals(), "_outcome", lambda: outcome)
    text, _ = said("made-up", "--quiet", width=width)
    block = text[: text.index("Waste.")].splitlines()[2:]
    assert max(map(len, block)) <= width
    [(claim, _)] = outcome.claims
    words = (
        "1",
        claim.text,
        "paper",
        claim.origin.paper,
        "(stated)",
        "ours",
        found.ours,
    )
    assert (
        " ".join(block).split()
        == " ".join((*words, "verdict", found.verdict, "decided by dftl in 27 why", why)).split()
    )
    if width == 200:
        assert [line.split()[0] for line in block if line] == [
            *("1", "paper", "ours", "verdict", "decided", "why"),
        ]


def test_a_page_without_claims_of_a_paper_has_no_totals(capsys: pytest.CaptureFixture[str]) -> None:
    """`together` has questions of ours alone."""
    paper._print(Summary(papers.Listed("ours", "Ours", "Floatgate"), "quick", "", [], [], [], []))
    assert "claims of the paper" not in capsys.readouterr().out
