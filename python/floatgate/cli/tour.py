"""`floatgate tour`."""

from __future__ import annotations

from pathlib import Path

from . import options, output

DEFAULT_OUT = Path("floatgate-tour")
PAGE = "tour.html"


def tour(
    *,
    out: options.Out = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare the five systems with their rivals on built-in workloads.

    It takes a minute or two on two cores. The page shows for each system whether it helps, by how
    much, and when it does not, with the command that made each picture.
    """
    from floatgate.analysis.tour.measured import take

    with (
        output.folder(out, DEFAULT_OUT, force=force, is_written=not json) as out,
        output.staged(out, force=force, quiet=quiet) as part,
    ):
        with output.progress_bar(quiet) as progress:
            shown = take(progress)
        if part:
            from floatgate.report import write_tour

            write_tour(shown, part / PAGE)
    if json:
        output.print_json({"stops": [one.document() for one in shown]})
    else:
        for one in shown:
            print(f"{one.stop.name}: {one.answer}\n")
    if out:
        output.say(f"page: {out / PAGE}", quiet)
