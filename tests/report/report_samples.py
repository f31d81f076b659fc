"""Made-up results with the shape and the magnitudes of real ones, for the tests of the report."""

from __future__ import annotations

import copy
import itertools
import json
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

from floatgate import _core
from floatgate.report import write_report
from floatgate.report.runs import Run, label_runs
from floatgate.results.result import TIMELINE, Result

SCHEMA = json.loads(_core.result_schema())

WINDOWS = 60
HIT_RATIO = {"dftl": 0.62, "tpftl": 0.74, "sftl": 0.68}
CACHE_GAIN = {"32KiB": 0.0, "64KiB": 0.09, "128KiB": 0.17}


ENGINE = {
    "version": "0.1.0",
    "wall_seconds": 1.93,
    "host_requests_per_second": 1_036_269,
    "page_writes_per_second": 1_180_000,
    "page_programs_per_second": 2_360_000,
    "peak_rss_bytes": 31_457_280,
}


def typed(documents: Sequence[dict[str, Any]]) -> list[Result]:
    """Returns typed results of these documents. A missing field becomes null, or an empty value
    where the schema forbids null."""
    return [Result.from_dict(_whole(document)) for document in documents]


def runs(documents: Sequence[dict[str, Any]]) -> list[Run]:
    """Returns typed results of these documents, labelled as runs."""
    return label_runs(typed(documents))


def _whole(document: dict[str, Any]) -> dict[str, Any]:
    whole: dict[str, Any] = _fill(SCHEMA, document)
    windows = len(document.get("timeline", {}).get("host_pages", []))
    for name in TIMELINE:
        whole["timeline"][name] = whole["timeline"][name] or [None] * windows
    return whole


def _fill(schema: dict[str, Any], given: Any) -> Any:
    """Returns the given value completed with every other field of the schema."""
    if "$ref" in schema:
        return _fill(SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]], given)
    if "properties" in schema:
        known, table = schema["properties"], given or {}
        return {name: _fill(inner, table.get(name)) for name, inner in known.items()}
    if given is not None:
        return given
    if "oneOf" in schema:
        return schema["oneOf"][0]["const"]
    empty = {"integer": 0, "number": 0.0, "string": "", "boolean": False, "array": []}
    return None if "null" in schema["type"] else (empty | {"object": {}})[schema["type"]]


DIES = {"read": [0.17], "program": [0.46], "erase": [0.11]}
DIES |= {"transfer": [0.05], "wait": [0.03], "idle": [0.18]}
CHANNELS = {"host": [0.03], "map": [0.01], "gc": [0.01]}
CHANNELS |= {"merge": [0.0], "remap": [0.0], "idle": [0.95]}

DRIVE: dict[str, Any] = {
    "units": 8192,
    "reserve_units": 12,
    "pages_per_unit": 64,
    "page_bytes": 4096,
    "logical_pages": 487_590,
    "translation_pages": 477,
    "physical_bytes": 2_147_483_648,
    "logical_bytes": 1_997_168_640,
    "spare_factor": 0.07,
    "over_provisioning": 0.0753,
    "channels": 1,
    "dies": 1,
    "planes": 1,
}


def sample(
    trace: str = "financial1", scheme: str = "dftl", cache: str = "64KiB", seed: int = 1
) -> dict[str, Any]:
    """Returns one result document. Its numbers agree with each other where the report relies on
    it."""
    rng = random.Random(f"{trace} {scheme} {cache} {seed}")
    hit = min(0.995, HIT_RATIO.get(scheme, 0.6) + CACHE_GAIN.get(cache, 0.05))
    hit += 0.05 if trace == "financial1" else -0.03
    host = 1_240_000 if trace == "financial1" else 820_000
    programs = {
        "host": host,
        "map": round(host * (1 - hit) * 0.7),
        "gc": round(host * rng.uniform(0.35, 0.6)),
        "gc_map": round(host * (1 - hit) * 0.4),
        "wear": round(host * 0.004),
        **dict.fromkeys(("merge", "remap", "journal", "retire"), 0),
    }
    reads = {**programs, "host": round(host * 0.6)}
    erases = {cause: pages // 64 for cause, pages in programs.items()}
    amplification = sum(programs.values()) / host
    latency = _latency(rng, hit)
    return {
        "floatgate": "0.1.0",
        "config": {
            "flash": {"page": "4KiB", "pages_per_block": 64, "blocks": 8192, "endurance": None},
            "capacity": {"spare_factor": 0.07},
            "mapping": {"scheme": scheme, "cache": cache},
            "placement": {"scheme": "single", "gc_destination": "same"},
            "cleaning": {"victim": "greedy", "low_water": 3},
            "buffer": {"scheme": "lru", "capacity": "1MiB"},
            "queue": {"depth": 32, "arrivals": "closed"},
            scheme: {"protected": 0.5},
        },
        "seed": seed,
        "workload": {
            "name": trace,
            "hash": trace.encode().hex()[:32],
            "requests": 2_000_000,
            "reads": 480_000,
            "writes": 1_520_000,
            "trims": 0,
            "flushes": 12,
            "read_pages": 610_000,
            "write_pages": host,
            "read_bytes": 610_000 * 4096,
            "write_bytes": host * 4096,
            "trimmed_pages": 0,
            "volumes_written": host / 487_590,
            "footprint_pages": 402_117,
            "skipped": 3,
            "duration_s": 43_712.4,
        },
        "drive": {**DRIVE},
        "start": {"fill": "steady", "volumes": 6.0, "settled": True, "write_amplification": 2.1},
        "write_amplification": amplification,
        "amplification": {
            "partial": 0.0,
            **{cause: pages / host for cause, pages in programs.items()},
        },
        "page_write_amplification": amplification,
        "data_write_amplification": (
            (sum(programs.values()) - programs["map"] - programs["gc_map"]) / host
        ),
        "flash": {"reads": reads, "programs": programs, "erases": erases},
        "mapping": {
            "hit_ratio": hit,
            "hits": round(2e6 * hit),
            "misses": round(2e6 * (1 - hit)),
            "evictions": 700_000,
            "dirty_evictions": 310_000,
            "prefetched": 0,
            "prefetch_used": 0,
            "prefetch_unused": 0,
            "cache_bytes": 65_536,
        },
        "buffer": {"hit_ratio": 0.31, "hits": 471_000, "misses": 1_049_000, "flushed_pages": host},
        "placement": {
            "streams": [stream(host, programs["gc"])],
            "memory_bytes": 0,
            "extents": None,
        },
        "host": {"commands": 2_000_000, "remaps": 0, "remapped_pages": 0, "redirected_reads": 0},
        "latency": latency,
        "throughput": {
            "iops": 1e6 / latency["all"]["mean_us"],
            "read_mb_s": 12.4,
            "write_mb_s": 31.9,
            "device_seconds": 2e6 * latency["all"]["mean_us"] / 1e6,
            "utilization": 0.82,
        },
        "dies": {**DIES},
        "channels": {**CHANNELS},
        "wear": _wear(rng, sum(erases.values())),
        "lifetime": {
            "endurance": 100_000,
            "host_bytes": 1.9e14 / amplification,
            "host_bytes_first_unit": 1.2e14 / amplification,
            "years": 21.4 / amplification,
        },
        "timeline": _timeline(rng, host, hit, amplification, latency["all"]["mean_us"]),
        "warnings": [],
        "notes": [],
        "engine": {**ENGINE},
    }


def stream(
    host: int, moved: int, victims: int = 0, valid_mean: float | None = None
) -> dict[str, float | None]:
    """Returns a stream of a result; its victims have 100 pages each."""
    return {
        "host_pages": host,
        "hot_pages": 0,
        "gc_pages": moved,
        "victims": victims,
        "victim_valid_pages": round(100 * victims * (valid_mean or 0)),
        "victim_valid_mean": valid_mean,
    }


FIRST, STEP = 1009, 37
"""First number and step of the numbers in `distinct`: with a prime step, three digits tell any two
apart."""

COUNTS = ("iops", "host_requests_per_second", "page_writes_per_second")
COUNTS += ("page_programs_per_second", "erases_min", "erases_max")
"""Fractional fields that the report shows as whole numbers."""

SHARES = ("hit_ratio", "utilization", "spare_factor", "over_provisioning", "victim_valid_mean")


def distinct(trace: str = "fin1", first: int = FIRST) -> dict[str, Any]:
    """Returns a complete result in which no two numbers are equal, or look equal with three digits.

    It has the fields of the typed result. The numbers mean nothing, but each number that the report
    shows can be traced to one field of the document.
    """
    digits = itertools.count(first, STEP)
    document = _distinct(Result, digits)
    document["floatgate"] = "0.9.0"
    document["device"] = "mydrive"
    document["workload"] |= {"name": trace, "hash": f"{trace}-digest"}
    document["engine"]["version"] = "0.9.1"
    document["start"] = {"fill": "random", "settled": True}
    document["start"] |= {"volumes": next(digits) / 1e3, "write_amplification": next(digits) / 1e3}
    document["warnings"], document["notes"] = ["a warning", "another"], ["a note"]
    document["placement"]["streams"] = [
        stream(next(digits), next(digits), next(digits), next(digits) / 1e5) for _ in range(3)
    ]
    document["faults"]["read_only"] = False
    document["drive"] |= {"units": 1000 + next(digits), "units_added": 0}
    for kind in ("all", "read", "write"):
        document["latency"][kind]["cdf"] = [[next(digits) / 1e3, i / 9] for i in range(1, 10)]
    document["wear"]["histogram"] = [[next(digits), next(digits)] for _ in range(5)]
    document["timeline"] = {name: [next(digits) for _ in range(4)] for name in TIMELINE}
    document["config"] = {
        "mapping": {"scheme": "dftl", "cache": "64KiB"},
        "cleaning": {"victim": "greedy"},
        "placement": {"scheme": "single"},
        "buffer": {"scheme": "none"},
        "queue": {"depth": 17, "arrivals": "closed"},
    }
    return document


def _distinct(kind: Any, digits: Iterator[int]) -> dict[str, Any]:
    """Returns a dataclass as a document in which every number is different. The field's name
    decides the magnitude."""
    document: dict[str, Any] = {}
    for name, hint in get_type_hints(kind).items():
        if is_dataclass(hint):
            document[name] = _distinct(hint, digits)
        elif name in SHARES:
            document[name] = next(digits) / 1e5
        elif hint in (int, int | None) or name in COUNTS:
            document[name] = next(digits)
        elif hint in (float, float | None):
            document[name] = next(digits) / 1e3
        elif name in ("erases", "valid"):
            document[name] = [next(digits) / 1e5 for _ in range(6)]
    return document


def study() -> list[dict[str, Any]]:
    """Returns results of 2 traces x 3 mapping schemes x 3 cache sizes, some with warnings or
    notes."""
    results = [
        sample(*case)
        for case in itertools.product(("financial1", "msr_prxy0"), HIT_RATIO, CACHE_GAIN)
    ]
    for result in results:
        if result["workload"]["name"] == "msr_prxy0":
            result["warnings"].append("cleaning ran in only 3 of 60 windows: not yet steady")
    results[4]["warnings"].append("the footprint fills 99 % of the drive")
    results[0]["notes"].append("arrival times were folded: the trace is longer than the run")
    return results


CAUSES = {
    "host": "host requests",
    "gc": "cleaning",
    "map": "map",
    "gc_map": "map, for cleaning",
    "merge": "merges",
    "wear": "wear levelling",
    "remap": "remapping",
    "journal": "journal",
    "retire": "broken units",
    "pad": "padding",
    "fold": "folding",
    "parity": "parity",
}
"""Names of the causes of flash operations, as tables print them."""


def pair() -> list[dict[str, Any]]:
    """Returns two runs without a number in common."""
    found = [distinct(first=1009), distinct(first=1019)]
    found[1]["seed"] = found[0]["seed"]
    found[1]["config"]["mapping"]["scheme"] = "tpftl"
    return found


def bare() -> dict[str, Any]:
    """Returns a run in which every nullable field is null: it only read, without timing or a
    cache."""
    whole = sample("readonly", scheme="ideal")
    kept = ("floatgate", "config", "seed", "workload", "drive")
    result = {name: whole[name] for name in kept} | {"flash": {"reads": whole["flash"]["reads"]}}
    result["timeline"] = {"host_pages": [0]}
    result["warnings"] = ["the host wrote nothing: write amplification does not exist"]
    return result


def hostile() -> dict[str, Any]:
    """Returns a result whose names try to break out of HTML, scripts, attributes and Vega
    expressions."""
    result = copy.deepcopy(sample())
    result["workload"]["name"] = "</script><script>window.broken = 1</script>'\"&\\"
    result["config"]["mapping"]["scheme"] = "<img src=x onerror='window.broken = 2'>"
    result["warnings"] = ['<b>bold</b> & "quoted" \']; window.broken = 3; //']
    result["notes"] = ["{{ 7 * 7 }} <!-- <script>"]
    return result


def _latency(rng: random.Random, hit: float) -> dict[str, Any]:
    read = _distribution(rng, 48 + 60 * (1 - hit), 0.75)
    write = _distribution(rng, 230 + 900 * (1 - hit), 1.1)
    every = {
        **write,
        "requests": 2_000_000,
        "mean_us": (read["mean_us"] + 3 * write["mean_us"]) / 4,
    }
    shares = {"queue": 0.1, "map": 0.25 * (1 - hit) * 4, "gc": 0.3, "bus": 0.12, "merge": 0.0}
    shares |= {"buffer": 0.01}
    shares["die"] = 1 - sum(shares.values())
    blame = {cause: share * every["mean_us"] for cause, share in shares.items()}
    return {"all": every, "read": read, "write": write, "blame_us": blame}


def _distribution(rng: random.Random, median: float, spread: float) -> dict[str, Any]:
    stall = 1500.0  # one request in 40 waits for an erase and the page moves that precede it
    times = sorted(
        median * math.exp(rng.gauss(0, spread) * 0.5)
        + (stall * rng.expovariate(0.6) if rng.random() < 0.025 else 0)
        for _ in range(4000)
    )
    mean = sum(times) / len(times)

    def at(share: float) -> float:
        return times[min(len(times) - 1, int(share * len(times)))]

    cdf = [[at(share), share] for share in (i / 200 for i in range(1, 200))]
    cdf += [[at(share), share] for share in (0.996, 0.997, 0.998, 0.999, 0.9995)]
    cdf.append([times[-1], 1.0])
    return {
        "requests": 480_000,
        "mean_us": mean,
        "stdev_us": math.sqrt(sum((time - mean) ** 2 for time in times) / len(times)),
        "p50_us": at(0.5),
        "p95_us": at(0.95),
        "p99_us": at(0.99),
        "p999_us": at(0.999),
        "p9999_us": at(0.9999),
        "max_us": times[-1],
        "cdf": cdf,
    }


def _wear(rng: random.Random, erases: int) -> dict[str, Any]:
    mean = erases / 8192
    spread = rng.uniform(0.8, 3.0)
    counts: dict[int, int] = {}
    for _ in range(8192):
        worn = max(0, round(rng.gauss(mean, spread)))
        counts[worn] = counts.get(worn, 0) + 1
    return {
        "erases_min": min(counts),
        "erases_mean": mean,
        "erases_max": max(counts),
        "erases_stdev": spread,
        "histogram": [[worn, units] for worn, units in sorted(counts.items())],
        "map": {
            "units_per_cell": 32,
            "erases": [mean + rng.gauss(0, spread / 5) for _ in range(8204 // 32 + 1)],
            "valid": [rng.uniform(0.5, 1) for _ in range(8204 // 32 + 1)],
        },
    }


def _timeline(
    rng: random.Random, host: int, hit: float, amplification: float, mean_us: float
) -> dict[str, list[Any]]:
    settle = [1 - math.exp(-i / 9) for i in range(1, WINDOWS + 1)]
    return {
        "host_pages": [host * i // WINDOWS for i in range(1, WINDOWS + 1)],
        "host_bytes": [host * 4096 * i // WINDOWS for i in range(1, WINDOWS + 1)],
        "seconds": [i * 12.5 for i in range(1, WINDOWS + 1)],
        "write_amplification": [
            1 + (amplification - 1) * s * rng.uniform(0.93, 1.07) for s in settle
        ],
        "hit_ratio": [None, *(hit * s * rng.uniform(0.97, 1.0) for s in settle[1:])],
        "mean_us": [mean_us * (0.4 + 0.6 * s) * rng.uniform(0.85, 1.2) for s in settle],
        "p50_us": [mean_us * (0.3 + 0.4 * s) * rng.uniform(0.9, 1.1) for s in settle],
        "p99_us": [mean_us * (2 + 3 * s) * rng.uniform(0.8, 1.3) for s in settle],
        "p999_us": [mean_us * (4 + 6 * s) * rng.uniform(0.7, 1.4) for s in settle],
        "max_us": [mean_us * (9 + 9 * s) * rng.paretovariate(1.5) for s in settle],
        "gc_programs": [round(8000 * s) for s in settle],
        "map_programs": [round(5000 * s) for s in settle],
    }


def written(
    cases: Mapping[str, Callable[[], list[dict[str, Any]]]], folder: Path
) -> dict[str, Path]:
    """Writes the report of each case into the folder, and returns the paths by name."""
    return {
        name: write_report(typed(make()), folder / f"{name}.html") for name, make in cases.items()
    }
