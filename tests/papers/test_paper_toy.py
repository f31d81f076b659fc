"""A toy paper, built from the template in docs/adding-a-paper.md: one folder and one row."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from floatgate import papers
from floatgate.papers import Listed, reproduce
from floatgate.papers.kit.outcome import Outcome
from floatgate.papers.kit.page import write_outcome

PAGE = Path(__file__).resolve().parents[2] / "docs" / "adding-a-paper.md"
BLOCKS = dict(re.findall(r'```python title="([^"]+)"\n(.*?)```', PAGE.read_text("utf-8"), re.S))


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    """The toy, reproduced as any paper is."""
    for name in ("paper", "reduce", "figures"):
        (tmp_path / "toy").mkdir(exist_ok=True)
        (tmp_path / "toy" / f"{name}.py").write_text(BLOCKS[f"toy/{name}.py"], "utf-8")
    row = eval(BLOCKS["row"], {"Listed": Listed})
    monkeypatch.setattr(papers, "PAPERS", (*papers.PAPERS, row))
    monkeypatch.setattr(papers, "__path__", [*papers.__path__, str(tmp_path)])
    return reproduce("toy", full=False, traces=None, progress=None)


def test_a_sixth_paper_is_a_folder_and_a_row(toy: Outcome, tmp_path: Path) -> None:
    """One axis, two claims, one figure: run, judged, drawn and written by the kit."""
    document = toy.document()
    lower, three = document["claims"]
    assert lower["verdict"] == "3 of 3 as claimed"
    assert three["points"]["as_claimed"] + three["points"]["more"] == 3
    assert [row["spare"] for row in three["domain"]] == ["7%", "15%", "25%"]
    assert {row["seeds"] for row in three["domain"]} == {3}
    assert (three["basis"], three["quote"]) == ("stated", "Greedy writes three pages for one.")
    figures = {"domain", "by-factor", "by-spare-space"}
    assert figures | {"map-lower", "map-three"} == document["figures"].keys()
    write_outcome(toy, document, tmp_path)
    numbers = pl.read_csv(tmp_path / "numbers.csv")
    # Two lines with three levels and three seeds.
    assert numbers.height == len(document["runs"]) == 2 * 3 * 3
    assert "Write amplification by spare space" in (tmp_path / "paper.html").read_text("utf-8")
