"""Common behaviour of all commands: strict options, `-h`, one-line errors."""

from __future__ import annotations

import inspect
import os
from collections import Counter
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand
from typer.models import TyperPath

from floatgate.files.reading import shown

from .failure import OneLineErrors


class Strict(TyperCommand):
    """Command that rejects repeated options and empty values.

    Click would silently take the last of the repeated values.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses like Click; raises `BadParameter` for a repeated option and for a bad value."""
        if not ctx.resilient_parsing:
            given, _, order = self.make_parser(ctx).parse_args(args=list(args))
            single = [one for one in order if not getattr(one, "multiple", True)]
            for option, times in Counter(single).items():
                if times > 1:
                    raise _wrong("is given more than once", option)
            for option in order:
                if given.get(option.name or "") == "":
                    raise _wrong("is empty; expected a value", option)
        rest = super().parse_args(ctx, args)
        for option in self.params:
            if not isinstance(option.type, TyperPath):
                _check_text(ctx.params.get(option.name or ""), option)
        return rest


def _check_text(value: Any, option: Any) -> None:
    """Raises `BadParameter` for a text that is not UTF-8, unless it names an existing file."""
    for text in value if isinstance(value, (list, tuple)) else [value]:
        if isinstance(text, str) and not _is_utf8(text) and not os.path.lexists(text):
            raise _wrong(f"{shown(text)} is not UTF-8, and no file's name", option)


def _is_utf8(text: str) -> bool:
    """Returns whether an argument was UTF-8; Python keeps other bytes as surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _wrong(text: str, option: Any) -> typer.BadParameter:
    hint = " / ".join(option.opts) if option.param_type_name == "option" else option.name.upper()
    return typer.BadParameter(text, param_hint=f"'{hint}'")


class App(typer.Typer):
    """Group of commands."""

    def __init__(self, **options: Any) -> None:
        settings = {"help_option_names": ["-h", "--help"]}
        common: dict[str, Any] = {"cls": OneLineErrors, "no_args_is_help": True}
        super().__init__(**(common | options), context_settings=settings)

    def command(self, name: str | None = None, **options: Any) -> Callable[..., Any]:
        """Adds a command of class `Strict`. Its docstring is its help."""

        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            common: dict[str, Any] = {"cls": Strict, "help": _flowing(function.__doc__ or "")}
            added: Callable[..., Any] = super(App, self).command(name, **(common | options))(
                function
            )
            return added

        return add


def _flowing(docstring: str) -> str:
    """Returns a docstring with each paragraph in one line, so that it fills any terminal."""
    paragraphs = inspect.cleandoc(docstring).split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
