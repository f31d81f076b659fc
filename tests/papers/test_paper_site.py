"""The site of all papers, from hand-made outcomes, and tables in LaTeX."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from paper_site import TWO, found, outcome_of, site, two_papers
from typer.testing import CliRunner

from floatgate.cli import app
from floatgate.papers.kit.claims import OURS, Counts, Measured, Statement, inferred
from floatgate.papers.kit.outcome import (
    CANNOT,
    EVERYWHERE,
    NOWHERE,
    SOMEWHERE,
    UNCLEAR,
    kind_of,
    share_bar,
    summary_of,
)
from floatgate.papers.kit.verdicts import AS_CLAIMED, LESS, MORE, STRADDLES
from floatgate.report.latex import escape, latex
from floatgate.results.tables import Cell, Table

__all__ = ["site", "two_papers"]


@pytest.mark.parametrize(
    ("measured", "kind"),
    [
        (found(AS_CLAIMED, AS_CLAIMED), EVERYWHERE),
        (found(AS_CLAIMED, left_out=(LESS,)), EVERYWHERE),
        (found(AS_CLAIMED, LESS), SOMEWHERE),
        (found(AS_CLAIMED, STRADDLES), SOMEWHERE),
        (found(STRADDLES, LESS), UNCLEAR),
        (found(LESS, left_out=(AS_CLAIMED,)), NOWHERE),
        (found(left_out=(AS_CLAIMED,)), CANNOT),
        (found(AS_CLAIMED, MORE), EVERYWHERE),
        (found(MORE, LESS), SOMEWHERE),
        (Measured(why="it takes more"), CANNOT),
    ],
)
def test_the_kind_of_a_verdict_is_of_the_points_that_count(measured: Measured, kind: str) -> None:
    assert kind_of(measured.counts) == kind


def test_the_site_has_every_claim_and_every_paper(site: Path) -> None:
    claims = pl.read_parquet(site / "claims.parquet")
    assert claims.equals(pl.read_csv(site / "claims.csv"))
    assert claims["of"].to_list() == ["one"] * 3 + ["two"] * 3
    assert claims["kind"].to_list() == [EVERYWHERE, SOMEWHERE, CANNOT] * 2
    assert claims["verdict"].to_list()[:2] == ["1 of 1 as claimed", "1 of 2 as claimed, 1 less"]
    assert claims.select("points", "as_claimed", "less").rows()[1] == (2, 1, 1)
    assert OURS in (site / "index.html").read_text()
    for name in TWO:
        assert OURS in (site / name / "paper.html").read_text()
        assert OURS in (site / name / "claims.tex").read_text()
        document = json.loads((site / name / "results.json").read_text())
        assert document == json.loads(json.dumps(outcome_of(name).document()))
        assert r"50 \% \& more & 1" in (site / name / "table-1.tex").read_text()
        assert (
            f"claim 2 of {name} (section 1) & stated & 30x"
            in (site / name / "claims.tex").read_text()
        )


def test_the_front_page_counts_what_papers_state() -> None:
    """Claims that are inferred from a paper, and our own questions, do not count."""
    outcome = outcome_of("one")
    guess = (Statement("guess", "a guess", inferred("section 2", "more")), found(LESS))
    summary = summary_of(replace(outcome, claims=[*outcome.claims, guess]))
    assert summary.kinds() == {EVERYWHERE: 1, SOMEWHERE: 1, UNCLEAR: 0, NOWHERE: 0, CANNOT: 1}
    assert [claim.basis for claim in summary.claims] == [*["stated"] * 3, "inferred"]


def test_a_share_bar_is_as_long_as_the_points_that_count() -> None:
    bar = share_bar(Counts(as_claimed=1, more=2, less=5, left_out=9))
    assert [tuple(part) for part in bar] == [
        ("as claimed", 1, 12.5),
        ("more", 2, 25.0),
        ("less", 5, 62.5),
    ]
    assert share_bar(Counts(left_out=2)) == ()


def test_a_terminal_has_all_papers_and_where_the_site_is(
    two_papers: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["paper", "all", "--no-cache"])
    assert all(f"claim 1 of {name}" in done.output for name in TWO)
    assert "floatgate-paper-all/index.html" in done.output
    assert (tmp_path / "floatgate-paper-all" / "index.html").is_file()


def test_a_site_in_use_is_replaced_by_force(
    two_papers: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call = ["paper", "all", "--no-cache", "--quiet", "--out", "site"]
    assert CliRunner().invoke(app, call).exit_code == 0
    document = tmp_path / "site" / TWO[0] / "results.json"
    made = document.read_text("utf-8")
    document.write_text("of an earlier run")
    (tmp_path / "site" / TWO[0] / "mine.txt").write_text("kept")
    assert CliRunner().invoke(app, call).exit_code == 2
    assert CliRunner().invoke(app, [*call, "--force"]).exit_code == 0
    assert document.read_text("utf-8") == made
    assert (tmp_path / "site" / TWO[0] / "mine.txt").read_text() == "kept"


def test_json_has_all_papers(two_papers: None) -> None:
    done = CliRunner().invoke(app, ["paper", "all", "--no-cache", "--json", "--quiet"])
    documents = json.loads(done.stdout)["papers"]
    assert [document["paper"]["name"] for document in documents] == list(TWO)


def _plain(text: str) -> str:
    """Returns the text that LaTeX prints for an escaped text."""
    for command, sign in (
        (r"\textbackslash{}", "\0"),
        (r"\textasciitilde{}", "\1"),
        (r"\textasciicircum{}", "^"),
        (r"\textless{}", "<"),
        (r"\textgreater{}", ">"),
    ):
        text = text.replace(command, sign)
    text = re.sub(r"\\([&%$#_{}])", r"\1", text)
    return text.replace("\0", "\\").replace("\1", "~")


@given(st.text(st.sampled_from("aZ 9.&%$#_{}~^\\<>")))
def test_what_is_escaped_is_printed_as_it_was(text: str) -> None:
    assert _plain(escape(text)) == text


@given(st.text(st.sampled_from("a&%$#_~^\\\N{MINUS SIGN}\N{NARROW NO-BREAK SPACE}\N{MICRO SIGN}")))
def test_nothing_is_left_that_latex_reads_as_something_else(text: str) -> None:
    commands = r"\\(text[a-z]+\{\}|[&%$#_,])"
    assert set(re.sub(commands, "", escape(text))) <= {"a"}


def test_a_table_has_a_cell_for_each_column() -> None:
    rows = [[Cell("a & b"), Cell("1"), Cell("50 %")], [Cell("c" * 200), Cell("2"), Cell("")]]
    text = latex(Table("A_title", ["what", "n", "x"], rows, frozenset({0, 2})))
    lines = [line for line in text.splitlines() if line.endswith(r"\\") and "&" in line]
    assert [len(re.split(r"(?<!\\)&", line)) for line in lines] == [3, 3, 3]
    assert r"\caption{A\_title}" in text
    kinds = _kinds_in(text)
    assert [kind for kind, *_ in kinds] == ["p", "r", "p"]
    assert sum(share for _, share, *_ in kinds) == pytest.approx(1, abs=0.002)
    assert kinds[0][1] > kinds[2][1]


def _kinds_in(text: str) -> list[tuple[str, float, int, float]]:
    """Returns for each column: its kind, its share of the rest of the line, and the length that the
    rest is short of the line, in gaps and in halves of a digit."""
    (columns,) = re.findall(r"\\begin\{longtable\}\{@\{\}(.*)@\{\}\}", text)
    shared = r"p\{([\d.]+)\\dimexpr\\linewidth-(\d+)\\tabcolsep-([\d.]+)em\\relax\}"
    found = re.findall(rf"(?:{shared})|(r)|p\{{([\d.]+)em\}}", columns)
    return [
        ("r", 0.0, 0, 0.0)
        if r
        else ("p", float(share), int(gaps), float(em))
        if share
        else ("em", 0.0, 0, float(own))
        for share, gaps, em, r, own in found
    ]


COLUMNS = st.lists(
    st.tuples(st.booleans(), st.integers(1, 12), st.integers(0, 80)), min_size=1, max_size=14
)
"""Whether a column is of text, and how long its title and its longest cell are."""


@given(COLUMNS)
@example([(False, 1, 3), *[(False, 1, 12)] * 9])
def test_a_table_is_as_wide_as_the_line_if_a_font_is_small_enough(columns: list[Any]) -> None:
    texts = frozenset(at for at, (is_text, *_) in enumerate(columns) if is_text)
    titles = ["t" * title for _, title, _ in columns]
    row = [
        Cell("1" * (cell if at in texts else min(cell, 12)))
        for at, (*_, cell) in enumerate(columns)
    ]
    text = latex(Table("T", titles, [row], texts))
    kinds = _kinds_in(text)
    assert [kind == "r" for kind, *_ in kinds] == [at not in texts for at in range(len(columns))]
    size = next((s for s in (r"\small", r"\footnotesize", r"\scriptsize") if s in text), "")
    digit = {"": 1.0, r"\small": 0.925, r"\footnotesize": 0.85, r"\scriptsize": 0.8}[size]
    numbers = sum(max(len(titles[at]), len(row[at].text)) for at in set(range(len(row))) - texts)
    gaps = 2.4 * (len(columns) - 1)
    line = 110 if "landscape" in text else 69
    # Columns of text share the rest of the line, and have at least the room that they need.
    room = line - gaps - numbers * digit
    least = sum(min(len(row[at].text), 16) for at in texts) * digit
    has_room = room >= least - 1e-9
    assert all((kind == "p") == has_room for kind, *_ in kinds if kind != "r")
    if not has_room:
        assert size == r"\scriptsize", "nothing smaller was left"
        assert "landscape" in text
        return
    for kind, _, tabs, em in kinds:
        if kind == "p":
            assert tabs == 2 * (len(columns) - 1)
            assert em == pytest.approx(numbers / 2)
    if texts:
        assert sum(share for _, share, *_ in kinds) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    ("numbers", "size", "landscape"),
    [
        # 16 signs of text, 8 of each number, and 2.4 between two columns, of 69 or 110.
        (5, "", False),
        (6, r"\footnotesize", False),
        (7, "", True),
        (10, r"\footnotesize", True),
    ],
)
def test_many_columns_take_a_smaller_font_and_then_a_page_on_its_side(
    numbers: int, size: str, landscape: bool
) -> None:
    row = [Cell("n" * 30), *(Cell("1.234567") for _ in range(numbers))]
    text = latex(Table("T", ["what", *("x" * 6 for _ in row[1:])], [row], frozenset({0})))
    assert re.findall(r"^\{(.*)$", text, re.M) == ([size] if size else [])
    assert text.endswith("}\n}\n" if size else "\\end{longtable}\n")
    assert ("landscape" in text) == landscape
