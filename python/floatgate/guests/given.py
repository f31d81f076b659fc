"""Replaces Python policies in a config by their names, and passes the policies to the engine."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._core import Config, ConfigError
from . import from_file, registry
from .base import Policy, PolicyError
from .from_file import PREFIX
from .placement import Placement
from .victim import Victim

KEYS = ("placement.scheme", "cleaning.victim", "mapping.scheme", "buffer.scheme")
"""Config keys that can name a Python policy."""

NameOf = dict[str, Policy]
"""Policies that a caller has given, by their names in a config."""


def taken(value: Any, given: NameOf, key: str = "") -> Any:
    """Returns `value` with each policy replaced by its name, and adds the policies to `given`.

    A table such as {"placement": Mine()} stands for {"placement": {"scheme": Mine()}}.
    """
    if isinstance(value, Mapping):
        return {
            name: taken(one, given, f"{key}.{name}" if key else name) for name, one in value.items()
        }
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [taken(one, given, key) for one in value]
    if isinstance(value, type) and issubclass(value, Policy):
        value = _instance(value, given, key)
    if not isinstance(value, Policy):
        return value
    section, _, leaf = value.KEY.partition(".")
    if key not in (value.KEY, section):
        raise ConfigError(f"{key}: {value.name} is a policy for {value.KEY}")
    name = PREFIX + value.name
    if given.setdefault(name, value) is not value:
        raise ConfigError(f"{key}: two policies are called {value.name}; give one another name")
    return {leaf: name} if key == section else name


def _instance(policy: type[Policy], given: NameOf, key: str) -> Policy:
    """Returns a policy for a class: the one already in `given`, or a new one."""
    known = given.get(PREFIX + policy.name)
    if type(known) is policy:
        return known
    try:
        return policy()
    except TypeError as error:
        raise ConfigError(
            f"{key}: the class {policy.__name__} given; expected an object of it: {error}"
        ) from error


def by_name(policy: Policy) -> str:
    """Returns the error text for a policy object where only names are allowed."""
    return (
        f"the policy {type(policy).__name__}() itself; name it {PREFIX}NAME, by the entry point of "
        f"an installed package, or {PREFIX}FILE.py (docs/python-policies.md)"
    )


def _partner(name: str, placement: Policy) -> Policy:
    """Returns the victim policy of a placement. Raises ConfigError if it has none."""
    if not (isinstance(placement, Placement) and placement.defines("victim")):
        raise ConfigError(f'{Victim.KEY} = "{name}": it is a policy for {placement.KEY}')
    return placement.victim()


def _brings(placement: Policy, name: str, table: Mapping[str, Any]) -> bool:
    """Returns whether a victim policy comes with the placement of the same name. A file may have
    two separate policies instead.
    """
    is_separate = from_file.split(name) is not None and not placement.defines("victim")
    return bool(name == table["placement"]["scheme"]) and not is_separate


def _misplaced(key: str, name: str, policy: Policy) -> str:
    text = f'{key} = "{name}": it is a policy for {policy.KEY}'
    if key == Victim.KEY and isinstance(policy, Placement) and policy.defines("victim"):
        text += f'; it brings its victim policy where {policy.KEY} is "{name}", too'
    return text


def _copied(key: str, policy: Policy, memo: dict[int, Any]) -> Policy:
    try:
        return copy.deepcopy(policy, memo)
    except Exception as error:
        raise ConfigError(
            f"{key} = {PREFIX}{policy.name}: each of several runs has a deep copy of the policy, "
            f"and it cannot be copied: {type(error).__name__}: {error}; create objects without a "
            "copy, such as a lock or an open file, in start()"
        ) from error


@dataclass(frozen=True)
class Guests:
    """Python policies of one drive, by the config keys that name them."""

    policies: Mapping[str, Policy] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.policies)

    @classmethod
    def of(cls, config: Config, given: NameOf, is_victim_free: bool) -> tuple[Config, Guests]:
        """Returns the Python policies of a resolved config, from `given` or from packages, and the
        config with the values that they need. With `is_victim_free`, a placement may bring its own
        victim policy.

        Raises ConfigError for an unknown name, or for a drive that cannot have a policy.
        """
        if f'"{PREFIX}' not in config.text:
            return config, cls()
        table = config.table()
        found: dict[str, Policy] = {}
        for key in KEYS:
            section, _, leaf = key.partition(".")
            name = table[section][leaf]
            if name.startswith(PREFIX):
                placement = found.get(Placement.KEY)
                if key == Victim.KEY and placement and _brings(placement, name, table):
                    policy = _partner(name, placement)
                elif name in given:
                    policy = given[name]
                else:
                    policy = registry.made(name[len(PREFIX) :], key)
                if key != policy.KEY:
                    raise ConfigError(_misplaced(key, name, policy))
                policy.check()
                if is_victim_free and isinstance(policy, Placement) and policy.needs_victim:
                    table["cleaning"]["victim"] = name
                policy.fit(table)
                found[key] = policy
        return Config(json.dumps(table)), cls(found)

    def names(self) -> set[str]:
        """Returns the policies' names, as a config has them."""
        return {PREFIX + policy.name for policy in self.policies.values()}

    def copied(self) -> Guests:
        """Returns copies of the policies for another run;
        objects that two policies share stay shared.

        Raises ConfigError for a policy that cannot be copied.
        """
        # Objects copied so far: with it, two policies get the same copy of an object that they
        # share.
        memo: dict[int, Any] = {}
        return Guests({key: _copied(key, one, memo) for key, one in self.policies.items()})

    # Properties that the engine reads.

    @property
    def placement(self) -> Any:
        """The placement, if it is a Python policy; else None."""
        return self._calls("placement.scheme")

    @property
    def victim(self) -> Any:
        """The victim policy, if it is a Python policy; else None."""
        return self._calls("cleaning.victim")

    @property
    def mapping(self) -> Any:
        """The mapping cache, if it is a Python policy; else None."""
        return self._calls("mapping.scheme")

    @property
    def buffer(self) -> Any:
        """The buffer policy, if it is a Python policy; else None."""
        return self._calls("buffer.scheme")

    def _calls(self, key: str) -> Any:
        return self.policies[key].calls() if key in self.policies else None

    def failure(
        self,
        cause: BaseException,
        is_start: bool,
        request: tuple[int, str, int, int] | None,
        until: int | None,
    ) -> PolicyError:
        """Returns the error of a run in which a policy has raised `cause`."""
        names = " or ".join(policy.name for policy in self.policies.values())
        when = "before the first request"
        if request is not None:
            number, op, offset, length = request
            of = "of the drive's fill" if is_start else "of the trace"
            when = f"at request {number} {of} ({op}, offset {offset}, length {length})"
            if until is not None:
                when = f"in the batch of requests {number} to {until} {of}"
        error = PolicyError(f"{names}, {when}: {type(cause).__name__}: {cause}")
        if request is not None:
            error.number, error.op, error.offset, error.length = request
            error.until = until
        error.is_start = is_start
        error.__cause__ = cause
        return error
