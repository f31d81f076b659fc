"""Builds dataclasses from JSON documents."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints

_T = TypeVar("_T")


class _WrongError(Exception):
    """Error in a document. Outer readers add the steps of its path, from the inside out."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.steps: list[str] = []


def build(kind: Callable[..., _T], data: Any, path: str) -> _T:
    """Builds the dataclass `kind`, and nested dataclasses, from the entries named after the fields.

    Raises ValueError with the path below `path` if an entry is missing or has another type.
    """
    return builder(kind, path)(data)


def builder(kind: Callable[..., _T], path: str) -> Callable[[Any], _T]:
    """Returns `build` for one dataclass. The first call for a dataclass inspects its types."""
    read = _table(kind)

    def built(data: Any) -> _T:
        try:
            found: _T = read(data)
        except _WrongError as wrong:
            place = ".".join((path, *reversed(wrong.steps)))
            raise ValueError(f"{place}: {wrong}") from None
        return found

    return built


def require(names: Iterable[str], data: Any, path: str) -> None:
    """Raises ValueError if `data` is not a table, or lacks any of the names."""
    try:
        _look_for(names, data)
    except _WrongError as wrong:
        raise ValueError(f"{path}: {wrong}") from None


def _look_for(names: Iterable[str], data: Any) -> None:
    if not isinstance(data, Mapping):
        raise _mismatch(data, "a table")
    if missing := [name for name in names if name not in data]:
        found = ", ".join(data) or "nothing"
        raise _WrongError(f"{', '.join(missing)} expected; there is {found}")


@cache
def _reader(hint: Any) -> Callable[[Any], Any]:
    """Returns a function that converts JSON to a value of the type. It is cached,
    because inspecting types is slow.
    """
    if hasattr(hint, "from_dict"):
        # The class checks its document itself.
        return _documented(hint)
    if is_dataclass(hint):
        return _table(cast(Hashable, hint))
    if get_origin(hint) is tuple:
        of = get_args(hint)[0]
        return _list(_reader(of), frozenset(() if is_dataclass(of) else _taken(of)))
    kinds = _kinds(hint)
    if len(kinds) == 2 and is_dataclass(kinds[0]):
        some = _reader(cast(Hashable, kinds[0]))
        return lambda value: None if value is None else some(value)
    taken = _taken(hint)
    names = " or ".join("None" if kind is NoneType else kind.__name__ for kind in kinds)

    def read(value: Any) -> Any:
        if not isinstance(value, taken):
            raise _mismatch(value, names)
        return value

    return read


def _documented(kind: Any) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        _look_for((), value)
        try:
            return kind.from_dict(value)
        except ValueError as error:
            raise _WrongError(str(error)) from None

    return read


def _kinds(hint: Any) -> tuple[type, ...]:
    return get_args(hint) if isinstance(hint, UnionType) else (get_origin(hint) or hint,)


def _taken(hint: Any) -> tuple[type, ...]:
    """Returns the types that JSON has for a hint: JSON does not distinguish 1 from 1.0."""
    kinds = _kinds(hint)
    return (*kinds, int) if float in kinds else kinds


@cache
def _table(kind: Any) -> Callable[[Any], Any]:
    readers = {name: _reader(hint) for name, hint in get_type_hints(kind).items()}

    def read(data: Any) -> Any:
        _look_for(readers, data)
        entries = {}
        for name, of in readers.items():
            try:
                entries[name] = of(data[name])
            except _WrongError as wrong:
                wrong.steps.append(name)
                raise
        return kind(**entries)

    return read


def _list(of: Callable[[Any], Any], plain: frozenset[type]) -> Callable[[Any], Any]:
    """Returns a reader of lists.

    Values of `plain` types need no conversion, so thousands of numbers are checked at once.
    """

    def read(value: Any) -> Any:
        if not isinstance(value, list):
            raise _mismatch(value, "a list")
        return tuple(value) if plain.issuperset(map(type, value)) else tuple(map(of, value))

    return read


def _mismatch(value: Any, expected: str) -> _WrongError:
    return _WrongError(f"{reprlib.repr(value)} given; expected {expected}")
