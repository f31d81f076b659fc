"""Dataclasses from JSON documents."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

_T = TypeVar("_T")


def build(kind: Callable[..., _T], data: Any, path: str) -> _T:
    """The dataclass `kind` from the entries of its names, nested ones included.

    Raises ValueError, with the place below `path`, where an entry is missing or of another type.
    """
    hints = get_type_hints(kind)
    require(hints, data, path)
    entries = {name: _value(hint, data[name], f"{path}.{name}") for name, hint in hints.items()}
    return kind(**entries)


def require(names: Iterable[str], data: Any, path: str) -> None:
    """Raises ValueError if `data` is no table, or one that lacks any of the names."""
    if not isinstance(data, Mapping):
        raise _mismatch(path, data, "a table")
    if missing := [name for name in names if name not in data]:
        found = ", ".join(data) or "nothing"
        raise ValueError(f"{path}: {', '.join(missing)} expected; there is {found}")


def _value(hint: Any, value: Any, path: str) -> Any:
    if is_dataclass(hint):
        return build(hint, value, path)  # type: ignore[arg-type]
    if get_origin(hint) is tuple:
        if not isinstance(value, list):
            raise _mismatch(path, value, "a list")
        return tuple(_value(get_args(hint)[0], item, path) for item in value)
    kinds = get_args(hint) if isinstance(hint, UnionType) else (get_origin(hint) or hint,)
    # JSON does not tell 1 from 1.0.
    if not isinstance(value, (*kinds, int) if float in kinds else kinds):
        names = ("None" if kind is NoneType else kind.__name__ for kind in kinds)
        raise _mismatch(path, value, " or ".join(names))
    return value


def _mismatch(path: str, value: Any, expected: str) -> ValueError:
    return ValueError(f"{path}: {reprlib.repr(value)} given; expected {expected}")
