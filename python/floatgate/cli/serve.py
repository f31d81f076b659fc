"""`floatgate serve`."""

from __future__ import annotations

import contextlib
import json as json_text
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from . import options, output
from .commands import Strict

if TYPE_CHECKING:
    from floatgate.live.backing import Backing
    from floatgate.live.documents import Status
    from floatgate.live.serving import Setup
    from floatgate.live.web import Page

Image = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The image; made if there is none. Default: in memory."),
]
Size = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Logical capacity of a new drive (default: 1GiB)."),
]
Seed = Annotated[int | None, typer.Option(help="Seed of a new drive's random choices.")]
Socket = Annotated[
    Path | None,
    typer.Option(metavar="PATH", help="Serve at this Unix socket (default: one of your own)."),
]
Port = Annotated[int | None, typer.Option(min=1, max=65535, help="Serve at this TCP port instead.")]
Listen = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="With --port: the address (default: 127.0.0.1)."),
]
Control = Annotated[
    Path | None,
    typer.Option(metavar="PATH", help="The control socket (default: beside the NBD socket)."),
]
Timing = Annotated[
    Literal["none", "simulated"],
    typer.Option(help="Answer at once, or when the modelled drive would."),
]
Transport = Annotated[
    float,
    typer.Option(
        min=0,
        max=100_000,
        metavar="US",
        help="With --timing simulated: hold answers for so many microseconds less, as requests and"
        " answers take them on their way.",
    ),
]
Web = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=65535,
        metavar="[PORT]",
        help="Show the drive on a web page of this machine, at this port or any that is free.",
    ),
]
Record = Annotated[
    Path | None,
    typer.Option(metavar="X.parquet", help="Record what clients do, as a trace."),
]
Also = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME|FILE.toml",
        help="Give the same requests to this drive, too, to compare; may be repeated.",
    ),
]
Tls = Annotated[Literal["on", "require"] | None, typer.Option(help="Offer or require TLS.")]
TlsCertificates = Annotated[
    Path | None, typer.Option(metavar="DIR", help="nbdkit's --tls-certificates.")
]
TlsPsk = Annotated[Path | None, typer.Option(metavar="FILE", help="nbdkit's --tls-psk.")]
TlsVerify = Annotated[bool, typer.Option("--tls-verify-peer", help="Ask clients for certificates.")]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=256,
        help="Requests of a client worked on at a time (default: 16 or more, or 1; see docs).",
    ),
]
ReadyFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the JSON of --json here when clients can connect."),
]
Json = Annotated[
    bool, typer.Option("--json", help="When clients can connect, print one line of JSON.")
]


class WithWeb(Strict):
    """`--web` may stand without a port, which Typer has no way to say."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As for any command; a bare `--web` is `--web=0`, any port."""
        alone = [
            word == "--web" and (at + 1 == len(args) or args[at + 1].startswith("-"))
            for at, word in enumerate(args)
        ]
        given = ["--web=0" if bare else word for word, bare in zip(args, alone, strict=True)]
        return super().parse_args(ctx, given)


def serve(
    *,
    device: options.Device = None,
    set: options.Set = None,
    size: Size = None,
    seed: Seed = None,
    image: Image = None,
    socket: Socket = None,
    port: Port = None,
    listen: Listen = None,
    control: Control = None,
    timing: Timing = "none",
    transport: Transport = 0.0,
    web: Web = None,
    record: Record = None,
    also: Also = None,
    tls: Tls = None,
    tls_certificates: TlsCertificates = None,
    tls_psk: TlsPsk = None,
    tls_verify_peer: TlsVerify = False,
    threads: Threads = None,
    out: options.Out = None,
    force: options.Force = False,
    ready_file: ReadyFile = None,
    json: Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Serve a drive as a block device (NBD) that any program can use, until Ctrl-C.

    Needs nbdkit. On SIGTERM or Ctrl-C the drive is shut down in order, a summary is printed, and
    the exit status is 0.
    """
    _check(socket, port, listen, tls, [tls_certificates, tls_psk, tls_verify_peer])
    _check_transport(transport, timing)
    _check_ready(ready_file)
    settings = options.pairs("--set", set)
    security = _tls(tls, tls_certificates, tls_psk, tls_verify_peer)
    with output.staged(out, force=force) as part, contextlib.ExitStack() as stack:
        from floatgate.live import backing, nbdkit, places, recording, serving

        where = socket or (None if port is not None else places.default_socket())
        client = nbdkit.Tls.given(tls_psk, tls_certificates) if tls == "require" else None
        endpoint = nbdkit.Endpoint(where, listen or "127.0.0.1", port or 0, client)
        control = control or places.control_of(where or places.default_socket())
        serving.claim(endpoint, control)
        capture = None if record is None else recording.claim(record, force=force)
        folder = stack.enter_context(serving.own_folder())
        is_new = image is None or not image.exists()
        shadows = backing.shadows(also or (), folder, is_new=is_new)
        drive = backing.prepare(image, size=size, device=device, set=settings, seed=seed)
        _say_made(drive, quiet)
        if record is not None:
            stack.enter_context(_kept(record, quiet))
        several = _several(threads, timing, drive.depth)
        how = (endpoint, control, timing, transport, capture, several, security, shadows, folder)
        told = stack.enter_context(_Told(json, quiet, ready_file))
        last = _run(serving.Setup(drive, *how), web, told)
        _write(last, part)
    _say_end(last, out, quiet, json)


def _say_made(drive: Backing, quiet: bool) -> None:
    if drive.is_new and drive.image is not None:
        output.say(f"made {drive.image}", quiet)
    for note in drive.notes:
        output.say(f"note: {note}", quiet)


def _write(last: Status, part: Path | None) -> None:
    if part is not None:
        from .written import write_run

        write_run(last.result, part)


def _say_end(last: Status, out: Path | None, quiet: bool, json: bool) -> None:
    if out:
        output.say(f"report: {out / 'report.html'}", quiet)
    if not (quiet or json):
        from .live_summary import print_status

        print_status(last)


class _Told:
    """Who is told that clients can connect, and how. The file is there as long as they can."""

    def __init__(self, json: bool, quiet: bool, file: Path | None) -> None:
        self._json = json
        self._file = file
        self.quiet = quiet

    def __enter__(self) -> _Told:
        if self._file is not None:
            self._file.unlink(missing_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.unlink(missing_ok=True)

    def tell(self, setup: Setup, pid: int, page: Page | None) -> None:
        """Prints it, and writes the file."""
        from .live_summary import announced, print_announced

        document = announced(setup, pid, page)
        text = json_text.dumps(document, ensure_ascii=False) + "\n"
        if self._file is not None:
            _write_own(self._file, text)
        if self._json:
            print(text, end="", flush=True)
        elif not self.quiet:
            print_announced(document)


def _run(setup: Setup, web: int | None, told: _Told) -> Status:
    """Serves until a signal comes; the last status."""
    from floatgate.live import serving

    def hear(line: str) -> None:
        output.say(line)

    with serving.served(setup, hear) as server, contextlib.ExitStack() as stack:
        page = None
        if web is not None:
            from floatgate.live.web import Page

            page = stack.enter_context(Page(setup.control, web))
        stop = stack.enter_context(serving.Stop())
        told.tell(setup, server.pid, page)
        return serving.serve_until(stop, server, setup)


@contextlib.contextmanager
def _kept(record: Path, quiet: bool) -> Iterator[None]:
    """Makes a trace of what was recorded, however the server ends."""
    from floatgate.live import recording, serving

    try:
        yield
    finally:
        requests = serving.keep_record(record, recording.capture_of(record))
        if requests:
            output.say(f"recorded {requests:,} requests in {record}", quiet)
        elif requests == 0:
            output.say(f"no client made a request: {record} is not written", quiet)


def _check(
    socket: Path | None, port: int | None, listen: str | None, tls: str | None, more: list[Any]
) -> None:
    """Options that contradict each other, or are for others that are not there."""
    if socket is not None and port is not None:
        raise typer.BadParameter("is for TCP; leave out --socket", param_hint="'--port'")
    if listen is not None and port is None:
        raise typer.BadParameter("is for TCP; expected --port", param_hint="'--listen'")
    if tls is None and any(more):
        raise typer.BadParameter(
            "needs --tls require, or --tls on", param_hint="'--tls-certificates'"
        )


def _check_transport(us: float, timing: str) -> None:
    if us and timing == "none":
        raise typer.BadParameter("is for --timing simulated", param_hint="'--transport'")


def _check_ready(file: Path | None) -> None:
    if file is not None and (file.is_dir() or not file.parent.is_dir()):
        wrong = f"{file} is a directory" if file.is_dir() else f"{file.parent} is no directory"
        raise typer.BadParameter(wrong, param_hint="'--ready-file'")


def _several(wanted: int | None, timing: str, depth: int) -> int:
    """Requests of a client that are worked on at a time; what is doubtful about it is said."""
    from floatgate.live import nbdkit

    several, warning = nbdkit.threads(nbdkit.find(), wanted, timing, depth)
    if warning is not None:
        output.say(f"warning: {warning}")
    return several


def _tls(mode: str | None, certificates: Path | None, psk: Path | None, verify: bool) -> list[str]:
    """nbdkit's options."""
    if mode is None:
        return []
    found = [f"--tls={mode}"]
    found += [] if certificates is None else [f"--tls-certificates={certificates.absolute()}"]
    found += [] if psk is None else [f"--tls-psk={psk.absolute()}"]
    return found + ["--tls-verify-peer"] * verify


def _write_own(path: Path, text: str) -> None:
    """A file for its owner alone, as it holds the page's token; in one step."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    part.replace(path)
