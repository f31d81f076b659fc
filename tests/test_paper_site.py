"""All papers in one place, of outcomes made by hand; and tables in LaTeX."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from paper_site import TWO, found, outcome_of, site, two_papers
from typer.testing import CliRunner

from floatgate.cli import app
from floatgate.papers.latex import escape, latex
from floatgate.papers.paper import HOLDS, OURS, UNCHECKED, Measured
from floatgate.papers.site import CANNOT, EVERYWHERE, NOWHERE, SOMEWHERE, UNCLEAR, kind_of
from floatgate.papers.verdicts import AMBIGUOUS, FAILS_HERE
from floatgate.papers.verdicts import NOWHERE as NOWHERE_AT_ALL
from floatgate.report.tables import Cell, Table

__all__ = ["site", "two_papers"]


@pytest.mark.parametrize(
    ("measured", "kind"),
    [
        (found(HOLDS, HOLDS), EVERYWHERE),
        (found(HOLDS, left_out=(FAILS_HERE,)), EVERYWHERE),
        (found(HOLDS, FAILS_HERE), SOMEWHERE),
        (found(HOLDS, AMBIGUOUS), SOMEWHERE),
        (found(AMBIGUOUS, FAILS_HERE), UNCLEAR),
        (found(FAILS_HERE, left_out=(HOLDS,)), NOWHERE),
        (found(left_out=(HOLDS,)), CANNOT),
        (Measured("not measured", UNCHECKED, "it takes more"), CANNOT),
        (Measured("one place", HOLDS, ""), EVERYWHERE),
        (Measured("one place", NOWHERE_AT_ALL, ""), NOWHERE),
    ],
)
def test_the_kind_of_a_verdict_is_of_the_points_that_count(measured: Measured, kind: str) -> None:
    assert kind_of(measured) == kind


def test_the_site_has_every_claim_and_every_paper(site: Path) -> None:
    claims = pl.read_parquet(site / "claims.parquet")
    assert claims.equals(pl.read_csv(site / "claims.csv"))
    assert claims["of"].to_list() == ["one"] * 3 + ["two"] * 3
    assert claims["kind"].to_list() == [EVERYWHERE, SOMEWHERE, CANNOT] * 2
    assert OURS in (site / "index.html").read_text()
    for name in TWO:
        assert OURS in (site / name / "paper.html").read_text()
        assert OURS in (site / name / "claims.tex").read_text()
        document = json.loads((site / name / "results.json").read_text())
        assert document == json.loads(json.dumps(outcome_of(name).document()))
        assert r"50 \% \& more & 1" in (site / name / "table-1.tex").read_text()
        assert f"claim 2 of {name} (section 1) & 30x" in (site / name / "claims.tex").read_text()


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
    """What LaTeX prints of an escaped text."""
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
    (columns,) = re.findall(r"\\begin\{longtable\}\{@\{\}(.*)@\{\}\}", text)
    widths = [float(width) for width in re.findall(r"p\{([\d.]+)\\linewidth\}", columns)]
    assert re.sub(r"p\{[^}]*\}", "p", columns) == "prp"
    assert sum(widths) == pytest.approx(0.85, abs=0.002)
    assert widths[0] > widths[1]
