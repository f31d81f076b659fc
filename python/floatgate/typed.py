"""Dataclasses from JSON documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from typing import Any, TypeVar, get_args, get_type_hints

_T = TypeVar("_T")


def build(kind: Callable[..., _T], data: Mapping[str, Any]) -> _T:
    """The dataclass `kind` from the entries of its names, nested ones included.

    A missing one is a KeyError.
    """
    return kind(**{name: _value(hint, data[name]) for name, hint in get_type_hints(kind).items()})


def _value(hint: Any, value: Any) -> Any:
    if is_dataclass(hint):
        return build(hint, value)  # type: ignore[arg-type]
    inner = get_args(hint)
    if isinstance(value, list) and inner:
        return tuple(_value(inner[0], item) for item in value)
    return value
