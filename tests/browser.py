"""Opens reports in a real browser, for the tests of report pages."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Starts Chromium. Skips the tests of pages where it or Playwright is not installed."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed: the page cannot be seen")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        yield browser
        browser.close()


PATIENCE = 120_000
"""Milliseconds that a page may take to load and to draw on a busy machine."""

DRAWN_WHEN_READY = """
new MutationObserver((_, observer) => {
  self.drawnWhenReady = [...document.querySelectorAll(".plot:has(svg)")].map((plot) => plot.id);
  observer.disconnect();
}).observe(document, { subtree: true, attributeFilter: ["data-ready"] });
"""
"""Records the plots that are drawn when the page is ready. The page then draws the others."""


class Seen:
    """A page that records its console messages, script errors and requests."""

    def __init__(
        self,
        browser: Any,
        at: Path | str,
        width: int = 1280,
        scheme: str = "light",
        until: str = "drawn",
        part: str = "",
    ) -> None:
        """Opens a file or a URL, at the anchor `part`. With `until="drawn"` it waits until all
        plots are drawn, with `"ready"` until those in sight are."""
        self.page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self._hear(message))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.add_init_script(DRAWN_WHEN_READY)
        self.page.set_default_timeout(PATIENCE)
        self.page.goto((at.as_uri() if isinstance(at, Path) else at) + part)
        self.page.wait_for_selector(f"html[data-{until}]", state="attached")

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def scroll_to(self, mark: Any) -> None:
        """Scrolls to a mark and waits for the event of it, which the browser sends a frame later:
        the page hides a tooltip when it scrolls."""
        mark.scroll_into_view_if_needed()
        self.page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")

    def tip_of(self, mark: Any) -> str:
        """Points at a mark, and returns the text of its tooltip."""
        self.scroll_to(mark)
        mark.hover()
        return self.tip()

    def tip(self) -> str:
        """Waits for the tooltip, and returns its text."""
        self.page.wait_for_function("!document.getElementById('tip').hidden")
        return str(self.page.locator("#tip").inner_text())

    def __enter__(self) -> Seen:
        return self

    def __exit__(self, *_: object) -> None:
        self.page.close()


TOP = ["h1", ".answer", "header > .shares", ".pills", "main"]
"""Parts of the top of a page, in their order. Only pages with warnings have pills, and only pages
of papers have the bar of verdicts."""

EXTENTS = """(selectors) => selectors
  .map((one) => document.querySelector(one)).filter(Boolean)
  .map((one) => { const box = one.getBoundingClientRect(); return [box.top, box.bottom]; })"""

TEXTS = """() => document.body.innerText + "\\n"
  + [...document.querySelectorAll("svg text")].map((one) => one.textContent).join("\\n")"""


def check_top(seen: Seen) -> None:
    """Checks that the first screen has the title, the answer in a sentence, and the pills, in this
    order, and that all per cent on the page have a no-break space."""
    extents = seen.page.evaluate(EXTENTS, TOP)
    assert all(above[1] <= below[0] for above, below in pairwise(extents))
    assert extents[-2][1] < 800
    assert seen.page.locator(".answer").first.inner_text().strip()[-1] in ".?"
    joined = re.findall(r".*\d ?%.*", seen.page.evaluate(TEXTS))
    assert not joined, joined[:5]


def check_drawn(browser: Any, page: Path, plots: Mapping[str, int]) -> None:
    """Checks that a page draws each plot with more than its number of marks, loads no other file,
    reports no error, and fits the width of a phone."""
    with Seen(browser, page) as seen:
        assert seen.complaints == []
        assert seen.requests == [page.as_uri()]
        check_top(seen)
        for plot, marks in plots.items():
            assert seen.page.locator(f"#{plot} svg path").count() > marks, plot
    with Seen(browser, page, width=360) as seen:
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
