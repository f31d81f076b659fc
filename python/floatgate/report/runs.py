"""Labels of the runs of a report, and the division of the runs into plots.

A run's label names only the keys that differ. Within a plot, colours distinguish up to eight values
of one key, and dashes up to four of a second key. Further keys divide the runs into panels.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from floatgate import _core
from floatgate.results.marks import is_scaled
from floatgate.results.result import Result
from floatgate.results.values import flatten, measured, plain
from floatgate.simulation.configs import SHAPE

from .theme import DASHES, SERIES

TRACE = "trace"
SPARE = "capacity.spare_factor"
NONE = {"mapping.scheme": "no map cache", "buffer.scheme": "no buffer"}
"""Names of the value `none`, for keys that the word "none" alone does not identify."""
MISSING = "not set"
LABEL_KEYS = 3
"""A label with up to this many keys keeps all of them, even if fewer distinguish the runs."""


@dataclass(frozen=True)
class Varying:
    """Key that differs between the runs, with its value in each run."""

    key: str
    values: tuple[str, ...]

    @property
    def distinct(self) -> list[str]:
        """The different values, in order of appearance."""
        return list(dict.fromkeys(self.values))


@dataclass(frozen=True)
class Run:
    """One result with its names."""

    result: Result
    label: str
    """Unambiguous name, with keys: `financial1, mapping.scheme=dftl`."""
    name: str
    """Short name that still distinguishes the run from all others."""
    panel: str
    """Heading of the run's panel; empty when there is one panel."""
    row: str
    """Name that distinguishes the run from the others in its panel."""
    colour: str
    dash: str
    seeds: Sequence[Result] = ()
    """Results averaged in the run's bars, one for each seed; `result` is the first."""

    def __post_init__(self) -> None:
        if not self.seeds:
            object.__setattr__(self, "seeds", (self.result,))


def varying(results: Sequence[Result]) -> list[Varying]:
    """Returns the keys that differ: trace, device, config keys, seed and version, in this order.

    Keys that follow from the device or from scaling are left out.
    In each config table, `scheme` comes first and its parameters follow, whatever the order in the
    config.
    """
    configs = [flatten(result.config) for result in results]
    keys = list(dict.fromkeys(key for config in configs for key in config))
    tables = list(dict.fromkeys(key.split(".")[0] for key in keys))
    keys.sort(key=lambda key: (tables.index(key.split(".")[0]), not key.endswith(".scheme")))
    if any(map(is_scaled, results)):
        # The shape of scaled units follows from the drive and the workload.
        keys = [key for key in keys if key not in SHAPE]
    found = [Varying(TRACE, tuple(_traces(results)))]
    device = Varying("device", tuple(result.device for result in results))
    told = [Varying(key, tuple(config.get(key, MISSING) for config in configs)) for key in keys]
    if len(device.distinct) > 1:
        # The device's name implies keys that divide the runs no further; they are left out.
        found.append(device)
        told = [vary for vary in told if _groups([device, vary]) > _groups([device])]
    found += told
    found.append(Varying("seed", tuple(plain(result.seed) for result in results)))
    found.append(Varying("floatgate", tuple(result.floatgate for result in results)))
    return [vary for vary in found if len(vary.distinct) > 1]


def identifying(results: Sequence[Result]) -> list[Varying]:
    """Returns those varying keys that a label needs."""
    return _needed(varying(results))


def label_runs(results: Sequence[Result]) -> list[Run]:
    """Returns runs with names for the results, in the same order."""
    keys = identifying(results)
    labels = _apart([_label(keys, i) for i in range(len(results))], results)
    short = _apart([_short(keys, i) for i in range(len(results))], results)
    names = short if _differ(short) else labels
    if len(results) <= SERIES:
        return [
            Run(result, labels[i], names[i], "", names[i], names[i], "")
            for i, result in enumerate(results)
        ]
    return _divide(results, keys, labels, names)


def combined_runs(results: Sequence[Result]) -> list[Run]:
    """Returns a run for each combination; results that differ only in their seed are one run.

    Where the combinations do not have the same seeds, each result is a run.
    """
    groups = _by_all_but_seed(results)
    if groups is None:
        return label_runs(results)
    runs = label_runs([group[0] for group in groups])
    return [replace(run, seeds=group) for run, group in zip(runs, groups, strict=True)]


def _by_all_but_seed(results: Sequence[Result]) -> list[list[Result]] | None:
    """Returns groups of results that differ in the seed alone.

    Returns None where the groups do not have the same seeds.
    """
    if len({result.seed for result in results}) < 2:
        return None
    combinations = [
        (result.workload.name, result.device, result.floatgate, json.dumps(result.config))
        for result in results
    ]
    requests: dict[Hashable, set[str]] = {}
    for one, result in zip(combinations, results, strict=True):
        requests.setdefault((one, result.seed), set()).add(result.workload.hash)
    groups: dict[Hashable, list[Result]] = {}
    for one, result in zip(combinations, results, strict=True):
        # A generator's requests differ from seed to seed. Different requests under one name and one
        # seed come from different files.
        is_shared = len(requests[one, result.seed]) > 1
        groups.setdefault((one, result.workload.hash * is_shared), []).append(result)
    seeds = [[result.seed for result in group] for group in groups.values()]
    first = seeds[0]
    is_complete = len(set(first)) == len(first) > 1 and all(one == first for one in seeds)
    return list(groups.values()) if is_complete else None


def panels(runs: Iterable[Run]) -> dict[str, list[Run]]:
    grouped: dict[str, list[Run]] = {}
    for run in runs:
        grouped.setdefault(run.panel, []).append(run)
    return grouped


def _traces(results: Sequence[Result]) -> list[str]:
    """Returns the trace names.

    If different contents of one seed share a name, each name gets the start of its digest. Contents
    that differ from seed to seed come from a generator, and the seed names them.
    """
    names = [result.workload.name or "unnamed trace" for result in results]
    contents: dict[tuple[str, int], set[str]] = {}
    for name, result in zip(names, results, strict=True):
        contents.setdefault((name, result.seed), set()).add(result.workload.hash)
    unclear = {name for (name, _), digests in contents.items() if len(digests) > 1}
    return [
        f"{name} ({result.workload.hash[:8]})" if name in unclear else name
        for name, result in zip(names, results, strict=True)
    ]


def _needed(keys: Sequence[Varying]) -> list[Varying]:
    """Returns the keys to put in a label.

    A key that only some runs have (a parameter of a policy) follows from the policy, and a change
    of device changes dozens of keys at once. Such keys appear only if no other key distinguishes
    the runs.
    """
    common = [vary for vary in keys if MISSING not in vary.values]
    groups = len(set(zip(*(vary.values for vary in keys), strict=True)))
    if len(common) <= LABEL_KEYS and _groups(common) == groups:
        return common
    chosen: list[Varying] = []
    for vary in [*common, *(vary for vary in keys if MISSING in vary.values)]:
        if _groups([*chosen, vary]) > _groups(chosen):
            chosen.append(vary)
    return chosen


def _groups(keys: Sequence[Varying]) -> int:
    """Returns the number of groups into which the keys divide the runs."""
    return len(set(zip(*(vary.values for vary in keys), strict=True))) if keys else 1


def _label(keys: Sequence[Varying], run: int) -> str:
    parts = [
        vary.values[run] if vary.key == TRACE else f"{vary.key}={vary.values[run]}" for vary in keys
    ]
    return ", ".join(parts)


def _short(keys: Sequence[Varying], run: int) -> str:
    return ", ".join(short_value(vary, keys, run) for vary in keys)


def short_value(vary: Varying, keys: Sequence[Varying], run: int) -> str:
    """Returns a value's short text: a name alone; a quantity, or a word like `none`, with a key."""
    value = vary.values[run]
    if vary.key == TRACE:
        return value
    if vary.key == SPARE:
        return f"{value_text(vary.key, value)} spare"
    if value == "none" and vary.key in NONE:
        return NONE[vary.key]
    last = vary.key.rsplit(".", 1)[-1]
    shared = sum(other.key.rsplit(".", 1)[-1] == last for other in keys) > 1
    if value[:1].isalpha() and value not in ("none", "true", "false", MISSING):
        return value if last == "scheme" or not shared else f"{vary.key} {value}"
    return f"{vary.key if shared or last == 'scheme' else last} {value}"


def value_words(key: str, value: object) -> str:
    """Returns a value's short text without its key; a quantity has the last part of its key."""
    if isinstance(value, str) and value[:1].isalpha() and value not in ("none", "true", "false"):
        return value
    text = measured(value) if isinstance(value, float) else str(value).lower()
    if key == SPARE:
        return f"{value_text(key, str(value))} spare"
    return NONE.get(key, text) if text == "none" else f"{key.rpartition('.')[2]} {text}"


def value_text(key: str, value: str) -> str:
    """Returns a config value as people write it: a spare factor in per cent."""
    share = _core.number(value) if key == SPARE else None
    return value if share is None else f"{100 * share:.4g} %"


def _apart(names: list[str], results: Sequence[Result]) -> list[str]:
    """Adds a number to runs with equal names; a single unnamed run takes its trace's name."""
    if names == [""]:
        return _traces(results)
    seen: Counter[str] = Counter()
    again = Counter(names)
    numbered = []
    for name in names:
        seen[name] += 1
        run = f"run {seen[name]}"
        numbered.append(name if again[name] == 1 else f"{name}, {run}" if name else run)
    return numbered


def _differ(names: Sequence[str]) -> bool:
    return len(set(names)) == len(names)


def _divide(
    results: Sequence[Result], keys: list[Varying], labels: list[str], names: list[str]
) -> list[Run]:
    """Divides runs into panels: by key where possible, else in groups of eight."""
    inner = [vary for vary in keys if vary.key != TRACE]
    colour = next((vary for vary in inner if len(vary.distinct) <= SERIES), None)
    rest = [vary for vary in inner if vary is not colour]
    dash = next((vary for vary in rest if len(vary.distinct) <= len(DASHES)), None)
    outer = [vary for vary in keys if vary is not colour and vary is not dash]
    within = [vary for vary in (colour, dash) if vary is not None]

    def text(chosen: list[Varying]) -> Callable[[int], str]:
        return lambda i: ", ".join(short_value(vary, keys, i) for vary in chosen)

    panel, row = text(outer), text(within)
    places = [(panel(i), row(i)) for i in range(len(results))]
    if colour is None or not _differ([f"{a}\0{b}" for a, b in places]) or _too_thin(places):
        return _by_eights(results, labels, names)
    hue, pattern = text([colour]), text([dash] if dash else [])
    return [
        Run(result, labels[i], names[i], *places[i], hue(i), pattern(i))
        for i, result in enumerate(results)
    ]


def _too_thin(places: Sequence[tuple[str, str]]) -> bool:
    """Returns whether there are fewer than two runs in a panel on average."""
    return 2 * len({panel for panel, _ in places}) > len(places)


def _by_eights(results: Sequence[Result], labels: list[str], names: list[str]) -> list[Run]:
    runs = []
    for i, result in enumerate(results):
        first = i - i % SERIES
        last = min(first + SERIES, len(results))
        runs.append(
            Run(result, labels[i], names[i], f"Runs {first + 1} to {last}", names[i], names[i], "")
        )
    return runs
