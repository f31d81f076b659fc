"""`floatgate serve`."""

from __future__ import annotations

import contextlib
import json as json_text
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from . import options, output, paths
from .commands import Strict
from .endpoints import Where

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
Port = Annotated[
    int | None,
    typer.Option(
        min=1, max=65535, help="Serve at this TCP port instead (default with --nvme: 4420)."
    ),
]
Listen = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="With --port or --nvme: the address (default: 127.0.0.1)."
    ),
]
Nvme = Annotated[
    bool,
    typer.Option(
        "--nvme",
        help="Serve over NVMe/TCP instead of NBD, without nbdkit. There is no authentication.",
    ),
]
Handles = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=128,
        help="With --nvme: placement handles (FDP) of a new drive; 0: as the device states"
        " (default: 8). With --zns: the most active zones.",
    ),
]
BlockSize = Annotated[
    Literal["512", "4096"] | None,
    typer.Option(help="With --nvme: bytes of a block (default: 4096)."),
]
AllowRemote = Annotated[
    bool,
    typer.Option(
        "--allow-remote",
        help="With --nvme: allow an address that other machines reach. Each of them can read and"
        " write the drive.",
    ),
]
Zns = Annotated[
    bool,
    typer.Option(
        "--zns", help="With --nvme: serve a drive in zones (ZNS), each of one reclaim unit."
    ),
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
    nvme: Nvme = False,
    handles: Handles = None,
    block_size: BlockSize = None,
    allow_remote: AllowRemote = False,
    zns: Zns = False,
    out: options.Out = None,
    force: options.Force = False,
    ready_file: ReadyPath = None,
    json: Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Serve a drive as a block device that any program can use, until Ctrl-C.

    Over NBD, with nbdkit, or with --nvme over NVMe/TCP. On SIGTERM or Ctrl-C the drive is shut down
    in order, a summary is printed, and the exit status is 0.
    """
    security = (tls, tls_certificates, tls_psk, tls_verify_peer)
    where = Where(socket, port, listen, *security, nvme, handles, block_size, allow_remote, zns)
    _check(where, transport, timing, aged)
    settings, named = where.with_handles(options.pairs("--set", set), device, image)
    wanted = _Wanted(device, settings, size, seed, aged, image, also or (), named)
    path, control = where.sockets(control)
    written = {"--image": image, "--socket": path, "--control": control, "--record": record}
    read = [("--device", device), *(("--also", one) for one in also or ()), ("--tls-psk", tls_psk)]
    _refuse_shared(written | {"--ready-file": ready_file, "--out": out}, read, tls_certificates)
    with output.staged(out, force=force, quiet=quiet) as part, contextlib.ExitStack() as stack:
        from floatgate.live import serving

        endpoint = where.claimed(path, control, image)
        capture = None if record is None else _claimed(record, force)
        folder = stack.enter_context(serving.own_folder())
        drive, shadows = wanted.made(folder, endpoint.zoned, quiet)
        stack.enter_context(_kept(record, quiet))
        several, tls_options = where.threads(threads, timing, drive.depth), where.tls_options()
        how = (endpoint, control, timing, transport, capture, several, tls_options, shadows, folder)
        told = stack.enter_context(_Told(json, quiet, ready_file))
        last = _run(serving.Setup(drive, *how, quiet), web, told, part)
    _end(last, out, quiet, told.is_json)


@dataclass(frozen=True)
class _Wanted:
    """The drive to serve, and its shadows, as the options describe them."""

    device: str | None
    settings: Mapping[str, Any]
    size: str | None
    seed: int | None
    aged: bool
    image: Path | None
    also: Sequence[str]
    named: Mapping[str, str]
    """Options of the settings that are not of `--set`."""

    def made(self, folder: Path, zoned: bool, quiet: bool) -> tuple[Backing, list[str]]:
        """Returns the drive, and the server's parameters for the shadows. Prints notes."""
        from floatgate.live import backing

        device, settings, aged, image = self.device, self.settings, self.aged, self.image
        start = backing.start_of(image, device, settings, aged) if self.also else None
        shadows = backing.shadows(self.also, folder, start=start)
        drive = backing.prepare(
            image,
            size=self.size,
            device=device,
            set=settings,
            seed=self.seed,
            aged=aged,
            zoned=zoned,
            options=self.named,
        )
        _say_made(drive, quiet)
        return drive, shadows


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


def _run(setup: Setup, web: int | None, told: _Told, part: Path | None) -> Status:
    """Serves until a signal arrives; writes the last status to `part`, and returns it."""
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
        last = serving.serve_until(stop, server, setup)
    _write(last, part)
    return last


@contextlib.contextmanager
def _kept(record: Path | None, quiet: bool) -> Iterator[None]:
    """Converts the recorded requests into a trace, if there is one, however the server ends."""
    from floatgate.live import recording, serving

    if record is None:
        yield
        return
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


def _check(where: Where, transport_us: float, timing: str, aged: bool) -> None:
    """Raises `BadParameter` for options that conflict, or that need another option."""
    where.check()
    if aged and where.zns:
        raise typer.BadParameter(
            "mixes the pages of zones in its units; leave out --zns", param_hint="'--aged'"
        )
    if transport_us and timing == "none":
        raise typer.BadParameter("is for --timing simulated", param_hint="'--transport'")


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
