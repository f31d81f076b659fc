"""The page of hot and cold data in a browser: its plots appear, and it sends no requests."""

from __future__ import annotations

from pathlib import Path

from browser import Seen, browser

import floatgate as fg
from floatgate.report import write_hotness

__all__ = ["browser"]


def test_page_is_drawn_without_complaint(browser, tmp_path: Path) -> None:
    found = fg.hotness("hotcold:span=8MiB,r=0.9,f=0.05,requests=6k,reads=0.2", gb="4MB")
    page, *_ = write_hotness(found, tmp_path)
    with Seen(browser, page) as seen:
        assert seen.complaints == []
        assert seen.requests == [page.as_uri()]
        for plot in ("hot-extents-0", "hot-extents-1", "skew-0", "overwrite-distance-0"):
            assert seen.page.locator(f"#{plot} svg path").count() > 4
    with Seen(browser, page, width=360) as seen:
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
