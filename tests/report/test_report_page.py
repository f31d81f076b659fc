"""The report in a browser: complete, without errors, self-contained, readable in both themes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import report_samples as samples
from browser import Seen
from plainly import contrast

import floatgate
from floatgate.report import summary_rows
from floatgate.results.values import ratio


def _kept(scheme: str) -> dict[str, Any]:
    """Returns a run that keeps all of its latencies."""
    drive = {"mapping.scheme": scheme, "mapping.cache": "2KiB", "start.fill": "random"}
    drive["latency.distribution"] = "full"
    return floatgate.run("uniform:span=16MiB,writes=6k,reads=0.4", set=drive).to_dict()


CASES = {
    "one": lambda: [samples.sample()],
    "two": lambda: [samples.sample(), samples.sample(scheme="tpftl")],
    "study": samples.study,
    "bare": lambda: [samples.bare()],
    "mixed": lambda: [samples.bare(), samples.sample()],
    "hostile": lambda: [samples.hostile(), samples.sample()],
    "causes": lambda: [_kept("dftl")],
    "runs by cause": lambda: [_kept("dftl"), _kept("ideal")],
    "repeated": lambda: [samples.sample(cache=f"{kib}KiB") for kib in range(1, 13)],
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return samples.written(CASES, tmp_path_factory.mktemp("reports"))


@pytest.mark.parametrize("name", CASES)
def test_draws_every_plot_in_silence_and_alone(
    browser: Any, reports: dict[str, Path], name: str
) -> None:
    with Seen(browser, reports[name]) as seen:
        empty = seen.page.evaluate(
            """() => [...document.querySelectorAll(".plot")].filter((box) => {
                 const marks = box.querySelectorAll(
                   "svg .mark-rect path, svg .mark-line path, svg .mark-rule line");
                 return ![...marks].some((mark) => mark.getBoundingClientRect().width > 0);
               }).map((box) => box.id)"""
        )
        assert empty == []
        assert seen.complaints == []
        assert [url for url in seen.requests if not re.match(r"(file|data|blob):", url)] == []
        assert seen.page.evaluate("window.broken") is None
        unnamed = seen.page.locator(".plot:not([aria-label])").count()
        assert unnamed == 0


@pytest.mark.parametrize("name", CASES)
def test_fits_a_phone(browser: Any, reports: dict[str, Path], name: str) -> None:
    with Seen(browser, reports[name], width=360) as seen:
        seen.page.evaluate("document.querySelectorAll('details').forEach((d) => d.open = true)")
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        wide = seen.page.evaluate(
            """() => [...document.querySelectorAll(".plot")].filter((box) =>
                 box.querySelector("svg").getBoundingClientRect().width > box.clientWidth + 1
               ).map((box) => box.id)"""
        )
        assert wide == []


def test_plots_follow_the_width_of_the_window(browser: Any, reports: dict[str, Path]) -> None:
    width = "document.querySelector('#timeline-0 svg').getBoundingClientRect().width"
    with Seen(browser, reports["two"], width=1280) as seen:
        seen.page.set_viewport_size({"width": 400, "height": 900})
        seen.page.wait_for_function(f"{width} > 300 && {width} <= 370")


def _contrast(one: str, other: str) -> float:
    """Returns the contrast of two colours in the form `rgb(r, g, b)`."""
    parts = ([int(part) for part in re.findall(r"\d+", colour)[:3]] for colour in (one, other))
    return contrast(*parts)


COLOURS = """() => {
  const of = (selector, property) => getComputedStyle(document.querySelector(selector))[property];
  return {
    paper: of("body", "backgroundColor"),
    text: [of("body", "color"), of("figcaption", "color"), of("nav a", "color"),
           of(".plot .role-axis-label text", "fill"), of(".plot .role-axis-title text", "fill")],
    bar: of(".plot .mark-rect path", "fill"),
    warning: [of(".pill.amber", "backgroundColor"), of(".pill.amber", "color"),
              of(".pill .told p", "color")],
  };
}"""


def test_text_and_plots_are_readable_in_both_themes_and_follow_a_change(
    browser: Any, reports: dict[str, Path]
) -> None:
    found = []
    with Seen(browser, reports["study"], scheme="light") as seen:
        for scheme in ("light", "dark"):
            seen.page.emulate_media(color_scheme=scheme)
            colours = seen.page.evaluate(COLOURS)
            assert min(_contrast(colours["paper"], text) for text in colours["text"]) >= 4.5
            panel, *texts = colours["warning"]
            assert min(_contrast(panel, text) for text in texts) >= 4.5
            assert _contrast(colours["paper"], colours["bar"]) >= 3
            found.append(colours)
        # Printed pages are light, whatever the theme of the screen.
        seen.page.emulate_media(media="print", color_scheme="dark")
        printed = seen.page.evaluate(COLOURS)
    light, dark = found
    assert light["paper"] != dark["paper"] and light["bar"] != dark["bar"]
    assert printed == light


def test_prints_within_the_sheet(browser: Any, reports: dict[str, Path]) -> None:
    with Seen(browser, reports["study"], scheme="dark") as seen:
        seen.page.emulate_media(media="print")
        # An A4 sheet between the page's margins is 182 mm wide: 688 CSS pixels.
        seen.page.set_viewport_size({"width": 688, "height": 1000})
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_tables_hold_the_results_numbers(browser: Any, reports: dict[str, Path]) -> None:
    results = CASES["study"]()
    with Seen(browser, reports["study"], until="ready") as seen:
        cells = seen.page.locator("td[data-metric=write_amplification]")
        shown = cells.all_inner_texts()
        exact = [float(cell.get_attribute("data-order")) for cell in cells.all()]
    assert shown == [ratio(result["write_amplification"]) for result in results]
    assert exact == [result["write_amplification"] for result in results]
    with Seen(browser, reports["one"], until="ready") as seen:
        cell = seen.page.locator("td[data-metric=write_amplification]").inner_text()
    assert cell == ratio(samples.sample()["write_amplification"])


def test_a_column_sorts_by_its_numbers_from_the_keyboard(
    browser: Any, reports: dict[str, Path]
) -> None:
    with Seen(browser, reports["mixed"], until="ready") as seen:
        button = seen.page.get_by_role("button", name="Write amplification", exact=True).first
        for absent_last in (["", "1"], ["", "1"]):
            button.press("Enter")
            orders = seen.page.locator("td[data-metric=write_amplification]").evaluate_all(
                "cells => cells.map((cell) => cell.dataset.order === undefined ? '1' : '')"
            )
            assert orders == absent_last
    with Seen(browser, reports["study"], until="ready") as seen:
        metrics = seen.page.locator("section:has(#metrics)")
        button = metrics.get_by_role("button", name="p99, ms").first
        button.focus()
        for reverse in (False, True):
            seen.page.keyboard.press("Enter")
            orders = seen.page.locator("td[data-metric=p99_us]").evaluate_all(
                "cells => cells.map((cell) => Number(cell.dataset.order))"
            )
            assert orders == sorted(orders, reverse=reverse)


def test_latencies_have_a_line_for_each_cause_or_run(
    browser: Any, reports: dict[str, Path]
) -> None:
    for name, counts, lines, legend in (
        ("causes", [2, 4], {"Reads": 3, "Writes, tail": 3}, ["flash itself", "cleaning", "map"]),
        ("runs by cause", [2, 6], {"Cleaning": 2, "Map": 1}, ["dftl", "ideal"]),
    ):
        with Seen(browser, reports[name]) as seen:
            for figure, count in zip(("latency-cdf", "latency-causes"), counts, strict=True):
                assert seen.page.locator(f"section:has(#{figure}) .plot").count() == count
            section = seen.page.locator("section:has(#latency-causes)")
            assert section.locator(".legend li").all_inner_texts() == legend
            headings = section.locator("h3").all_inner_texts()
            for heading, drawn in lines.items():
                plot = f"#latency-causes-{headings.index(heading)}"
                assert seen.page.locator(f"{plot} .mark-line path").count() == drawn
            tip = seen.tip_of(seen.page.locator("#latency-causes-0"))
            assert ("Cause" if name == "causes" else "Run") in tip and "Requests no slower" in tip


def test_a_warning_is_behind_its_pill_with_the_runs_it_is_about(
    browser: Any, reports: dict[str, Path]
) -> None:
    with Seen(browser, reports["study"], until="ready") as seen:
        last = seen.page.locator("main > section").last
        assert last.get_attribute("class") == "told notes"
        pill = seen.page.get_by_text("2 other warnings")
        text = seen.page.locator("details.pill", has=pill)
        assert not text.locator("li").first.is_visible()
        pill.click()
        assert text.locator("li").first.is_visible()
        found = " ".join(text.text_content().split())
    assert "not yet steady" in found and "9 of 18 runs" in found
    assert "the footprint fills 99 % of the drive" in found and "financial1, tpftl" in found


def test_what_cannot_be_drawn_is_said(browser: Any, reports: dict[str, Path]) -> None:
    with Seen(browser, reports["bare"], until="ready") as seen:
        assert seen.page.locator(".plot").count() == 0
        lines = seen.page.locator("section:has(#left-out) li").all_text_contents()
        assert seen.page.locator("section:has(#blame)").count() == 0
    for what, why in (
        ("Write amplification by cause", "the host wrote nothing"),
        ("Mapping cache", "nothing was looked up"),
        ("Reads", "there are no response times"),
        ("Over the run", "no run has two windows"),
        ("Wear", "no erase counts"),
        ("WA", "not known of any run"),
    ):
        assert any(what in line and why in line for line in lines), (what, lines)
    with Seen(browser, reports["mixed"], until="ready") as seen:
        reasons = seen.page.locator(".reason").all_text_contents()
    assert any(re.match("Not drawn for readonly.*the host wrote nothing", text) for text in reasons)


def test_a_tooltip_names_the_run_and_the_number(browser: Any, reports: dict[str, Path]) -> None:
    with Seen(browser, reports["hostile"]) as seen:
        bar = seen.page.locator("#write-amplification-0 .mark-rect path").first
        text = seen.tip_of(bar)
        assert "</script><script>window.broken = 1</script>" in text
        assert "host writes" in text and "1.000" in text
        assert seen.page.evaluate("window.broken") is None
    with Seen(browser, reports["two"]) as seen:
        box = seen.page.locator("#timeline-0")
        assert "Host pages written" in seen.tip_of(box)


def test_hostile_names_are_text_everywhere(browser: Any, reports: dict[str, Path]) -> None:
    name = samples.hostile()["workload"]["name"]
    with Seen(browser, reports["hostile"]) as seen:
        assert name in seen.page.title()
        assert name in seen.page.locator("#runs ~ details").nth(1).text_content()
        assert seen.page.locator("main b, main img, main script").count() == 0
        assert "{{ 7 * 7 }}" in seen.page.locator(".notes").text_content()
        payload = json.loads(seen.page.locator("#payload").text_content())
    labels = json.dumps(payload["data"])
    assert json.dumps(summary_rows(samples.typed(CASES["hostile"]()))[0]["label"])[1:-1] in labels


def test_the_legend_of_many_runs_names_schemes_and_sizes_once(
    browser: Any, reports: dict[str, Path]
) -> None:
    with Seen(browser, reports["study"], until="ready") as seen:
        legend = seen.page.locator("section:has(#latency) .legend li").all_inner_texts()
        headings = seen.page.locator("section:has(#latency) h3").all_inner_texts()
    schemes, sizes = list(samples.HIT_RATIO), [f"cache {size}" for size in samples.CACHE_GAIN]
    assert legend == schemes + sizes
    assert headings == [
        f"{kind}\N{NO-BREAK SPACE}· {trace}"
        for kind in ("Reads", "Writes")
        for trace in ("financial1", "msr_prxy0")
    ]
    with Seen(browser, reports["repeated"], until="ready") as seen:
        legends = seen.page.locator("section:has(#latency) .panel .legend")
        assert legends.count() == 4
        names = [f"cache {kib}KiB" for kib in range(9, 13)]
        assert legends.nth(1).locator("li").all_inner_texts() == names
