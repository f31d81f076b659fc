"""Runs a fixed set of runs and compares whole results: for changes that should change no number.

    python tools/fixed_runs.py before            # writes before/NAME.json, one per run
    python tools/fixed_runs.py after --against before

The runs cover every mapping, placement, victim policy, buffer, engine and host layer, with
non-default parameters. They also cover every start state and way of cleaning, verified runs and
failing flash. With `--against`, new keys are listed. The exit status is 1 if a value has changed or
a key is missing. The wording of warnings and notes may change: only their numbers are compared.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

import floatgate
from floatgate import _core

SMALL = "hotcold:span=8MiB,r=0.9,f=0.1,writes=12k,flush=0.01,reads=0.2"
MIXED = "iometer:span=8MiB,size=6KiB,aligned=false,random=0.3,requests=6k,reads=0.4,trim=0.05"
BUFFERED = "uniform:span=8MiB,writes=6k,size=8KiB,reads=0.3,trim=0.02,arrivals=exponential"

#: Non-default parameters by policy. Other policies run with their defaults.
CHANGED: dict[str, dict[str, Any]] = {
    "dftl": {"dftl.replacement": "flashsim", "dftl.evict_batch": True},
    "page_cache": {"page_cache.entries": 4096, "page_cache.cleaning": "lru_end"},
    "sftl": {"sftl.buffer_share": 0.2, "sftl.sparse_share": 0.1},
    "cdftl": {"cdftl.entries_share": 0.3},
    "tlllp": {"tlllp.fetch_mode": "prev", "tlllp.victim": "max"},
    "tpftl": {"tpftl.selective_threshold": 2, "tpftl.clean_first": False},
    "eti": {"eti.extents": 64, "eti.decay_unit": "pages", "eti.decay_period": 512},
    "mbf": {"mbf.filters": 8, "mbf.insert": "newest_first", "mbf.hot_threshold": 3.25},
    "mhf": {"mhf.hashes": "crc16", "mhf.decay_period": 700, "mhf.conservative": True},
    "direct": {"direct.hot_threshold": 2, "direct.saturating": False},
    "length": {"length.threshold_pages": 2},
    "lru_lists": {"lru_lists.hot": 100, "lru_lists.candidates": 150},
    "wdac": {"wdac.window": 900, "wdac.hot_threshold": 2.5},
    "asa": {"asa.update_period": 900, "asa.samples": 64, "asa.relabel_on_gc": True},
    "dac": {"dac.regions": 4, "dac.young": 3000, "dac.old": 200},
    "sepbit": {"sepbit.history": "exact", "sepbit.units": 4},
    "autostream": {"autostream.chunk": "64KiB", "autostream.queues": 5},
    "perfect": {"perfect.hot_pages": 205},
    "oracle": {"oracle.streams": 5, "oracle.factor": 3},
    "windowed": {"windowed.window": 0.3},
    "d_choices": {"d_choices.d": 3},
    "random": {"random.redraw": "average"},
    "lfs_cost_benefit": {"lfs_cost_benefit.age": "opened"},
    "cat": {"cat.age": "modified"},
    "ncq_lru": {"ncq_lru.pin": "on_arrival_only"},
    "fab": {"fab.pin": "counted"},
    "bplru": {"bplru.compensation": False, "bplru.pin": "on_arrival_only"},
    "clc": {"clc.alpha": 0.3, "clc.pin": "move_only"},
    "bast": {"bast.log_blocks": 6, "bast.victim": "lru", "bast.merge_when_full": "lazy"},
    "fast": {"fast.log_blocks": 6, "fast.out_of_order": "random"},
}


def runs() -> dict[str, tuple[str, dict[str, Any], bool]]:
    """Returns workload, settings, and whether the run is verified, by name."""
    found: dict[str, tuple[str, dict[str, Any], bool]] = {}
    small_cache = {"mapping.cache": "24KiB", "start.fill": "random", "start.overwrites": 0.5}
    for policy in floatgate.policies()["mapping"]:
        name = policy["name"]
        key = {"mapping.scheme": name}
        found[f"mapping-{name}"] = (SMALL, {**small_cache, **key}, False)
        found[f"mapping-{name}-changed"] = (MIXED, {**key, **CHANGED.get(name, {})}, True)
    for policy in floatgate.policies()["placement"]:
        name = policy["name"]
        for scope, given in (("", {}), ("-changed", CHANGED.get(name, {}))):
            settings = {"placement.scheme": name, **given}
            if scope:
                settings |= {"mapping.scheme": "dftl", "mapping.cache": "16KiB"}
            found[f"placement-{name}{scope}"] = (SMALL, settings, False)
    for policy in floatgate.policies()["victim"]:
        name = policy["name"]
        settings = {"cleaning.victim": name, **CHANGED.get(name, {})}
        found[f"victim-{name}"] = (SMALL, {**settings, "cleaning.copies_per_write": 2}, False)
    for policy in floatgate.policies()["buffer"]:
        name = policy["name"]
        settings = {"buffer.scheme": name, "buffer.capacity": "512KiB", **CHANGED.get(name, {})}
        found[f"buffer-{name}"] = (BUFFERED, settings, False)
        if name not in ("none", "belady"):
            over = {**settings, "ftl.scheme": "bast", "queue.dispatch": "serial"}
            found[f"buffer-{name}-bast"] = (BUFFERED, over, True)
    for name in ("bast", "fast"):
        settings = {"ftl.scheme": name, **CHANGED[name]}
        found[f"ftl-{name}"] = (BUFFERED, settings, False)
        found[f"ftl-{name}-journal"] = (SMALL, {"ftl.scheme": name, "ftl.journal": True}, True)
    return found | others()


def others() -> dict[str, tuple[str, dict[str, Any], bool]]:
    """Returns the runs that concern no single policy."""
    wide: dict[str, Any] = {
        "flash.channels": 2,
        "flash.dies": 2,
        "flash.planes": 2,
        "flash.superblock": 4,
    }
    wide |= {"flash.pages_per_block": 16, "flash.bus": "40MB/s", "queue.depth": 8}
    shrd: dict[str, Any] = {"host.scheme": "shrd", "host.log": "1MiB", "shrd.contiguous": 8}
    shrd |= {"mapping.scheme": "page_cache", "mapping.cache": "16KiB"}
    steady = {"start.fill": "steady", "start.volumes_max": 6}
    static = {"cleaning.wear_leveling": "static", "cleaning.wear_gap": 3}
    faults = {"faults.program": 2e-4, "faults.erase": 2e-4, "faults.read": 2e-4}
    asa = {"placement.scheme": "asa", "mapping.scheme": "asa", "mapping.cache": "16KiB"}
    idle = {"cleaning.idle_after": "1ms", "cleaning.high_water": 20, "cleaning.scope": "stream"}
    queues = {"queue.queues": 2, "queue.arrivals": "closed", "host.command": "5us"}
    journal = {"ftl.journal": True, "ftl.checkpoint_every": 3000, "mapping.scheme": "dftl"}
    return {
        "defaults": (MIXED, {}, False),
        "wide": (SMALL, {**wide, "mapping.scheme": "dftl", "placement.scheme": "dac"}, False),
        "wide-immediate": (BUFFERED, {**wide, "queue.arrivals": "immediate"}, True),
        "shrd": (BUFFERED, shrd, False),
        "shrd-changed": (SMALL, {**shrd, "shrd.lazy_stale": True, "shrd.idle_after": "2ms"}, True),
        "steady": (SMALL, steady, False),
        "static": (SMALL, {**static, "cleaning.victim": "cat"}, False),
        "faults": (SMALL, {**faults, "buffer.scheme": "lru"}, False),
        "asa-both": (SMALL, {**asa, "asa.sample_source": "random_lpn"}, False),
        "idle": (SMALL, {**idle, "placement.scheme": "sepbit"}, False),
        "queues": (BUFFERED, {**queues, "buffer.scheme": "clc"}, False),
        "journal": (SMALL, journal, True),
        "tie": (SMALL, {"cleaning.tie": "oldest", "placement.gc_destination": "cold"}, False),
    }


def result_of(workload: str, settings: dict[str, Any], verify: bool) -> Any:
    """Returns the document of a run, or the error message of a refused run."""
    base = {"start.fill": "sequential", "flash.pages_per_block": 32}
    try:
        run = floatgate.run(workload, set={**base, **settings}, verify=verify)
    except (_core.ConfigError, _core.RunError) as error:
        return {"refused": str(error)}
    document = json.loads(run.to_json())
    document.pop("engine")  # It contains the elapsed time.
    return document


def numbers(texts: list[str]) -> list[str]:
    """Returns the numbers in texts, in order."""
    return re.findall(r"\d+(?:\.\d+)?", " ".join(texts))


def difference(before: Any, after: Any, at: str, added: set[str]) -> list[str]:
    """Returns the differences of two documents, and adds new keys to `added`."""
    key = at.rpartition(".")[2]
    if key in ("description", "doc"):
        return []
    if key in ("warnings", "notes"):
        before, after = numbers(before), numbers(after)
    if isinstance(before, dict) and isinstance(after, dict):
        added.update(f"{at}.{key}" for key in after.keys() - before.keys())
        gone = [f"{at}.{key}: is gone" for key in before.keys() - after.keys()]
        both = (difference(before[k], after[k], f"{at}.{k}", added) for k in before if k in after)
        return gone + [line for lines in both for line in lines]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        rows = (difference(a, b, f"{at}.{number}", added) for number, (a, b) in pairs)
        return [line for lines in rows for line in lines]
    return [] if before == after else [f"{at}: {before!r} before, {after!r} now"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--against", type=Path)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    documents = {name: result_of(*run) for name, run in runs().items()}
    documents["schema"] = json.loads(_core.schema())
    documents["policies"] = floatgate.policies()
    refused = [name for name, document in documents.items() if "refused" in document]
    for name, document in documents.items():
        (given.out / f"{name}.json").write_text(json.dumps(document, indent=1))
    print(f"{len(documents)} documents, {len(refused)} refused: {', '.join(refused)}")
    if given.against is None:
        return
    added: set[str] = set()
    changed: list[str] = []
    for name, document in documents.items():
        before = json.loads((given.against / f"{name}.json").read_text())
        changed += difference(before, document, name, added)
    print(f"keys added: {sorted({key.split('.', 1)[1] for key in added}) or 'none'}")
    print("\n".join(changed[:50]) or "nothing else has changed")
    sys.exit(1 if changed else 0)


if __name__ == "__main__":
    main()
