"""The report without a browser: labels, summary rows, files, pictures."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
import report_samples as samples
from plainly import DICHROMACIES, NORMAL, contrast, difference

import floatgate as fg
from floatgate import _core
from floatgate.report import page, summary_rows, theme, write_pictures, write_report
from floatgate.report.runs import panels


def labels(results: list[dict[str, Any]]) -> list[str]:
    return [row["label"] for row in summary_rows(samples.typed(results))]


def test_a_bare_result_gives_none_not_an_error() -> None:
    for document in (samples.bare(), {}):
        (row,) = summary_rows(samples.typed([document]))
        assert row["write_amplification"] is None and row["mean_us"] is None
        assert row["erases"] == 0


def test_labels_name_what_differs() -> None:
    sample = samples.sample
    assert labels([sample(), sample(scheme="tpftl", cache="32KiB")]) == [
        "mapping.scheme=dftl, mapping.cache=64KiB",
        "mapping.scheme=tpftl, mapping.cache=32KiB",
    ]
    assert labels([sample(), sample("msr_prxy0")]) == ["financial1", "msr_prxy0"]
    assert labels([sample(), sample("msr_prxy0", scheme="sftl")])[1] == (
        "msr_prxy0, mapping.scheme=sftl"
    )
    assert labels([sample(), sample(seed=2)]) == ["seed=1", "seed=2"]
    assert labels([sample(), sample()]) == ["run 1", "run 2"]
    assert len(set(labels(samples.study()))) == 18


def test_traces_of_one_name_and_other_content_are_told_apart() -> None:
    other = samples.sample()
    other["workload"]["hash"] = "ffff0000ffff"
    assert labels([samples.sample(), other])[1] == "financial1 (ffff0000)"


def test_a_change_of_device_does_not_fill_the_label() -> None:
    first, second = samples.sample(), samples.sample()
    second["config"]["flash"] = {"page": "8KiB", "pages_per_block": 128, "blocks": 4, "read": "1us"}
    second["config"]["queue"]["depth"] = 1
    assert labels([first, second]) == ["flash.page=4KiB", "flash.page=8KiB"]


def test_policy_parameters_follow_from_the_policy() -> None:
    results = [samples.sample(scheme=scheme) for scheme in samples.HIT_RATIO]
    assert labels(results) == [f"mapping.scheme={scheme}" for scheme in samples.HIT_RATIO]
    results = [samples.sample(), samples.sample()]
    results[1]["config"]["dftl"]["protected"] = 0.8
    assert labels(results) == ["dftl.protected=0.5", "dftl.protected=0.8"]


def test_short_names_keep_what_a_number_needs() -> None:
    results = [
        samples.sample(scheme=s, cache=c) for s in ("dftl", "none") for c in ("32KiB", "64KiB")
    ]
    assert [run.name for run in samples.runs(results)] == [
        "dftl, cache 32KiB",
        "dftl, cache 64KiB",
        "no map cache, cache 32KiB",
        "no map cache, cache 64KiB",
    ]
    results = [samples.sample() for _ in range(2)]
    for result, share in zip(results, (0.07, 0.285), strict=True):
        result["config"]["capacity"]["spare_factor"] = share
    assert [run.name for run in samples.runs(results)] == ["7 % spare", "28.5 % spare"]


@pytest.mark.parametrize(
    "results",
    [
        samples.study(),
        [samples.sample(seed=seed) for seed in range(40)],
        [samples.sample(f"trace{i}") for i in range(20)],
        [samples.sample(f"trace{i}", s) for i in range(20) for s in samples.HIT_RATIO],
        [samples.sample() for _ in range(9)],
    ],
)
def test_lines_of_a_panel_can_be_told_apart(results: list[dict[str, Any]]) -> None:
    runs = samples.runs(results)
    assert [run.result for run in runs] == samples.typed(results)
    assert len({run.label for run in runs}) == len({run.name for run in runs}) == len(runs)
    for group in panels(runs).values():
        assert len({(run.colour, run.dash) for run in group}) == len(group)
        assert len({run.row for run in group}) == len(group)
        assert len({run.colour for run in group}) <= theme.SERIES
        assert len({run.dash for run in group}) <= len(theme.DASHES)


@pytest.mark.parametrize(
    ("text", "value"),
    [("64KiB", 65536), ("1MiB", 2**20), ("25us", 25e-6), ("0.07", 0.07), ("40MB/s", 4e7)]
    + [(text, None) for text in ("dftl", "none", "", "iB", "-1", "4 KiBs", "true")],
)
def test_quantities(text: str, value: float | None) -> None:
    assert _core.number(text) == (None if value is None else pytest.approx(value))


def test_a_report_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = samples.typed([samples.sample()])
    path = write_report(results, tmp_path / "report.html", title="A <title>")
    text = path.read_text("utf-8")
    assert "<title>A &lt;title&gt; – Floatgate</title>" in text
    assert write_report(results, path, title="A <title>").read_text("utf-8") == text

    def fail(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(OSError, match="no space left"):
        write_report(results, path, title="another")
    assert path.read_text("utf-8") == text
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]


def test_refuses_what_it_cannot_do(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_report(samples.typed([samples.sample()]), tmp_path / "absent" / "report.html")
    with pytest.raises(ValueError, match="at least one result"):
        write_report([], tmp_path / "report.html")
    with pytest.raises(ValueError, match="'gif'"):
        write_pictures(samples.typed([samples.sample()]), tmp_path, "gif")  # type: ignore[arg-type]


def test_nothing_in_the_page_needs_the_network(tmp_path: Path) -> None:
    text = write_report(samples.typed([samples.sample()]), tmp_path / "report.html").read_text(
        "utf-8"
    )
    head = text[: text.index(page.begin_script().result()[:200])]
    for word in ("src=", 'href="http', "@import", "url(", "<link", "https://"):
        assert word not in head.replace('$schema": "https://vega.github.io', ""), word


def test_pictures_are_whole_svg_and_png(tmp_path: Path) -> None:
    results = samples.typed([samples.sample(), samples.sample(scheme="tpftl")])
    drawings = write_pictures(results, tmp_path, "svg")
    names = ["write-amplification", "hit-ratio", "latency", "blame", "die-use"]
    names += ["timeline", "latency-over-time", "wear", "wear-map"]
    assert [path.name for path in drawings] == [f"{name}.svg" for name in names]
    for path in drawings:
        root = ElementTree.parse(path).getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        text = path.read_text("utf-8")
        assert "var(--" not in text
        # Every plot has a bar or a line with an extent.
        bars = re.findall(r'role="graphics-symbol"[^>]* d="M[^"]+h', text)
        lines = re.findall(r'class="mark-line role-mark [^"]*".*?<path[^>]* d="M[^"]*L', text)
        assert bars or lines, path.name
    for path in write_pictures(results, tmp_path, "png"):
        assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_pictures_leave_out_what_cannot_be_drawn(tmp_path: Path) -> None:
    assert write_pictures(samples.typed([samples.bare()]), tmp_path, "svg") == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("colours", [theme.LIGHT, theme.DARK])
def test_series_stand_out_from_the_page_and_from_each_other(colours: dict[str, str]) -> None:
    def parts(name: str) -> list[int]:
        return [int(colours[name][i : i + 2], 16) for i in (1, 3, 5)]

    series = [f"series-{i}" for i in range(theme.PARTS)]
    runs = [f"run-{i}" for i in range(theme.SERIES)]
    least = dict.fromkeys((*series, *runs), 3) | {"ink": 7, "muted": 4.5, "link": 4.5}
    for name, ratio in least.items():
        assert contrast(parts(name), parts("paper")) >= ratio, name
    assert all(colours[a] != colours[b] for a, b in itertools.combinations(series, 2))
    # A run has no colour that means a cause, such as host writes or cleaning.
    for run, cause in itertools.product(runs, series):
        assert difference(parts(run), parts(cause), NORMAL) > 15, (run, cause)
    for one, other in itertools.combinations(runs, 2):
        for eye in (NORMAL, *DICHROMACIES):
            assert difference(parts(one), parts(other), eye) > 20, (one, other)
    # Cells of verdicts have their counts as text.
    verdicts = ("met", "partly", "unmet")
    for name in verdicts:
        assert contrast(parts(name), parts("ink")) >= 4.5, name
    for one, other in itertools.combinations(verdicts, 2):
        for eye in (NORMAL, *DICHROMACIES):
            assert difference(parts(one), parts(other), eye) > 12, (one, other)


RUNS: dict[str, dict[str, Any]] = {
    "ideal": {"start.fill": "random"},
    "dftl": {"mapping.scheme": "dftl", "mapping.cache": "16KiB", "start.fill": "steady"},
    "eti": {"placement.scheme": "eti", "buffer.scheme": "lru", "buffer.capacity": "256KiB"},
    "bast": {"ftl.scheme": "bast"},
    "shrd": {"host.scheme": "shrd", "host.log": "1MiB", "shrd.contiguous": 8},
}


@pytest.fixture(scope="module")
def results() -> list[fg.Result]:
    workload = "hotcold:span=16MiB,writes=6k,reads=0.3,trim=0.02"
    return [fg.run(workload, set=settings) for settings in RUNS.values()]


def test_the_report_of_every_kind_of_drive(results: list[fg.Result], tmp_path: Path) -> None:
    page = write_report(results, tmp_path / "report.html").read_text()
    assert "</html>" in page and len(page) > 100_000
    for result in results:
        write_report([result], tmp_path / "single.html")


def test_the_summary_of_every_kind_of_drive(results: list[fg.Result]) -> None:
    assert len(summary_rows(results)) == len(results)
