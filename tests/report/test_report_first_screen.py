"""The first screen in a browser: order, sentence, pills, colours, units, and a phone."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import report_samples as samples
from browser import Seen, check_top

from floatgate.report import palette


def _seeds() -> list[dict[str, Any]]:
    """Returns three seeds of two schemes; the second scheme never cleaned."""
    found = []
    for scheme in ("dftl", "tpftl"):
        for seed in (1, 2, 3):
            document = samples.sample(scheme=scheme, seed=seed)
            # Seeds agree closely, so that the difference of the schemes is sure.
            whole = {"dftl": 9.46, "tpftl": 2.55}[scheme] + seed / 1000
            parts = dict.fromkeys(document["amplification"], 0.0)
            document["amplification"] = parts | {"host": 1.0, "gc": whole - 1.3, "map": 0.3}
            document["write_amplification"] = whole
            for name, us in (("p50_us", 2e3), ("p99_us", {"dftl": 123e3, "tpftl": 31e3}[scheme])):
                document["latency"]["all"][name] = us + seed
            if scheme == "tpftl":
                document["warnings"] = ["cleaning never ran: 98,304 pages are new"]
            found.append(document)
    return found


def _untimed() -> list[dict[str, Any]]:
    documents = [samples.sample(), samples.sample(scheme="tpftl")]
    for document in documents:
        document["config"]["timing"] = "none"
        for section in ("latency", "dies", "channels"):
            document[section] = {}
        document["throughput"]["iops"] = None
    return documents


CASES = {
    "seeds": _seeds,
    "one": lambda: [samples.sample()],
    "untimed": _untimed,
    "forty": lambda: [samples.sample(cache=f"{kib}KiB") for kib in range(1, 41)],
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return samples.written(CASES, tmp_path_factory.mktemp("reports"))


def _screen(browser: Any, path: Path, width: int = 1280, scheme: str = "light") -> Seen:
    seen = Seen(browser, path, width=width, scheme=scheme, until="ready")
    seen.page.set_viewport_size({"width": width, "height": 800})
    return seen


TOPS = """(selectors) => selectors.map(
  (one) => document.querySelector(one).getBoundingClientRect().top)"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_answer_and_all_panels_are_on_the_first_screen(
    browser: Any, reports: dict[str, Path], scheme: str
) -> None:
    with _screen(browser, reports["seeds"], scheme=scheme) as seen:
        check_top(seen)
        order = ["h1", ".answer", ".pills", ".keys", "table.front thead", "table.front tbody"]
        tops = seen.page.evaluate(TOPS, order)
        assert tops == sorted(tops) and len(set(tops)) == len(tops)
        last = seen.page.locator("table.front tbody tr").last.bounding_box()
        assert last["y"] + last["height"] < 800
        assert seen.page.locator("h1").inner_text() == "mapping.scheme: dftl and tpftl"
        assert seen.page.locator(".answer").inner_text() == (
            "tpftl writes 3.7 times less than dftl (write amplification 2.6 against 9.5), p99 31 "
            "against 120 ms."
        )
        about = seen.page.locator(".about").inner_text()
        assert about.startswith("financial1") and about.endswith("QD 32 closed")
        # Contents stay at the left.
        nav = seen.page.locator("nav").bounding_box()
        assert nav["x"] + nav["width"] < seen.page.locator("h1").bounding_box()["x"]
        assert seen.complaints == []


def test_panels_have_the_same_rows_on_the_same_height(
    browser: Any, reports: dict[str, Path]
) -> None:
    with _screen(browser, reports["seeds"]) as seen:
        rows = seen.page.locator("table.front tbody tr")
        assert rows.locator("th").all_inner_texts() == ["dftl", "tpftl"]
        for row in rows.all():
            bar, dots = (row.locator(f"td.{kind} svg").bounding_box() for kind in ("bar", "dots"))
            assert abs(bar["y"] - dots["y"]) < 1 and abs(bar["height"] - dots["height"]) < 1
            assert row.locator(".seed").count() == 3 and row.locator(".whisker").count() >= 3
        lengths = [
            sum(float(one.get_attribute("width")[:-1]) for one in row.locator(".piece").all())
            for row in rows.all()
        ]
        assert lengths[0] / lengths[1] == pytest.approx(9.46 / 2.55, rel=0.02)


def test_a_pill_has_a_sign_and_opens_its_warning(browser: Any, reports: dict[str, Path]) -> None:
    with _screen(browser, reports["seeds"]) as seen:
        pills = seen.page.locator(".pill")
        levels = [pill.get_attribute("class").split()[-1] for pill in pills.all()]
        assert levels == ["red", "good", "good"]
        signs = [text.split()[0] for text in pills.all_inner_texts()]
        assert signs[0] != signs[1]
        warning = pills.first.locator(".told p").first
        assert not warning.is_visible()
        pills.first.locator("summary").click()
        assert warning.is_visible()
        assert "98\N{NARROW NO-BREAK SPACE}304 pages" in warning.inner_text()
        assert pills.nth(1).locator("summary").count() == 0


def test_a_row_with_a_red_pill_is_hatched_and_has_two_digits(
    browser: Any, reports: dict[str, Path]
) -> None:
    with _screen(browser, reports["seeds"]) as seen:
        sure, doubtful = seen.page.locator("table.front tbody tr").all()
        assert sure.locator(".hatch").count() == 0 and doubtful.locator(".hatch").count() == 1
        assert re.match(r"9\.46 ±\s", sure.locator("td[data-name^=WA]").inner_text())
        assert doubtful.locator("td[data-name^=WA]").inner_text() == "2.6"
        assert "a red pill doubts this row" in seen.page.locator(".keys").inner_text()


FILLS = (
    """(name) => [...document.querySelectorAll(name)].map((one) => getComputedStyle(one).fill)"""
)


def test_cleaning_has_one_colour_in_every_plot(browser: Any, reports: dict[str, Path]) -> None:
    with Seen(browser, reports["seeds"]) as seen:
        variable = f"--series-{palette.SLOTS['gc']}"
        seen.page.evaluate(
            f"""() => {{ const one = document.createElement("i"); one.id = "probe";
                one.style.color = "var({variable})"; document.body.append(one); }}"""
        )
        colour = seen.page.evaluate("getComputedStyle(document.getElementById('probe')).color")
        pieces = [".piece[data-tip*='\"cleaning\"']"]
        pieces += [
            f"#{key}-0 [aria-label*='Cause: cleaning'], #{key}-0 [aria-label*='part: cleaning']"
            for key in ("write-amplification", "blame")
        ]
        for selector in pieces:
            fills = seen.page.evaluate(FILLS, selector)
            assert fills and set(fills) == {colour}, selector


STROKES = """(selector) => [...document.querySelectorAll(selector)]
  .map((one) => getComputedStyle(one).stroke)"""


def test_lines_of_runs_have_no_colour_of_a_cause(browser: Any, reports: dict[str, Path]) -> None:
    with Seen(browser, reports["seeds"]) as seen:
        lines = set(seen.page.evaluate(STROKES, ".mark-line path"))
        swatches = seen.page.evaluate(STROKES, "section:has(#timeline) .legend line")
        bars = seen.page.evaluate(FILLS, ".piece")
        assert len(lines) == 2 and lines == set(swatches)
        assert not lines & set(bars)


def test_response_times_have_one_unit_on_the_page(browser: Any, reports: dict[str, Path]) -> None:
    with Seen(browser, reports["seeds"]) as seen:
        heads = seen.page.locator("table thead th").all_text_contents()
        axes = seen.page.locator(".role-axis-title").all_text_contents()
        names = seen.page.locator("h3").all_text_contents()
        # Units are written after a comma, or before "per request".
        texts = [
            text.replace("\N{NO-BREAK SPACE}", " ").strip() for text in (*heads, *axes, *names)
        ]
        found = {unit for text in texts for unit in re.findall(r"(?:, |^)(µs|ms|s)\b", text)}
    # Device time of the whole run is another quantity, in seconds.
    assert found <= {"ms", "s"} and "ms" in found
    assert [text for text in texts if re.search(r", s\b", text)] == ["Device time, s"]


def test_numbers_of_untimed_runs_are_left_out_once(browser: Any, reports: dict[str, Path]) -> None:
    with _screen(browser, reports["untimed"]) as seen:
        assert seen.page.locator("table.front td.dots").count() == 0
        heads = seen.page.locator("table.front thead th").all_inner_texts()
        assert [head.split("\n")[0] for head in heads][:3] == [
            "Run", "Write amplification by cause", "WA",
        ]  # fmt: skip
        lines = seen.page.locator("section:has(#left-out) li").all_text_contents()
        assert sum("time was not simulated" in line for line in lines) <= 3
        assert seen.page.locator(".answer").inner_text().endswith("have no interval.")
        assert "time not simulated" in seen.page.locator(".pills").inner_text()


@pytest.mark.parametrize("name", CASES)
def test_a_phone_has_all_rows_without_scrolling_sideways(
    browser: Any, reports: dict[str, Path], name: str
) -> None:
    with _screen(browser, reports[name], width=400) as seen:
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        table = seen.page.locator("header .scroll")
        assert table.evaluate("(one) => one.scrollWidth <= one.clientWidth")
        bar = seen.page.locator("table.front td.bar svg").first.bounding_box()
        assert bar["width"] > 300


TEXTS = """(axis) => [...axis.querySelectorAll("text")].map((one) => {
  const box = one.getBoundingClientRect();
  return [box.left, box.right, box.top, box.bottom];
})"""


@pytest.mark.parametrize("width", [400, 840, 1100, 1280])
def test_both_axes_have_ticks_that_are_apart_at_every_width(
    browser: Any, reports: dict[str, Path], width: int
) -> None:
    with _screen(browser, reports["seeds"], width=width) as seen:
        for name, kind in (("Write amplification", "bar"), ("Response time, ms", "dots")):
            axis = seen.page.locator("thead th.graphic", has_text=name).locator("svg.axis")
            assert axis.is_visible()
            boxes = axis.evaluate(TEXTS)
            assert len(boxes) >= 3
            for (_, end, *_), (begin, *_) in pairwise(boxes):
                assert end < begin
            # The axis is as wide as the bars, or the ticks would mean nothing.
            own, row = (
                one.bounding_box() for one in (axis, seen.page.locator(f"td.{kind} svg").first)
            )
            assert own["x"] == pytest.approx(row["x"], abs=0.5)
            assert own["width"] == pytest.approx(row["width"], abs=0.5)


def test_axes_stay_in_sight_on_a_phone(browser: Any, reports: dict[str, Path]) -> None:
    with _screen(browser, reports["forty"], width=400) as seen:
        last = seen.page.locator("table.front tbody tr").last
        last.scroll_into_view_if_needed()
        seen.page.wait_for_function("scrollY > 1000")
        axis = seen.page.locator("svg.axis").first.bounding_box()
        assert 0 <= axis["y"] < 100 < last.bounding_box()["y"]


def test_rows_are_sorted_with_their_pictures(browser: Any, reports: dict[str, Path]) -> None:
    with _screen(browser, reports["forty"]) as seen:
        seen.page.locator("table.front").get_by_role("button", name="WA", exact=True).click()
        cells = seen.page.locator("table.front td[data-name=WA]")
        orders = [float(cell.get_attribute("data-order")) for cell in cells.all()]
        assert orders == sorted(orders) and len(orders) == 40
        ends = seen.page.locator("table.front td.bar svg").evaluate_all(
            "all => all.map((one) => one.querySelector('.piece:last-of-type')"
            ".getBoundingClientRect().right)"
        )
        assert ends == sorted(ends)


def test_a_bar_describes_its_cause(browser: Any, reports: dict[str, Path]) -> None:
    with _screen(browser, reports["one"]) as seen:
        tip = seen.tip_of(seen.page.locator(".piece").first)
        assert "host writes" in tip and "financial1" in tip
        seen.page.mouse.wheel(0, 300)
        seen.page.wait_for_function("document.getElementById('tip').hidden")
