"""Writes the pages in docs/reference/ from the code.

    python tools/reference.py           write the pages
    python tools/reference.py --check   exit with 1 if a page differs from the code

The pages list the commands, config keys, result fields, presets, policies, trace formats and
generators. Sources are the command line's help, the JSON Schemas, and the tables of the engine.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from floatgate import _core
from floatgate.cli import app
from floatgate.guests.registry import listed
from floatgate.simulation.fio_jobs import options
from floatgate.traces.formats import FORMATS

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "reference"
WRITTEN = "*`python tools/reference.py` writes this page from the code.*"

EXIT = """\
Exit status: 0 done, 1 the run failed, 2 the call or the config is wrong, 130 interrupted,
143 or 129 ended by SIGTERM or SIGHUP. `serve` shuts down in order at these two signals, with status
0."""

Schema = Mapping[str, Any]


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Returns a Markdown table. Bars and line breaks within cells are escaped."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(value: object) -> str:
    return " ".join(str(value).split()).replace("|", "\\|")


def _code(text: object) -> str:
    return f"`{text}`" if str(text) else ""


def commands() -> Iterator[str]:
    """Yields the parts of the page of commands: a table, then a section for each command."""
    group = typer.main.get_command(app)
    every = list(_commands_of(group, "floatgate"))
    yield "# Commands"
    yield "Every command has `--help` or `-h`, which prints the same as this page."
    yield EXIT
    rows = ((f"[`{name}`](#{name.replace(' ', '-')})", _first(command)) for name, command in every)
    yield table(("command", "does"), rows)
    for name, command in every:
        yield from _command(name, command)


def _commands_of(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if not command.hidden:
            if hasattr(command, "commands"):
                yield from _commands_of(command, f"{path} {name}")
            else:
                yield f"{path} {name}", command


def _first(command: Any) -> str:
    return inspect.cleandoc(command.help or "").partition("\n\n")[0]


def _command(name: str, command: Any) -> Iterator[str]:
    yield f"## {name}"
    yield inspect.cleandoc(command.help or "").replace("\b\n", "")
    if command.epilog:
        example = command.epilog.removeprefix("Example: ")
        yield f"For example: `{example}`"
    arguments = [(_code(_shown(one)), _help(one)) for one in command.params if not _is_option(one)]
    if arguments:
        yield table(("argument", "is"), arguments)
    options = [
        (_code(_named(one)), _code(_value(one)), _code(_default(one)), _help(one))
        for one in command.params
        if _is_option(one) and not one.hidden and "--help" not in one.opts
    ]
    if options:
        yield table(("option", "value", "default", "does"), options)


def _is_option(one: Any) -> bool:
    return bool(one.param_type_name == "option")


def _shown(one: Any) -> str:
    name = one.metavar or one.name.upper()
    return f"[{name}]" if not one.required else str(name)


def _named(one: Any) -> str:
    return ", ".join((*one.opts, *one.secondary_opts))


def _value(one: Any) -> str:
    if one.is_flag or one.metavar:
        return one.metavar or ""
    if choices := getattr(one.type, "choices", None):
        return ", ".join(choices)
    kind = one.type.name.removesuffix(" range")
    return {"integer": "INT", "text": "STR"}.get(kind, kind.upper())


def _default(one: Any) -> str:
    value = one.default
    if value is None or callable(value) or value in ([], ()) or not isinstance(value, str | int):
        return ""
    if one.is_flag:
        return (one.opts[0] if value else (*one.secondary_opts, "")[0]) if value else ""
    return str(value)


def _help(one: Any) -> str:
    return " ".join((getattr(one, "help", None) or "").split())


def config() -> Iterator[str]:
    """Yields the parts of the page of config keys: a table for each section."""
    schema = json.loads(_core.schema())
    yield "# Config keys"
    yield (
        "A key is set in a TOML file (`--device FILE`), with `--set SECTION.KEY=VALUE`, or with "
        "`--vary` for several values.\nSizes take units such as `4KiB`, durations such as `25us`, "
        "rates such as `400MB/s`."
    )
    sections: Mapping[str, Schema] = schema["properties"]
    links = [f"[`{name}`](#{name})" for name in sections if "properties" in sections[name]]
    yield "Sections:\n" + ",\n".join(", ".join(row) for row in batched(links, 8)) + "."
    single = {name: of for name, of in sections.items() if "properties" not in of}
    if single:
        yield table(KEY_HEADS, (_key(name, of) for name, of in single.items()))
    for name, of in sections.items():
        if "properties" in of:
            yield f"## {name}"
            yield of["description"]
            yield table(KEY_HEADS, _keys(name, of))


def batched(items: Sequence[str], count: int) -> Iterator[Sequence[str]]:
    """Yields the items in groups of `count`; the last may be shorter."""
    for start in range(0, len(items), count):
        yield items[start : start + count]


KEY_HEADS = ("key", "default", "expected", "means")


def _keys(path: str, of: Schema) -> Iterator[tuple[str, str, str, str]]:
    for name, one in of["properties"].items():
        if "properties" in one:
            yield from _keys(f"{path}.{name}", one)
        else:
            yield _key(f"{path}.{name}", one)


def _key(path: str, of: Schema) -> tuple[str, str, str, str]:
    default = _text(of.get("default"))
    means = of.get("description", "")
    return _code(path), _code(default), _expected(of), means + _choices(of)


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {_text(one)}" for key, one in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(_text, value)) or "[]"
    return str(value)


def _choices(of: Schema) -> str:
    named = [one for one in of.get("oneOf", ()) if "const" in one and "description" in one]
    return "".join(f" `{_text(one['const'])}`: {one['description']}" for one in named)


def _expected(of: Schema) -> str:
    """Returns the kind of value, with its range or its values."""
    for branch in (of, *of.get("anyOf", ())):
        if "enum" in branch:
            more = " or a policy of your own" if branch is not of else ""
            return ", ".join(_code(value) for value in branch["enum"]) + more
    if "oneOf" in of:
        return ", ".join(_code(_text(one["const"])) for one in of["oneOf"] if "const" in one)
    kinds = {"size": "size", "duration": "duration", "rate": "rate"}
    kind = kinds.get(of.get("format", ""), "") or _kind(of)
    return f"{kind} {_range(of)}".strip()


def _kind(of: Schema) -> str:
    kind = of.get("type", "")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "")
    return str({"boolean": "true or false", "string": "text", "array": "list"}.get(kind, kind))


def _range(of: Schema) -> str:
    low = of.get("x-minimum", of.get("minimum"))
    high = of.get("x-maximum", of.get("maximum"))
    above, below = of.get("exclusiveMinimum"), of.get("exclusiveMaximum")
    start = f"above {above}" if above is not None else f"{low}" if low is not None else ""
    end = f"below {below}" if below is not None else f"{high}" if high is not None else ""
    if start and end:
        joint = "and" if above is not None else "to"
        return f"{start} {joint} {end if below is not None or above is None else f'at most {end}'}"
    if start:
        return start if above is not None else f"from {start}"
    return f"up to {end}" if end else ""


def result() -> Iterator[str]:
    """Yields the parts of the page of a run's result: its fields, then each object's fields."""
    schema = json.loads(_core.result_schema())
    yield "# Fields of a result"
    yield (
        "`floatgate run --json` prints these fields, and `floatgate.run` returns them.\n"
        "Tables of `compare` and `study` name a nested field by its path, such as "
        "`latency.all.p99_us`.\n"
        "[The glossary](../glossary.md) defines the terms."
    )
    yield table(("field", "type", "means"), _fields(schema))
    for name, of in schema["$defs"].items():
        yield f"## {name}"
        yield of.get("description", "") + _choices(of)
        if "properties" in of:
            yield table(("field", "type", "means"), _fields(of))


def _fields(of: Schema) -> Iterator[tuple[str, str, str]]:
    for name, one in of["properties"].items():
        yield _code(name), _type(one), one.get("description", "")


def _type(of: Schema) -> str:
    if "$ref" in of:
        name = of["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in of:
        return " or ".join(_type(one) for one in of["anyOf"])
    if of.get("type") == "array" and "items" in of:
        return f"list of {_type(of['items'])}"
    kind = of.get("type", "object")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def presets() -> Iterator[str]:
    """Yields the parts of the page of presets: a table, then the TOML of each."""
    found = json.loads(_core.presets())
    yield "# Presets"
    yield "`--device NAME` chooses a preset. [Drives](../drives.md) helps to choose."
    rows = ((f"[`{one['name']}`](#{one['name']})", one["summary"], one["source"]) for one in found)
    yield table(("name", "drive", "source"), rows)
    for one in found:
        yield f"## {one['name']}"
        yield f"```toml\n{one['toml'].strip()}\n```"


KINDS = {
    "ftl": "Translation layers (`ftl.scheme`)",
    "mapping": "Map caches (`mapping.scheme`)",
    "placement": "Placements (`placement.scheme`)",
    "victim": "Victims of cleaning (`cleaning.victim`)",
    "buffer": "Write buffers (`buffer.scheme`)",
    "host": "Hosts (`host.scheme`)",
}


def policies() -> Iterator[str]:
    """Yields the parts of the page of policies: a section for each kind."""
    found = listed()
    yield "# Policies"
    yield (
        "[Algorithms](../algorithms.md) explains each policy. "
        "[Policies in Python](../python-policies.md) shows how to add yours."
    )
    for kind, rows in sorted(found.items(), key=lambda item: _rank(item[0])):
        yield f"## {KINDS.get(kind, kind)}"
        named = [(_code(one["name"]), one["doc"], one["source"]) for one in rows]
        yield table(("policy", "does", "source"), named)
        keys = [
            (_code(key["name"]), _code(_text(key["default"])), key["expected"], key["doc"])
            for one in rows
            for key in one["parameters"]
        ]
        if keys:
            yield table(KEY_HEADS, keys)


def _rank(kind: str) -> int:
    return [*KINDS].index(kind) if kind in KINDS else len(KINDS)


def workloads() -> Iterator[str]:
    """Yields the parts of the page of workloads: formats of traces, then generators."""
    yield "# Trace formats and generators"
    yield (
        "A TRACE of a command is a file in one of these formats, or a generator "
        "`NAME:key=value,...`. [Traces](../traces.md) explains units, addresses and files of "
        "other forms."
    )
    yield "## Formats"
    rows = ((_code(one.name), one.doc, one.source) for one in FORMATS)
    yield table(("format", "is", "defined by"), rows)
    for one in json.loads(_core.generators()):
        yield f"## {one['name']}"
        yield one["doc"]
        yield f"For example: `{one['example']}`"
        keys = ((_code(key["name"]), _code(key["default"]), key["doc"]) for key in one["keys"])
        yield table(("key", "default", "means"), keys)


def fio_options() -> Iterator[str]:
    """Yields the parts of the page of job files: options modelled, refused and ignored."""
    aliases: dict[str, list[str]] = {}
    for alias, option in options.ALIASES.items():
        aliases.setdefault(option, []).append(alias)

    def names(option: str) -> str:
        return ", ".join(map(_code, [option, *aliases.get(option, [])]))

    yield "# Options of fio job files"
    yield "[Your fio job file](../fio.md) explains them. Any other option is an error."
    yield "## Modelled"
    yield table(("option", "means"), ((names(one), text) for one, text in options.MODELLED.items()))
    yield "## Refused"
    yield "These options would change the requests. With a value of the second column they do not."
    rows = (
        (names(one), ", ".join(map(_code, sorted(refusal.neutral))), refusal.why)
        for one, refusal in options.REFUSED.items()
    )
    yield table(("option", "allowed", "why"), rows)
    yield "## Ignored"
    yield "A note of the result lists the ignored options of a file."
    subjects = (
        (subject, ", ".join(names(one) for one in text.split()))
        for subject, text in options.IGNORED.items()
    )
    yield table(("subject", "options"), subjects)


PAGES: Mapping[str, Callable[[], Iterator[str]]] = {
    "commands.md": commands,
    "config.md": config,
    "result.md": result,
    "presets.md": presets,
    "policies.md": policies,
    "workloads.md": workloads,
    "fio-options.md": fio_options,
}


def text(page: str) -> str:
    """Returns the whole page of this name."""
    first, *rest = PAGES[page]()
    parts = [first, WRITTEN, *rest]
    return re.sub(r"[ \t]+$", "", "\n\n".join(parts), flags=re.MULTILINE) + "\n"


def main() -> int:
    """Writes or checks every page, and returns the exit status."""
    FOLDER.mkdir(exist_ok=True)
    stale = [page for page in PAGES if _of(FOLDER / page) != text(page)]
    if "--check" in sys.argv[1:]:
        for page in stale:
            print(f"{FOLDER / page}: differs from the code; run python tools/reference.py")
        return 1 if stale else 0
    for page in stale:
        (FOLDER / page).write_text(text(page), "utf-8")
        print(FOLDER / page)
    return 0


def _of(path: Path) -> str:
    return path.read_text("utf-8") if path.exists() else ""


if __name__ == "__main__":
    sys.exit(main())
