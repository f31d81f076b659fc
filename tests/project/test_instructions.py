"""tools/instructions.py: messages about a table of counts compared with new counts."""

from __future__ import annotations

import json

import instructions
from paths import ROOT

TABLE = {"map": 1000, "clock": 20_000}


def test_a_path_may_take_more_by_the_tolerance() -> None:
    assert instructions.regressions(TABLE, {"map": 1030, "clock": 20_600}, 0.03) == []
    assert instructions.regressions(TABLE, {"map": 500, "clock": 20_000}, 0.03) == []
    assert instructions.regressions(TABLE, {"map": 1031, "clock": 30_000}, 0.03) == [
        "map: 1,031 instructions a page, 1,000 before",
        "clock: 30,000 instructions a page, 20,000 before",
    ]


def test_a_path_that_only_one_knows_is_said() -> None:
    assert instructions.regressions(TABLE, {"map": 1000, "buffer": 1}, 0.03) == [
        "buffer: in the table or in the benchmark only",
        "clock: in the table or in the benchmark only",
    ]


def test_the_table_is_of_nine_paths_of_one_compiler() -> None:
    table = json.loads(instructions.TABLE.read_text("utf-8"))
    assert table["rustc"].startswith("rustc 1.")
    assert 0 < table["tolerance"] <= 0.05
    assert len(table["paths"]) == 9


def test_the_docs_have_the_table() -> None:
    paths = json.loads(instructions.TABLE.read_text("utf-8"))["paths"]
    text = (ROOT / "docs" / "performance-notes.md").read_text("utf-8")
    rows = text.partition("| path | a page |")[2].partition("\n\n")[0].splitlines()[2:]
    told = [int(row.split("|")[2].replace(",", "")) for row in rows]
    assert told == list(paths.values())
