"""Policies of a file: a config names them `python:FILE.py`, or `python:FILE.py:CLASS`."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from .._core import ConfigError
from .base import Policy

PREFIX = "python:"
"""Prefix of a Python policy's name in a config."""
SUFFIX = ".py"

_modules: dict[Path, tuple[int, ModuleType]] = {}
"""Files that were run, each with the time of its last change in nanoseconds."""


def split(name: str) -> tuple[str, str] | None:
    """Returns the file and the class (or an empty text) in a name, or None for another name."""
    if name.endswith(SUFFIX):
        return name, ""
    path, _, wanted = name.rpartition(":")
    return (path, wanted) if path.endswith(SUFFIX) else None


def placed(value: object, base: Path) -> object:
    """Returns a setting. If it names a file of policies, its path becomes relative to `base`."""
    name = value.removeprefix(PREFIX) if isinstance(value, str) else ""
    if name != value and (parts := split(name)):
        return ":".join(filter(None, (f"{PREFIX}{base / parts[0]}", parts[1])))
    return value


def policy_class(name: str, key: str) -> type[Policy]:
    """Returns the class for a config key in the file of a name.

    Raises ConfigError if the file is missing or fails, and if not exactly one class fits.
    """
    path, wanted = split(name) or (name, "")
    known = _classes(path)
    found = [one for one in known if key == one.KEY and wanted in ("", one.__name__)]
    if len(found) == 1:
        return found[0]
    told = f"{PREFIX}{name}"
    if found:
        names = " and ".join(one.__name__ for one in found)
        raise ConfigError(
            f"{told} has {names} for {key}; expected one of them: {told}:{found[0].__name__}"
        )
    raise ConfigError(f"{told}: no such policy for {key}; the file has {_names(known)}")


def policy_classes(name: str) -> list[type[Policy]]:
    """Returns the class in a name, or all classes of its file.

    Raises ConfigError if the file is missing or fails, and if it has no such policy.
    """
    path, wanted = split(name) or (name, "")
    known = _classes(path)
    if found := [one for one in known if wanted in ("", one.__name__)]:
        return found
    raise ConfigError(f"{PREFIX}{name}: no such policy; the file has {_names(known)}")


def _names(classes: list[type[Policy]]) -> str:
    return ", ".join(f"{one.__name__} for {one.KEY}" for one in classes) or "no policy"


def _classes(path: str) -> list[type[Policy]]:
    module = _module(path, Path(path).resolve())
    return [
        one
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, Policy) and one.__module__ == module.__name__
    ]


def _module(told: str, path: Path) -> ModuleType:
    """Runs a file. Runs it again only if it has changed, so that its policies can share objects."""
    try:
        changed = path.stat().st_mtime_ns
    except OSError as error:
        raise ConfigError(f"{PREFIX}{told}: {error.strerror or error}") from error
    if path not in _modules or _modules[path][0] != changed:
        spec = spec_from_file_location(str(path), path)
        assert spec and spec.loader
        module = module_from_spec(spec)
        # Dataclasses look their module up.
        sys.modules[spec.name] = module
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            raise ConfigError(
                f"{PREFIX}{told} cannot be loaded: {type(error).__name__}: {error}"
            ) from error
        _modules[path] = changed, module
    return _modules[path][1]
