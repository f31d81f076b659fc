"""Drive to serve, in an image file or in memory, and the shadow drives that run next to it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floatgate import _core
from floatgate._core import ConfigError
from floatgate.simulation import configs, scaling

from . import images

DEFAULT_SIZE = "1GiB"
"""Default size of a drive."""


@dataclass(frozen=True)
class Backing:
    """Drive to serve, with the parameters for the plugin."""

    name: str
    """Name in results: the preset's name or the path."""
    image: Path | None
    bytes: int
    config: _core.Config
    seed: int
    is_new: bool
    notes: tuple[str, ...] = ()
    """Deviations of the drive from its device."""
    ages: bool = False
    """Whether the server creates the drive and overwrites it before its first client connects."""

    @property
    def page_bytes(self) -> int:
        """Bytes of a page of the map: the smallest request size that clients should prefer."""
        return self.config.page_bytes

    @property
    def depth(self) -> int:
        """Requests that the drive works on at a time."""
        queue = self.config.table()["queue"]
        return int(queue["depth"] * queue["queues"])

    @property
    def handles(self) -> int:
        """Placement handles that the drive obeys; 0 if it obeys none."""
        placement = self.config.table()["placement"]
        return int(placement["handles"]) if placement["scheme"] == "host" else 0

    def parameters(self, folder: Path) -> list[str]:
        """Returns the plugin's parameters; writes files that they name into `folder`."""
        image = [] if self.image is None else [f"image={self.image.absolute()}"]
        if image and not self.ages:
            return [*image, f"name={self.name}"]
        config = folder / "config.json"
        config.write_text(self.config.text, "utf-8")
        memory = [f"memory={self.bytes}", f"config={config}", f"seed={self.seed}"]
        aged = [*image, "aged=yes"] if self.ages else []
        return [*memory, *aged, f"name={self.name}"]


def prepare(
    image: Path | None,
    *,
    size: str | None,
    device: str | None,
    set: Mapping[str, Any],
    seed: int | None,
    aged: bool,
    zoned: bool = False,
    options: Mapping[str, str] | None = None,
) -> Backing:
    """Returns the requested drive.

    Creates an image that does not exist, or with `aged` lets the server do so. An image of a drive
    in zones states that. `options` names the option of a setting that is not of `--set`, for
    errors.

    Raises ConfigError if an existing image differs from the request, if a live drive cannot have
    the config, or for a size without a unit. Raises RunError if the image is in use.
    """
    wanted = None if size is None else _core.parse_size("size", size)
    if image is not None and image.exists():
        return _opened(image, wanted, device, set, seed, aged, options or {})
    bytes = _core.parse_size("size", DEFAULT_SIZE) if wanted is None else wanted
    config, notes = images.live_config(bytes, device=device, set=set, aged=aged, zoned=zoned)
    seed = 1 if seed is None else seed
    if image is not None and not aged:
        images.create(image, bytes, device=device, set=set, seed=seed, zoned=zoned)
    name = configs.name(device)
    return Backing(name, image, bytes, config, seed, True, (*notes,), aged)


def start_of(
    image: Path | None, device: str | None, set: Mapping[str, Any], aged: bool
) -> dict[str, Any] | None:
    """Returns the settings of `[start]` that give shadow
    drives the start state of the served drive.

    None if that start state is unknown. Raises as `prepare`.
    """
    if image is not None and image.exists():
        about = images.info(image)
        start = about["config"]["start"] if about["aged"] else None
        return start and {f"start.{key}": value for key, value in start.items()}
    return images.aged_start(device, set) if aged else {"start.fill": "none"}


def shadows(devices: Sequence[str], folder: Path, *, start: Mapping[str, Any] | None) -> list[str]:
    """Returns the plugin's parameters for shadow drives, which get the same requests.

    They begin as `start` states, except devices whose file sets a fill of its own. Raises
    ConfigError for an unknown device, or for two devices of one name.
    """
    found: dict[str, str] = {}
    for device in devices:
        name = Path(device).stem
        if name in found:
            raise ConfigError(f"--also: two devices are called {name}; expected different names")
        file = folder / f"also-{len(found)}.json"
        try:
            file.write_text(_shadow(device, start or {}), "utf-8")
        except ConfigError as error:
            raise ConfigError(f"--also {device}: {error}") from error
        found[name] = f"also={name}={file}"
    return list(found.values())


def _shadow(device: str, start: Mapping[str, Any]) -> str:
    _, text = configs.source(device)
    stated = {} if text is None else json.loads(_core.said(None, text)).get("start", {})
    return configs.resolve(device, {} if "fill" in stated else start).text


def _opened(
    image: Path,
    wanted: int | None,
    device: str | None,
    set: Mapping[str, Any],
    seed: int | None,
    aged: bool,
    options: Mapping[str, str],
) -> Backing:
    about = images.info(image)
    if aged and not about["aged"]:
        raise _other(image, "--aged", "began erased", "an aged drive")
    if wanted is not None and wanted != about["bytes"]:
        raise _other(image, "--size", f"is of {about['bytes']:,} bytes", f"{wanted:,}")
    if seed is not None and seed != about["seed"]:
        raise _other(image, "--seed", f"has the seed {about['seed']}", str(seed))
    has = _flat(about["config"])
    # Without a named drive, the settings apply to the drive of the image.
    base = about["config"] if device is None else device
    config, _ = images.live_config(about["bytes"], device=base, set=set, aged=about["aged"])
    asked = _flat(config.table())
    for key in sorted(has.keys() | asked.keys()) if device is not None else set:
        ours, theirs = has.get(key), asked.get(key)
        if ours != theirs:
            option = options.get(key, "--set") if key in set else "--device"
            raise _other(image, option, f"has {key} = {ours}", str(theirs))
    name = str(image) if device is None else configs.name(device)
    bytes, config = about["bytes"], _core.Config(json.dumps(about["config"]))
    notes = [] if about["zoned"] else scaling.few_units(config, bytes)
    if aged:
        notes.append(f"{image} was aged when it was made, and is not aged again")
    return Backing(name, image, bytes, config, about["seed"], is_new=False, notes=(*notes,))


def _other(image: Path, option: str, has: str, asked: str) -> ConfigError:
    return ConfigError(
        f"{option}: {image} exists and {has}; {asked} given. Leave {option} out, or name another "
        "image"
    )


def _flat(config: Mapping[str, Any]) -> dict[str, Any]:
    return dict(_leaves(config, ""))


def _leaves(table: Mapping[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value
