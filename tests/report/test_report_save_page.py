"""Files that a reader saves from the report, plots and tables, and the parts of the page in
view."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
import report_samples as samples
from browser import Seen
from plainly import three, whole


def _many() -> list[dict[str, Any]]:
    """Returns 64 runs with 115 warnings that differ only in numbers, and one unique warning."""
    found = []
    for seed in range(64):
        result = samples.sample(seed=seed)
        result["warnings"] = [f"only {seed + 10} erase units: fewer than 128"]
        if seed >= 13:
            result["warnings"].append(f"not steady: {seed / 100 + 1:.3f} and then {seed + 2}.5")
        found.append(result)
    found[5]["warnings"].append("the drive became read-only")
    return found


CASES = {
    "one": lambda: [samples.sample()],
    "two": lambda: [samples.sample(), samples.sample(scheme="tp_ftl")],
    "many": _many,
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return samples.written(CASES, tmp_path_factory.mktemp("reports"))


def _saved(seen: Seen, button: Any) -> tuple[str, bytes]:
    """Returns the name and content of the file that a button saves."""
    with seen.page.expect_download() as caught:
        button.click()
    download = caught.value
    return download.suggested_filename, Path(download.path()).read_bytes()


def test_a_plot_is_saved_as_a_picture_with_its_legend(
    browser: Any, reports: dict[str, Path]
) -> None:
    with Seen(browser, reports["two"]) as seen:
        panel = seen.page.locator(".panel:has(#timeline-0)")
        name, svg = _saved(seen, panel.get_by_role("button", name="SVG"))
        assert name == "timeline-0.svg"
        assert ElementTree.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
        text = svg.decode("utf-8")
        # The picture must be readable without the page: with its own colours, title and legend.
        assert "var(--" not in text
        assert ">Over the run · Write amplification<" in text
        assert ">dftl<" in text and ">tp_ftl<" in text
        name, png = _saved(seen, panel.get_by_role("button", name="PNG"))
        assert name == "timeline-0.png" and png[:8] == b"\x89PNG\r\n\x1a\n"
        assert seen.complaints == []
        assert all(url.startswith(("file:", "blob:", "data:")) for url in seen.requests)


def test_a_picture_of_one_run_has_no_legend(browser: Any, reports: dict[str, Path]) -> None:
    with Seen(browser, reports["one"]) as seen:
        panel = seen.page.locator(".panel:has(#timeline-0)")
        _, svg = _saved(seen, panel.get_by_role("button", name="SVG"))
        assert b"role-legend" not in svg
        # Shades need a legend that gives their numbers.
        panel = seen.page.locator(".panel:has(#wear-map-0)")
        _, svg = _saved(seen, panel.get_by_role("button", name="SVG"))
        assert b"role-legend" in svg


def test_a_table_is_saved_with_its_exact_numbers(browser: Any, reports: dict[str, Path]) -> None:
    results = CASES["two"]()
    with Seen(browser, reports["two"]) as seen:
        table = seen.page.locator("section:has(#metrics) table").first
        name, content = _saved(seen, table.get_by_role("button", name="CSV"))
    assert name == "main-metrics.csv"
    head, *rows = csv.reader(io.StringIO(content.decode("utf-8")))
    assert head[:2] == ["Run", "Write amplification"] and len(rows) == 2
    for row, result, run in zip(rows, results, ("dftl", "tp_ftl"), strict=True):
        cells = dict(zip(head, row, strict=True))
        assert cells["Run"] == run
        assert float(cells["Write amplification"]) == result["write_amplification"]
        assert float(cells["Map hit ratio"]) == result["mapping"]["hit_ratio"]
        assert float(cells["Erases"]) == sum(result["flash"]["erases"].values())
        (p99,) = (title for title in head if title.startswith("p99,"))
        assert p99.endswith("ms")
        assert float(cells[p99]) == pytest.approx(result["latency"]["all"]["p99_us"] / 1000)


def test_a_table_is_saved_for_latex(browser: Any, reports: dict[str, Path]) -> None:
    results = CASES["two"]()
    with Seen(browser, reports["two"]) as seen:
        table = seen.page.locator("section:has(#metrics) table").first
        name, content = _saved(seen, table.get_by_role("button", name="LaTeX"))
    assert name == "main-metrics.tex"
    lines = content.decode("utf-8").splitlines()
    columns = 11
    assert lines[1] == rf"\begin{{tabular}}{{l{'r' * (columns - 1)}}}"
    assert lines[-1] == r"\end{tabular}"
    first, second = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
    assert first.startswith(f"dftl & {results[0]['write_amplification']:.3f} & ")
    assert second.startswith(r"tp\_ftl & ")
    hit = results[0]["mapping"]["hit_ratio"] * 100
    assert rf"{hit:.2f}~\%" in first and all(line.endswith(r" \\") for line in (first, second))
    erases = sum(results[0]["flash"]["erases"].values())
    assert f" & {erases // 1000}\\,{erases % 1000:03d} & " in first
    for line in (first, second):
        assert line.count(" & ") == columns - 1


def test_numbers_are_not_broken(browser: Any, reports: dict[str, Path]) -> None:
    heights = """(all) => all.map((one) => {
        const range = document.createRange();
        range.selectNodeContents(one);
        return range.getClientRects().length;
    })"""
    for name, selector, width in (
        ("one", "table.front td:not(.graphic)", 1280),
        ("one", "table.front td:not(.graphic)", 700),
        ("two", "section:has(#metrics) td:not(.text)", 1280),
    ):
        with Seen(browser, reports[name], width=width) as seen:
            assert set(seen.page.locator(selector).evaluate_all(heights)) == {1}
            fits = "document.documentElement.scrollWidth <= innerWidth"
            assert seen.page.evaluate(fits)


def test_the_runs_fit_a_laptop(browser: Any, reports: dict[str, Path]) -> None:
    with Seen(browser, reports["two"], width=1280) as seen:
        box = seen.page.locator("header .scroll")
        assert box.evaluate("(one) => one.scrollWidth <= one.clientWidth")


def test_drive_workload_queue_and_lifetime_are_at_the_config(
    browser: Any, reports: dict[str, Path]
) -> None:
    result = samples.sample()
    with Seen(browser, reports["one"]) as seen:
        facts = seen.page.locator("section:has(#runs) .overview > div")
        texts = dict(one.inner_text().split("\n", 1) for one in facts.all())
    assert texts["Queue depth"] == "32, arrivals closed"
    assert texts["Workload"].startswith("financial1: ")
    assert three(result["lifetime"]["years"]) in texts["Lifetime"]
    assert "for the host" in texts["Drive"]


def test_many_warnings_that_differ_in_numbers_are_few(
    browser: Any, reports: dict[str, Path]
) -> None:
    with Seen(browser, reports["many"], until="ready") as seen:
        seen.page.get_by_text("not steady, 51 of 64 runs").click()
        seen.page.get_by_text("2 other warnings").click()
        items = seen.page.locator(".pill .told > ul > li")
        texts = [item.locator("p").first.inner_text() for item in items.all()]
        assert texts == [
            "not steady: 1.130 to 1.630 and then 15.5 to 65.5",
            "only 10 to 73 erase units: fewer than 128",
            "the drive became read-only",
        ]
        whom = [item.locator(".who > summary, p.who").inner_text() for item in items.all()]
        assert whom == ["51 of 64 runs", "all 64 runs", "seed 5"]
        # One click opens each run's own text.
        items.nth(0).locator("summary").click()
        own = items.nth(0).locator("details li").all_inner_texts()
        assert len(own) == 51
        assert own[0] == "seed 13: not steady: 1.130 and then 15.5"


def test_what_is_in_sight_is_drawn_first(browser: Any, reports: dict[str, Path]) -> None:
    with Seen(browser, reports["many"], until="ready", part="#wear") as seen:
        drawn = seen.page.evaluate("drawnWhenReady")
        assert 0 < len(drawn) < seen.page.locator(".plot").count()
        assert any(name.startswith("wear-") for name in drawn), drawn


def test_the_page_of_many_runs_is_small(reports: dict[str, Path]) -> None:
    # Every page has 0.9 MB. The rest comes from 64 runs of 60 windows.
    assert reports["many"].stat().st_size < 3e6


LAST_POINT = """(path) => {
    const { x, y } = path.getPointAtLength(path.getTotalLength());
    return new DOMPoint(x, y).matrixTransform(path.getScreenCTM());
}"""


def test_the_nearest_point_is_described(browser: Any, reports: dict[str, Path]) -> None:
    result = samples.sample()
    with Seen(browser, reports["one"]) as seen:
        plot = seen.page.locator("#timeline-0")
        seen.scroll_to(plot)
        at = plot.locator(".mark-line path").evaluate(LAST_POINT)
        seen.page.mouse.move(at["x"] + 3, at["y"] - 2)
        text = seen.tip().split("\n")
        told = dict(zip(text[::2], text[1::2], strict=True))
        # 60 windows are 30 points.
        last = result["timeline"]["write_amplification"][-2:]
        assert told["Write amplification, mean"] == f"{sum(last) / 2:.3f}"
        assert told["Least of a window"] == f"{min(last):.3f}"
        assert told["Host pages written"] == whole(result["timeline"]["host_pages"][-1])
        assert told["Run"] == "financial1"
        assert seen.page.locator(".near:visible").count() == 1
        seen.page.mouse.move(2, 2)
        assert seen.page.locator("#tip").is_hidden()
        assert seen.page.locator(".near:visible").count() == 0
