"""The verdict tables of docs/papers have the numbers of the recorded claims, and these are the
claims of the code."""

from __future__ import annotations

import importlib.util
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from floatgate.papers import PAPERS
from floatgate.papers.eti.claims import UNCHECKED
from floatgate.papers.eti.hot import HOT_CLAIMS
from floatgate.papers.kit import coverage
from floatgate.papers.kit.judging import LONGEST
from floatgate.papers.ncq.claims import AS_LRU
from floatgate.papers.shrd.crash import RECOVERY
from floatgate.papers.together import drives

ROOT = Path(__file__).resolve().parents[2]
NAMES = [paper.name for paper in PAPERS]
EVIDENCE = {name: import_module(f"evidence.{name}").EVIDENCE for name in NAMES}
FURTHER = {
    "eti": [*(claim for claim, _ in UNCHECKED), *HOT_CLAIMS],
    "ncq": [AS_LRU],
    "shrd": [RECOVERY],
    "together": [claim for claim, _ in drives.judged({}, None)],
}
CLAIMS = {
    name: [
        *(*known.claims, *FURTHER.get(name, ())),
        *(claim for claim, _ in known.unchecked),
    ]
    for name, known in EVIDENCE.items()
}


@cache
def _tool() -> ModuleType:
    path = ROOT / "tools" / "paper_tables.py"
    spec = importlib.util.spec_from_file_location("paper_tables", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NAMES)
def test_a_page_says_of_each_claim_what_was_found(name: str) -> None:
    known = _tool().read_claims(_tool().CLAIMS.read_text("utf-8"))
    page = (ROOT / "docs" / "papers" / f"{name}.md").read_text("utf-8")
    assert _tool().rewritten(page, name, known) == page, (
        "python tools/paper_tables.py python/floatgate/papers/claims.csv"
    )


@pytest.mark.parametrize("name", NAMES)
def test_what_was_found_is_of_the_claims_that_there_are(name: str) -> None:
    rows = _tool().read_claims(_tool().CLAIMS.read_text("utf-8"))
    found = {
        row["id"]: (row["claim"], row["where"], row["paper"]) for row in rows if row["of"] == name
    }
    known = {claim.key: (claim.text, *claim.origin[:2]) for claim in CLAIMS[name]}
    assert found == known


def test_a_cell_is_short_unless_it_quotes() -> None:
    for row in _tool().read_claims(_tool().CLAIMS.read_text("utf-8")):
        assert {key for key, text in row.items() if len(text) > LONGEST} <= {"quote"}, row["id"]


@pytest.mark.parametrize("name", NAMES)
def test_where_claims_are_from_is_what_the_code_says(name: str) -> None:
    rows = _tool().read_claims(_tool().CLAIMS.read_text("utf-8"))
    written = {r["id"]: (r["basis"], r["quote"]) for r in rows if r["of"] == name}
    for claim in CLAIMS[name]:
        if claim.key in written:
            assert written[claim.key] == (claim.origin.basis, claim.origin.quote)


PAGE = """\
# One

| claim | n |
|---|---|
| first | 1 |

| id | claim | ours | counts | run |
|---|---|---|---|---|
| b | of before | +1% | 0 | full |
| a | as well | by hand | | |

| id | n |
|---|---|
| a | 2 |
"""
ROW = {"of": "one", "mode": "full", "where": "here", "paper": "more", "kind": ""}
FOUND = [
    ROW | {"id": "a", "claim": "the first", "ours": "1 to 2", "verdict": "0 of 1"},
    ROW | {"id": "b", "claim": "other", "ours": "", "verdict": "19 of 24", "mode": "quick"},
    ROW | {"id": "c", "claim": "of no row", "ours": "", "verdict": ""},
    ROW | {"of": "two", "id": "d", "claim": "", "ours": "", "verdict": ""},
]


def test_rows_are_rewritten_by_their_id_and_cells_without_a_column_are_kept() -> None:
    written = _tool().rewritten(PAGE, "one", FOUND)
    old, new = PAGE.splitlines(), written.splitlines()
    assert {i: line for i, line in enumerate(new) if line != old[i]} == {
        8: "| b | other | +1% | 19 of 24 | quick |",
        9: "| a | the first | by hand | 0 of 1 | full |",
    }
    assert _tool().rewritten(written, "one", FOUND) == written
    ranges = _tool().rewritten(PAGE.replace("| ours |", "| range |"), "one", FOUND)
    assert "| a | the first | 1 to 2 | 0 of 1 | full |" in ranges
    middle = [row | {"middle": "+7%"} for row in FOUND]
    assert "| b | other | +7% |" in _tool().rewritten(PAGE, "one", middle)


@pytest.mark.parametrize(
    ("page", "found", "words"),
    [
        (PAGE, FOUND[:1], "no claim, or another row of it: b"),
        (PAGE.replace("| b |", "| a |"), FOUND, "another row of it: a"),
        (PAGE.replace("counts", "n"), FOUND, "0 claims in the table"),
        (PAGE, [FOUND[0], FOUND[1] | {"claim": "a|b"}], "cannot have the sign |"),
    ],
)
def test_what_has_no_partner_is_refused(page: str, found: list[dict[str, str]], words: str) -> None:
    with pytest.raises(ValueError, match=words.replace("|", r"\|")):
        _tool().rewritten(page, "one", found)


def test_a_table_has_twelve_rows_at_most() -> None:
    many = [ROW | {"id": f"{i}", "claim": "", "ours": "", "verdict": ""} for i in range(13)]
    head = "| id | counts |\n|---|---|\n"
    rows = [f"| {row['id']} | |\n" for row in many]
    assert _tool().rewritten(head + "".join(rows[1:]), "one", many) == head + "".join(rows[1:])
    with pytest.raises(ValueError, match="13 claims in the table; expected 1 to 12"):
        _tool().rewritten(head + "".join(rows), "one", many)


def test_the_claims_are_put_into_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_tool(), "PAPERS", tmp_path)
    monkeypatch.setattr(_tool(), "CLAIMS", tmp_path / "claims.csv")
    (tmp_path / "one.md").write_text(PAGE)
    lines = [",".join(FOUND[0]), *(",".join(row.values()) for row in FOUND[:3])]
    (tmp_path / "site.csv").write_text("\n".join(lines) + "\n")
    _tool().main(tmp_path / "site.csv")
    assert (tmp_path / "one.md").read_text() == _tool().rewritten(PAGE, "one", FOUND)
    assert (tmp_path / "claims.csv").read_text() == (tmp_path / "site.csv").read_text()


def test_a_quick_run_finds_the_recorded_claims() -> None:
    assert coverage.RECORDED == _tool().CLAIMS
