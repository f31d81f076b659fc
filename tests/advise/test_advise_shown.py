"""`floatgate advise` as people see it: the page, the table of lives, large numbers, paragraphs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from advice_kit import UNIFORM, advice, values_of
from browser import Seen, check_top
from conftest import Cli

from floatgate.advising.answers import years_text
from floatgate.advising.tables import large_numbers, life_table, words
from floatgate.report import write_advice
from floatgate.results.values import space_percent

WORDS = 30
"""Maximum number of words of a paragraph of advice."""

SPECS = (
    UNIFORM,
    "uniform:span=64MiB,writes=60k",
    "sequential:span=64MiB,writes=512,size=128KiB,interarrival=1ms",
    "hotcold:span=768MiB,r=0.9,f=0.1,writes=600k,interarrival=10us",
)


@pytest.mark.parametrize("spec", SPECS)
def test_no_paragraph_is_long(spec: str, tmp_path: Path) -> None:
    found = advice(spec)
    for line in found.lines:
        for text in (line.answer, line.next, *line.method, *line.doubts):
            assert len(text.split()) <= WORDS, (line.key, text)
    write_advice(found, tmp_path)
    page = (tmp_path / "advice.html").read_text("utf-8").partition("<noscript>")[0]
    for text in re.findall(r"<(?:p|li|dd|td|figcaption)\b[^>]*>([^<]*)", page):
        assert text.startswith("floatgate ") or len(text.split()) <= WORDS, text


def test_lives_are_a_table_on_the_page_and_in_the_terminal(cli: Cli) -> None:
    found = advice(UNIFORM)
    table = life_table(found)
    names = [
        "write amplification", "drive writes per day", "life, size of the trace", "TBW as sold",
        "life, as sold",
    ]  # fmt: skip
    units = ["", "", ", years", ", TB", ", years"]
    titles = [f"{name[0].upper()}{name[1:]}" for name in names]
    for title, own, unit in zip(table.columns[1:], titles, units, strict=True):
        # The length of a life decides its unit.
        assert title.removesuffix("days").removesuffix("hours") in (own + unit, f"{own}, "), title
    # The map unit of QLC is too large for so small a trace.
    assert [row[0].text for row in table.rows] == [
        f"tlc-enterprise, {spare}% spare" for spare in (15, 7, 28)
    ]
    values = values_of(found["life"])
    for row in table.rows:
        for name, cell in zip(names, row[1:], strict=True):
            assert cell.order == values[f"{row[0].text}: {name}"]
    printed = cli("advise", UNIFORM, "-q").stdout
    for row in table.rows:
        drive = space_percent(row[0].text)
        [line] = [text for text in printed.splitlines() if text.startswith(drive)]
        assert row[1].text in line and row[2].text in line


def test_large_numbers_answer_first() -> None:
    found = advice(UNIFORM)
    large = dict(large_numbers(found))
    assert [name.partition(",")[0] for name in large] == [
        "Data", "Write amplification", "Write amplification", "Map memory", "Life", "Latency",
    ]  # fmt: skip
    assert large["Write amplification, 7% spare"] == words(found["amplification"].numbers[0])
    years = values_of(found["life"])["tlc-enterprise, 15% spare: life, as sold"]
    assert large["Life, tlc-enterprise, 15% spare"] == years_text(years)


def test_page_is_drawn_without_complaint(browser, tmp_path: Path) -> None:
    write_advice(advice(UNIFORM), tmp_path)
    assert "<dt>Pages played</dt><dd>all</dd>" in (tmp_path / "advice.html").read_text("utf-8")
    with Seen(browser, tmp_path / "advice.html") as seen:
        assert seen.complaints == []
        check_top(seen)
        assert seen.page.locator("#separation-0 svg path").count() > 5
    with Seen(browser, tmp_path / "advice.html", width=400) as seen:
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        # Rows have their numbers in their labels, which no mark covers.
        boxes = "(all) => all.map((one) => { const box = one.getBoundingClientRect(); return "
        boxes += "[box.top, box.bottom]; })"
        labels = seen.page.locator("#separation-0 .role-axis-label text").evaluate_all(boxes)
        marks = seen.page.locator("#separation-0 .mark-symbol path").evaluate_all(boxes)
        for top, bottom in labels:
            assert all(bottom <= begin or end <= top for begin, end in marks)
