"""HTML pages from templates, in the colours and with the style sheet of all pages."""

from __future__ import annotations

from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from floatgate.results.values import SPACE, space_percent

from . import theme


def filled(package: str, template: str, **content: Any) -> str:
    """Returns a template from the folder `assets` of a package, filled with `content`. It also gets
    the colours of both themes (`light`, `dark`), the `font` and the style sheet (`css`)."""
    environment = Environment(
        loader=PackageLoader(package, "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=typeset,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(
        **content,
        light=Markup(theme.css_variables(theme.LIGHT)),
        dark=Markup(theme.css_variables(theme.DARK)),
        font=Markup(theme.FONT),
        css=Markup(asset("report.css")),
    )


def typeset(value: Any) -> Any:
    """Returns a text with `%` one space behind its number, and without line breaks there and
    behind `±`. Returns anything else, and markup, as it is."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    spaced = space_percent(value).replace(" %", f"{SPACE}%")
    return spaced.replace("± ", f"±{SPACE}")


def asset(name: str) -> str:
    """Returns the text of a file that belongs to the reports."""
    return resources.files(__package__ or "").joinpath("assets").joinpath(name).read_text("utf-8")
