"""The window of dies and channels: command line option, figure, numbers, and zoom in a browser."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import report_samples as samples
from browser import Seen
from paths import ROOT

import floatgate
from floatgate.report import figures, lane_view, runs, write_report
from floatgate.report.figure import Figure
from floatgate.results.causes import BLAME
from floatgate.results.lanes import request_words
from floatgate.results.result import Result

TRACE = "uniform:span=16MiB,requests=4k,reads=0.5,interarrival=2ms,arrivals=exponential"
DRIVE = {"flash.channels": "4", "flash.dies": "2", "flash.planes": "2", "flash.bus": "1200MB/s"}
DRIVE |= {"flash.read": "50us", "flash.program": "600us", "flash.erase": "4500us"}
DRIVE |= {"flash.superblock": "1", "flash.pages_per_block": "32", "start.fill": "random"}
DRIVE |= {"capacity.spare_factor": "0.28"}
SETS = [part for key, value in DRIVE.items() for part in ("--set", f"{key}={value}")]
NAMES = {"host": "host", "gc": "cleaning", "map": "map", "merge": "merges", "remap": "remapping"}


def _run(**lanes: str) -> Result:
    settings = DRIVE | {f"lanes.{key}": value for key, value in lanes.items()}
    return floatgate.run(TRACE, set=settings)


@pytest.fixture(scope="module")
def worst() -> Result:
    return _run(window="8ms")


def _figure(results: Sequence[Result]) -> Figure:
    found = figures.figures(runs.label_runs(results))
    (figure,) = (figure for figure in found if figure.key == "lanes")
    return figure


def _bars(drawing: Any) -> pl.DataFrame:
    """Returns the bars as drawn."""
    tables = drawing.chart.to_dict()["datasets"].values()
    rows = [json.loads(text) if isinstance(text, str) else text for text in tables]
    (bars,) = (table for table in rows if "doing" in table[0])
    return pl.DataFrame(bars)


def test_the_command_records_and_says_what_was_waited_for(cli, tmp_path: Path) -> None:
    done = cli("run", TRACE, *SETS, "--lanes", "8ms", "--out", "out").ok()
    result = Result.from_json((tmp_path / "out" / "result.json").read_text("utf-8"))
    assert result.setting("lanes.window") == "8ms"
    said = " ".join(done.stdout.split())
    assert " ".join(request_words(result).split()) in said
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert 'id="lanes-0"' in page and request_words(result) in page
    plain = cli("run", TRACE, *SETS, "--out", "plain")
    assert "looked at" in done.stdout and "looked at" not in plain.stdout
    assert 'id="lanes' not in (tmp_path / "plain" / "report.html").read_text("utf-8")


def test_the_command_takes_a_time(cli) -> None:
    done = cli("run", TRACE, *SETS, "--lanes", "4ms", "--lanes-at", "0.1s", "--json")
    lanes = json.loads(done.stdout)["lanes"]
    assert (lanes["from_ns"], lanes["to_ns"]) == (98_000_000, 102_000_000)


def test_a_comparison_has_a_window_of_each_run(cli, tmp_path: Path) -> None:
    varied = ("--vary", "schedule.order=fifo,read_first")
    cli("compare", TRACE, *varied, *SETS, "--lanes", "4ms", "--out", "both").ok()
    page = (tmp_path / "both" / "report.html").read_text("utf-8")
    assert 'id="lanes-1"' in page and 'id="lanes-2"' not in page


def test_it_is_the_request_that_took_longest(worst: Result) -> None:
    request, lanes = worst.lanes.request, worst.lanes
    assert request.latency_us == pytest.approx(worst.latency.all.max_us, rel=1e-3)
    assert sum(us or 0.0 for us in vars(request.blame_us).values()) == pytest.approx(
        request.latency_us
    )
    arrival, done = request.arrival_ns or 0, request.done_ns or 0
    assert (done - arrival) / 1000 == pytest.approx(request.latency_us)
    assert lanes.from_ns == done - 6_000_000 and lanes.to_ns == done + 2_000_000
    # The die that served the request last was busy until its end, or the channel transferred its
    # page.
    spans = lanes.spans
    ends = {lane for lane, to in zip(spans.lane, spans.to_ns, strict=True) if to == done}
    assert ends & set(request.dies)


def test_the_bars_are_the_spans_of_the_result(worst: Result) -> None:
    (drawing,) = _figure([worst]).drawings
    bars, spans, lanes = _bars(drawing), worst.lanes.spans, worst.lanes
    assert bars.height == len(spans.lane)
    # Times are in ms from the arrival.
    zero = lanes.request.arrival_ns or 0
    for ours, theirs in ((spans.from_ns, "start"), (spans.to_ns, "end")):
        assert bars[theirs].to_list() == pytest.approx([(ns - zero) / 1e6 for ns in ours])
    assert bars["doing"].to_list() == list(spans.doing)
    assert bars["cause"].to_list() == [NAMES[cause] for cause in spans.cause]
    names = [f"die {lane}" if lane < 8 else f"channel {lane - 8}" for lane in spans.lane]
    assert bars["lane"].to_list() == names
    # Each channel is above its two dies, with a gap between channels.
    places = {name: bars.filter(lane=name)["place"][0] for name in set(names)}
    for name, place in places.items():
        kind, number = name.split()
        channel = int(number) if kind == "channel" else int(number) // 2
        row = 0 if kind == "channel" else 1 + int(number) % 2
        assert place == 3.5 * channel + row
    assert [entry.text for entry in drawing.legend] == [
        name for name in NAMES.values() if name in set(bars["cause"])
    ]


def test_heights_distinguish_uses() -> None:
    heights = list(lane_view.HEIGHTS.values())
    assert heights == sorted(heights, reverse=True) and len(set(heights)) == 5


def test_the_table_has_the_shares_of_the_window(worst: Result) -> None:
    table = _figure([worst]).table
    assert table is not None
    lanes, spans = worst.lanes, worst.lanes.spans
    window = (lanes.to_ns or 0) - (lanes.from_ns or 0)
    rows = {row[0].text: [cell.order for cell in row[1:]] for row in table.rows}
    frame = pl.DataFrame({name: list(column) for name, column in vars(spans).items()})
    for kind, doing, of in [
        *(("Dies", use, 8) for use in lane_view.HEIGHTS),
        ("Channels", "transfer", 4),
    ]:
        inside = pl.col("lane") < 8 if kind == "Dies" else pl.col("lane") >= 8
        of_use = frame.filter(inside, pl.col("doing") == doing)
        expected = [
            float((part["to_ns"] - part["from_ns"]).sum()) / window / of
            for part in (of_use.filter(cause=cause) for cause in NAMES)
        ]
        if of_use.height:
            assert rows.pop(f"{kind}: {doing}") == pytest.approx([*expected, sum(expected)])
    assert rows == {}


def test_a_window_of_the_whole_run_has_the_shares_of_the_run() -> None:
    result = _run(window="1000s")
    spans, dies = result.lanes.spans, result.dies
    busy = [0] * (len(dies.idle) + len(result.channels.idle))
    for lane, begin, end in zip(spans.lane, spans.from_ns, spans.to_ns, strict=True):
        busy[lane] += end - begin
    shares = [1 - idle for idle in (*dies.idle, *result.channels.idle)]
    # The shares refer to the run up to the end of its last operation.
    whole = busy[0] / shares[0]
    assert whole <= (result.lanes.to_ns or 0) * 1.001
    assert busy == pytest.approx([share * whole for share in shares])


def test_the_request_is_told_in_words(worst: Result) -> None:
    request, words = worst.lanes.request, request_words(worst)
    assert f"a {request.op} of 4\N{NARROW NO-BREAK SPACE}KiB" in words
    parts = {name: n for name, n in vars(request.blame_us).items() if n}
    longest = max(parts, key=lambda name: parts[name])
    assert f": {BLAME[longest]} " in words
    assert words.endswith(f"die {request.dies[0]}.") or len(request.dies) > 1


def test_spans_too_short_to_be_seen_are_as_long_together() -> None:
    result = _run(window="1000s")
    frame = lane_view.window_spans(result)
    joined = lane_view.join_short(frame, 2000)
    assert 500 < joined.height < 2500 < frame.height

    def took(of: pl.DataFrame) -> dict[str, float]:
        sums = of.group_by("lane").agg((pl.col("end") - pl.col("start")).sum().alias("took"))
        return dict(sums.iter_rows())

    assert took(joined) == pytest.approx(took(frame))
    assert lane_view.join_short(frame, frame.height).equals(frame)


def test_more_lanes_than_can_be_drawn_are_those_of_the_request() -> None:
    document = samples.sample()
    dies, channels = 128, 16
    document["dies"] = dict.fromkeys(("read", "program", "erase", "transfer", "wait"), [0.0] * dies)
    document["dies"]["idle"] = [1.0] * dies
    document["channels"] = dict.fromkeys(("host", "map", "gc", "merge", "remap"), [0.0] * channels)
    document["channels"]["idle"] = [1.0] * channels
    document["config"]["lanes"] = {"window": "1ms", "around": "worst", "spans": 200_000}
    every = range(dies + channels)
    document["lanes"] = {
        "from_ns": 0,
        "to_ns": 1_000_000,
        "request": {"number": 7, "op": "read", "offset": 0, "length": 4096, "dies": [120]}
        | {"arrival_ns": 100_000, "done_ns": 900_000, "latency_us": 800.0},
        "spans": {"lane": [*every], "doing": ["transfer"] * len(every)}
        | {"cause": ["host"] * len(every), "from_ns": [0] * len(every)}
        | {"to_ns": [1000] * len(every)},
    }
    figure = _figure(samples.typed([document]))
    assert figure.reasons == ["financial1: 48 lanes are not drawn."]
    drawn = _bars(figure.drawings[0])["lane"].to_list()
    assert len(drawn) == lane_view.LANES
    assert {"die 120", "channel 15", "die 0"} < set(drawn)


def test_a_window_behind_the_end_of_the_run_is_said_so() -> None:
    result = _run(window="1ms", around="900s")
    figure = _figure([result])
    assert not figure.drawings and figure.table is None
    assert figure.absent == [(figure.title, "nothing was recorded in such a window")]
    assert any("lanes.around" in warning for warning in result.warnings)


def test_the_example_of_the_docs_is_what_comes_out() -> None:
    docs = (ROOT / "docs" / "time.md").read_text("utf-8")
    section = docs.partition("## Looking at a window")[2].partition("\n## ")[0]
    (command,) = re.findall(r"^    (floatgate run .*)$", re.sub(r"\\\n\s*", "", section), re.M)
    words = shlex.split(command)
    settings = dict(words[at + 1].split("=", 1) for at, word in enumerate(words) if word == "--set")
    settings["lanes.window"] = words[words.index("--lanes") + 1]
    request = floatgate.run(words[2], device="small-nvme", set=settings).lanes.request
    assert f"Request {request.number:,}, a {request.op} of one page" in section
    blame = request.blame_us
    told = [time / 1000 for time in (request.latency_us, blame.gc, blame.die) if time]
    assert f"took {told[0]:.1f} ms: {told[1]:.1f} of cleaning and {told[2]:.2f} of" in section
    assert request.dies == (1,)


BARS = "#lanes-0 svg .mark-rect path[aria-label*='Lane']"
"""Selector of the bars of spans. Bands have no name."""


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
        assert request_words(worst) in told
        assert "done, " in told
        longest = seen.page.locator(BARS).first
        tip = seen.tip_of(longest)
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
        seen.scroll_to(seen.page.locator("#lanes-0"))
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
    result = _run(window="1s")
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
