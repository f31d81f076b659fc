"""Settings of one job, read by name with the type of each option."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from floatgate._core import ConfigError

from . import values
from .lines import Setting, TextLine
from .options import ALIASES, IGNORED_NAMES, MODELLED, REFUSED, meant

_T = TypeVar("_T")


class Settings:
    """Options of a job with those of the `[global]` sections above it. A later option counts."""

    def __init__(self, name: str, source: TextLine, settings: Iterable[Setting]) -> None:
        """Raises ConfigError for an option that is unknown or not modelled."""
        self.name = name
        self.source = source
        self.ignored: list[str] = []
        self._given: dict[str, Setting] = {}
        for setting in settings:
            self._take(setting)
        self.kb_base = self.parsed("kb_base", self._kb_base, 1024)

    def _take(self, setting: Setting) -> None:
        option = ALIASES.get(setting.option, setting.option)
        if option in IGNORED_NAMES:
            if option not in self.ignored:
                self.ignored.append(option)
        elif option in REFUSED:
            refusal = REFUSED[option]
            if setting.text not in refusal.neutral:
                raise self._error(setting, f"not modelled: {refusal.why}")
        elif option in MODELLED:
            # A later setting also comes later in the order, which decides between `bs` and
            # `bsrange`.
            self._given.pop(option, None)
            self._given[option] = setting
        else:
            raise self._error(setting, f"unknown option{meant(setting.option)}")

    def _error(self, setting: Setting, text: str) -> ConfigError:
        value = "" if setting.text is None else f"={setting.text}"
        source = setting.source
        return TextLine(source.file, source.line, self.name).error(
            f"{setting.option}{value}: {text}"
        )

    def error(self, option: str, text: str) -> ConfigError:
        """Returns an error about an option, or about the section if the option is not given."""
        if (setting := self._given.get(option)) is not None:
            return self._error(setting, text)
        return self.source.error(f"{option}: {text}")

    def spelled(self, option: str) -> str:
        """Returns the option as the job file spells it: some options have two names."""
        return self._given[option].option if option in self._given else option

    def has(self, option: str) -> bool:
        """Returns whether an option is given."""
        return option in self._given

    def last(self, *options: str) -> str:
        """Returns which of the options was given last; the first option if none was given."""
        given = [option for option in self._given if option in options]
        return given[-1] if given else options[0]

    def parsed(self, option: str, parse: Callable[[str], _T], default: _T) -> _T:
        """Returns the value of an option. `parse` raises ValueError with the expected form."""
        setting = self._given.get(option)
        if setting is None:
            return default
        if setting.text is None or not setting.text:
            raise self._error(setting, "no value; expected OPTION=VALUE")
        try:
            return parse(setting.text)
        except ValueError as error:
            raise self._error(setting, f"expected {error}") from None

    def whole(self, option: str, default: int, low: int = 0, high: int = values.NUMBER_MOST) -> int:
        """Returns a whole number from `low` to `high`."""

        def parse(text: str) -> int:
            number = values.whole(text, self.kb_base)
            if not low <= number <= high:
                raise ValueError(f"{low:,} to {high:,}" if high < 1 << 62 else f"at least {low}")
            return number

        return self.parsed(option, parse, default)

    def time(self, option: str, unit: str = "s") -> int:
        """Returns nanoseconds, 0 if the option is not given."""
        return self.parsed(option, lambda text: values.duration(text, unit), 0)

    def flag(self, option: str, default: bool = False) -> bool:
        """Returns whether an option is on."""
        setting = self._given.get(option)
        if setting is None:
            return default
        try:
            return values.flag(setting.text)
        except ValueError as error:
            raise self._error(setting, f"expected {error}") from None

    def word(self, option: str, words: Iterable[str], default: str) -> str:
        """Returns one of several words."""

        def parse(text: str) -> str:
            if text not in words:
                raise ValueError(f"one of {', '.join(words)}")
            return text

        return self.parsed(option, parse, default)

    def text(self, option: str, default: str = "") -> str:
        """Returns a text, without the quotes around it."""
        return self.parsed(option, lambda text: text.strip("\"'"), default)

    def amount(self, option: str) -> values.Amount | None:
        """Returns bytes or a percentage; None if the option is not given."""

        def parse(text: str) -> values.Amount | None:
            return values.amount(text, self.kb_base)

        return self.parsed(option, parse, None)

    def by_kind(self, option: str, value: Callable[[str], _T]) -> list[_T | None]:
        """Returns the values for reads, writes and trims."""
        nothing: list[_T | None] = [None] * len(values.KINDS)
        return self.parsed(option, lambda text: values.by_kind(text, value), nothing)

    @staticmethod
    def _kb_base(text: str) -> int:
        if text not in ("1000", "1024"):
            raise ValueError("1000 or 1024")
        return int(text)
