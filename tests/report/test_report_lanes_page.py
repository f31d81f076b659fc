"""The lanes in a browser: all spans appear, and a section of the window can be zoomed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser import Seen, browser

import floatgate
from floatgate.report import lane_view, write_report
from floatgate.results.result import Result

__all__ = ["browser"]

TRACE = "uniform:span=16MiB,requests=4k,reads=0.5,interarrival=2ms,arrivals=exponential"
DRIVE = {"flash.channels": "4", "flash.dies": "2", "flash.planes": "2", "flash.bus": "1200MB/s"}
DRIVE |= {"flash.read": "50us", "flash.program": "600us", "flash.erase": "4500us"}
DRIVE |= {"flash.superblock": "1", "flash.pages_per_block": "32", "start.fill": "random"}
DRIVE |= {"capacity.spare_factor": "0.28"}

BARS = "#lanes-0 svg .mark-rect path[aria-label*='Lane']"
"""Selector of the bars of spans. Bands have no name."""


def _run(window: str) -> Result:
    return floatgate.run(TRACE, set=DRIVE | {"lanes.window": window})


@pytest.fixture(scope="module")
def worst() -> Result:
    return _run("8ms")


@pytest.fixture(scope="module")
def page(worst: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report([worst], tmp_path_factory.mktemp("lanes") / "lanes.html")


def _part(seen: Seen) -> list[float]:
    """Returns the visible section of the window."""
    text = seen.page.locator("#lanes-0").get_attribute("data-zoom")
    return [float(time) for time in text.split()]


def _inside(result: Result, begin: float, end: float) -> int:
    frame = lane_view.window_spans(result)
    return frame.filter(frame["end"] > begin, frame["start"] < end).height


def test_every_span_is_a_bar_and_says_what_it_is(browser: Any, page: Path, worst: Result) -> None:
    with Seen(browser, page) as seen:
        assert seen.page.locator(BARS).count() == len(worst.lanes.spans.lane)
        told = seen.page.locator("#lanes-0").locator("..").inner_text()
        assert lane_view.request_words(worst) in told
        assert "done, " in told
        longest = seen.page.locator(BARS).first
        longest.hover()
        tip = seen.page.locator("#tip").inner_text()
        assert "Lane" in tip and "Takes, ms" in tip
        assert seen.complaints == []


def test_a_bar_is_as_long_as_its_span(browser: Any, page: Path, worst: Result) -> None:
    lanes = worst.lanes
    frame = lane_view.window_spans(worst)
    window = ((lanes.to_ns or 0) - (lanes.from_ns or 0)) / 1e6
    with Seen(browser, page) as seen:
        widths = seen.page.eval_on_selector_all(BARS, "bars => bars.map(b => b.getBBox().width)")
        whole = seen.page.evaluate(
            "document.querySelector('#lanes-0 .mark-group.role-frame .background').getBBox().width"
        )
        expected = ((frame["end"] - frame["start"]) / window * whole).to_list()
        assert widths == pytest.approx(expected, abs=0.01)


def test_dragging_zooms_into_a_part_and_buttons_move_it(
    browser: Any, page: Path, worst: Result
) -> None:
    with Seen(browser, page) as seen:
        seen.page.locator("#lanes-0").scroll_into_view_if_needed()
        box = seen.page.locator("#lanes-0 svg").bounding_box()
        middle, height = box["x"] + box["width"] / 2, box["y"] + 60
        seen.page.mouse.move(middle, height)
        seen.page.mouse.down()
        seen.page.mouse.move(middle + 100, height, steps=3)
        assert seen.page.locator("#lanes-0 .chosen").is_visible()
        seen.page.mouse.up()
        assert seen.page.locator("#lanes-0 .chosen").is_hidden()
        begin, end = _part(seen)
        assert 0 < end - begin < 2, "of 8 ms"
        ticks = seen.page.locator("#lanes-0 .role-axis-label text").all_text_contents()
        assert any("." in tick for tick in ticks), "the axis has gone along"

        def press(name: str) -> list[float]:
            seen.page.get_by_role("button", name=name, exact=True).click()
            return _part(seen)

        assert press("Zoom in") == pytest.approx(
            [begin + (end - begin) / 4, end - (end - begin) / 4]
        )
        assert press("Zoom out") == pytest.approx([begin, end])
        assert press("Later") == pytest.approx([(begin + end) / 2, end + (end - begin) / 2])
        assert press("Earlier") == pytest.approx([begin, end])
        whole = press("The whole window")
        assert whole[1] - whole[0] == pytest.approx(8)
        assert press("Zoom out") == pytest.approx(whole), "there is no more"
        assert seen.complaints == []


def test_zooming_tells_apart_what_was_drawn_together(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lane_view, "BARS", 1000)
    result = _run("1s")
    path = write_report([result], tmp_path / "many.html")
    with Seen(browser, path) as seen:
        assert "drawn together" in seen.page.locator("section[aria-labelledby=lanes]").inner_text()
        drawn, spans = seen.page.locator(BARS).count(), len(result.lanes.spans.lane)
        assert drawn < 1500 < spans
        for _ in range(4):
            seen.page.get_by_role("button", name="Zoom in", exact=True).click()
        inside = _inside(result, *_part(seen))
        assert 20 < inside < 1000
        seen.page.wait_for_function(f'document.querySelectorAll("{BARS}").length === {inside}')
        seen.page.get_by_role("button", name="The whole window", exact=True).click()
        seen.page.wait_for_function(f'document.querySelectorAll("{BARS}").length === {drawn}')
        assert seen.complaints == []


def test_fits_a_phone_and_the_dark(browser: Any, page: Path) -> None:
    with Seen(browser, page, width=360, scheme="dark") as seen:
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        wide = "document.querySelector('#lanes-0 svg').getBoundingClientRect().width"
        assert seen.page.evaluate(f"{wide} <= document.querySelector('#lanes-0').clientWidth + 1")
        assert seen.complaints == []
