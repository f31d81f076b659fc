"""The page of a paper in a browser: it draws, it asks for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from browser import Seen, browser
from paper_site import TWO, site, two_papers

from floatgate.papers import reproduce
from floatgate.papers.asa import paper as asa
from floatgate.papers.asa import runs as asa_runs
from floatgate.papers.eti import claims as eti_claims
from floatgate.papers.eti import paper as eti
from floatgate.papers.kit.experiment import Experiment, Run
from floatgate.papers.kit.page import write_outcome
from floatgate.papers.kit.site import KINDS

__all__ = ["browser", "site", "two_papers"]


def test_page_is_drawn_without_complaint(browser, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    outcome = reproduce("tlllp", full=False, traces=tmp_path / "none", progress=None)
    write_outcome(outcome, outcome.document(), tmp_path)
    page = tmp_path / "paper.html"
    with Seen(browser, page) as seen:
        assert seen.complaints == []
        assert seen.requests == [page.as_uri()]
        text = seen.page.inner_text("main")
        assert "cannot be checked" in text
        assert "stand-in: zipf writes" in text
        for i in range(3):
            assert seen.page.locator(f"#figure-2-{i} svg path").count() > 4
        seen.page.locator("#figure-3-fresh-0 svg .mark-rect path").first.hover()
        assert "stand-in" in seen.page.locator("#tip").inner_text()
        assert "What the paper leaves open" in text


def _some_runs(experiment: Experiment, full: bool) -> Iterator[Run]:
    """A line beside those of the claims, and a load with a closed form."""
    (place,) = experiment.places((), full=True)
    for trace, line in (("src2_0", "single"), ("uniform", "single"), ("uniform", "eti")):
        yield experiment.run(experiment.workload(trace), experiment.line(line), place, 1)


def test_bars_and_tables_are_drawn(
    browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = [c for c in eti_claims.claims_of() if c.key in ("src2_0-mbf", "headline-real")]
    claims = tuple(replace(claim, axes=()) for claim in some)
    monkeypatch.setattr(eti, "claims_of", lambda *_: claims)
    monkeypatch.setattr(eti, "_shown", _some_runs)
    monkeypatch.setattr("floatgate.papers.eti.hot.GBS", 1)
    (tmp_path / "none").mkdir()
    outcome = eti.reproduce(False, tmp_path / "none", None)
    write_outcome(outcome, outcome.document(), tmp_path)
    with Seen(browser, tmp_path / "paper.html") as seen:
        assert seen.complaints == []
        text = seen.page.inner_text("main")
        assert "Figure 4: write amplification" in text
        assert "cannot be checked" in text
        bars = seen.page.locator("#figure-4-0 svg .mark-rect path")
        assert bars.count() == 3
        assert min(bars.evaluate_all("all => all.map(b => b.getBBox().width)")) > 0
        bars.first.hover()
        assert "ETI" in seen.page.locator("#tip").inner_text()
        assert "dashed: greedy 6.945" in seen.page.inner_text("main")
        assert seen.page.locator("#closed-forms-0 svg line[stroke-dasharray='7,3']").count() == 1
        assert seen.page.locator("#figure-1-0 svg path").count() > 2
        seen.page.locator("section[aria-labelledby=table-1] summary").click()
        assert "src2_0" in seen.page.inner_text("section[aria-labelledby=table-1] table")


def test_bars_in_bands_have_a_colour_for_each_ftl(
    browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asa_runs, "SPAN", 8 << 20)
    monkeypatch.setattr(asa, "OPEN_CLAIMS", ())
    outcome = asa.reproduce(False, tmp_path, None)
    write_outcome(outcome, outcome.document(), tmp_path)
    with Seen(browser, tmp_path / "paper.html") as seen:
        assert seen.complaints == []
        bars = seen.page.locator("#figure-2-1-0 svg .mark-rect path")
        assert bars.count() == 10 * 4
        tops = bars.evaluate_all("all => all.map(b => b.getBoundingClientRect().top)")
        assert len(set(tops)) == 40
        fills = bars.evaluate_all("all => all.map(b => getComputedStyle(b).fill)")
        assert len(set(fills)) == 4
        assert "the paper" in (seen.page.locator("#cleaning-response-0 svg").text_content() or "")


def test_the_page_of_the_site_counts_and_links(browser, site: Path) -> None:
    with Seen(browser, site / "index.html") as seen:
        assert seen.complaints == []
        assert seen.requests == [(site / "index.html").as_uri()]
        table = seen.page.locator("section[aria-labelledby=verdicts] table")
        rows = [row.split("\t") for row in table.inner_text().strip().splitlines()]
        assert rows[0] == ["Paper", *KINDS]
        assert rows[1:] == [[name, "1", "1", "0", "0", "1"] for name in TWO]
        text = seen.page.inner_text("main")
        assert "Warning: one lacks a <trace>" in text
        assert "claim 2 of two" in text
        links = seen.page.locator("a[href]").evaluate_all("all => all.map(a => a.href)")
        files = [Path(link.removeprefix("file://")) for link in links if "#" not in link]
        assert len(files) > 8
        assert [file for file in files if not file.is_file()] == []
