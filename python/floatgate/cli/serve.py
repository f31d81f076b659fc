"""`floatgate serve`."""

from __future__ import annotations

import contextlib
import json as json_text
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from . import options, output, paths
from .commands import Strict

if TYPE_CHECKING:
    from floatgate.live.backing import Backing
    from floatgate.live.documents import Status
    from floatgate.live.ready import ReadyFile
    from floatgate.live.serving import Setup
    from floatgate.live.web import Page


def _earlier_removed(context: typer.Context, file: Path | None) -> Path | None:
    """Removes an earlier server's ready-file, even if this call is refused later."""
    if file is not None and not paths.is_stdout(file) and not context.resilient_parsing:
        _ready_file(file)
    return file


def _ready_file(file: Path) -> ReadyFile:
    from floatgate.live.ready import ReadyFile

    return ReadyFile(file, output.say)


Image = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="The image; created if it does not exist (default: in memory)."
    ),
]
Size = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Logical capacity of a new drive (default: 1GiB)."),
]
Seed = Annotated[int | None, typer.Option(help="Seed of a new drive's random choices.")]
Aged = Annotated[
    bool,
    typer.Option(
        "--aged",
        help="Precondition a new drive for its first client, as its [start] states or until write"
        " amplification is steady.",
    ),
]
Socket = Annotated[
    Path | None,
    typer.Option(
        metavar="PATH", help="Serve at this Unix socket (default: a socket of your user)."
    ),
]
Port = Annotated[int | None, typer.Option(min=1, max=65535, help="Serve at this TCP port instead.")]
Listen = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="With --port: the address (default: 127.0.0.1)."),
]
Control = Annotated[
    Path | None,
    typer.Option(metavar="PATH", help="The control socket (default: next to the NBD socket)."),
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
        help="With --timing simulated: answer this many microseconds earlier, to make up for the"
        " transport of requests and answers.",
    ),
]
Web = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=65535,
        metavar="[PORT]",
        help="Show the drive on a local web page, at this port or any free port.",
    ),
]
Record = Annotated[
    Path | None,
    typer.Option(metavar="X.parquet", help="Record the requests of clients as a trace."),
]
Also = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME|FILE.toml",
        help="Send the same requests to this drive too, for comparison; may be repeated.",
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
        help="Concurrent requests of a client (default: 16 or more, or 1; see docs).",
    ),
]
ReadyPath = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write the JSON of --json here when clients can connect.",
        # Parsed before all other options: a client that waits for the file must not find an earlier
        # server's.
        is_eager=True,
        callback=_earlier_removed,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="When clients can connect, print one line of JSON.")
]


class WithWeb(Strict):
    """Command whose option `--web` may have no port, which Typer cannot express."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses as for any command; a bare `--web` means `--web=0`, any free port."""
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
    aged: Aged = False,
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
    ready_file: ReadyPath = None,
    json: Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Serve a drive as a block device (NBD) that any program can use, until Ctrl-C.

    Needs nbdkit. On SIGTERM or Ctrl-C the drive is shut down in order, a summary is printed, and
    the exit status is 0.
    """
    _check(socket, port, listen, transport, timing)
    settings = options.pairs("--set", set)
    security = _tls(tls, tls_certificates, tls_psk, tls_verify_peer)
    where, control = _sockets(socket, control, port)
    written = {"--image": image, "--socket": where, "--control": control, "--record": record}
    read = [("--device", device), *(("--also", one) for one in also or ()), ("--tls-psk", tls_psk)]
    _refuse_shared(written | {"--ready-file": ready_file, "--out": out}, read, tls_certificates)
    with output.staged(out, force=force) as part, contextlib.ExitStack() as stack:
        from floatgate.live import backing, nbdkit, serving

        needed = nbdkit.Tls.needed(tls, tls_psk, tls_certificates)
        endpoint = nbdkit.Endpoint(where, listen or "127.0.0.1", port or 0, needed)
        serving.claim(endpoint, control)
        capture = None if record is None else _claimed(record, force)
        folder = stack.enter_context(serving.own_folder())
        start = backing.start_of(image, device, settings, aged) if also else None
        shadows = backing.shadows(also or (), folder, start=start)
        drive = backing.prepare(image, size=size, device=device, set=settings, seed=seed, aged=aged)
        _say_made(drive, quiet)
        if record is not None:
            stack.enter_context(_kept(record, quiet))
        several = _several(threads, timing, drive.depth)
        how = (endpoint, control, timing, transport, capture, several, security, shadows, folder)
        told = stack.enter_context(_Told(json, quiet, ready_file))
        last = _run(serving.Setup(drive, *how, quiet), web, told)
        _write(last, part)
    _end(last, out, quiet, told.is_json)


def _say_made(drive: Backing, quiet: bool) -> None:
    if drive.is_new and drive.image is not None:
        output.say(f"{'making' if drive.ages else 'made'} {drive.image}", quiet)
    for note in drive.notes:
        output.say(f"note: {note}", quiet)


def _write(last: Status, part: Path | None) -> None:
    if part is not None:
        from .written import write_run

        write_run(last.result, part)


def _end(last: Status, out: Path | None, quiet: bool, json: bool) -> None:
    if out:
        output.say(f"report: {out / 'report.html'}", quiet)
    if not (quiet or json):
        from .live_summary import print_status

        print_status(last)
    _refuse_gone(last)


def _refuse_gone(last: Status) -> None:
    """Raises `RunError` if the clients' data is in an image that no longer has a name."""
    if last.image_gone is not None:
        from floatgate._core import RunError

        raise RunError(last.image_gone)


class _Told:
    """Announces that clients can connect; the ready-file exists as long as they can."""

    def __init__(self, json: bool, quiet: bool, file: Path | None) -> None:
        is_printed = file is not None and paths.is_stdout(file)
        self.is_json = json or is_printed
        self._file = None if file is None or is_printed else _ready_file(file)
        self._quiet = quiet

    def __enter__(self) -> _Told:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.remove()

    def tell(self, setup: Setup, pid: int, page: Page | None) -> None:
        """Prints the announcement, and writes the ready-file."""
        from .live_summary import announced, print_announced

        document = announced(setup, pid, page)
        text = json_text.dumps(document, ensure_ascii=False) + "\n"
        if self._file is not None:
            self._file.write(text)
        if self.is_json:
            print(text, end="", flush=True)
        elif not self._quiet:
            print_announced(document)


def _run(setup: Setup, web: int | None, told: _Told) -> Status:
    """Serves until a signal arrives; returns the last status."""
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
    """Converts the recorded requests into a trace, however the server ends."""
    from floatgate.live import recording, serving

    try:
        yield
    finally:
        requests = serving.keep_record(record, recording.capture_of(record))
        if requests:
            output.say(f"recorded {requests:,} requests in {record}", quiet)
        elif requests == 0:
            output.say(f"no client made a request: {record} is not written", quiet)


def _claimed(record: Path, force: bool) -> Path:
    """Checks that `record` may be written; returns the file that the plugin records into."""
    from floatgate.live import recording

    paths.refuse_existing(record, force=force, option="--record")
    return recording.claim(record)


def _check(
    socket: Path | None, port: int | None, listen: str | None, transport_us: float, timing: str
) -> None:
    """Raises `BadParameter` for options that conflict, or that need another option."""
    if socket is not None and port is not None:
        raise typer.BadParameter("is for TCP; leave out --socket", param_hint="'--port'")
    if listen is not None and port is None:
        raise typer.BadParameter("is for TCP; expected --port", param_hint="'--listen'")
    if transport_us and timing == "none":
        raise typer.BadParameter("is for --timing simulated", param_hint="'--transport'")


def _sockets(
    socket: Path | None, control: Path | None, port: int | None
) -> tuple[Path | None, Path]:
    """Returns the NBD socket, if any, and the control socket."""
    from floatgate.live import places

    default = places.default_socket()
    where = socket or (default if port is None else None)
    return where, control or places.control_of(where or default)


def _refuse_shared(
    written: Mapping[str, Path | None],
    read: Iterable[tuple[str, str | Path | None]],
    certificates: Path | None,
) -> None:
    """Refuses a call in which two options name one file and the command writes it."""
    from floatgate.live.recording import capture_of

    from .written import RUN_FILES

    named = [paths.Named(option, path) for option, path in written.items() if path is not None]
    if (record := written["--record"]) is not None:
        named.append(paths.Named("--record", capture_of(record)))
    if (out := written["--out"]) is not None:
        named += [paths.Named("--out", out / name) for name in RUN_FILES]
    used = [paths.Named(option, Path(name)) for option, name in read if name is not None]
    if certificates is not None:
        used += [paths.Named("--tls-certificates", file) for file in certificates.glob("*")]
    paths.refuse_shared(named, [one for one in used if one.path.is_file()])


def _several(wanted: int | None, timing: str, depth: int) -> int:
    """Returns the number of a client's requests served at a time; prints a warning, if any."""
    from floatgate.live import nbdkit

    several, warning = nbdkit.threads(nbdkit.find(), wanted, timing, depth)
    if warning is not None:
        output.say(f"warning: {warning}")
    return several


def _tls(mode: str | None, certificates: Path | None, psk: Path | None, verify: bool) -> list[str]:
    """Returns the TLS options for nbdkit."""
    given = {"--tls-certificates": certificates, "--tls-psk": psk, "--tls-verify-peer": verify}
    if mode is None:
        for option in (name for name, value in given.items() if value):
            raise typer.BadParameter("needs --tls require, or --tls on", param_hint=f"'{option}'")
        return []
    found = [f"--tls={mode}"]
    found += [] if certificates is None else [f"--tls-certificates={certificates.absolute()}"]
    found += [] if psk is None else [f"--tls-psk={psk.absolute()}"]
    return found + ["--tls-verify-peer"] * verify
