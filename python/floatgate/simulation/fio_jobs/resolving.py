"""Jobs of a job file: sections with their defaults, clones, phases and groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from floatgate._core import ConfigError
from floatgate.files import reading

from . import requests, values
from .job import FileRange, FioJob, Handles
from .lines import GLOBAL, Section, Setting, read_sections
from .settings import Settings

CLONES_MOST = 4096
"""Most jobs of a file, clones included; fio's own default limit."""

DEPTH_MOST = 65_536

_NO_BLOCKS = (
    *("cpuio", "net", "netsplice", "rdma", "exec", "falloc", "e4defrag", "ftruncate", "filecreate"),
    *("fileopen", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete"),
)
"""Engines that send no requests to a drive."""

_SYNCHRONOUS = ("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap")
"""Engines that keep one request outstanding, whatever `iodepth` is; fio's default is `psync`."""


@dataclass(frozen=True)
class JobFile:
    """Jobs of a file, and options that have no meaning for a simulated drive."""

    path: Path
    jobs: tuple[FioJob, ...]
    ignored: tuple[str, ...]
    """Ignored options, in the order of the file."""
    files: tuple[Path, ...]
    """The job file and the files that it includes."""

    def notes(self) -> list[str]:
        """Returns what differs from a run by fio."""
        ignored = ", ".join(self.ignored)
        why = "options of fio without a meaning for a simulated drive, ignored"
        notes = [f"{why}: {ignored}"] if ignored else []
        return list(dict.fromkeys([*notes, *(note for job in self.jobs for note in job.notes)]))


def read_job_file(path: Path) -> JobFile:
    """Returns the jobs of a file.

    Raises ConfigError with file, line, section and option for anything that is not understood.
    """
    sections = read_sections(path)
    resolver = _Resolver()
    for section in sections:
        resolver.add(section)
    if not resolver.jobs:
        raise ConfigError(f"{reading.shown(path.name)}: no job; expected a section except [global]")
    sources = (setting.source.file for section in sections for setting in section.settings)
    files = dict.fromkeys([path, *sources])
    return JobFile(path, tuple(resolver.jobs), tuple(resolver.ignored), tuple(files))


class _Resolver:
    """Sections above the current one, as far as they matter for the next."""

    def __init__(self) -> None:
        self.jobs: list[FioJob] = []
        self.ignored: dict[str, None] = {}
        self._defaults: list[Setting] = []
        self._phase = 0
        self._group = 0

    def add(self, section: Section) -> None:
        """Adds the clones of a section, or the defaults of `[global]`."""
        if section.name == GLOBAL:
            self._defaults += section.settings
            # Reported in this section, and not in each section below.
            Settings(section.name, section.source, section.settings)
            return
        settings = Settings(section.name, section.source, [*self._defaults, *section.settings])
        if settings.flag("stonewall"):
            self._phase += bool(self.jobs)
        if settings.flag("stonewall") or settings.flag("new_group"):
            self._group += bool(self.jobs)
        count = settings.whole("numjobs", 1, 1, CLONES_MOST)
        if len(self.jobs) + count > CLONES_MOST:
            raise settings.error("numjobs", f"more than {CLONES_MOST:,} jobs; expected fewer")
        self.jobs += _clones(settings, count, self._phase, self._group, self.jobs)
        self.ignored |= dict.fromkeys(settings.ignored)


def _clones(
    settings: Settings, count: int, phase: int, group: int, above: Sequence[FioJob]
) -> Iterator[FioJob]:
    """Yields the clones of a section."""
    is_random, _ = requests.kinds(settings)
    directions = requests.directions(settings)
    distribution = requests.distribution(settings)
    name = settings.text("name", settings.name)
    depth = settings.whole("iodepth", 1, 1, DEPTH_MOST)
    time_based, runtime = settings.flag("time_based"), settings.time("runtime") or None
    if time_based and runtime is None:
        raise settings.error("time_based", "no runtime; expected runtime=TIME")
    repeats = settings.flag("randrepeat", True) and not (time_based or settings.has("randseed"))
    delays = settings.parsed("startdelay", _delays, (0, 0))
    for clone in range(count):
        yield FioJob(
            name=name,
            clone=clone,
            source=settings.source,
            phase=phase,
            group=group,
            waits_for=_waits_for(settings, above),
            region=_region(settings, name, clone),
            is_random=is_random,
            directions=directions,
            read_percent=_read_percent(settings),
            distribution=distribution,
            each_once=_each_once(settings, distribution.kind),
            repeats=repeats,
            seed=settings.whole("randseed", 0) if settings.has("randseed") else None,
            depth=depth,
            refill_at=_refill_at(settings, depth),
            io_bytes=settings.whole("io_size", 0) or None,
            loops=settings.whole("loops", 1, 1),
            requests_max=settings.whole("number_ios", 0) or None,
            start_delay_ns=delays,
            ramp_ns=settings.time("ramp_time"),
            runtime_ns=runtime,
            time_based=time_based,
            ends_group=settings.flag("exitall"),
            is_poisson=settings.word("rate_process", ("linear", "poisson"), "linear") == "poisson",
            think_ns=settings.time("thinktime", "us"),
            think_requests=settings.whole("thinktime_blocks", 1, 1),
            rate_ignores_think=settings.flag("rate_ignore_thinktime"),
            flush_every=_flush_every(settings),
            flushes_at_end=settings.flag("end_fsync") or settings.flag("fsync_on_close"),
            handles=_handles(settings),
            notes=tuple(_notes(settings, depth)),
        )


def _delays(text: str) -> tuple[int, int]:
    return values.span(text, lambda part: values.duration(part, "s"))


def _waits_for(settings: Settings, above: Sequence[FioJob]) -> str:
    name = settings.text("wait_for")
    if name and all(job.name != name for job in above):
        raise settings.error("wait_for", "no job above has this name; expected the name of one")
    return name


def _read_percent(settings: Settings) -> int:
    """Returns the percentage of reads. If both percentages are given and disagree, that of writes
    counts.
    """
    reads = settings.parsed("rwmixread", values.percentage, 50)
    if not settings.has("rwmixwrite"):
        return reads
    return 100 - settings.parsed("rwmixwrite", values.percentage, 50)


def _each_once(settings: Settings, distribution: str) -> bool:
    """Returns whether a pass has every block once. A skewed distribution repeats blocks."""
    generators = ("tausworthe", "tausworthe64", "lfsr")
    is_lfsr = settings.word("random_generator", generators, "tausworthe") == "lfsr"
    is_mapped = not (settings.flag("norandommap") or settings.has("blockalign"))
    return distribution == "uniform" and (is_mapped or is_lfsr)


def _refill_at(settings: Settings, depth: int) -> int:
    """Returns the number of outstanding requests at which a job with a full queue sends again."""
    low = settings.whole("iodepth_low", depth, 0)
    batch = settings.whole("iodepth_batch_complete_min", 1, 0, depth)
    return max(0, min(low, depth - max(1, batch)))


def _flush_every(settings: Settings) -> tuple[int, ...]:
    given = (settings.whole(option, 0) for option in ("fsync", "fdatasync"))
    return tuple(every for every in given if every)


def _handles(settings: Settings) -> Handles | None:
    """Returns the placement handles of writes; None for a job without handles."""
    placement = settings.word("dataplacement", ("none", "fdp", "streams"), "none")
    option = "dataplacement" if placement != "none" else "fdp"
    unset: tuple[int, ...] = ()
    numbers = settings.parsed("plids", values.numbers, unset)
    is_random = settings.word("plid_select", ("roundrobin", "random"), "roundrobin") == "random"
    if not (settings.flag("fdp") or placement != "none"):
        if settings.has("plids"):
            raise settings.error("plids", "no data placement; expected fdp=1, too")
        return None
    if placement == "streams" and not numbers:
        raise settings.error("dataplacement", "no streams; expected plids=1,2,...")
    text = f"{option}={placement if option == 'dataplacement' else 1}"
    plids = settings.spelled("plids")
    listed = f", {plids}={','.join(map(str, numbers))}" if numbers else ""
    return Handles(text + listed, numbers, is_random)


def _region(settings: Settings, name: str, clone: int) -> FileRange:
    """Returns the region of a clone in its file."""
    file, form = settings.text("filename"), settings.text("filename_format")
    directory = settings.text("directory").partition(":")[0]
    if ":" in file.replace("\\:", ""):
        raise settings.error("filename", "several files; expected a section for each file")
    form = file or form or "$jobname.$jobnum.$filenum"
    keywords = {"$jobname": name, "$jobnum": str(clone), "$filenum": "0"}
    for keyword, value in keywords.items():
        form = form.replace(keyword, value)
    offset = settings.amount("offset") or values.Amount(0)
    step = settings.amount("offset_increment") or values.Amount(0)
    if step.number and offset.number and step.is_percent != offset.is_percent:
        raise settings.error("offset_increment", "expected the unit of offset: bytes or per cent")
    is_percent = step.is_percent if step.number else offset.is_percent
    number = offset.number + clone * step.number
    if is_percent and number > 100:
        raise settings.error("offset_increment", f"clone {clone} begins at {number} per cent")
    filesize = settings.amount("filesize")
    if filesize is not None and filesize.is_percent:
        raise settings.error("filesize", "expected bytes")
    return FileRange(
        f"{directory}/{form}" if directory else form,
        values.Amount(number, is_percent),
        settings.whole("offset_align", 0),
        settings.amount("size"),
        filesize.number if filesize else None,
    )


def _notes(settings: Settings, depth: int) -> Iterator[str]:
    """Yields notes on the engine. Raises ConfigError for one that sends no requests."""
    engine = settings.text("ioengine").partition(":")[0]
    if engine in _NO_BLOCKS:
        raise settings.error("ioengine", "not modelled: it sends no requests to a drive")
    if depth > 1 and (not engine or engine in _SYNCHRONOUS):
        which = f"ioengine={engine}" if engine else "its default ioengine, psync"
        yield f"iodepth={depth}: fio keeps one request outstanding with {which}, the run {depth}"
