"""The Python front: what goes in, what comes out, and that it does not depend on threads."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import floatgate as fg

DATA = Path(__file__).parent / "data" / "traces"
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


def test_every_number_of_the_document_has_a_field(result: fg.Result) -> None:
    """What only `to_dict` has: the histogram, and the version, which engine has too."""

    def missing(document: dict[str, Any], typed: Any, path: str) -> list[str]:
        found = []
        for key, value in document.items():
            if not hasattr(typed, key):
                found.append(f"{path}{key}")
            elif dataclasses.is_dataclass(getattr(typed, key)):
                found += missing(value, getattr(typed, key), f"{path}{key}.")
        return found

    rest = {*missing(result.to_dict(), result, "")}
    assert rest == {"wear.histogram", "floatgate"}


def test_a_run_repeats_and_follows_its_seed() -> None:
    first, second, third = (fg.run(SMALL, set=CLOSED, seed=seed) for seed in (5, 5, 6))
    assert _comparable(first) == _comparable(second)
    assert first.workload.hash != third.workload.hash


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
        """Any library's table: all that is asked of it is Arrow's C stream."""

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
    assert table.columns[:4] == ["trace", *vary, "write_amplification"]
    assert table["capacity.spare_factor"].to_list() == [0.1, 0.1, 0.25, 0.25] * 2
    assert table["start.fill"].to_list() == ["none", "sequential"] * 4
    single = fg.run(SMALL, set={**CLOSED, "capacity.spare_factor": 0.25, "start.fill": "none"})
    assert table["write_amplification"][2] == single.write_amplification
    assert table["latency.all.p99_us"][2] == single.latency.p99


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


def test_the_package_names_what_it_has() -> None:
    assert {"run", "compare", "Result", "ConfigError"} <= {*dir(fg)}
    with pytest.raises(AttributeError, match="fly"):
        _ = fg.fly  # type: ignore[attr-defined]
