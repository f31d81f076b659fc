"""Policies of installed packages: the entry points of the group `floatgate.policies`."""

from __future__ import annotations

import inspect
import json
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from .. import _core
from .base import Policy
from .placement import Placement
from .victim import Victim

GROUP = "floatgate.policies"
"""The group in which a package names its policies: `NAME = "module:Class"`."""


def _points() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _loaded(point: EntryPoint) -> type[Policy]:
    """The class of an entry point. Raises ConfigError where it is none."""
    try:
        found = point.load()
    except Exception as error:
        raise _core.ConfigError(
            f"python:{point.name} is {point.value}, which cannot be loaded: "
            f"{type(error).__name__}: {error}"
        ) from error
    if not (isinstance(found, type) and issubclass(found, Policy) and found.KEY):
        raise _core.ConfigError(
            f"python:{point.name} is {point.value}: expected a subclass of floatgate.Placement, "
            "Victim, Mapping or WriteBuffer"
        )
    return found


def made(name: str) -> Policy:
    """A policy of a package by its name, made without arguments.

    Raises ConfigError where no package has it, or it cannot be made.
    """
    points = _points()
    if name not in points:
        known = ", ".join(sorted(points)) or "none"
        raise _core.ConfigError(
            f"python:{name}: no installed package has this policy (they have: {known}), "
            "and none was given"
        )
    found = _loaded(points[name])
    try:
        return found()
    except Exception as error:
        raise _core.ConfigError(
            f"python:{name} cannot be made: {type(error).__name__}: {error}"
        ) from error


def listed() -> dict[str, list[dict[str, Any]]]:
    """The policies of each axis, those of packages last: as `floatgate.policies`."""
    axes: dict[str, list[dict[str, Any]]] = json.loads(_core.policies())
    for name, point in sorted(_points().items()):
        on, doc, source = ["python"], "", point.value
        try:
            found = _loaded(point)
        except _core.ConfigError as error:
            doc = str(error)
        else:
            on, source = [found.AXIS], found.source
            doc = (inspect.getdoc(found) or "").partition("\n")[0]
            if issubclass(found, Placement) and found.victim is not Placement.victim:
                on.append(Victim.AXIS)
        row = {"name": f"python:{name}", "doc": doc, "source": source, "parameters": []}
        for axis in on:
            axes.setdefault(axis, []).append(row)
    return axes
