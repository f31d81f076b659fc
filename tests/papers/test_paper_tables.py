"""The verdict tables of docs/papers have every claim of the claims.csv next to them, with its
verdict."""

from __future__ import annotations

import importlib.util
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from floatgate.papers import PAPERS
from floatgate.papers.asa.claims import READS
from floatgate.papers.eti.claims import MEMORY
from floatgate.papers.eti.hot import HOT_CLAIMS
from floatgate.papers.kit.judging import LONGEST
from floatgate.papers.ncq.claims import AS_LRU
from floatgate.papers.shrd.crash import RECOVERY
from floatgate.papers.together import drives
from floatgate.papers.together.paper import SLOW

ROOT = Path(__file__).resolve().parents[2]
NAMES = [paper.name for paper in PAPERS]
EVIDENCE = {name: import_module(f"evidence.{name}").EVIDENCE for name in NAMES}
FURTHER = {
    "eti": [MEMORY, *HOT_CLAIMS],
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
        "python tools/paper_tables.py docs/papers/claims.csv"
    )


@pytest.mark.parametrize("name", NAMES)
def test_what_was_found_is_of_the_claims_that_there_are(name: str) -> None:
    rows = _tool().read_claims(_tool().CLAIMS.read_text("utf-8"))
    found = {
        row["id"]: (row["claim"], row["where"], row["paper"]) for row in rows if row["of"] == name
    }
    [mode] = {row["mode"] for row in rows}
    left = {SLOW} if mode == "quick" else set()
    known = {claim.key: (claim.text, *claim.origin[:2]) for claim in CLAIMS[name]}
    if name == "asa":
        by_key = {claim.key: claim.origin for claim in CLAIMS[name]}
        known |= {key: (text, *by_key[of][:2]) for of, (key, text) in READS.items()}
    assert found == {key: one for key, one in known.items() if key not in left}


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

From `floatgate paper one` (quick; the whole domain is `--full`'s). By hand.

| claim | n |
|---|---|
| first | 1 |

| id | claim | old verdict | new verdict | ours | why |
|---|---|---|---|---|---|
| b | of before | partly | holds | 1 | it is - so |
| a | as well | | | | |

| id | n |
|---|---|
| a | 2 |
"""
WHY = "3 with a backlog"
ROW = {"of": "one", "mode": "full", "where": "here", "paper": "more", "kind": "", "at_once": ""}
FOUND = [
    ROW | {"id": "a", "claim": "the first", "ours": "", "verdict": "holds", "why": ""},
    ROW
    | {"id": "b", "claim": "other", "ours": "+2%", "verdict": "19 of 24 as claimed", "why": WHY},
    ROW | {"of": "two", "id": "c", "claim": "", "ours": "", "verdict": "", "why": ""},
]


def test_rows_are_rewritten_by_their_id_and_what_is_by_hand_is_kept() -> None:
    written = _tool().rewritten(PAGE, "one", FOUND)
    old, new = PAGE.splitlines(), written.splitlines()
    assert {i: line for i, line in enumerate(new) if line != old[i]} == {
        2: "From `floatgate paper one --full`. By hand.",
        10: "| b | other | partly | 19 of 24 as claimed | +2% | it is - so |",
        11: "| a | the first | | holds | | |",
    }
    assert _tool().rewritten(written, "one", FOUND) == written
    quick = [row | {"mode": "quick"} for row in FOUND]
    assert _tool().rewritten(written, "one", quick).splitlines()[2] == old[2]


@pytest.mark.parametrize(
    ("page", "found", "words"),
    [
        (PAGE, FOUND[:1], "no claim, or another row of it: b"),
        (PAGE, [*FOUND, FOUND[0] | {"id": "d"}], "no row of d"),
        (PAGE.replace("| b |", "| a |"), FOUND, "another row of it: a"),
        (PAGE.replace("From", "Of"), FOUND, "0 sentences begin"),
        (PAGE + PAGE.splitlines()[2], FOUND, "2 sentences begin"),
        (PAGE, [FOUND[0], FOUND[1] | {"ours": "a|b"}], "cannot have the sign |"),
    ],
)
def test_what_has_no_partner_is_refused(page: str, found: list[dict[str, str]], words: str) -> None:
    with pytest.raises(ValueError, match=words.replace("|", r"\|")):
        _tool().rewritten(page, "one", found)


JUDGED = {"kind": "hold somewhere", "verdict": "holds in 1", "at_once": "holds in 1"}
MANY = [
    ROW | JUDGED,
    ROW | JUDGED | {"at_once": "holds nowhere"},
    ROW | JUDGED | {"kind": "not checked", "at_once": "other"},
    ROW | JUDGED | {"of": "two"},
    ROW | JUDGED | {"of": "two", "at_once": ""},
]


def test_the_readme_says_how_many_verdicts_are_others_at_once() -> None:
    """Claims that are not checked, and claims without simultaneous intervals, do not count."""
    readme = "By hand. Others are then: nothing, of old. By hand, too.\n"
    told = "By hand. Others are then: `one` 1 of 2, `two` 0 of 1. By hand, too.\n"
    assert _tool().with_others(readme, MANY) == told
    assert _tool().with_others(told, MANY) == told
    with pytest.raises(ValueError, match="0 sentences begin with Others are then"):
        _tool().with_others("By hand.", MANY)


def test_the_readme_is_of_the_claims_beside_it() -> None:
    known = _tool().read_claims(_tool().CLAIMS.read_text("utf-8"))
    readme = _tool().README.read_text("utf-8")
    assert _tool().with_others(readme, known) == readme


def test_the_claims_are_put_beside_the_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_tool(), "PAPERS", tmp_path)
    monkeypatch.setattr(_tool(), "CLAIMS", tmp_path / "claims.csv")
    monkeypatch.setattr(_tool(), "README", tmp_path / "README.md")
    (tmp_path / "README.md").write_text("Others are then: nothing, of old.\n")
    (tmp_path / "one.md").write_text(PAGE)
    lines = [
        ",".join(FOUND[0]),
        *(",".join(f'"{cell}"' for cell in row.values()) for row in (FOUND[0] | JUDGED, FOUND[1])),
    ]
    (tmp_path / "site.csv").write_text("\n".join(lines) + "\n")
    _tool().main(tmp_path / "site.csv")
    judged = [FOUND[0] | JUDGED, *FOUND[1:]]
    assert (tmp_path / "one.md").read_text() == _tool().rewritten(PAGE, "one", judged)
    assert (tmp_path / "README.md").read_text() == "Others are then: `one` 0 of 1.\n"
    assert (tmp_path / "claims.csv").read_text() == (tmp_path / "site.csv").read_text()
