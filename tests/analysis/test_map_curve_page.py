"""The page of the map curve in a browser: its plots appear, and it sends no requests."""

from __future__ import annotations

from pathlib import Path

from browser import Seen, browser

from floatgate.analysis import map_curve
from floatgate.report import write_map_curve

__all__ = ["browser"]


def test_page_is_drawn_without_complaint(browser, tmp_path: Path) -> None:
    document = map_curve.map_curve("zipf:span=1GiB,requests=500k", sample=0.05)
    page, _ = write_map_curve(document, tmp_path)
    with Seen(browser, page) as seen:
        assert seen.complaints == []
        assert seen.requests == [page.as_uri()]
        assert seen.page.locator("#map-curve-0 svg path").count() > 4
        seen.page.locator("#map-curve-0 svg").hover()
        assert "Hit ratio" in seen.page.locator("#tip").inner_text()
