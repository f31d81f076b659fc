"""What all policies in Python have in common, and what they are checked for when they are made."""

from __future__ import annotations

import inspect
from difflib import get_close_matches
from typing import Any, ClassVar

from .._core import RunError

OURS = ("check", "fit", "calls")
"""Methods of a base class that are not for policies to define."""


ALIKE = 0.8
"""How alike names are, by `difflib`'s ratio, of which one is taken for the other misspelt."""


class PolicyError(RunError):
    """A policy in Python raised an exception, or answered something that it cannot.

    The exception itself, with its traceback, is the `__cause__`.
    """

    number: int | None = None
    """Which request the drive had been given last, counted from 1; None before the first. Of a
    batch, the request of the page at fault, or the first."""
    op: str | None = None
    """What it is: "read", "write", "trim" or "flush"."""
    offset: int | None = None
    """Its first byte."""
    length: int | None = None
    """Its bytes."""
    until: int | None = None
    """The last request of a batch that the policy was asked for, if none of them is at fault
    alone."""
    is_start: bool = False
    """Whether it is one of those that bring the drive to its start state."""


class _Checked(type):
    """Checks a policy when it is made."""

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        policy = super().__call__(*arguments, **options)
        policy.check()
        return policy


class Policy(metaclass=_Checked):
    """A policy in Python. Subclass `Placement`, `Victim`, `Mapping` or `WriteBuffer`, not this."""

    KEY: ClassVar[str] = ""
    """The key of the config that names such a policy."""
    AXIS: ClassVar[str] = ""
    """The axis that it is on, as `floatgate policies` has it."""
    REQUIRED: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Of each group of methods a policy must define exactly one."""
    EITHER: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Of each of these it may define one, or none."""

    source: ClassVar[str] = "a policy in Python"
    """Where it is from, such as a paper: shown by `floatgate policies`."""

    name: str = ""
    """What a config calls it, after "python:". Not set: the name of the class."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" not in vars(cls):
            cls.name = cls.__name__

    def start(self, drive: Any) -> None:
        """A run begins: whatever the policy has kept of an earlier one is to be forgotten."""

    def check(self) -> None:
        """Raises TypeError or ValueError for what the policy lacks, or has wrong."""
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
        """Sets in a resolved config what the policy asks of the drive.

        Raises ConfigError for a drive that it cannot be on.
        """

    def calls(self) -> Any:
        """What the engine asks in the policy's place."""
        raise NotImplementedError

    @classmethod
    def _base(cls) -> type[Policy]:
        """What this is a subclass of: the class that says what the engine asks."""
        return next(one for one in cls.__mro__ if "KEY" in vars(one))

    def defines(self, name: str) -> bool:
        """Whether the policy has a method of its own, which the engine then asks."""
        return _defines(type(self), self._base(), name)


def started(policy: Policy, drive: Any) -> None:
    """Tells a policy that a run begins; what it sets then is checked as what it is made with."""
    policy.start(drive)
    refuse_set(policy)


def refuse_set(policy: Policy) -> None:
    """Raises TypeError for what is set on the policy under the name of a method that the engine
    asks for: whether it is asked, and how it can be called, is told by the class alone."""
    for name in _asked(policy._base()):
        if name in vars(policy):
            raise TypeError(
                f"{type(policy).__name__}: {name} is set on the object; expected {name}() to be "
                "defined in the class, or another name for what is no such method"
            )


def _asked(base: type) -> dict[str, Any]:
    """The methods that the engine asks for, by their names."""
    return {
        name: method
        for name, method in vars(base).items()
        if inspect.isfunction(method) and name not in OURS and not name.startswith("_")
    }


def _defines(mine: type, base: type, name: str) -> bool:
    return getattr(mine, name) is not getattr(base, name)


def _check_names(mine: type, base: type, open_ones: list[str]) -> None:
    """Raises TypeError for a method that looks like one of those that the policy may define but
    does not: spelt as it is, nobody would ever call it."""
    for one in mine.__mro__[: mine.__mro__.index(base)]:
        for name, value in vars(one).items():
            if hasattr(base, name) or name.startswith("_") or not inspect.isfunction(value):
                continue
            if meant := get_close_matches(name, open_ones, n=1, cutoff=ALIKE):
                raise TypeError(
                    f"{mine.__name__}.{name}: the engine asks for no such method; expected "
                    f"{meant[0]}, or for a method of your own a name less like it"
                )


def _check_arguments(mine: type, name: str, expected: Any) -> None:
    """Raises TypeError for a method that cannot be called as the engine does."""
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
