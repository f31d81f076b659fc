"""Turns a caller's drive into resolved configs: presets, files, dicts and variations."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate import _core
from floatgate.files import reading
from floatgate.guests.base import Policy
from floatgate.guests.given import Guests, NameOf, by_name, taken
from floatgate.guests.placement import Placement
from floatgate.guests.victim import Victim
from floatgate.results.marks import DEVICE

if TYPE_CHECKING:
    from floatgate.result_types import SpaceResult

DEFAULT_DEVICE = "classic"

SHAPE = ("flash.blocks", "flash.pages_per_block", "flash.superblock", "flash.erase")
"""Keys of erase units. Scaling changes those that are not set."""


BASES = 64
"""Maximum number of devices whose resolved configs, without settings, are cached."""

Device = str | Path | Mapping[str, Any]
"""A preset's name, a TOML file's path, or a config as nested dicts, such as `Result.config`."""

Vary = Mapping[Any, Sequence[Any]]
"""Lists of values by config key. Keys that change together are a tuple, with tuples of values."""

Axis = tuple[tuple[str, ...], list[tuple[Any, ...]]]
"""Keys that change together, usually a single key, and a tuple of their values for each point."""


@dataclass(frozen=True)
class Resolved:
    """One drive of a comparison."""

    label: str
    """Keys that vary, with their values: `key=value, ...`; empty if nothing varies."""
    device: str
    """The preset's name or the path; "config" for a dict."""
    config: _core.Config
    guests: Guests = field(default_factory=Guests)
    """Python policies that the config names."""
    is_class: bool = False
    """Whether the device is a class of drives on sale, which are larger than a workload."""
    shaped: str = ""
    """A setting, with its value, that fixes the size of erase units."""
    notes: tuple[str, ...] = ()
    """Differences between the drive and its device."""
    can_shrink: bool = False
    """Whether the option `units` would give the drive smaller erase units."""

    def apart(self) -> Resolved:
        """Returns the same drive with its own copies of the Python policies."""
        return replace(self, guests=self.guests.copied()) if self.guests else self


def resolve(device: Device | None, set: Mapping[str, Any]) -> _core.Config:
    """Returns the config of `device` with the changes in `set`."""
    return resolve_all(device, set, {})[0].config


def resolve_all(device: Device | None, set: Mapping[str, Any], vary: Vary) -> list[Resolved]:
    """Returns a drive for every combination of the values in `vary`; checks all before any runs.

    A Python policy may be given in place of a policy's name.

    Raises ConfigError, for example for a key that no config in the comparison uses.
    """
    given: NameOf = {}
    device, set = (taken(one, given) for one in (device, set))
    varied = [
        (keys, [tuple(map(taken, point, itertools.repeat(given), keys)) for point in points])
        for keys, points in axes(vary)
    ]
    values_of = by_key(varied)
    _check(device, set, values_of)
    check_sections([*set, *values_of])
    read = {name(one): source(one) for one in values_of.get(DEVICE, (device,))}
    fixed = [(key, _text(value)) for key, value in set.items()]
    found = []
    for points in itertools.product(*(points for _, points in varied)):
        chosen = dict(zip(values_of, itertools.chain(*points), strict=True))
        label = ", ".join(f"{key}={reading.shown(_text(value))}" for key, value in chosen.items())
        called = name(chosen.pop(DEVICE, device))
        sets = fixed + [(key, _text(value)) for key, value in chosen.items()]
        resolved = _core.Config.resolve(*read[called], sets) if sets else _base(*read[called])
        config, guests = Guests.of(resolved, given, _is_victim_free(device, dict(sets)))
        shaped = next((f"{key} = {value}" for key, value in sets if key in SHAPE), "")
        found.append(Resolved(label, called, config, guests, _is_class(*read[called]), shaped))
    if values_of:
        check_used(values_of, (one.config.table() for one in found))
    return found


def axes(vary: Vary) -> list[Axis]:
    """Returns the keys that vary, with the values of each key or of each tuple of keys.

    Raises ConfigError for values that are not a list or do not fit their keys, and for a key that
    is given twice.
    """
    found: list[Axis] = []
    for given, values in vary.items():
        keys = given if isinstance(given, tuple) else (given,)
        told = "+".join(keys)
        if isinstance(values, str) or not values:
            raise _core.ConfigError(f"vary: {told} has {values!r}; expected a list of values")
        points = [*values] if isinstance(given, tuple) else [(value,) for value in values]
        for point in points:
            if not isinstance(point, tuple) or len(point) != len(keys):
                raise _core.ConfigError(
                    f"vary: {told} has {point!r}; expected a tuple of {len(keys)} values, one for "
                    "each key"
                )
        found.append((keys, points))
    known = [key for keys, _ in found for key in keys]
    if twice := [key for key in known if known.count(key) > 1]:
        raise _core.ConfigError(f"vary: {twice[0]} is given twice; expected it once")
    return found


def by_key(varied: Iterable[Axis]) -> dict[str, list[Any]]:
    """Returns the values of each key that varies, in the order of the keys."""
    return {
        key: [point[at] for point in points]
        for keys, points in varied
        for at, key in enumerate(keys)
    }


def _is_victim_free(device: Device | None, sets: Mapping[str, str]) -> bool:
    """Returns whether a placement may bring its own victim policy: the caller names the placement,
    but no victim policy.
    """
    if Victim.KEY in sets:
        return False
    if Placement.KEY in sets:
        return True
    return isinstance(device, Mapping) and "victim" not in device.get("cleaning", {})


@cache
def _is_class(preset: str | None, text: str | None) -> bool:
    """Returns whether a device has a table `[class]`."""
    return "class" in json.loads(_core.said(preset, text))


def capacity(config: _core.Config) -> int:
    """Returns the bytes that the host can address on a drive whose config sets `flash.blocks`,
    rounded down to 4 KiB.
    """
    bytes_of_drive = own_capacity(config)
    if bytes_of_drive is None:
        raise _core.ConfigError(
            "addresses: modulo wraps onto a drive of known size; expected flash.blocks to be set"
        )
    return bytes_of_drive


def own_capacity(config: _core.Config) -> int | None:
    """Returns `capacity`, or None for a drive that is as large as its workload."""
    if config.table()["flash"].get("blocks") is None:
        return None
    return config.logical_bytes(0) // 4096 * 4096


def space(device: Device | None, set: Mapping[str, Any]) -> SpaceResult:
    """Returns the division of the flash of a drive whose config sets `flash.blocks`."""
    from floatgate.result_types import SpaceResult

    return SpaceResult(**json.loads(resolve(device, set).space(0)))


def _check(
    device: Device | None, set: Mapping[str, Any], vary: Mapping[str, Sequence[Any]]
) -> None:
    for key in vary:
        if key in set:
            raise _core.ConfigError(f"vary: {key} is also set, to {set[key]!r}; expected one")
    if device is not None and DEVICE in vary:
        raise _core.ConfigError(f"vary: device is also given, as {name(device)}; expected one")
    for one in vary.get(DEVICE, ()):
        if not isinstance(one, (str, Path)):
            raise _core.ConfigError(f"vary: device={one!r}; expected names of presets or files")


def check_sections(keys: Iterable[str]) -> None:
    """Raises ConfigError for a key without a section if some sections have a key of that name."""
    for key in keys:
        if "." not in key and key not in _sections() and (meant := keys_ending_in(key)):
            raise _core.ConfigError(f"unknown key `{key}`; did you mean {meant}?")


def keys_ending_in(name: str) -> str:
    """Returns the config keys whose last component is `name`, as words; empty if there is none."""
    found = [f"`{section}.{name}`" for section, keys in _sections().items() if name in keys]
    return " or ".join(filter(None, (", ".join(found[:-1]), *found[-1:])))


@cache
def _sections() -> dict[str, frozenset[str]]:
    """Returns the tables of a config with their keys; a key outside any table has an empty set."""
    properties = json.loads(_core.schema())["properties"]
    return {name: frozenset(of.get("properties", ())) for name, of in properties.items()} | {
        DEVICE: frozenset()
    }


def check_used(vary: Iterable[str], configs: Iterable[Mapping[str, Any]]) -> None:
    """Raises ConfigError for a policy's parameter if no config uses that policy.

    Stops reading configs once each key has a config that uses its policy.
    """
    missing = {key: owners for key in vary if (owners := _owners(key))}
    for config in configs if missing else ():
        chosen = {
            value
            for table in config.values()
            if isinstance(table, Mapping)
            for key, value in table.items()
            if key in ("scheme", "victim")
        }
        missing = {key: owners for key, owners in missing.items() if not owners & chosen}
        if not missing:
            return
    for key, owners in missing.items():
        raise _core.ConfigError(
            f"vary: {key} is a key of {' and '.join(sorted(owners))}, which no run uses"
        )


def _owners(key: str) -> set[str]:
    """Returns the policies that have this key as a parameter; empty for a key of all drives."""
    return {
        row["name"]
        for rows in json.loads(_core.policies()).values()
        for row in rows
        if any(parameter["name"] == key for parameter in row["parameters"])
    }


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def name(device: Device | None) -> str:
    """Returns a device's name: the preset's name or the path; "config" for a dict."""
    if device is None:
        return DEFAULT_DEVICE
    return "config" if isinstance(device, Mapping) else reading.shown(str(device))


def source(device: Device | None) -> tuple[str | None, str | None]:
    """Returns the preset name or the TOML text, and None for the other."""
    if device is None:
        return DEFAULT_DEVICE, None
    if isinstance(device, Mapping):
        return None, _checked(to_toml(device), "device")
    path = Path(device)
    if device in _presets() or not (path.suffix == ".toml" or path.exists()):
        return str(device), None
    try:
        text = reading.read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise _core.ConfigError(f"{path}: cannot be read: {reason}") from error
    return None, _checked(text, str(path))


def is_preset(name: str) -> bool:
    return name in _presets()


@cache
def _presets() -> frozenset[str]:
    return frozenset(preset["name"] for preset in json.loads(_core.presets()))


def _checked(text: str, where: str) -> str:
    """Returns `text` if it is a valid config; the error names its origin, `where`."""
    try:
        _base(None, text)
    except _core.ConfigError as error:
        raise _core.ConfigError(f"{where}: {error}") from error
    return text


@lru_cache(BASES)
def _base(preset: str | None, text: str | None) -> _core.Config:
    """Returns the config of a device without settings."""
    return _core.Config.resolve(preset, text, [])


def to_toml(table: Mapping[str, Any], path: str = "") -> str:
    """Returns nested dicts as TOML, without the keys whose value is None.

    Raises ConfigError for a Python policy, which cannot be written as text.
    """
    lines, tables = [], []
    for key, value in table.items():
        if isinstance(value, Mapping):
            tables.append(to_toml(value, f"{path}{key}."))
        elif isinstance(value, Policy):
            raise _core.ConfigError(f"{path}{key}: {by_name(value)}")
        elif value is not None:
            lines.append(f"{path}{key} = {json.dumps(value, ensure_ascii=False, default=str)}")
    return "\n".join([*lines, *tables])
