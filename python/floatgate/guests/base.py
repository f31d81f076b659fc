"""Base of all Python policies, and the checks that a new policy passes."""

from __future__ import annotations

import inspect
from difflib import get_close_matches
from typing import Any, ClassVar

from .._core import RunError

OURS = ("check", "fit", "calls")
"""Methods of a base class that policies must not define."""


ALIKE = 0.8
"""Minimum similarity, by `difflib`'s ratio,
at which a method name counts as a misspelling of another.
"""


class PolicyError(RunError):
    """A Python policy raised an exception, or returned an invalid answer.

    The exception itself, with its traceback, is the `__cause__`.
    """

    number: int | None = None
    """Number of the last request that the drive received, counted from 1; None before the first. In
    a batch, the request of the page at fault, or the first request.
    """
    op: str | None = None
    """Kind of the request: "read", "write", "trim" or "flush"."""
    offset: int | None = None
    """First byte of the request."""
    length: int | None = None
    """Bytes of the request."""
    until: int | None = None
    """Last request of the batch, if no single request of the batch is at fault."""
    is_start: bool = False
    """Whether the request is one of those that bring the drive to its start state."""


class _Checked(type):
    """Metaclass that checks a policy when it is created."""

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        policy = super().__call__(*arguments, **options)
        policy.check()
        return policy


class Policy(metaclass=_Checked):
    """Policy in Python.

    Subclass `Placement`, `Victim`, `Mapping` or `WriteBuffer`, not this class.
    """

    KEY: ClassVar[str] = ""
    """Config key that names such a policy."""
    AXIS: ClassVar[str] = ""
    """Axis of the policy, as `floatgate policies` shows it."""
    REQUIRED: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Groups of methods; a policy must define exactly one method of each group."""
    EITHER: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Groups of methods; a policy may define at most one method of each group."""

    source: ClassVar[str] = "a policy in Python"
    """Origin of the policy, such as a paper; `floatgate policies` shows it."""

    name: str = ""
    """Name in a config, after "python:". Default: the name of the class."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" not in vars(cls):
            cls.name = cls.__name__

    def start(self, drive: Any) -> None:
        """Begins a run: the policy must forget anything from an earlier run."""

    def check(self) -> None:
        """Raises TypeError or ValueError if the policy lacks something, or has something wrong."""
        mine, base = type(self), self._base()
        refuse_set(self)
        for group in (*self.REQUIRED, *self.EITHER):
            defined = [name for name in group if _defines(mine, base, name)]
            if len(defined) > 1 or (not defined and group in self.REQUIRED):
                found = " and ".join(defined) or "none of them"
                raise TypeError(
                    f"{mine.__name__} defines {found}: expected "
                    + (" or ".join(f"{name}()" for name in group))
                )
        asked = _asked(base)
        for name, method in asked.items():
            _check_arguments(mine, name, method)
        _check_names(mine, base, [name for name in asked if not _defines(mine, base, name)])
        name = self.name
        if not isinstance(name, str) or not name or any(c.isspace() for c in name):
            raise ValueError(f"{mine.__name__}.name is {name!r}: expected text without spaces")

    def fit(self, config: dict[str, Any]) -> None:
        """Sets in a resolved config the values that the policy needs.

        Raises ConfigError for a drive that cannot have this policy.
        """

    def calls(self) -> Any:
        """Returns the object that the engine calls instead of the policy."""
        raise NotImplementedError

    @classmethod
    def _base(cls) -> type[Policy]:
        """Returns the base class that defines the methods for the engine."""
        return next(one for one in cls.__mro__ if "KEY" in vars(one))

    def defines(self, name: str) -> bool:
        """Returns whether the policy defines a method, so that the engine calls it."""
        return _defines(type(self), self._base(), name)


def started(policy: Policy, drive: Any) -> None:
    """Begins a run of a policy.

    Checks the attributes that `start` sets, like those that the constructor sets.
    """
    policy.start(drive)
    refuse_set(policy)


def refuse_set(policy: Policy) -> None:
    """Raises TypeError for an attribute of the object that has the name of a method that the engine
    calls. The class alone determines which methods the engine calls, and with which arguments.
    """
    for name in _asked(policy._base()):
        if name in vars(policy):
            raise TypeError(
                f"{type(policy).__name__}: {name} is set on the object; expected {name}() to be "
                "defined in the class, or another name for what is no such method"
            )


def _asked(base: type) -> dict[str, Any]:
    """Returns the methods that the engine calls, by their names."""
    return {
        name: method
        for name, method in vars(base).items()
        if inspect.isfunction(method) and name not in OURS and not name.startswith("_")
    }


def _defines(mine: type, base: type, name: str) -> bool:
    return getattr(mine, name) is not getattr(base, name)


def _check_names(mine: type, base: type, open_ones: list[str]) -> None:
    """Raises TypeError for a method whose name resembles an undefined method of the base class.
    Such a method is probably misspelt, and the engine would never call it.
    """
    for one in mine.__mro__[: mine.__mro__.index(base)]:
        for name, value in vars(one).items():
            if hasattr(base, name) or name.startswith("_") or not inspect.isfunction(value):
                continue
            if meant := get_close_matches(name, open_ones, n=1, cutoff=ALIKE):
                raise TypeError(
                    f"{mine.__name__}.{name}: the engine asks for no such method; expected "
                    f"{meant[0]}, or a less similar name for a method of your own"
                )


def _check_arguments(mine: type, name: str, expected: Any) -> None:
    """Raises TypeError for a method that cannot take the engine's arguments."""
    given = getattr(mine, name)
    names = list(inspect.signature(expected).parameters)
    if not callable(given):
        raise TypeError(f"{mine.__name__}.{name} is {given!r}: expected a method")
    try:
        inspect.signature(given).bind(*names)
    except TypeError as error:
        raise TypeError(
            f"{mine.__name__}.{name}{inspect.signature(given)}: expected ({', '.join(names)})"
        ) from error
