"""The result is declared once: its schema, the classes made from it, and a real document agree.
Write amplification is in bytes, as JEDEC, NVMe and OCP define it, and in pages, as papers do."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
import result_types
from conftest import Cli

import floatgate as fg
from floatgate import _core
from floatgate.results.result import TIMELINE

SCHEMA = json.loads(_core.result_schema())
WORKLOADS = {
    "uniform:span=16MiB,writes=2k,reads=0.2": {"mapping.scheme": "dftl", "start.fill": "random"},
    "uniform:span=4MiB,requests=100,reads=1": {},
}


def misfits(schema: dict[str, Any], value: Any, path: str) -> list[str]:
    """Returns the paths where a value violates its schema. A table must have exactly the declared
    properties."""
    if "$ref" in schema:
        return misfits(SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]], value, path)
    if "oneOf" in schema:
        return [] if value in [one["const"] for one in schema["oneOf"]] else [path]
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    types: dict[str, tuple[type, ...]] = {"integer": (int,), "number": (int, float)}
    types |= {"string": (str,), "boolean": (bool,), "null": (type(None),)}
    types |= {"array": (list,), "object": (dict,)}
    if not any(isinstance(value, types[kind]) for kind in kinds):
        return [f"{path}: {value!r}"]
    if isinstance(value, list):
        items = schema.get("prefixItems", [schema.get("items")] * len(value))
        pairs = zip(items, value, strict=True)
        return [line for item, one in pairs for line in misfits(item, one, f"{path}[]")]
    if "properties" not in schema:
        return []
    known = schema["properties"]
    found = [f"{path}.{name}" for name in known.keys() ^ value.keys()]
    for name in known.keys() & value.keys():
        found += misfits(known[name], value[name], f"{path}.{name}")
    return found


@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_document_is_what_the_schema_says(workload: str) -> None:
    document = fg.run(workload, set=WORKLOADS[workload]).to_dict()
    assert misfits(SCHEMA, document, "") == []
    assert list(document) == SCHEMA["required"]
    del document["wear"]["map"]["valid"]
    document["seed"] = "1"
    assert sorted(misfits(SCHEMA, document, "")) == [".seed: '1'", ".wear.map.valid"]


def test_the_classes_are_made_from_the_schema() -> None:
    """After a change of the result, run `python tools/result_types.py`."""
    assert result_types.TARGET.read_text("utf-8") == result_types.module(SCHEMA)


def test_a_field_has_its_doc_and_its_type() -> None:
    text = result_types.TARGET.read_text("utf-8")
    expected = """    mean_us: float | None
    \"\"\"Mean, exact.\"\"\"
"""
    assert expected in text
    for field in (
        "histogram: tuple[tuple[int, int], ...]",
        "streams: tuple[StreamPages, ...]",
        "config: dict[str, Any]",
        "fill: str",
        "read_only: bool",
        "extents: int | None",
        "map: WearMap",
    ):
        assert f"    {field}\n" in text
    names = [field.name for field in dataclasses.fields(fg.Result)]
    assert names == [name for name in SCHEMA["required"] if name != "timeline"] + ["_text"]


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("drive", "spare_factor"), ..., r"result\.drive: spare_factor expected; there is units, "),
        (("engine",), ..., "result: engine expected; there is floatgate, "),
        (("timeline",), ..., r"result\.timeline: None given; expected a table"),
        (("timeline", "p99_us"), ..., r"result\.timeline: p99_us expected; there is host_pages, "),
        (("wear", "map"), None, r"result\.wear\.map: None given; expected a table"),
        (("wear", "histogram"), {}, r"result\.wear\.histogram: \{\} given; expected a list"),
        (("wear", "histogram"), [["5", 1]], r"result\.wear\.histogram: '5' given; expected int"),
        (("latency", "all", "p99_us"), "5", r"all\.p99_us: '5' given; expected float or None"),
        (("faults", "read_only"), 1, r"result\.faults\.read_only: 1 given; expected bool"),
        (("config",), [], r"result\.config: \[\] given; expected dict"),
    ],
)
def test_a_document_that_is_no_result_is_told_where(
    path: tuple[str, ...], value: object, words: str
) -> None:
    document = fg.run("uniform:span=4MiB,writes=200").to_dict()
    *way, last = path
    table = document
    for name in way:
        table = table[name]
    table[last] = value
    if value is ...:
        del table[last]
    with pytest.raises(ValueError, match=words):
        fg.Result.from_dict(document)


@pytest.mark.parametrize("text", ["[]", "{}", "", "1"])
def test_a_text_that_is_no_document(text: str) -> None:
    with pytest.raises(ValueError):
        fg.Result.from_json(text)


def test_what_is_no_number_does_not_exist() -> None:
    document = fg.run("uniform:span=4MiB,writes=200").to_dict()
    document["write_amplification"] = float("nan")
    document["latency"]["all"]["p99_us"] = float("inf")
    document["timeline"]["mean_us"][-1] = float("-inf")
    document["workload"]["volumes_written"] = 1
    result = fg.Result.from_dict(document)
    assert result.write_amplification is None and result.latency.p99 is None
    assert result.timeline["mean_us"][-1] is None
    assert result.workload.volumes_written == 1


def test_a_setting_is_found_by_its_key() -> None:
    result = fg.run("uniform:span=4MiB,writes=200")
    assert result.setting("cleaning.victim") == result.config["cleaning"]["victim"]
    assert result.setting("cleaning") == result.config["cleaning"]
    for key in ("cleaning.none", "none.victim", "cleaning.victim.none", "none"):
        assert result.setting(key) is None


def test_a_timeline_has_the_columns_of_the_schema() -> None:
    assert {*TIMELINE} == SCHEMA["$defs"]["Timeline"]["properties"].keys()


def test_a_result_does_not_change_with_what_it_hands_out() -> None:
    result = fg.run("uniform:span=4MiB,writes=200")
    result.config.clear()
    assert result.to_dict()["config"] and fg.Result.from_json(result.to_json()).config


LARGE_UNITS = {
    "flash.superblock": 4,
    "flash.pages_per_block": 64,
    "flash.channels": 1,
    "flash.dies": 1,
    "flash.blocks": 2000,
    "timing": "none",
}
"""Settings of a new drive with map units of 64 KiB."""


@pytest.mark.parametrize(("size", "factor"), [("4KiB", 16.0), ("16KiB", 4.0), ("64KiB", 1.0)])
def test_small_writes_to_large_map_units_cost_the_whole_unit(size: str, factor: float) -> None:
    workload = f"uniform:span=64MiB,writes=4000,size={size},seed=1"
    result = fg.run(workload, device="qlc-capacity", set=LARGE_UNITS)
    assert result.write_amplification == factor
    assert result.amplification.host == 1
    assert result.amplification.partial == factor - 1
    assert result.page_write_amplification == 1
    written, capacity = result.workload.write_bytes, result.drive.logical_bytes
    assert result.workload.volumes_written == pytest.approx(written / capacity)
    assert result.timeline["host_bytes"][-1] == written


def test_sectors_on_a_drive_of_4k_pages_cost_eight_times_their_bytes() -> None:
    """With cleaning, every cause differs between bytes and pages by the same factor."""
    workload = "uniform:span=32MiB,writes=40k,size=512,aligned=true,seed=1"
    result = fg.run(workload, set={"start.fill": "random", "timing": "none", "flash.page": "4KiB"})
    pages, factor = result.page_write_amplification, result.write_amplification
    assert pages is not None and factor is not None and pages > 2
    assert factor == pytest.approx(8 * pages)
    cleaned = result.flash.programs.gc * result.drive.page_bytes
    assert result.amplification.gc == pytest.approx(cleaned / result.workload.write_bytes)


def test_drives_are_compared_in_bytes(cli: Cli) -> None:
    """In map units, a drive with large map units would look better than it is."""
    done = cli(
        *("run", "uniform:span=64MiB,writes=4000,size=4KiB", "--device", "qlc-capacity"),
        *(f"--set={key}={value}" for key, value in LARGE_UNITS.items()),
    ).ok()
    text = " ".join(done.stdout.split())
    assert "16.000 = host writes 1.000 + partial pages 15.000" in text
    assert "1.000 programs per page of 64 KiB that writes touched" in text
    assert "page_write_amplification 1.000 counts map pages" in text


def test_a_buffer_that_holds_all_writes_is_no_empty_drive(cli: Cli) -> None:
    done = cli("run", "uniform:span=64MiB,writes=100k,seed=1", "--device", "mqsim18", "-q")
    text = " ".join(done.stdout.split())
    assert "8 192 pages (64 MiB) are still in the write buffer" in text.replace("\u202f", " ")
    assert "nothing has reached the flash: of 100000 pages written 91808 overwrote" in text
    assert "cleaning never ran" not in text


def test_a_drive_whose_flash_did_nothing_was_idle() -> None:
    spec = "uniform:span=16MiB,requests=300,interarrival=1ms"
    result = fg.run(spec, set={"buffer.scheme": "page_lru"})
    assert result.throughput.device_seconds > 0 and not result.flash.programs.host
    assert set(result.dies.idle) == set(result.channels.idle) == {1.0}
