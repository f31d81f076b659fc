"""The page of a paper in a browser: it draws, it asks for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from browser import Seen, browser, check_top
from paper_site import TWO, site, two_papers

from floatgate.papers import PAPERS, reproduce
from floatgate.papers.asa import paper as asa
from floatgate.papers.asa.domain import synthetic
from floatgate.papers.eti import paper as eti
from floatgate.papers.eti.claims import claims_on
from floatgate.papers.eti.measures import most
from floatgate.papers.kit.experiment import Experiment, Run
from floatgate.papers.kit.outcome import KINDS
from floatgate.papers.kit.page import write_outcome
from floatgate.papers.kit.reproduce import reproduce as reproduce_paper

__all__ = ["browser", "site", "two_papers"]


def test_page_is_drawn_without_complaint(browser, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    outcome = reproduce("tlllp", full=False, traces=tmp_path / "none", progress=None)
    write_outcome(outcome, outcome.document(), tmp_path)
    page = tmp_path / "paper.html"
    with Seen(browser, page) as seen:
        assert seen.complaints == []
        assert seen.requests == [page.as_uri()]
        check_top(seen)
        text = seen.page.inner_text("main")
        assert "not checked" in text
        assert "stand-in: zipf writes" in text
        for i in range(3):
            assert seen.page.locator(f"#figure-2-{i} svg path").count() > 4
        first = seen.page.locator("#figure-3-0 svg .mark-rect path").first
        assert "stand-in" in seen.tip_of(first)
        assert "What the paper leaves open" in text


def _some_runs(experiment: Experiment, full: bool) -> Iterator[Run]:
    """Yields a line outside the claims."""
    (levels,) = experiment.points((), full=True)
    yield experiment.run(experiment.workload("src2_0"), experiment.line("single"), levels, 1)


def test_bars_tables_and_maps_are_drawn(browser, tmp_path: Path) -> None:
    lines = ("ETI", "mbf-1")
    axes = {"src2_0": ("skew",), "headline-real": ()}
    claims = [replace(c, axes=axes[c.key]) for c in claims_on() if c.key in axes]
    claims[0] = replace(claims[0], lines=lines, measure=most("src2_0", lines[1:]))
    some = replace(eti.PAPER, claims=claims, shown=_some_runs, more=partial(eti.more, looked_gbs=1))
    (tmp_path / "none").mkdir()
    outcome = reproduce_paper(some, PAPERS[0], False, tmp_path / "none", None)
    write_outcome(outcome, outcome.document(), tmp_path)
    with Seen(browser, tmp_path / "paper.html") as seen:
        assert seen.complaints == []
        text = seen.page.inner_text("main")
        assert "Figure 4: write amplification" in text
        cells = seen.page.locator("#map-src2_0-0 svg .mark-rect path")
        assert cells.count() == 3, "a cell for each skew that a quick reproduction has"
        assert "not checked" in text
        bars = seen.page.locator("#figure-4-0 svg .mark-rect path")
        assert bars.count() == 3
        assert min(bars.evaluate_all("all => all.map(b => b.getBBox().width)")) > 0
        assert "ETI" in seen.tip_of(bars.first)
        assert "dashed: the paper, at most: from MBF" in seen.page.inner_text("main")
        assert seen.page.locator("#figure-4-0 svg line[stroke-dasharray='7,3']").count() == 1
        assert seen.page.locator("#figure-1-0 svg path").count() > 2
        seen.page.locator("section[aria-labelledby=map-src2_0] summary").click()
        table = seen.page.inner_text("section[aria-labelledby=map-src2_0] table")
        assert "the skew\tdecided by\tours\tcase" in table


def test_bars_in_bands_have_a_colour_for_each_ftl(browser, tmp_path: Path) -> None:
    small = asa.experiment_of(list(synthetic(False, 8 << 20)))
    some = replace(asa.PAPER, claims=(), experiment=small)
    outcome = reproduce_paper(some, PAPERS[0], False, tmp_path, None)
    write_outcome(outcome, outcome.document(), tmp_path)
    with Seen(browser, tmp_path / "paper.html") as seen:
        assert seen.complaints == []
        bars = seen.page.locator("#figure-2-1-0 svg .mark-rect path")
        assert bars.count() == 4 * 4
        tops = bars.evaluate_all("all => all.map(b => b.getBoundingClientRect().top)")
        assert len(set(tops)) == 16
        fills = bars.evaluate_all("all => all.map(b => getComputedStyle(b).fill)")
        assert len(set(fills)) == 4
        assert "the paper" in (seen.page.locator("#cleaning-response-0 svg").text_content() or "")


def test_the_page_of_the_site_counts_and_links(browser, site: Path) -> None:
    with Seen(browser, site / "index.html") as seen:
        assert seen.complaints == []
        assert seen.requests == [(site / "index.html").as_uri()]
        check_top(seen)
        assert seen.page.locator(".answer").inner_text() == (
            "Of 6 claims that the papers state, 2 hold at every point, 2 hold in part and 2 are "
            "not checked."
        )
        table = seen.page.locator("section[aria-labelledby=verdicts] table")
        assert table.locator("th[scope=col]").all_inner_texts() == ["Paper", "Verdicts", *KINDS]
        assert table.locator("tbody th").all_inner_texts() == [*TWO]
        numbers = table.locator("tbody td:not(.text)").all_inner_texts()
        assert numbers == ["1", "1", "0", "0", "1"] * len(TWO)
        assert table.locator("td .shares").count() == len(TWO)
        claims = seen.page.locator("table:not(.counts) td .shares")
        assert claims.count() == 4, "two claims of each paper were checked"
        text = seen.page.inner_text("main")
        assert "Warning: one lacks a <trace>" in text
        assert "claim 2 of two" in text
        links = seen.page.locator("a[href]").evaluate_all("all => all.map(a => a.href)")
        files = [Path(link.removeprefix("file://")) for link in links if "#" not in link]
        assert len(files) > 8
        assert [file for file in files if not file.is_file()] == []
    with Seen(browser, site / "index.html", width=400) as seen:
        inside = "all => all.every((one) => one.scrollWidth <= one.clientWidth)"
        assert seen.page.locator("body, .scroll").evaluate_all(inside)
