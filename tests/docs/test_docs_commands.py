"""Every command that a page prints is valid and runs, and its output matches the page.

The commands of a page run in page order in one folder. `docs_reader.py` has the files that they
need, the slow commands, and the commands that no test runs.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import docs_numbers
import docs_reader
import pytest
import typer
from conftest import Cli
from docs_commands import PAGES, Command, commands
from live_process import Serve
from paths import ROOT, shared

from floatgate.cli import app, study
from floatgate.live import nbdkit
from floatgate.studies.plan import Shard

ALL = [command for page in PAGES for command in commands(page)]
WHOLE = [command for command in ALL if command.whole]
OURS = [command for command in ALL if command.program == "floatgate"]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
OUTPUTS = ("--out", "-o", "--record")


def _row(table: dict[str, str], command: Command) -> str | None:
    """Returns the table's entry for the command, or None."""
    found = [why for text, why in table.items() if re.fullmatch(text, command.text)]
    assert len(found) < 2, f"{command.where}: {found}"
    return found[0] if found else None


def _runs(command: Command) -> bool:
    if command.program in docs_reader.NOT_OURS:
        return False
    return command.whole and _row(docs_reader.NOT_RUN, command) is None


def _is_long(command: Command) -> bool:
    return _row(docs_reader.LONG, command) is not None


def _pages(long: bool) -> list[str]:
    """Returns the pages that have commands of this kind to run."""
    kind = [command.page for command in WHOLE if _runs(command) and _is_long(command) is long]
    return list(dict.fromkeys(kind))


# Tests that run no command.


def test_the_commands_are_found() -> None:
    assert len(WHOLE) > 100 and len({command.page for command in WHOLE}) > 25
    for command in ALL:
        assert command.program in {"floatgate", "fio", *docs_reader.NOT_OURS}, command.where


def test_what_a_cluster_starts_is_a_part_of_a_study() -> None:
    """GNU parallel, Slurm, Kubernetes: the command must parse, and so must its `--shard` value."""
    asked = [command for command in WHOLE if "--shard" in command.words]
    assert len(asked) == 3
    for command in asked:
        assert Shard.parse(command.words[command.words.index("--shard") + 1]).part == 1


@pytest.mark.parametrize("command", OURS, ids=lambda command: command.where[:60])
def test_the_command_line_takes_it(command: Command) -> None:
    """A command named within a sentence may omit arguments, but those present must be valid."""
    inner = typer.main.get_command(app)
    words = [docs_reader.PLACEHOLDERS.get(word, word) for word in command.words[1:]]
    context = inner.context_class(inner, info_name="floatgate")
    while hasattr(inner, "commands") and words and not words[0].startswith("-"):
        if inner.name == "study" and words[0] not in inner.commands:
            words = [study.RUN, *words]
        name, found, words = inner.resolve_command(context, words)
        assert name is not None and found is not None, command.where
        inner = found
        context = inner.context_class(inner, info_name=name, parent=context)
    if command.whole and "--help" not in words:
        inner.make_context(context.info_name, [*words], parent=context.parent)
    else:
        # A command in a sentence may end with an option and omit its value.
        inner.make_parser(context).parse_args([*words, "VALUE"])


def test_what_make_is_asked_for_is_in_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z][\w-]*):", MAKEFILE, re.MULTILINE))
    asked = [command for command in ALL if command.program == "make"]
    assert len(asked) > 10
    for command in asked:
        for word in command.words[1:]:
            variable, is_set, _ = word.partition("=")
            there = f"$({variable})" in MAKEFILE if is_set else word in targets
            assert there, f"{command.where}: {word}"


def test_the_programs_in_python_are_there_and_have_their_options() -> None:
    asked = [command for command in ALL if command.program == "python"]
    assert len(asked) > 3
    for command in asked:
        text = (ROOT / command.words[1]).read_text("utf-8")
        for word in command.words[2:]:
            if word.startswith("-"):
                assert f'"{word}"' in text, command.where


def test_what_cargo_is_asked_for_is_there() -> None:
    manifests = [*ROOT.glob("crates/*/Cargo.toml"), ROOT / "fuzz" / "Cargo.toml"]
    places = {"--bench": "benches", "--test": "tests"}
    asked = [command for command in ALL if command.program == "cargo"]
    assert len(asked) > 5
    for command in asked:
        words = command.words
        for option, value in itertools.pairwise(words):
            if option in places:
                there = [*ROOT.glob(f"crates/*/{places[option]}/{value}.rs")]
                assert there, command.where
            elif option in ("-p", "--bin"):
                named = [f'name = "{value}"' in path.read_text("utf-8") for path in manifests]
                assert any(named), command.where


def test_extras_that_are_to_be_installed_are_there() -> None:
    extras = (ROOT / "pyproject.toml").read_text("utf-8")
    extras = extras.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    asked = {name for command in ALL for name in re.findall(r"floatgate\[(\w+)\]", command.text)}
    assert {"search", "ray", "numba", "s3"} <= asked
    assert asked <= set(re.findall(r"^(\w+) =", extras, re.MULTILINE))


@pytest.mark.parametrize("table", ["NOT_RUN", "LONG"])
def test_no_exception_is_stale(table: str) -> None:
    for pattern in getattr(docs_reader, table):
        assert any(re.fullmatch(pattern, command.text) for command in WHOLE), pattern


def test_no_program_or_file_of_the_reader_is_stale() -> None:
    words = {word for command in WHOLE for word in command.words}
    assert {*docs_reader.NOT_OURS} <= {command.program for command in ALL}
    assert {*docs_reader.FILES} <= words
    assert {*docs_reader.PLACEHOLDERS} <= set(re.findall(r"\b[A-Z]+\b", " ".join(words)))


# Tests that run the commands.


class Reader:
    """Follows a page: runs its commands in one folder."""

    def __init__(self, folder: Path, cli: Cli, stack: contextlib.ExitStack) -> None:
        self.folder = folder
        self.printed: dict[str, str] = {}
        self.left_out: list[str] = []
        self._cli = cli
        self._stack = stack
        self._served: Serve | None = None

    def does(self, command: Command) -> None:
        """Runs the command, and checks that its output files exist afterwards."""
        words = [_chosen(word) for word in command.words]
        outputs = [value for option, value in itertools.pairwise(words) if option in OUTPUTS]
        if "DIR" in command.words and not docs_reader.SHARED.is_dir():
            self.left_out.append(f"{command.where} (no traces at {docs_reader.SHARED})")
            return
        for word in words:
            if word in docs_reader.FILES and word not in outputs:
                self._makes(word)
        if words[1] == "serve" and "--help" not in words:
            self._serves(words[2:], command)
            return
        if words[1] == "ctl" and "--help" not in words and self._served is None:
            self.left_out.append(command.where)
            return
        done = self._cli(*words[1:])
        assert done.returncode == 0, f"{command.where}\n{done.stderr}"
        self.printed[command.text] = done.stdout + done.stderr
        for output in outputs:
            assert (self.folder / output).exists(), f"{command.where}: {output} is not there"

    def _makes(self, name: str) -> None:
        if not (self.folder / name).exists():
            docs_reader.FILES[name](self.folder / name)

    def _serves(self, words: list[str], command: Command) -> None:
        """Serves in the background until the page is done, or serves another drive."""
        if shutil.which("nbdkit") is None or not nbdkit.PLUGIN.is_file():
            self.left_out.append(f"{command.where} (needs nbdkit, and the plugin: make build)")
            return
        self.ends()
        self._served = self._stack.enter_context(Serve(self.folder, *words))
        assert self._served.ready, self._served.said
        control = self.folder / "my.control"
        control.unlink(missing_ok=True)
        control.symlink_to(self._served.ready["control"])

    def ends(self) -> None:
        """Ends the server, if one was started."""
        if self._served is not None:
            assert self._served.stop(signal.SIGTERM) == 0, self._served.said


def _chosen(word: str) -> str:
    """Returns the word with placeholders in capitals replaced by the reader's choices."""
    return re.sub(
        r"\b[A-Z]+\b", lambda found: docs_reader.PLACEHOLDERS.get(found[0], found[0]), word
    )


@pytest.fixture
def reader(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    # The pages show outputs in a terminal of 80 columns.
    monkeypatch.setenv("COLUMNS", "80")
    # Where `pip install -e .` of a page puts its policies.
    monkeypatch.syspath_prepend(tmp_path)
    with contextlib.ExitStack() as stack:
        yield Reader(tmp_path, cli, stack)


def _follow(page: str, reader: Reader, *, long: bool) -> None:
    """Runs the page's commands, with or without the slow ones, and then checks the page's
    numbers."""
    if page in docs_reader.SAVED:
        docs_reader.installed(page, reader.folder)
    for command in WHOLE:
        if command.page == page and _runs(command) and (long or not _is_long(command)):
            if command.program == "fio":
                reader.left_out += docs_reader.record(command.words, reader.folder)
            else:
                reader.does(command)
    reader.ends()
    text = (ROOT / page).read_text("utf-8")
    if page in docs_numbers.HELD and not reader.left_out:
        docs_numbers.HELD[page](text, reader.printed, reader.folder)
    if reader.left_out:
        pytest.skip(f"all but this ran: {'; '.join(reader.left_out)}")


@pytest.mark.parametrize("page", _pages(long=False))
def test_the_commands_of_a_page_run_and_its_numbers_come_out(page: str, reader: Reader) -> None:
    _follow(page, reader, long=False)


@pytest.mark.long
@pytest.mark.parametrize("page", _pages(long=True))
def test_the_long_commands_of_a_page_run_too(page: str, reader: Reader) -> None:
    _follow(page, reader, long=True)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("msr-sample-rw20-80-10k.trace.zst", "MSR Cambridge, a window"),
        ("umass-financial1-10k.ascii.zst", "UMass Financial1"),
    ],
)
def test_what_batches_of_evictions_do_to_real_traces(name: str, title: str, reader: Reader) -> None:
    """Runs the commands of docs/algorithms.md, 2.4, with the traces of its table."""
    (reader.folder / "TRACE").symlink_to(shared(f"traces/{name}"))
    for command in WHOLE:
        if command.page == "docs/algorithms.md":
            reader.does(command)
    text = (ROOT / "docs" / "algorithms.md").read_text("utf-8")
    rows = text.partition(f"| {title}")[2].splitlines()[:2]
    shown = [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows]
    shown[1] = shown[1][1:]
    assert shown == docs_numbers.evictions(reader.folder)
