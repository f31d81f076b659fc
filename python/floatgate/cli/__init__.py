"""Command line: `floatgate`, or `python -m floatgate`.

Modules here import neither Polars nor the engine until a command needs them, so help is instant.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from . import (
    advise,
    calibrate,
    compare,
    crash,
    ctl,
    image,
    lists,
    paper,
    precondition,
    run,
    serve,
    streams,
    study,
    tour,
    trace,
    tune,
)
from .commands import App
from .failure import CALL_WRONG, RUN_FAILED, complain, is_usage_error, words_of

app = App(name="floatgate", pretty_exceptions_enable=False)
SIMULATE = "Simulate and compare"
ASK = "Answer a question about a workload or a drive"
LIVE = "Live drives"
LISTS = "Traces and lists"

app.command(epilog="Example: floatgate tour --out tour", rich_help_panel=SIMULATE)(tour.tour)
app.command(
    epilog="Example: floatgate run uniform:span=64MiB,writes=100k --out demo",
    rich_help_panel=SIMULATE,
)(run.run)
app.command(
    epilog="Example: floatgate compare zipf:span=64MiB,writes=100k "
    "--vary mapping.scheme=ideal,dftl",
    rich_help_panel=SIMULATE,
)(compare.compare)
app.add_typer(
    study.app,
    name="study",
    help="Run large sweeps, and show their results.",
    rich_help_panel=SIMULATE,
)
app.command(
    epilog="Example: floatgate tune zipf:span=64MiB,writes=100k --objective write_amplification "
    "--vary cleaning.victim=greedy,cat --vary placement.scheme=single,dac,sepbit",
    rich_help_panel=SIMULATE,
)(tune.tune)
app.command(epilog="Example: floatgate paper tlllp --full --out tlllp", rich_help_panel=SIMULATE)(
    paper.paper
)

app.command(epilog="Example: floatgate advise trace.csv.zst --out advice", rich_help_panel=ASK)(
    advise.advise
)
app.command(
    epilog="Example: floatgate predict --spare-factor 0.1 --hot 90/10", rich_help_panel=ASK
)(lists.predict)
app.command(
    epilog="Example: floatgate precondition --device classic --workload zipf:theta=0.8",
    rich_help_panel=ASK,
)(precondition.precondition)
app.command(
    epilog="Example: floatgate calibrate wa.csv --device start.toml --fit capacity.spare_factor "
    "--run a -o drive.toml",
    rich_help_panel=ASK,
)(calibrate.calibrate)
app.command(
    epilog="Example: floatgate crash uniform:span=1MiB,writes=500,flush=0.1", rich_help_panel=ASK
)(crash.crash)

app.command(
    epilog="Example: floatgate serve --device small-nvme --size 8GiB",
    cls=serve.WithWeb,
    rich_help_panel=LIVE,
)(serve.serve)
app.add_typer(ctl.app, name="ctl", help="Query and control a live drive.", rich_help_panel=LIVE)
app.add_typer(
    image.app,
    name="image",
    help="Create and inspect images: the flash of a drive in a file.",
    rich_help_panel=LIVE,
)

app.add_typer(
    trace.app, name="trace", help="Inspect, convert and generate traces.", rich_help_panel=LISTS
)

app.command(epilog="Example: floatgate devices classic > mine.toml", rich_help_panel=LISTS)(
    lists.devices
)
app.command(epilog="Example: floatgate policies dftl", rich_help_panel=LISTS)(lists.policies)
app.command(epilog="Example: floatgate schema > floatgate.schema.json", rich_help_panel=LISTS)(
    lists.schema
)


def _version(asked: bool) -> None:
    if asked:
        from floatgate import __version__

        print(f"floatgate {__version__}")
        raise typer.Exit


@app.callback(epilog="Example: floatgate run uniform:span=64MiB,writes=100k --device classic")
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
    return f"{error.format_message().rstrip('.')}{_value(error)}{where}"


def _value(error: Any) -> str:
    """Returns the value that could not be parsed, if Typer's message leaves the value out."""
    errors = getattr(error.__cause__, "errors", None)
    return "" if errors is None else f": {errors()[0]['input']!r} given"


def main() -> int:
    """Runs the command in `sys.argv`; returns the exit status."""
    streams.open_all()
    try:
        status = app(standalone_mode=False)
    except BrokenPipeError:
        status = 0
    except OSError as error:
        # Typer prints help before a command exists that could report this error.
        complain(words_of(error))
        status = RUN_FAILED
    except Exception as error:
        if not is_usage_error(error):
            raise
        if words := _usage(error):
            complain(words)
        status = CALL_WRONG
    return streams.flushed(status if isinstance(status, int) else 0)
