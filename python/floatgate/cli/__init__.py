"""Command line: `floatgate`, or `python -m floatgate`.

Modules here import neither Polars nor the engine until a command needs them, so help is instant.
A call imports and builds only the command that it names.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer

from . import streams
from .commands import App
from .failure import CALL_WRONG, RUN_FAILED, complain, is_usage_error, words_of

SIMULATE = "Simulate and compare"
ASK = "Answer a question about a workload or a drive"
LIVE = "Live drives"
LISTS = "Traces and lists"


class Entry(NamedTuple):
    """Command of the root, or group of commands."""

    panel: str
    name: str
    module: str
    """Module of this package with the function of the command, or with the `app` of the group."""
    epilog: str = ""
    """Example of a command. A group has its own."""
    help: str = ""
    """Help of a group; a command has its docstring as help."""
    cls: str = ""
    """Class of a command in its module, unless it is `Strict`."""


ENTRIES = (
    Entry(SIMULATE, "tour", "tour", "floatgate tour --out tour"),
    Entry(SIMULATE, "run", "run", "floatgate run uniform:span=64MiB,writes=100k --out demo"),
    Entry(
        SIMULATE,
        "compare",
        "compare",
        "floatgate compare zipf:span=64MiB,writes=100k --vary mapping.scheme=ideal,dftl",
    ),
    Entry(SIMULATE, "study", "study", help="Run large sweeps, and show their results."),
    Entry(
        SIMULATE,
        "tune",
        "tune",
        "floatgate tune zipf:span=64MiB,writes=100k --objective write_amplification "
        "--vary cleaning.victim=greedy,cat --vary placement.scheme=single,dac,sepbit",
    ),
    Entry(SIMULATE, "paper", "paper", "floatgate paper tlllp --full --out tlllp"),
    Entry(ASK, "advise", "advise", "floatgate advise trace.csv.zst --out advice"),
    Entry(ASK, "predict", "lists", "floatgate predict --spare-factor 0.1 --hot 90/10"),
    Entry(
        ASK,
        "precondition",
        "precondition",
        "floatgate precondition --device classic --workload zipf:theta=0.8",
    ),
    Entry(
        ASK,
        "calibrate",
        "calibrate",
        "floatgate calibrate wa.csv --device start.toml --fit capacity.spare_factor "
        "--run a -o drive.toml",
    ),
    Entry(ASK, "crash", "crash", "floatgate crash uniform:span=1MiB,writes=500,flush=0.1"),
    Entry(LIVE, "serve", "serve", "floatgate serve --device small-nvme --size 8GiB", cls="WithWeb"),
    Entry(LIVE, "ctl", "ctl", help="Query and control a live drive."),
    Entry(
        LIVE, "image", "image", help="Create and inspect images: the flash of a drive in a file."
    ),
    Entry(LISTS, "trace", "trace", help="Inspect, convert and generate traces."),
    Entry(LISTS, "devices", "lists", "floatgate devices classic > mine.toml"),
    Entry(LISTS, "policies", "lists", "floatgate policies dftl"),
    Entry(LISTS, "schema", "lists", "floatgate schema > floatgate.schema.json"),
)
"""All commands, in the order of the help."""


def built(entries: Sequence[Entry]) -> App:
    """Returns the root with some of its commands."""
    root = App(name="floatgate", pretty_exceptions_enable=False)
    root.callback(epilog="Example: floatgate run uniform:span=64MiB,writes=100k --device classic")(
        floatgate
    )
    for one in entries:
        module = import_module(f".{one.module}", __name__)
        if one.help:
            root.add_typer(module.app, name=one.name, help=one.help, rich_help_panel=one.panel)
            continue
        options = {"cls": getattr(module, one.cls)} if one.cls else {}
        add = root.command(epilog=f"Example: {one.epilog}", rich_help_panel=one.panel, **options)
        add(getattr(module, one.name))
    return root


def __getattr__(name: str) -> App:
    """Returns the root with all commands as `app`, built at its first use."""
    if name != "app":
        raise AttributeError(name)
    globals()[name] = root = built(ENTRIES)
    return root


def _version(asked: bool) -> None:
    if asked:
        from floatgate import __version__

        print(f"floatgate {__version__}")
        raise typer.Exit


def floatgate(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A laboratory for flash translation layers: simulate what a workload costs a drive."""


def _usage(error: Any) -> str:
    """Returns the error in the call, with the command's `--help` as a reference.

    Returns an empty text if no command was given: then Typer has already printed the help.
    """
    if not error.format_message():
        return ""
    context = getattr(error, "ctx", None)
    where = f" (see {context.command_path} --help)" if context else ""
    return f"{error.format_message().rstrip('.')}{where}"


def _explain(error: Any) -> None:
    """Adds to the error of an unknown option the config key or the commands that have this name.

    Newer versions of Typer contain their own copy of Click, so no single class covers all errors.
    """
    option = getattr(error, "option_name", None)
    if option is None or not hasattr(error, "possibilities"):
        return
    from floatgate.simulation.configs import keys_ending_in

    hints = []
    if keys := keys_ending_in(option.removeprefix("--").replace("-", "_")):
        hints.append(f"{keys} is a config key: --set KEY=VALUE")
    # The root of this call has the command of this call only.
    if owners := [*_having(typer.main.get_command(built(ENTRIES)), option)]:
        names = " and ".join(filter(None, (", ".join(owners[:-1]), owners[-1])))
        hints.append(f"{names} {'has' if len(owners) == 1 else 'have'} it")
    if hints:
        error.possibilities = []
        error.message = f"No such option: {option}; {'; '.join(hints)}"


def _having(command: Any, option: str, path: str = "") -> Iterator[str]:
    """Yields the names of the commands in a group that have an option."""
    for name, one in getattr(command, "commands", {}).items():
        yield from _having(one, option, f"{path}{name} ")
        if any(option in (*of.opts, *of.secondary_opts) for of in one.params):
            yield f"{path}{name}"


def main() -> int:
    """Runs the command in `sys.argv`; returns the exit status."""
    streams.open_all()
    try:
        named = [one for one in ENTRIES if [one.name] == sys.argv[1:2]]
        status = built(named or ENTRIES)(standalone_mode=False)
    except BrokenPipeError:
        status = 0
    except OSError as error:
        # Typer prints help before a command exists that could report this error.
        complain(words_of(error))
        status = RUN_FAILED
    except Exception as error:
        if not is_usage_error(error):
            raise
        _explain(error)
        if words := _usage(error):
            complain(words)
        status = CALL_WRONG
    return streams.flushed(status if isinstance(status, int) else 0)
