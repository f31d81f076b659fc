"""The live page in a browser, on a control socket that answers from a document."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from browser import Seen
from live_fake import UNITS, ZONES, FakeDrive

from floatgate.live.web import Page


class Live(Seen):
    """The live page. Its dialogs are accepted, or dismissed without `answer`."""

    def __init__(
        self, browser: Any, url: str, width: int = 1280, scheme: str = "light", answer: bool = True
    ) -> None:
        super().__init__(browser, url, width, scheme, until="shown")
        self.tab = self.page
        self.tab.on("dialog", lambda dialog: dialog.accept() if answer else dialog.dismiss())

    def warnings(self) -> str:
        """Opens the pill of the warnings, and returns their texts."""
        self.tab.locator("#warnings summary").click()
        return str(self.tab.locator("#warnings-list").inner_text())

    def _hear(self, message: Any) -> None:
        # The test itself reads the canvas back, which causes this warning.
        if "getImageData" not in message.text:
            super()._hear(message)

    def turn(self) -> None:
        """Waits until the page has polled the drive once more."""
        before = self._shown()
        end = time.monotonic() + 60
        while self._shown() <= before:
            assert time.monotonic() < end, self.complaints
            self.tab.wait_for_timeout(50)

    def _shown(self) -> int:
        """Returns how often the page has shown the drive."""
        return int(self.tab.evaluate("document.documentElement.dataset.shown ?? 0"))

    def cell(self, unit: int) -> tuple[float, float]:
        """Returns the middle of a unit's cell, from the corner of the canvas."""
        data = self.tab.evaluate("({...document.getElementById('blocks').dataset})")
        columns, size = int(data["columns"]), int(data["cell"])
        return (unit % columns + 0.5) * size, (unit // columns + 0.5) * size

    def colour(self, unit: int) -> list[int]:
        """Returns red, green and blue at the middle of a unit's cell."""
        x, y = self.cell(unit)
        code = """([x, y]) => {
            const canvas = document.getElementById("blocks"), scale = devicePixelRatio;
            const context = canvas.getContext("2d");
            return [...context.getImageData(x * scale, y * scale, 1, 1).data].slice(0, 3);
        }"""
        found: list[int] = self.tab.evaluate(code, [x, y])
        return found


@pytest.mark.parametrize(
    ("scheme", "cause"), [("none", "waiting for room (cleaning)"), ("lru", "write buffer")]
)
def test_time_in_the_controller_is_named_after_a_buffer_that_exists(
    browser: Any, page: Page, drive: FakeDrive, scheme: str, cause: str
) -> None:
    result = drive.status["result"]
    result["config"]["buffer"]["scheme"] = scheme
    result["latency"]["blame_us"]["buffer"] = 12.5
    with Live(browser, page.url) as live:
        assert f"{cause} 12.5" in live.tab.locator("#blame-legend").inner_text()


def test_the_page_shows_the_drive_and_complains_of_nothing(
    browser: Any, page: Page, drive: FakeDrive, document: dict[str, Any]
) -> None:
    with Live(browser, page.url) as live:
        text = live.tab.locator("body").inner_text()
        assert document["device"] in text and "the drive is nearly full" not in text
        wa = f"{document['result']['write_amplification']:.3f}"
        assert wa in live.tab.locator("#tiles").inner_text()
        assert live.tab.locator("#charts svg").count() == 6
        label = live.tab.locator("[data-chart=write_amplification] svg").get_attribute("aria-label")
        assert label == "Write amplification: now 1.500, at most 2.500"
        # The plot is 100 high, measured from the top: the line ends at 1.25 of 2.5, its peak at the
        # full height.
        chart = live.tab.locator("[data-chart=write_amplification]")
        assert "L200.0 50.0" in chart.locator(".mean").get_attribute("d")
        assert "L200.0 0.0" in chart.locator(".extreme").get_attribute("d")
        assert live.tab.locator("#blame > span").count() >= 2
        spans = live.tab.locator("#lanes").get_attribute("data-spans")
        assert int(spans) == len(document["result"]["lanes"]["spans"]["lane"])
        also = live.tab.locator("#also").inner_text()
        assert "twice" in also and "erased" in also
        shadow = document["also"][0]["result"]
        bytes = sum(shadow["flash"]["programs"].values()) * shadow["drive"]["page_bytes"]
        text = " ".join(also.split())
        assert f"{bytes / (1 << 20):.4g} MiB" in text, "bytes, as pages differ"
        assert also.splitlines()[-1].split()[:2] == ["broken", "failed"]
        warnings = live.warnings()
        assert "the drive is nearly full" in warnings and "also twice: " in warnings
        assert "also broken: it has failed: a bug: it broke" in warnings
        assert "98.5 %" in live.tab.locator("#smart").inner_text()
        holding = _words(live.tab.locator("#holding"))
        assert "1.0 % of the replies" in holding and "took 12.5 % longer" in holding
        assert _words(live.tab.locator("#room")) == "cleaning begins after 7.9 GiB more"
        assert "p99 as measured, µs" in live.tab.locator("[data-chart=p99_us] h3").inner_text()
        drive.status |= {"free_units": 4321, "zones": ZONES}
        live.turn()
        live.turn()
        counts = _words(live.tab.locator("#counts"))
        assert "4\N{NARROW NO-BREAK SPACE}321" in live.tab.locator("#counts").inner_text()
        assert "Zones of 12 MiB 7 empty, 2 implicitly open, 5 full" in counts
        assert live.tab.locator("#warnings-list").is_visible(), "the pill stays open"
        assert live.complaints == []
        root = page.url.partition("#")[0]
        assert all(url.startswith(root) or url.startswith("data:,") for url in live.requests)
        assert live.tab.url == root, "the token does not stay in the address"


def test_times_of_this_machine_are_called_so(browser: Any, page: Page, drive: FakeDrive) -> None:
    """Without a clock, these times belong to this machine and not to the drive."""
    drive.status |= {"timing": "none", "cleaning_begins_after_bytes": None, "aged": True}
    drive.status["server"]["holding"] = None
    with Live(browser, page.url) as live:
        chart = live.tab.locator("[data-chart=p99_us]")
        assert "p99 of this machine, µs" in chart.locator("h3").inner_text()
        label = chart.locator("svg").get_attribute("aria-label")
        assert label.startswith("p99 of this machine, µs: now 150")
        times = live.tab.locator("#times").inner_text()
        assert "Reads, of this machine" in times and "as measured" not in times
        assert "not of the drive" in live.tab.locator("#holding").inner_text()
        assert not live.tab.locator("#room").is_visible(), "cleaning has begun"
        assert "aged before its first client" in live.tab.locator("#about").inner_text()


def _words(element: Any) -> str:
    return " ".join(element.inner_text().split())


def test_a_plot_has_the_values_of_the_moment_under_the_pointer(browser: Any, page: Page) -> None:
    with Live(browser, page.url) as live:
        chart = live.tab.locator("[data-chart=write_amplification]")
        other = live.tab.locator("[data-chart=host_mb_s] output")
        box = chart.locator("svg").bounding_box()
        tip = live.tab.locator("#tip")
        assert tip.is_hidden() and other.inner_text() == "15.0"
        # Entries are at 0, 1/3, 2/3 and the end of the width.
        place = {"x": 0.6 * box["width"], "y": box["height"] / 2}
        chart.locator("svg").hover(position=place)
        assert _words(tip) == "time 1 s ago Write amplification 1.250 highest 2.500"
        assert other.inner_text() == "20.0", "the other plots show the same moment"
        assert float(chart.locator(".at").get_attribute("x1")) == 200
        live.turn()
        assert tip.is_visible() and other.inner_text() == "20.0", "new values do not end it"
        chart.locator("svg").hover(position={**place, "x": box["width"] - 1})
        assert _words(tip) == "time now Write amplification 1.500"
        live.tab.mouse.move(1, 1)
        assert tip.is_hidden() and other.inner_text() == "15.0"
        assert chart.locator(".at").get_attribute("visibility") == "hidden"
        svg = live.tab.locator("[data-chart=hit_ratio] svg")
        svg.press("ArrowLeft")
        assert "now" in tip.inner_text()
        for _ in range(4):
            svg.press("ArrowLeft")
        assert _words(tip) == "time 3 s ago Map hits –"
        svg.press("Escape")
        assert tip.is_hidden() and live.complaints == []


@pytest.mark.parametrize(("units", "cell"), [(37, 48), (900, 24), (100_000, 2)])
def test_the_block_map_fills_its_place(
    browser: Any, tmp_path: Path, document: dict[str, Any], units: int, cell: int
) -> None:
    with (
        FakeDrive(tmp_path / "sized.control", document, units) as drive,
        Page(drive.path, 0) as page,
        Live(browser, page.url) as live,
    ):
        assert int(live.tab.locator("#blocks").get_attribute("data-cell")) >= cell
        assert live.tab.locator("#blocks").bounding_box()["height"] <= 520


def test_a_drive_that_has_failed_says_so(browser: Any, page: Page, drive: FakeDrive) -> None:
    why = "the image has failed: No space left on device; nothing is read or written any more"
    drive.status |= {"failure": why, "warnings": [why]}
    with Live(browser, page.url) as live:
        assert "failed" in live.tab.locator("#about").inner_text().split(" · ")
        assert "red" in str(live.tab.locator("#warnings").get_attribute("class")).split()
        assert live.warnings().splitlines()[0] == why


def test_the_block_map_is_coloured_and_says_what_a_cell_is(browser: Any, page: Page) -> None:
    with Live(browser, page.url) as live:
        assert live.tab.locator("#blocks").get_attribute("data-units") == str(UNITS)
        # Of the 32 pages in each, unit 33 has no valid page and unit 32 has 32. Unit 3 is free.
        assert live.colour(33) == [68, 1, 84]
        assert live.colour(32) == [253, 231, 37]
        free = live.colour(3)
        assert free not in ([68, 1, 84], [253, 231, 37])
        live.tab.get_by_label("stream").check()
        assert live.tab.locator("#blocks").get_attribute("data-colour") == "stream"
        assert live.colour(0) == live.colour(2) != live.colour(1)
        assert live.colour(3) == free
        live.tab.get_by_label("wear").check()
        assert live.colour(0) == live.colour(7) == [68, 1, 84]
        assert live.colour(6) == [253, 231, 37]
        x, y = live.cell(45)
        live.tab.locator("#blocks").hover(position={"x": x, "y": y})
        told = _words(live.tab.locator("#blocks-told"))
        assert told == "Unit 45: full, 12 of 32 pages valid (37.5 %), 3 erases, stream 1"
        live.tab.locator("#blocks").press("ArrowLeft")
        assert live.tab.locator("#blocks-told").inner_text().startswith("Unit 44: full, 11 of 32")
        live.tab.locator("#blocks").press("ArrowLeft")
        assert live.tab.locator("#blocks-told").inner_text() == "Unit 43: free, 1 erases"
        assert live.complaints == []


def test_a_hundred_thousand_units_are_drawn(
    browser: Any, tmp_path: Path, document: dict[str, Any]
) -> None:
    with (
        FakeDrive(tmp_path / "many.control", document, 100_000) as drive,
        Page(drive.path, 0) as page,
        Live(browser, page.url) as live,
    ):
        assert live.tab.locator("#blocks").get_attribute("data-units") == "100000"
        live.tab.get_by_label("wear").check()
        live.tab.locator("#blocks").press("End")
        assert live.complaints == []


def test_the_buttons_steer_the_drive(
    browser: Any, page: Page, drive: FakeDrive, tmp_path: Path
) -> None:
    with Live(browser, page.url) as live:
        done = live.tab.locator("#done")

        def press(name: str, said: str) -> None:
            live.tab.get_by_role("button", name=name).click()
            done.get_by_text(said).wait_for(timeout=60_000)

        assert live.tab.locator("#token-form").is_hidden()
        press("Pull the plug", "The power was cut (1 in all)")
        press("Reset counters", "The counters start anew.")
        press("Check the drive", "nothing wrong")
        live.tab.get_by_label("Reads that fail").fill("2.5")
        live.tab.get_by_label("read-only").check()
        press("Set faults", "2.5 % of reads fail; the drive is read-only.")
        live.tab.get_by_label("Copy the image to").fill(str(tmp_path / "copy.img"))
        press("Take a snapshot", "5 bytes are in")
        press("Take a snapshot", "exists")
        assert drive.status["faults"] == {"read_error_share": 0.025, "read_only": True}
        live.turn()
        assert "2.5 % of reads fail · read-only" in _words(live.tab.locator("#about"))
    with Live(browser, page.url, answer=False) as live:
        live.tab.get_by_role("button", name="Pull the plug").click()
        live.turn()
        assert drive.status["power"]["cuts"] == 1, "nobody was sure"


def test_without_the_token_the_buttons_do_nothing(
    browser: Any, page: Page, drive: FakeDrive
) -> None:
    with Live(browser, page.url.partition("#")[0]) as live:
        button = live.tab.get_by_role("button", name="Reset counters")
        assert button.is_disabled()
        live.tab.get_by_label("Token").fill("guessed")
        live.tab.get_by_role("button", name="Use it").click()
        button.click()
        live.tab.locator("#done").get_by_text("token").wait_for(timeout=60_000)
        assert button.is_disabled()
        assert {asked["do"] for asked in drive.asked} <= {"status", "blocks", "lanes"}
        live.tab.get_by_label("Token").fill(page.token)
        live.tab.get_by_role("button", name="Use it").click()
        button.click()
        live.tab.locator("#done").get_by_text("start anew").wait_for(timeout=60_000)


def test_a_server_that_is_gone_is_said(browser: Any, page: Page, drive: FakeDrive) -> None:
    with Live(browser, page.url) as live:
        gone = live.tab.locator("#gone")
        assert gone.is_hidden()
        drive.__exit__()
        gone.get_by_text("The server does not answer").wait_for(timeout=60_000)
        gone.get_by_text("asks again every second").wait_for(timeout=60_000)
        assert live.tab.locator("#blocks").is_visible(), "what was seen last is there"


def test_it_fits_a_phone_and_the_dark_and_the_keyboard(browser: Any, page: Page) -> None:
    with Live(browser, page.url, width=400, scheme="dark") as live:
        assert live.tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        pill = live.tab.locator("#warnings")
        assert "warnings" in pill.locator("summary").inner_text()
        assert pill.bounding_box()["height"] < 40, "folded"
        titles = live.tab.locator("#tiles dt").all_inner_texts()
        assert titles[0] == "Write amplification now" and titles[2:] == ["Host, MB/s", "Requests/s"]
        bottom = live.tab.locator("#tiles").evaluate("(one) => one.getBoundingClientRect().bottom")
        assert bottom < 450, "the rates are on the first half of the screen"
        assert live.tab.evaluate("getComputedStyle(document.body).backgroundColor") == (
            "rgb(20, 23, 28)"
        )
        names = "[...document.querySelectorAll('button, input, select, canvas')].filter((one) => "
        names += "!(one.labels?.length || one.textContent.trim() || one.ariaLabel)).length"
        assert live.tab.evaluate(names) == 0, "everything that is used has a name"
        live.tab.locator("#blocks").focus()
        live.tab.keyboard.press("ArrowRight")
        assert live.tab.locator("#blocks-told").inner_text().startswith("Unit 0:")
        assert live.complaints == []
