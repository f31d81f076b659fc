"""Policies by name: of files, and of installed packages, which have entry points of the group
`floatgate.policies`.
"""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any

from .. import _core
from . import from_file
from .base import Policy
from .from_file import PREFIX
from .placement import Placement
from .victim import Victim

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "floatgate.policies"
"""Group in which a package names its policies: `NAME = "module:Class"`."""


def _points() -> dict[str, list[EntryPoint]]:
    """Returns the entry points by their names.

    A name has several if packages define it differently.
    """
    from importlib.metadata import entry_points

    found: dict[str, dict[str, EntryPoint]] = {}
    for point in entry_points(group=GROUP):
        found.setdefault(point.name, {}).setdefault(point.value, point)
    return {name: [*of.values()] for name, of in found.items()}


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "a package without a name"


def _loaded(point: EntryPoint) -> type[Policy]:
    """Returns the class of an entry point. Raises ConfigError if it is not a policy class."""
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


def made(name: str, key: str) -> Policy:
    """Returns a policy of a file or of a package by its name, created without arguments.

    Raises ConfigError if there is no such policy for the config key, if there are several, or if it
    cannot be created.
    """
    found = from_file.policy_class(name, key) if from_file.split(name) else _of_package(name)
    try:
        return found()
    except Exception as error:
        raise _core.ConfigError(
            f"python:{name} cannot be made: {type(error).__name__}: {error}"
        ) from error


def _of_package(name: str) -> type[Policy]:
    points = _points()
    if name not in points:
        known = ", ".join(sorted(points)) or "none"
        raise _core.ConfigError(
            f"python:{name}: no installed package has this policy (they have: {known}), "
            "and none was given; a file of policies is python:FILE.py"
        )
    if len(points[name]) > 1:
        several = " and ".join(f"{_package(one)} ({one.value})" for one in points[name])
        raise _core.ConfigError(
            f"python:{name}: {several} have a policy of this name; expected one of them: uninstall "
            "the other, ask for another name there, or give the policy itself in Python"
        )
    return _loaded(points[name][0])


def listed() -> dict[str, list[dict[str, Any]]]:
    """Returns the policies of each axis, policies of packages last: see `floatgate.policies`."""
    axes: dict[str, list[dict[str, Any]]] = json.loads(_core.policies())
    for _, points in sorted(_points().items()):
        for point in points:
            on, row = _row(point)
            if len(points) > 1:
                row["source"] += f"; of {_package(point)}, one of {len(points)} of this name"
            for axis in on:
                axes.setdefault(axis, []).append(row)
    return axes


def named(name: str) -> dict[str, list[dict[str, Any]]]:
    """Returns the policies of a name by axis: see `floatgate.policies`.

    `python:FILE.py` names all policies of a file. Raises ConfigError for an unknown name.
    """
    bare = name.removeprefix(PREFIX)
    if bare != name and (parts := from_file.split(bare)):
        return _of_file(parts, from_file.policy_classes(bare))
    axes = listed()
    found = {axis: [row for row in rows if row["name"] == name] for axis, rows in axes.items()}
    if not any(found.values()):
        known = ", ".join(sorted({row["name"] for rows in axes.values() for row in rows}))
        raise _core.ConfigError(
            f"policies: {name!r} is not known; expected {PREFIX}FILE.py or one of {known}"
        )
    return {axis: rows for axis, rows in found.items() if rows}


def _of_file(
    parts: tuple[str, str], classes: list[type[Policy]]
) -> dict[str, list[dict[str, Any]]]:
    path, wanted = parts
    keys = [one.KEY for one in classes]
    axes: dict[str, list[dict[str, Any]]] = {}
    for one in classes:
        which = f":{one.__name__}" if wanted or keys.count(one.KEY) > 1 else ""
        row = _class_row(f"{path}{which}", one)
        for axis in _axes_of(one):
            axes.setdefault(axis, []).append(row)
    return axes


def _row(point: EntryPoint) -> tuple[list[str], dict[str, Any]]:
    """Returns the axes of a policy, and its row in the list."""
    try:
        found = _loaded(point)
    except _core.ConfigError as error:
        row = {"name": PREFIX + point.name, "doc": str(error), "source": point.value}
        return ["python"], {**row, "parameters": []}
    return _axes_of(found), _class_row(point.name, found)


def _axes_of(policy: type[Policy]) -> list[str]:
    chooses_victims = issubclass(policy, Placement) and policy.victim is not Placement.victim
    return [policy.AXIS, Victim.AXIS] if chooses_victims else [policy.AXIS]


def _class_row(name: str, policy: type[Policy]) -> dict[str, Any]:
    # The class's own docstring: an inherited one would only describe the axis.
    doc = inspect.cleandoc(policy.__doc__ or "").partition("\n")[0]
    return {"name": PREFIX + name, "doc": doc, "source": policy.source, "parameters": []}
