"""The compiled engine. Everything here is typed text and numbers; the front gives it shape."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

__version__: str

class ConfigError(ValueError):
    """The call or the config is wrong: one line with what was given and what was expected."""

class RunError(RuntimeError):
    """The run failed."""

class Cancelled(Exception):
    """The run was cancelled."""

class Config:
    """A resolved config, immutable; its pickle has its text."""

    def __init__(self, text: str) -> None:
        """Parses JSON text. Raises ConfigError for a value of another type than its key has.

        The engine checks everything else when it makes a drive.
        """
    @staticmethod
    def resolve(preset: str | None, toml: str | None, sets: list[tuple[str, str]]) -> Config:
        """The config of a preset, a TOML text over it, and settings over both.

        Raises ConfigError for the first mistake.
        """
    @property
    def text(self) -> str:
        """JSON text: equal for configs of equal drives."""
    def table(self) -> dict[str, Any]:
        """The config as new nested dicts."""
    @property
    def page_bytes(self) -> int:
        """Bytes of a page of the map: `mapping.unit`, or else the flash page."""
    @property
    def spare_factor(self) -> float:
        """The requested spare factor, also where the config states the over-provisioning."""
    def logical_bytes(self, span_bytes: int) -> int:
        """Bytes that the host can address on the drive for a workload of this span.

        Raises ConfigError where the drive is too small for it.
        """
    def space(self, span_bytes: int) -> str:
        """Uses of that drive's flash: the result's `space`, as JSON text. Raises as above."""
    def live(self, size: int) -> Config:
        """The config of a live drive of `size` bytes. Raises ConfigError."""

def said(preset: str | None, toml: str | None) -> str:
    """What a preset and a TOML text over it say, without defaults and unchecked, as JSON text.

    It has `class`, what is published of drives of its class. Raises ConfigError.
    """

def schema() -> str:
    """The JSON Schema of the config, as JSON text."""

def result_schema() -> str:
    """The JSON Schema of the result document, as JSON text."""

def parse_size(name: str, text: str) -> int:
    """Bytes of a size with a unit, such as "64GiB"; ConfigError names `name`."""

def size_bytes(text: str) -> int | None:
    """Bytes of "4KiB" or "4096"; None for a text that is no size."""

def span_ns(text: str) -> int | None:
    """Nanoseconds of "90s" or "1.5h" (ns, us, ms, s, min, h, d); None where it is no duration."""

def number(text: str) -> float | None:
    """A config's value as a number: bytes, seconds, bytes per second or a share; else None."""

def presets() -> str:
    """JSON list of {"name", "summary", "source", "toml"}."""

def policies() -> str:
    """JSON {axis: [{"name", "doc", "source", "parameters"}]}.

    Each of the parameters is {"name", "doc", "default", "expected"}.
    """

def generators() -> str:
    """JSON list of {"name", "doc", "example", "source", "keys"}.

    Each of the keys is {"name", "default", "doc"}; the default is text, empty if there is none.
    """

class Control:
    """A hold on a run from another thread."""

    def __init__(self) -> None: ...
    def cancel(self) -> None:
        """Ends the run soon, with Cancelled."""
    def progress(self) -> tuple[str, int, int]:
        """Phase, requests done, requests in all (0 where unknown).

        The phases are "fill", "run", "curve" and "hotness".
        """

class UsualLine:
    """Usual form of the lines of a text trace, read without a regular expression."""

    def __new__(
        cls,
        cells: Sequence[tuple[str, str | None]],
        gap: str | None,
        has_rest: bool,
        ops: Sequence[tuple[str, int]],
    ) -> UsualLine:
        """`cells` has the content of each cell, and the name of its text column, if it is one.

        Raises ConfigError for an unknown content.
        """
    def scan(self, data: bytes) -> tuple[list[Any], ScannedLines]:
        """Reads whole lines.

        Returns record batches with number, time, op, offset, length and the text columns, and the
        lines of other forms.
        """

class ScannedLines:
    """Lines of other forms, and facts about all lines."""

    @property
    def lines(self) -> int:
        """Number of all lines."""
    @property
    def decimals(self) -> int:
        """Most decimals of a time in the usual lines."""
    @property
    def left(self) -> bytes:
        """The other lines, each with a line feed."""
    @property
    def left_numbers(self) -> list[int]:
        """The numbers of the other lines, from 1."""

class Workload:
    """Requests that every run replays from the start; immutable, for any number of threads."""

    @staticmethod
    def generator(spec: str, seed: int) -> Workload:
        """Requests made from `NAME:key=value,...`. Raises ConfigError."""
    @staticmethod
    def recorded(
        name: str, frame: Any, repeat: int, time_scale: float, *, closed: bool = False
    ) -> Workload:
        """Requests from an Arrow stream with at_ns u64, op u8, offset u64, length u64.

        Times of `closed` requests do not count: the queue is kept full.
        """
    @staticmethod
    def streamed(
        name: str,
        open: Callable[[], Iterator[Any]],
        repeat: int,
        time_scale: float,
        *,
        closed: bool,
        requests: int,
        span_bytes: int,
        last_ns: int,
    ) -> Workload:
        """Requests that are read as they are played: `open` gives frames as `recorded` takes them.

        `requests` is how many there are; none goes beyond `span_bytes` or is later than `last_ns`.
        A run raises RunError where what is read is not that.
        """
    @staticmethod
    def jobs_of(name: str, text: str, seed: int, limit: int | None) -> Workload:
        """Closed loops of requests from JSON, at most `limit` requests. Raises ConfigError."""
    @property
    def name(self) -> str:
        """A generator's text as it was given, and what it stands in for; a recording's name."""
    @property
    def is_closed(self) -> bool:
        """Whether requests have no times: the queue is kept full."""
    @property
    def has_streams(self) -> bool:
        """Whether requests may have placement handles."""
    @property
    def requests(self) -> int:
        """Requests, repeats included; 0 for jobs that only a time ends."""
    @property
    def span_bytes(self) -> int: ...
    @property
    def is_held(self) -> bool:
        """Whether runs share no reading: the requests are in memory, or each run makes its own."""
    @property
    def digest(self) -> str:
        """Of one that is read as it is played, it takes a reading if there was none before."""
    def batches(self, size: int) -> Iterator[Any]:
        """Arrow record batches of at most `size` requests, with the columns of `recorded`."""

class Turns:
    """How many runs work at a time."""

    def __init__(self, count: int) -> None: ...

class Reading:
    """One reading of a workload for so many runs, all of which must take part.

    They get the same requests from the same memory, and none is far ahead of the others. While one
    waits, another has its turn.
    """

    def __init__(self, workload: Workload, runs: int, turns: Turns) -> None: ...
    def stop(self) -> None:
        """Ends the runs that wait for requests, with Cancelled."""

class DriveShape:
    """The shape of the drive that a policy is for."""

    @property
    def logical_pages(self) -> int:
        """Pages that can be addressed: LPNs are below it."""
    @property
    def page_bytes(self) -> int: ...
    @property
    def pages_per_unit(self) -> int:
        """Pages of an erase unit."""
    @property
    def units(self) -> int:
        """Erase units, those of the reserve included."""

class MapShape:
    """The drive that a mapping is for."""

    @property
    def logical_pages(self) -> int:
        """Pages that can be addressed: LPNs are below it."""
    @property
    def page_bytes(self) -> int: ...
    @property
    def entries_per_page(self) -> int:
        """Entries of a translation page: page `lpn` has its own in `lpn // entries_per_page`."""
    @property
    def translation_pages(self) -> int: ...
    @property
    def cache_bytes(self) -> int:
        """Memory for the cache: `mapping.cache`."""

class MapAccess:
    """What the host does with a map entry."""

    @property
    def lpn(self) -> int:
        """The page whose entry it is."""
    @property
    def tpn(self) -> int:
        """The translation page that has the entry."""
    @property
    def kind(self) -> str:
        """ "read": looked up; "write": pointed at a new page; "trim": cleared."""
    @property
    def remaining(self) -> int:
        """Pages from this one to the end of the request, this one included."""
    @property
    def first(self) -> bool:
        """Whether it is the first page of the request."""
    @property
    def mapped(self) -> bool:
        """Whether the page holds something."""

class BufferShape:
    """The drive that a buffer policy is for."""

    @property
    def logical_pages(self) -> int:
        """Pages that can be addressed."""
    @property
    def page_bytes(self) -> int: ...
    @property
    def block_pages(self) -> int:
        """Pages of a block: block `b` begins with page `b * block_pages`."""
    @property
    def capacity_pages(self) -> int:
        """Pages that the buffer holds."""

class HostWrite:
    """A page that the host is about to write."""

    @property
    def lpn(self) -> int:
        """The page: 0 to `logical_pages` - 1."""
    @property
    def request_pages(self) -> int:
        """Pages of the host request that it belongs to, from 1."""
    @property
    def handle(self) -> int:
        """The placement handle of the host's last write of it, 0 to 65,535; 0 if it named none. It
        is what a trace has as `stream`: here a stream is what the placement answers. A page keeps
        it while a write buffer has it; of a page that several requests have written to the buffer,
        it is that of the last."""
    @property
    def clock(self) -> int:
        """Pages that the host had written before it, since the drive was new."""
    @property
    def now_ns(self) -> int:
        """The time, in nanoseconds of the device's clock."""

class Reclaimed:
    """A unit that is about to be cleaned."""

    @property
    def stream(self) -> int:
        """The stream that it was opened for."""
    @property
    def age(self) -> int:
        """Pages that the host has written since it was opened."""

def simulate(
    config: Config,
    workload: Workload,
    *,
    seed: int,
    span_bytes: int | None,
    verify: bool,
    start_cache: tuple[str, str] | None,
    device: str,
    skipped: int,
    notes: list[str],
    can_shrink: bool,
    control: Control,
    turns: Turns,
    reading: Reading | None = None,
    guests: Any = None,
) -> str:
    """Runs without the GIL when it has a turn; the result document as JSON text.

    `start_cache` is a directory for start states, and what names the build of the engine.

    The requests are those of `reading`, if there is one. If not, and if they are not in memory, a
    second thread reads or makes them while the drive runs.

    `device` is what the config is called; `skipped` counts lines of the trace that could not be
    read, and `notes` says what else was left out or changed in it. They are told in the result.
    `can_shrink` is whether the caller could make the erase units smaller: a warning advises it.

    `guests` are the policies in Python: `floatgate.guests.given.Guests`. What one raises ends the
    run, and what `guests.failure` makes of it is raised.

    Raises ConfigError, RunError, Cancelled.
    """

def crash(
    config: Config,
    workload: Workload,
    *,
    seed: int,
    span_bytes: int | None,
    every: int | None,
    point: int | None,
    second: int | None,
    most: int,
    control: Control,
) -> str:
    """Cuts the power everywhere; what was found as JSON text. Without the GIL.

    Raises ConfigError, Cancelled.
    """

def map_curve(
    workload: Workload, *, page_bytes: int, sample: float | None, control: Control
) -> str:
    """The hit ratio of LRU caches of map entries, of every size, as JSON text; without the GIL.

    `sample` is the share of the pages to look at, above 0 and at most 1; None for all. The
    document is that of `floatgate.analysis.map_curve.map_curve`, less what that adds.

    Raises ConfigError, Cancelled.
    """

def hotness(
    workload: Workload,
    *,
    gb_bytes: int,
    hot_from: int,
    rounding: str,
    partial: bool,
    control: Control,
) -> str:
    """Hot and cold data of a workload, as JSON text; without the GIL.

    The document is that of `floatgate.analysis.hotness.Hotness`, less `name` and `notes`.

    Raises ConfigError, Cancelled.
    """

def image_create(path: Any, config: Config, *, size: int, seed: int, zoned: bool) -> None:
    """Makes an image with an erased drive of `size` bytes, which hosts see in zones if `zoned`.

    Raises ConfigError for a config that makes no live drive or a file that exists, RunError.
    """

def image_create_aged(path: Any, config: Config, *, size: int, seed: int, control: Control) -> None:
    """Makes an image with a drive that is written over as `[start]` of the config says.

    Raises ConfigError as `image_create` and for a start that writes nothing, RunError, Cancelled.
    """

def image_info(path: Any) -> str:
    """What an image is, as JSON text. Raises ConfigError for no image, RunError."""

def image_check(path: Any) -> str:
    """Every problem of an image, as JSON text. Raises ConfigError for no image, RunError."""

def image_dump(path: Any, *, unit: int | None, lpn: int | None, tell: Any) -> None:
    """Calls `tell` with JSON lists of pages, a unit at a time. Raises as `image_info`."""

class Reader:
    """The bytes of an image, read without writing to it; others can look at it meanwhile.

    Raises as `Drive`.
    """

    def __init__(self, path: Any) -> None: ...
    @property
    def size(self) -> int:
        """Bytes that the host can address."""
    def read(self, offset: int, length: int) -> bytes: ...

class NvmeTarget:
    """A drive served over NVMe/TCP, until `stop`; Linux only. Without `stop`, the drive ends as by
    a crash.

    `parameters` are those of a server process, as pairs; `identity` has the attributes nqn, serial,
    model, uuid (16 bytes) and block_bytes (512 or 4096). With `zoned` the drive is in zones, and
    its hosts have no placement handles.

    Raises ConfigError for parameters, an identity or an address that are wrong, and RunError for a
    drive that cannot be opened or an address that is in use.
    """

    def __init__(
        self,
        parameters: Sequence[tuple[str, str]],
        identity: Any,
        *,
        at: str,
        threads: int,
        allow_remote: bool,
        zoned: bool,
    ) -> None: ...
    def stop(self) -> None:
        """Disconnects all hosts, and shuts the drive down unless that has been done."""

class Drive:
    """The drive of an image; this process alone has it. Without `close`, it ends as by a crash.

    Opening raises ConfigError for no image, RunError; requests raise ConfigError beyond the drive,
    OSError for what cannot be read or written.
    """

    def __init__(self, path: Any) -> None: ...
    @property
    def size(self) -> int:
        """Bytes that the host can address."""
    def mount(self) -> str:
        """What finding the drive has cost, as JSON text."""
    def read(self, offset: int, length: int) -> bytes: ...
    def write(self, offset: int, bytes: bytes) -> None: ...
    def trim(self, offset: int, length: int) -> None: ...
    def flush(self) -> None:
        """Returns when all that was acknowledged is on the disk."""
    def close(self) -> None:
        """Flushes, shuts down, and lets the image go."""
