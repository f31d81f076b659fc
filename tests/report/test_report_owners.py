"""Owners of pages: their write amplification, and for whose writes cleaning copied their pages."""

from __future__ import annotations

import json
from typing import Any

import pytest
import report_samples as samples

from floatgate.cli.summary import print_summary
from floatgate.report.figures import figures
from floatgate.results.owners import Copies, copies, copy_table, owner_table, used


def owner(host: int, copied_for: list[int], wear: int = 0, fold: int = 0) -> dict[str, Any]:
    """Returns an owner of a result."""
    programs = host + sum(copied_for) + wear + fold
    return {
        "host_pages": host,
        "gc_pages": sum(copied_for),
        "gc_pages_for": copied_for,
        "wear_pages": wear,
        "fold_pages": fold,
        "relabelled_pages": 3,
        "write_amplification": programs / host if host else None,
    }


OWNERS = [
    owner(100, [10, 40, 0, 0, 5], wear=15),
    owner(200, [0, 50, 0, 0, 0], fold=20),
    owner(0, [0, 0, 0, 0, 0]),
    owner(0, [0, 25, 0, 0, 0]),
]
"""Four owners: the second writes most, and most pages are copied for it. The third has no pages,
and the fourth was written before the run."""


def document(scheme: str = "host") -> dict[str, Any]:
    """Returns a result with these owners."""
    made = samples.sample()
    made["placement"]["owners"] = OWNERS
    made["config"]["placement"]["scheme"] = scheme
    return made


def test_owners_with_pages_have_names() -> None:
    for scheme, word in (("host", "handle"), ("dac", "stream")):
        (result,) = samples.typed([document(scheme)])
        assert [(one.number, one.name) for one in used(result)] == [
            (0, f"{word} 0"),
            (1, f"{word} 1"),
            (3, f"{word} 3"),
        ]
        split = [copies(one) for one in used(result)]
        assert split == [Copies(10, 40, 5), Copies(50, 0, 0), Copies(0, 25, 0)]


def test_the_table_has_the_pages_of_each_owner_by_cause() -> None:
    (result,) = samples.typed([document()])
    table = owner_table([("one", result), ("two", result)])
    assert [row[0].text for row in table.rows] == ["one"] * 3 + ["two"] * 3
    numbers = [[cell.order for cell in row[1:]] for row in table.rows[:3]]
    assert numbers == [
        ["handle 0", 100, 1.7, 55, 10, 40, 5, 15, 0, 3],
        ["handle 1", 200, 1.35, 50, 50, 0, 0, 0, 20, 3],
        ["handle 3", 0, None, 25, 0, 25, 0, 0, 0, 3],
    ]
    assert len(table.columns) == len(table.rows[0])


def test_a_figure_has_a_bar_and_a_row_of_squares_for_each_owner() -> None:
    (figure,) = (one for one in figures(samples.runs([document()])) if one.key == "owners")
    bars, squares = (drawing.chart.to_dict() for drawing in figure.drawings)
    data = [json.loads(text) for text in bars["datasets"].values()]
    parts = {(part["row"][-8:], part["part"]): part["value"] for part in data[0]}
    assert parts == {
        ("handle 0", "host writes"): 1.0,
        ("handle 0", "cleaning"): 0.55,
        ("handle 0", "wear levelling"): 0.15,
        ("handle 1", "host writes"): 1.0,
        ("handle 1", "cleaning"): 0.25,
        ("handle 1", "folding"): 0.1,
    }
    (cells,) = (json.loads(text) for text in squares["datasets"].values())
    shares = {(cell["writer"], cell["owner"]): cell["value"] for cell in cells if cell["pages"]}
    assert shares == pytest.approx(
        {
            ("handle 0", "handle 0"): 10 / 130,
            ("handle 1", "handle 0"): 40 / 130,
            ("no write", "handle 0"): 5 / 130,
            ("handle 1", "handle 1"): 50 / 130,
            ("handle 1", "handle 3"): 25 / 130,
        }
    )
    # A writer that no page was copied for has no row.
    assert {cell["writer"] for cell in cells} == {"handle 0", "handle 1", "no write"}


def test_a_run_with_one_owner_has_no_figure() -> None:
    alone = document()
    alone["placement"]["owners"] = OWNERS[:1]
    (figure,) = (one for one in figures(samples.runs([alone])) if one.key == "owners")
    assert not figure.drawings and figure.table is None
    assert figure.absent == [(figure.title, "no run has pages of two handles or streams")]


def test_the_terminal_shows_who_copied_whose_pages(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    (result,) = samples.typed([document()])
    print_summary(result, "mydrive")
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["handle", "0", "100", "1.700", "55", "10", "40", "5"] in lines
    assert ["handle", "1", "200", "1.350", "50", "0", "50", "0"] in lines
    (stream,) = samples.typed([document("dac")])
    assert copy_table(stream) is None
    print_summary(stream, "mydrive")
    assert "for no write" not in capsys.readouterr().out


@pytest.mark.parametrize(("scheme", "rows"), [("host", 0), ("dac", 1)])
def test_only_streams_that_the_drive_chose_are_cold_or_hot(
    capsys: pytest.CaptureFixture[str], scheme: str, rows: int
) -> None:
    made = document(scheme)
    made["placement"]["streams"] = [samples.stream(10, 0), samples.stream(20, 0)]
    print_summary(samples.typed([made])[0], "mydrive")
    assert capsys.readouterr().out.count("cold to hot") == rows


def test_a_table_of_many_handles_sums_the_writers() -> None:
    many = document()
    copied = [[int(at != of) for at in range(11)] for of in range(10)]
    many["placement"]["owners"] = [owner(10, one) for one in copied]
    (result,) = samples.typed([many])
    table = copy_table(result)
    assert table is not None
    assert table.columns[-3:] == ["For its own writes", "For other handles", "For no write"]
    assert [cell.order for cell in table.rows[0][3:]] == [10, 0, 9, 1]
