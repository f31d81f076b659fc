"""The page of a paper in a browser: it draws, it asks for nothing."""

from __future__ import annotations

from pathlib import Path

from browser import Seen, browser

from floatgate.papers import reproduce
from floatgate.papers.page import write_outcome

__all__ = ["browser"]


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
        seen.page.locator("#figure-3-0 svg").hover()
        assert "Figure 3" in seen.page.locator("#tip").inner_text()
