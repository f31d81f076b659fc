"""`floatgate image create`, `info`, `check`, `dump`, `read` and `write`."""

from __future__ import annotations

import contextlib
import json as json_text
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from . import options, output, paths
from .commands import App
from .failure import RUN_FAILED

app = App(add_completion=False)

NUMBER_MAX = 2**32 - 1

SHOWN = 20
"""Maximum number of problems printed as text; JSON has more."""

COLUMNS = ("unit", "page", "state", "owner", "number", "sequence", "serial", "content", "bytes")


def _named(file: Path) -> Path:
    """Rejects a path without a file name, such as an empty argument.

    `Path` takes an empty argument as the working directory.
    """
    if not file.name:
        raise typer.BadParameter(f"'{file}' given; expected the name of a file")
    return file


File = Annotated[Path, typer.Argument(metavar="FILE", callback=_named, help="The image.")]
Offset = Annotated[
    str, typer.Option(metavar="SIZE", help="The first byte on the drive: 0, 512B, 1MiB.")
]


@app.command(epilog="Example: floatgate image create flash.img --size 64GiB")
def create(
    file: File,
    size: Annotated[
        str, typer.Option(metavar="SIZE", help="Logical capacity, as the host sees it: 64GiB.")
    ],
    device: options.Device = None,
    set: options.Set = None,
    seed: options.Seed = 1,
    aged: Annotated[
        bool,
        typer.Option(
            "--aged",
            help="Precondition the drive with writes of zeros, as its [start] states or until write"
            " amplification is steady.",
        ),
    ] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Create an image with an erased drive; an existing file is never replaced."""
    settings = options.pairs("--set", set)
    from floatgate.live import images

    with output.progress_bar(quiet) as progress:
        notes = images.create(
            file, size, device=device, set=settings, seed=seed, aged=aged, progress=progress
        )
    for note in notes:
        output.say(f"note: {note}", quiet)
    if json:
        output.print_json(images.info(file))
    else:
        output.say(f"made {file}", quiet)


@app.command(epilog="Example: floatgate image info flash.img")
def info(file: File, json: options.Json = False) -> None:
    """Show the drive in an image: geometry, config, mapped pages, journal, wear."""
    from floatgate.live import images

    document = images.info(file)
    if json:
        output.print_json(document)
        return
    out = output.console()
    for name, value in _facts(document):
        out.print(f"{name:<20}{value}")


def _facts(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    geometry, pages, file = (document[key] for key in ("geometry", "pages", "file"))
    config, journal, wear = (document[key] for key in ("config", "journal", "wear"))
    scheme = config["ftl"]["scheme"]
    yield "image", document["path"]
    yield "drive", f"{document['bytes']:,} bytes"
    yield "on disk", f"{file['disk_bytes']:,} of {file['bytes']:,} bytes"
    yield "translation layer", f"{config['mapping']['scheme']} map" if scheme == "page" else scheme
    units = f"{geometry['units']:,} and {geometry['journal_units']:,} of the journal"
    yield "erase units", f"{units}, of {geometry['pages_per_unit']:,} pages"
    yield "erased units", f"{document['erased_units']:,}"
    yield "pages", f"{geometry['physical_pages']:,} of {geometry['page_bytes']:,} bytes"
    yield "programmed pages", f"{pages['programmed']:,}"
    yield "mapped pages", f"{pages['mapped']:,} of {geometry['logical_pages']:,}"
    yield "torn pages", f"{pages['torn']:,} found by this scan"
    if journal is not None:
        yield "last checkpoint", f"serial number {journal['checkpoint_serial']:,}"
        yield "since checkpoint", f"{journal['pages_since']:,} pages, {journal['trims']:,} trims"
    if wear is not None:
        least, mean, most = (wear[f"erases_{key}"] for key in ("min", "mean", "max"))
        yield "erases of a unit", f"{least:,} to {most:,}, {mean:,.1f} on average"


@app.command(epilog="Example: floatgate image check flash.img")
def check(file: File, json: options.Json = False) -> None:
    """Verify every page record, its data, and the recovered map; exit status 1 on a problem.

    The image is not changed. Torn pages, half programmed when power failed, are no problem.
    """
    from floatgate.live import images

    report = images.check(file)
    if json:
        output.print_json(report)
    else:
        _print_report(report)
    if report["problem_count"]:
        raise typer.Exit(RUN_FAILED)


def _print_report(report: Mapping[str, Any]) -> None:
    out = output.console()
    for problem in report["problems"][:SHOWN]:
        place = (
            "" if problem["unit"] is None else f"unit {problem['unit']} page {problem['page']}: "
        )
        out.print(f"{place}{problem['what']}")
    if (more := report["problem_count"] - SHOWN) > 0:
        out.print(f"and {more:,} more")
    for name, count in report["pages"].items():
        out.print(f"{name + ' pages':<20}{count:,}")
    count = report["problem_count"]
    out.print("no problems" if count == 0 else f"{count:,} problem{'s' * (count > 1)}")


@app.command(epilog="Example: floatgate image dump flash.img --lpn 7")
def dump(
    file: File,
    unit: Annotated[
        int | None, typer.Option(min=0, max=NUMBER_MAX, help="Only the pages of this erase unit.")
    ] = None,
    lpn: Annotated[
        int | None,
        typer.Option(
            min=0, max=NUMBER_MAX, help="Only the copies, current and stale, of this logical page."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document per page.")] = False,
) -> None:
    """Show the owner of each programmed page, and whether the page is valid."""
    if unit is not None and lpn is not None:
        raise typer.BadParameter("searches all units; leave out --unit", param_hint="'--lpn'")
    from floatgate.live import images

    # Printed with the first row, or at the end if there is none, but not before an error.
    head = [] if json else ["  ".join(f"{name:>9}" for name in COLUMNS)]

    def tell(rows: list[dict[str, Any]]) -> None:
        while head:
            print(head.pop())
        for row in rows:
            if json:
                print(json_text.dumps(row))
            else:
                print("  ".join(f"{row.get(name, '')!s:>9}" for name in COLUMNS))

    images.dump(file, tell, unit=unit, lpn=lpn)
    tell([])


@app.command(epilog="Example: floatgate image read flash.img --offset 1MiB --length 4KiB -o page")
def read(
    file: File,
    offset: Offset = "0",
    length: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Bytes to read (default: to the end).")
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FILE", help="The file to write; - is standard output."
        ),
    ] = Path("-"),
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Read bytes as the drive would; the image is not changed.

    Bytes never written, or trimmed, read as zeros.
    """
    from floatgate.live import images

    with output.staged_file(out, force=force, inputs=[file]) as part, part.open("wb") as sink:
        count = images.read(file, sink, offset=offset, length=length)
    output.say(f"read {count:,} bytes of {file}", quiet)


@app.command(epilog="Example: floatgate image write flash.img --offset 1MiB --input boot.bin")
def write(
    file: File,
    offset: Offset = "0",
    input: Annotated[
        str,
        typer.Option("--input", "-i", metavar="FILE", help="The bytes; - is standard input."),
    ] = "-",
    quiet: options.Quiet = False,
) -> None:
    """Write bytes to the drive; they are durable when the command ends.

    An input that extends beyond the end of the drive is refused, and none of it is written.
    """
    from floatgate.live import images

    with _opened(input, file) as source:
        count = images.write(file, source, offset=offset)
    output.say(f"wrote {count:,} bytes to {file}", quiet)


@contextlib.contextmanager
def _opened(name: str, image: Path) -> Iterator[BinaryIO]:
    """Opens the input; rejects the image itself."""
    if name == "-":
        yield sys.stdin.buffer
        return
    path = Path(name)
    if paths.is_same(image, path):
        raise paths.refused(f"{name} is the image itself; expected another file", "--input")
    with contextlib.ExitStack() as stack:
        try:
            source = stack.enter_context(path.open("rb"))
        except OSError as error:
            text = f"{name!r} cannot be read: {error.strerror or error}"
            raise typer.BadParameter(text, param_hint="'--input'") from error
        yield source
