"""What all commands have in common: strict options, `-h`, one-line errors."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import typer
from typer.core import TyperCommand

from floatgate.files import shown

from .failure import OneLineErrors


class Strict(TyperCommand):
    """A command that takes no option twice and no empty value; Click would take the last one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses as Click does; raises BadParameter."""
        if not ctx.resilient_parsing:
            given, _, order = self._parsed(ctx, list(args))
            single = [one for one in order if not getattr(one, "multiple", True)]
            for option, times in Counter(single).items():
                if times > 1:
                    raise _wrong("is given more than once", option)
            for option in order:
                if given.get(option.name) == "":
                    raise _wrong("is empty; expected a value", option)
        rest = super().parse_args(ctx, args)
        for option in self.params:
            _check_text(ctx.params.get(option.name or ""), option)
        return rest

    def _parsed(self, ctx: Any, args: list[str]) -> Any:
        """What Click's parser makes of the arguments. An option that is not the command's, but
        that of another command or a config key, is named as that."""
        try:
            return self.make_parser(ctx).parse_args(args=args)
        except Exception as error:
            # Newer versions of Typer have a Click of their own, so there is no one class.
            option = getattr(error, "option_name", None)
            if hasattr(error, "possibilities") and (hint := _hint(ctx, str(option))):
                error.possibilities = []
                error.message = f"No such option: {option}; {hint}"  # type: ignore[attr-defined]
            raise


def _check_text(value: Any, option: Any) -> None:
    """Raises BadParameter for a text that is not UTF-8, unless it names a file that is there.

    A path is no text here: Click has made a Path of each argument that can only be a path.
    """
    for text in value if isinstance(value, (list, tuple)) else [value]:
        if isinstance(text, str) and not _is_utf8(text) and not os.path.lexists(text):
            raise _wrong(f"{shown(text)} is not UTF-8, and no file's name", option)


def _is_utf8(text: str) -> bool:
    """Whether the bytes of an argument were UTF-8; Python keeps others as surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _hint(ctx: Any, option: str) -> str:
    """Where an option that a command lacks is known; empty where it is nowhere."""
    from floatgate.configs import keys_ending_in

    hints = []
    if keys := keys_ending_in(option.removeprefix("--").replace("-", "_")):
        hints.append(f"{keys} is a config key: --set KEY=VALUE")
    if owners := [*_having(ctx.find_root().command, option)]:
        names = " and ".join(filter(None, (", ".join(owners[:-1]), owners[-1])))
        hints.append(f"{names} {'has' if len(owners) == 1 else 'have'} it")
    return "; ".join(hints)


def _having(command: Any, option: str, path: str = "") -> Iterator[str]:
    """The commands of a group that have an option, by their names."""
    for name, one in getattr(command, "commands", {}).items():
        yield from _having(one, option, f"{path}{name} ")
        if any(option in (*of.opts, *of.secondary_opts) for of in one.params):
            yield f"{path}{name}"


def _wrong(text: str, option: Any) -> typer.BadParameter:
    hint = " / ".join(option.opts) if option.param_type_name == "option" else option.name.upper()
    return typer.BadParameter(text, param_hint=f"'{hint}'")


class App(typer.Typer):
    """A group of commands."""

    def __init__(self, **options: Any) -> None:
        settings = {"help_option_names": ["-h", "--help"]}
        common: dict[str, Any] = {"cls": OneLineErrors, "no_args_is_help": True}
        super().__init__(**(common | options), context_settings=settings)

    def command(self, name: str | None = None, **options: Any) -> Callable[..., Any]:
        """Adds a command that is strict about its options."""
        return super().command(name, **{"cls": Strict, **options})
