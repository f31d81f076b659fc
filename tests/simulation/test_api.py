"""The Python front: its inputs and outputs, and its independence of the number of threads."""

from __future__ import annotations

import dataclasses
import html
import inspect
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from paths import DATA

import floatgate as fg
from floatgate import models
from floatgate.results.table import idle_keys
from floatgate.simulation import configs, pool
from floatgate.simulation.options import RunOptions

SMALL = "uniform:span=16MiB,writes=5k"
CLOSED = {"queue.arrivals": "closed"}


def _comparable(result: fg.Result) -> dict[str, Any]:
    return {key: value for key, value in result.to_dict().items() if key != "engine"}


@pytest.fixture(scope="module")
def result() -> fg.Result:
    return fg.run(SMALL, set={**CLOSED, "mapping.scheme": "dftl", "mapping.cache": "4KiB"})


def test_numbers_are_where_the_contract_has_them(result: fg.Result) -> None:
    document = result.to_dict()
    assert result.write_amplification == document["write_amplification"] >= 1
    assert result.latency.p99 == result.latency.all.p99_us == document["latency"]["all"]["p99_us"]
    assert result.flash.programs.total == sum(document["flash"]["programs"].values())
    assert result.placement.streams[0].host_pages == 5000
    assert result.config["mapping"]["scheme"] == "dftl"
    assert 0 < result.mapping.hit_ratio < 1
    assert result.timeline["host_pages"][-1] == result.workload.write_pages == 5000


def test_a_result_is_fixed_and_comes_back_from_its_document(result: fg.Result) -> None:
    again = fg.Result.from_dict(json.loads(result.to_json()))
    assert again == result
    assert again.to_dict() == result.to_dict()
    result.to_dict()["config"].clear()
    assert result.to_dict()["config"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.seed = 2  # type: ignore[misc]


def test_frames_and_files_are_traces(tmp_path: Path) -> None:
    writes = 2000
    frame = pl.DataFrame(
        {
            "at_ns": range(writes),
            "op": [1] * writes,
            "offset": [4096 * (i * 7 % 600) for i in range(writes)],
            "length": [4096] * writes,
        }
    )
    frame.write_parquet(tmp_path / "frame.parquet")

    class Table:
        """A table of any library: it only needs Arrow's C stream."""

        def __arrow_c_stream__(self, schema: object = None) -> object:
            return frame.__arrow_c_stream__(schema)

    runs = [fg.run(it) for it in (frame, Table(), tmp_path / "frame.parquet")]
    assert {run.workload.write_pages for run in runs} == {writes}
    assert {run.workload.footprint_pages for run in runs} == {600}
    assert len({run.workload.hash for run in runs}) == 1


def test_limit_repeat_and_modulo_work_for_generators_too() -> None:
    whole = fg.run(SMALL)
    part = fg.run(SMALL, limit=1000, repeat=3)
    assert part.workload.requests == 3000
    assert part.drive.logical_bytes == whole.drive.logical_bytes
    assert part.workload.name == whole.workload.name
    assert "only the first 1,000 of 5,000 requests" in part.notes
    small = fg.run(SMALL, addresses="modulo", set={"flash.blocks": 40})
    assert small.drive.logical_bytes < 16 << 20
    assert small.workload.requests == 5000


def test_run_has_the_options_of_a_run() -> None:
    """`run` lists the options by name for users. All other code passes `RunOptions`."""
    signature = inspect.signature(fg.run).parameters
    options = {one.name: (one.default, one.type) for one in dataclasses.fields(RunOptions)}
    found = {name: (signature[name].default, signature[name].annotation) for name in options}
    assert found == options
    assert {*signature} - {*options} == {"trace", "device", "set", "progress"}


def test_options_without_meaning_are_refused() -> None:
    for call, option in (
        (fg.hotness, {"addresses": "modulo"}),
        (fg.map_curve, {"verify": True}),
        (fg.map_curve, {"addresses": "modulo"}),
        (fg.crash, {"verify": True}),
        (fg.crash, {"addresses": "modulo"}),
    ):
        with pytest.raises(fg.ConfigError, match=f"{next(iter(option))}: .* given"):
            call(SMALL, **option)
    with pytest.raises(TypeError, match="unknown"):
        fg.map_curve(SMALL, unknown=1)
    assert fg.map_curve(SMALL, repeat=2)["accesses"] == 2 * fg.map_curve(SMALL)["accesses"]


def test_modulo_needs_to_know_the_drive() -> None:
    with pytest.raises(fg.ConfigError, match=r"flash\.blocks"):
        fg.run(DATA / "three.disksim", addresses="modulo")
    fits = fg.run(DATA / "three.disksim", addresses="modulo", set={"flash.blocks": 100})
    assert fits.drive.logical_bytes < 100 * 64 * 4096


def test_a_device_is_a_preset_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('preset = "dftl09"\n[capacity]\nspare_factor = 0.2\n')
    device = fg.run(SMALL, device=file).config
    assert device["capacity"]["spare_factor"] == 0.2
    assert device["flash"] == fg.run(SMALL, device="dftl09").config["flash"]
    file.write_text("[flash\n")
    with pytest.raises(fg.ConfigError, match=r"mine\.toml: line 1"):
        fg.run(SMALL, device=file)


def test_compare_is_the_cross_product_in_order() -> None:
    vary = {"capacity.spare_factor": [0.1, 0.25], "start.fill": ["none", "sequential"]}
    table = fg.compare([SMALL, DATA / "three.disksim"], vary=vary, set=CLOSED)
    assert table.columns[:5] == ["trace", *vary, "drive", "write_amplification"]
    assert table["capacity.spare_factor"].to_list() == [0.1, 0.1, 0.25, 0.25] * 2
    assert table["start.fill"].to_list() == ["none", "sequential"] * 4
    single = fg.run(SMALL, set={**CLOSED, "capacity.spare_factor": 0.25, "start.fill": "none"})
    assert table["write_amplification"][2] == single.write_amplification
    assert table["latency.all.p99_us"][2] == single.latency.p99


def test_every_column_is_the_number_of_its_path() -> None:
    """Every number of these sections has a column, too. Lists have none."""
    vary = {"mapping.scheme": ["ideal", "dftl"]}
    found = fg.compare_results([SMALL, DATA / "three.disksim"], vary=vary)
    table = found.table()
    sections = ("amplification", "latency", "throughput", "mapping", "buffer", "flash", "wear")
    sections += ("host",)
    for row, run in zip(table.rows(named=True), found, strict=True):
        document = run.to_dict()
        numbers: dict[str, Any] = {}

        def walk(value: Any, path: str, into: dict[str, Any] = numbers) -> None:
            if isinstance(value, dict):
                for name, one in value.items():
                    walk(one, f"{path}.{name}" if path else name)
            elif not isinstance(value, (list, str)):
                into[path] = value

        walk({name: document[name] for name in sections}, "")
        for name in ("write", "page_write", "data_write"):
            name += "_amplification"
            numbers[name] = document[name]
        last = "write_amplification_last_quarter"
        numbers[last] = document[last]
        numbers["warnings"] = len(run.warnings)
        assert set(row) == {"trace", *vary, "drive", *numbers}
        assert row["trace"] == run.workload.name
        assert row["mapping.scheme"] == run.config["mapping"]["scheme"]
        assert {name: row[name] for name in numbers} == numbers
    assert len(set(table["warnings"])) > 1 or table["warnings"][0] > 0


def test_progress_of_a_comparison_is_of_all_its_runs() -> None:
    seen: list[tuple[str, int, int]] = []
    traces = [SMALL, "uniform:span=16MiB,writes=7k"]
    vary = {"queue.depth": [1, 2, 4]}
    fg.compare(traces, vary=vary, set=CLOSED, progress=lambda *told: seen.append(told))
    assert seen[:2] == [("read", 0, 0)] * 2
    assert seen[-1] == ("run", 3 * 12_000, 3 * 12_000)
    done = [at for phase, at, _ in seen if phase == "run"]
    assert done == sorted(done)


def test_compare_does_not_depend_on_workers() -> None:
    vary = {"mapping.scheme": ["ideal", "none", "dftl"], "queue.depth": [1, 8]}
    one, three = (fg.compare_results(SMALL, vary=vary, workers=n) for n in (1, 3))
    assert list(map(_comparable, one)) == list(map(_comparable, three))


@pytest.mark.parametrize(
    ("vary", "words"),
    [
        ({"mapping.scheme": "dftl"}, "expected a list"),
        ({"mapping.scheme": []}, "expected a list"),
        ({"queue.arrivals": ["open"]}, "also set"),
    ],
)
def test_wrong_values_are_named(vary: dict[str, Any], words: str) -> None:
    with pytest.raises(fg.ConfigError, match=words):
        fg.compare([SMALL], vary=vary, set=CLOSED)


def test_the_run_that_failed_is_named() -> None:
    with pytest.raises(fg.ConfigError, match=r"flash\.blocks=20: the workload spans"):
        fg.compare([SMALL], vary={"flash.blocks": [400, 20]})


def test_progress_is_told_and_an_interrupt_there_ends_the_run() -> None:
    seen = []

    def stop(phase: str, done: int, total: int) -> None:
        seen.append((phase, done, total))
        if phase == "run" and done:
            raise KeyboardInterrupt

    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        fg.run("uniform:span=16MiB,writes=4000000000", progress=stop)
    assert time.monotonic() - begin < 20
    assert seen[0] == ("read", 0, 0)
    assert seen[-1][2] == 4_000_000_000


def test_a_device_is_a_config_too(result: fg.Result) -> None:
    """A result's own config is a device, and gives the same result again."""
    again = fg.run(SMALL, device=result.config)
    assert again.flash == result.flash
    assert again.latency == result.latency
    assert (result.device, again.device) == ("classic", "config")
    nested = {"preset": "dftl09", "capacity": {"spare_factor": 0.2}, "flash": {"blocks": None}}
    small = fg.run(SMALL, device=nested, set={"queue.depth": 2})
    assert small.config["capacity"]["spare_factor"] == 0.2
    assert small.config["queue"]["depth"] == 2
    assert small.config["flash"] == fg.run(SMALL, device="dftl09").config["flash"]
    with pytest.raises(fg.ConfigError, match=r"device: .*blox"):
        fg.run(SMALL, device={"flash": {"blox": 3}})


def test_whole_drives_vary(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('preset = "classic"\n[capacity]\nspare_factor = 0.3\n')
    names = ["classic", "dftl09", str(mine)]
    table = fg.compare(SMALL, vary={"queue.depth": [1, 2], "device": names}, set=CLOSED)
    assert table.select("queue.depth", "device").rows() == [
        (depth, name) for depth in (1, 2) for name in names
    ]
    for row in table.rows(named=True):
        alone = fg.run(
            SMALL, device=row["device"], set={**CLOSED, "queue.depth": row["queue.depth"]}
        )
        assert row["write_amplification"] == alone.write_amplification
        assert row["latency.all.p99_us"] == alone.latency.p99
    with pytest.raises(fg.ConfigError, match="device is also given"):
        fg.compare(SMALL, vary={"device": names}, device="classic")
    with pytest.raises(fg.ConfigError, match="names of presets or files"):
        fg.compare(SMALL, vary={"device": [{"flash": {}}]})


TIED = ("queue.depth", "capacity.spare_factor")


def test_keys_that_change_together_make_no_other_rows() -> None:
    vary = {TIED: [(1, 0.1), (2, 0.3)], "cleaning.victim": ["greedy", "cat"]}
    runs = fg.compare_results(SMALL, vary=vary, set=CLOSED)
    assert runs.keys == [*TIED, "cleaning.victim"]
    assert runs.table().select(runs.keys).rows() == [
        (depth, spare, victim) for depth, spare in vary[TIED] for victim in vary["cleaning.victim"]
    ]
    alone = fg.run(SMALL, set={**CLOSED, **dict(zip(TIED, (2, 0.3), strict=True))})
    assert runs[2].write_amplification == alone.write_amplification


@pytest.mark.parametrize(
    ("vary", "words"),
    [
        ({TIED: [(1, 0.1), (2,)]}, r"has \(2,\); expected a tuple of 2 values"),
        ({TIED: [(1, 0.1), "ab"]}, "has 'ab'; expected a tuple of 2 values"),
        ({TIED: "ab"}, "has 'ab'; expected a list of values"),
        ({TIED: [(1, 0.1)], "queue.depth": [2]}, "queue.depth is given twice"),
        ({("queue.depth", "queue.depth"): [(1, 2)]}, "queue.depth is given twice"),
    ],
)
def test_values_must_fit_the_keys_that_change_together(vary: Any, words: str) -> None:
    with pytest.raises(fg.ConfigError, match=words):
        configs.resolve_all(None, {}, vary)


@pytest.mark.parametrize(
    ("key", "needs"),
    [
        ("asa.samples", ("mapping.scheme", "asa")),
        ("asa.samples", ("placement.scheme", "asa")),
        ("windowed.window", ("cleaning.victim", "windowed")),
        ("clc.alpha", ("buffer.scheme", "clc")),
        ("bast.victim", ("ftl.scheme", "bast")),
        ("shrd.commands", ("host.scheme", "shrd")),
    ],
)
def test_a_key_varies_only_where_a_run_uses_it(key: str, needs: tuple[str, str]) -> None:
    """One run that uses the key is enough. `resolve_all` makes the check, so nothing runs."""
    default = configs.resolve(None, {}).table()
    section, _, name = key.partition(".")
    value = default[section].get(name, "fifo")
    with pytest.raises(fg.ConfigError, match=f"{key} is a key of .*which no run uses"):
        configs.resolve_all(None, {}, {key: [value]})
    owner, policy = needs
    known = default[owner.split(".")[0]][owner.split(".")[1]]
    found = configs.resolve_all(None, {}, {owner: [known, policy], key: [value]})
    assert len(found) == 2


def test_a_key_that_changes_nothing_is_found() -> None:
    vary = {"mapping.cache": ["4KiB", "8KiB"], "capacity.spare_factor": [0.1, 0.2]}
    ideal = fg.compare(SMALL, vary=vary, set=CLOSED)
    assert idle_keys(ideal, list(vary)) == ["mapping.cache"]
    cached = {**CLOSED, "mapping.scheme": "dftl"}
    assert idle_keys(fg.compare(SMALL, vary=vary, set=cached), list(vary)) == []


def test_runs_are_kept_and_taken_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []
    simulate = pool._core.simulate

    def counted(*arguments: Any, **options: Any) -> str:
        begun.append(options["seed"])
        return simulate(*arguments, **options)

    monkeypatch.setattr(pool._core, "simulate", counted)

    def results(depths: list[int], **options: Any) -> list[fg.Result]:
        options = {"keep": tmp_path, "resume": True, "set": CLOSED, "workers": 1, **options}
        return fg.compare_results(SMALL, vary={"queue.depth": depths}, **options)

    first = results([1, 2])
    assert len(begun) == 2
    assert results([2, 1]) == first[::-1]
    assert len(begun) == 2
    files = sorted(tmp_path.iterdir())
    kept = [fg.Result.from_dict(json.loads(path.read_text("utf-8"))) for path in files]
    assert sorted(kept, key=lambda one: one.config["queue"]["depth"]) == first
    # Any setting that changes a result identifies another run.
    for change in (
        {"seed": 2},
        {"repeat": 2},
        {"limit": 100},
        {"device": "dftl09"},
        {"set": {**CLOSED, "capacity.spare_factor": 0.2}},
    ):
        results([1], **change)
    assert len(begun) == 7
    results([1], resume=False)
    assert len(begun) == 8
    for path in tmp_path.iterdir():
        path.write_text(path.read_text("utf-8")[:1000], "utf-8")
    again = results([1, 2])
    assert len(begun) == 10
    assert list(map(_comparable, again)) == list(map(_comparable, first))
    with pytest.raises(fg.ConfigError, match="resume: given without keep"):
        fg.compare_results(SMALL, vary={}, resume=True)


def test_a_distribution_is_typed(result: fg.Result) -> None:
    cdf = result.latency.write.cdf
    times, shares = zip(*cdf, strict=True)
    assert list(times) == sorted(times)
    assert list(shares) == sorted(shares)
    assert 0 < shares[0] <= shares[-1] <= 1
    assert dict(zip(shares, times, strict=True))[0.5] == result.latency.write.p50_us
    assert [list(pair) for pair in cdf] == result.to_dict()["latency"]["write"]["cdf"]


def test_a_trace_that_was_read_is_one() -> None:
    path = DATA / "financial.spc"
    read = fg.read_trace(path)
    assert isinstance(read, fg.Trace)
    for options in ({}, {"limit": 5}):
        typed, plain = (fg.run(it, **options) for it in (read, path))
        assert _comparable(typed) == _comparable(plain)
    assert fg.trace_info(read)["requests"] == read.frame.height
    with pytest.raises(fg.ConfigError, match="format"):
        fg.run(read, format="spc")
    with pytest.raises(fg.TraceError, match="no such file"):
        fg.read_trace("absent.spc")


def test_what_there_is_to_choose_from() -> None:
    assert {"classic", "small-nvme"} <= {row["name"] for row in fg.devices()}
    for row in fg.devices():
        assert row["source"] and row["summary"] and row["toml"]
    rows = {row["name"]: row for row in fg.policies()["mapping"]}
    assert any(one["name"] == "dftl.protected_share" for one in rows["dftl"]["parameters"])
    predicted = fg.predict(spare_factor=0.07, pages_per_block=128)
    assert predicted == models.predict(spare_factor=0.07, pages_per_block=128)


def test_a_notebook_shows_numbers_and_doubts() -> None:
    """The names of traces and devices are shown as text, never as markup."""
    found = fg.compare_results(SMALL, vary={"mapping.scheme": ["ideal", "dftl"]})
    text = found._repr_html_()
    assert text.count("<tr>") == 3
    for run in found:
        assert f"{run.write_amplification:.3f}"[:4] in text
        assert run.config["mapping"]["scheme"] in text
        for warning in run.warnings:
            assert text.count(html.escape(warning)) == 1
    document = found[0].to_dict()
    document["workload"]["name"] = "<script>"
    document["warnings"] = ["a < b"]
    shown = fg.Result.from_dict(document)._repr_html_()
    assert "<script>" not in shown
    assert "a &lt; b" in shown
    assert type(found)([], [])._repr_html_()


def test_the_package_names_what_it_has() -> None:
    assert {"run", "compare", "Result", "ConfigError"} <= {*dir(fg)}
    with pytest.raises(AttributeError, match="fly"):
        _ = fg.fly  # type: ignore[attr-defined]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_runs_too() -> None:
    """Threads of the engine are kept for later runs, and a fork has none of them."""
    script = """
import os, floatgate as fg
run = lambda: fg.run("uniform:span=1MiB,writes=100", set={"timing": "none"})
run()
child = os.fork()
if not child:
    run()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
