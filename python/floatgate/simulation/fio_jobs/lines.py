"""Text of a job file: sections, settings, included files and environment variables."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from floatgate._core import ConfigError
from floatgate.files import reading

from .options import ALIASES, IGNORED_NAMES

GLOBAL = "global"
"""Section whose settings are defaults of the jobs below it."""

TEXT_MOST = 1 << 20
"""Bytes of the longest job file."""

NESTED_MOST = 16
"""Most levels of included files."""

PAGE = 4096
"""Bytes that `$pagesize` stands for."""

_SECTION = re.compile(r"\[(.*)\]\s*$")
_INCLUDE = re.compile(r"include\s+(\S.*)$")
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_KEYWORD = re.compile(r"\$(mb_memory|ncpus|pagesize)")


@dataclass(frozen=True)
class TextLine:
    """Line of a job file, for errors."""

    file: Path
    line: int
    section: str

    def error(self, text: str) -> ConfigError:
        """Returns an error about this line."""
        where = f"{reading.shown(self.file.name)}, line {self.line}"
        section = f"[{reading.shown(self.section)}] " if self.section else ""
        return ConfigError(f"{where}: {section}{reading.shown(text)}")


@dataclass(frozen=True)
class Setting:
    """Option with its text as written; a flag without `=` has no text."""

    option: str
    text: str | None
    source: TextLine


@dataclass
class Section:
    """Settings of a section, in the order of the file."""

    name: str
    source: TextLine
    settings: list[Setting] = field(default_factory=list)


def read_sections(path: Path, environment: Mapping[str, str] = os.environ) -> list[Section]:
    """Returns the sections of a job file.

    Raises ConfigError with file and line for text that is no job file, and for a file that cannot
    be read.
    """
    reader = _Reader(environment)
    reader.read(path, TextLine(path, 0, ""), 0)
    if not reader.sections:
        raise ConfigError(f"{reading.shown(path.name)}: no section; expected [NAME] of a job")
    return reader.sections


class _Reader:
    """Reader of a job file and the files that it includes."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.sections: list[Section] = []
        self._environment = environment

    def read(self, path: Path, includer: TextLine, level: int) -> None:
        """Reads a file; `includer` is the line that includes the file."""
        if level > NESTED_MOST:
            raise includer.error(f"include: more than {NESTED_MOST} levels; expected fewer")
        for number, line in _lines(path, includer):
            name = self.sections[-1].name if self.sections else ""
            source = TextLine(path, number, name)
            if section := _SECTION.match(line):
                if level:
                    raise source.error(f"{line}: a section in an included file; expected options")
                self._begin(section[1], TextLine(path, number, section[1]))
            elif not self.sections:
                raise source.error(f"{line}: {_no_section(line)}")
            elif included := _INCLUDE.match(line):
                self.read(path.parent / included[1], source, level + 1)
            else:
                self.sections[-1].settings.append(self._setting(line, source))

    def _begin(self, name: str, source: TextLine) -> None:
        if not name.strip():
            raise source.error("[]: a section without a name; expected [NAME]")
        self.sections.append(Section(name, source))

    def _setting(self, line: str, source: TextLine) -> Setting:
        option, equals, text = (part.strip() for part in line.partition("="))
        if not option or re.search(r"\s", option):
            raise source.error(f"{line}: expected OPTION or OPTION=VALUE")
        if not equals:
            return Setting(option, None, source)
        # A file's name only distinguishes files, so it may have a variable that is not set.
        full = ALIASES.get(option, option)
        is_name = full in IGNORED_NAMES or full in ("filename", "directory")
        return Setting(option, self._expanded(option, text, source, is_name), source)

    def _expanded(self, option: str, text: str, source: TextLine, is_name: bool) -> str:
        """Returns the value with environment variables and keywords replaced. In a name, a variable
        that is not set stays as it is.
        """

        def variable(match: re.Match[str]) -> str:
            value = self._environment.get(match[1], "") or (match[0] if is_name else "")
            if not value:
                raise source.error(
                    f"{option}={text}: the environment variable {match[1]} is not set; "
                    f"expected {match[1]}=VALUE in front of the command"
                )
            return value

        def keyword(match: re.Match[str]) -> str:
            if match[1] != "pagesize":
                raise source.error(
                    f"{option}={text}: ${match[1]} depends on the machine; expected a number"
                )
            return str(PAGE)

        return _KEYWORD.sub(keyword, _VARIABLE.sub(variable, text))


def _no_section(line: str) -> str:
    """Returns what is wrong with a line above the first section."""
    if re.match(r"fio version \d", line):
        return "a log of fio, no job file; expected --format fio"
    return "an option above the first section; expected [NAME]"


def _lines(path: Path, includer: TextLine) -> Iterator[tuple[int, str]]:
    """Yields the lines with content, without comments, with their numbers from 1."""
    try:
        content = reading.read_text(path, TEXT_MOST)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        if includer.line:
            raise includer.error(f"include {path}: {reason}") from error
        raise ConfigError(f"{reading.shown(str(path))}: cannot be read: {reason}") from error
    for number, raw in enumerate(content.splitlines(), 1):
        line = raw.lstrip()
        if line and line[0] not in ";#" and (kept := re.split("[;#]", line)[0].strip()):
            yield number, kept
