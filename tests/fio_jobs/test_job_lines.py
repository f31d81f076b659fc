"""Text of job files: sections, comments, defaults, included files and environment variables."""

from __future__ import annotations

from pathlib import Path

import pytest
from job_text import job_file, only, written

from floatgate._core import ConfigError
from floatgate.simulation.fio_jobs.resolving import read_job_file


def test_a_job_has_the_defaults_of_the_global_sections_above_it(tmp_path: Path) -> None:
    text = """
        [global]
        size=1m
        bs=8k
        [first]
        [second]
        bs=16k
        [global]
        iodepth=4
        [third]
    """
    jobs = job_file(tmp_path, text).jobs
    assert [job.name for job in jobs] == ["first", "second", "third"]
    assert [job.directions[0].sizes.low for job in jobs] == [8192, 16384, 8192]
    assert [job.depth for job in jobs] == [1, 1, 4]


def test_comments_and_blank_lines_are_skipped(tmp_path: Path) -> None:
    text = "; one\n# two\n\n[job] ; three\n  ; four\nsize=1m # five\nrw = randwrite ; six\n"
    (job,) = job_file(tmp_path, text).jobs
    assert job.is_random
    assert job.directions[0].kind == "write"


def test_the_last_of_two_equal_options_counts(tmp_path: Path) -> None:
    assert only(tmp_path, "iodepth=2", "iodepth=3").depth == 3


def test_the_later_of_two_ways_to_give_sizes_counts(tmp_path: Path) -> None:
    sizes = [
        only(tmp_path, *options).directions[0].sizes
        for options in (("bs=2k", "bsrange=4k-8k"), ("bsrange=4k-8k", "bs=2k"))
    ]
    assert [(one.low, one.high) for one in sizes] == [(4096, 8192), (2048, 2048)]


def test_included_options_belong_to_the_section(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "outer").write_text("bs=8k\ninclude inner\n")
    (tmp_path / "deep" / "inner").write_text("# nested\niodepth=7\n")
    file = job_file(tmp_path, "[a]\nsize=1m\ninclude deep/outer\n[b]\nsize=1m\n")
    first, second = file.jobs
    assert (first.directions[0].sizes.low, first.depth) == (8192, 7)
    assert (second.directions[0].sizes.low, second.depth) == (4096, 1)
    assert [path.name for path in file.files] == ["some.fio", "outer", "inner"]


def test_an_included_file_that_includes_itself_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "loop").write_text("include loop\n")
    with pytest.raises(ConfigError, match=r"loop, line 1: \[a\] include: more than 16 levels"):
        job_file(tmp_path, "[a]\ninclude loop\n")


def test_environment_variables_and_the_page_size_are_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPTH", "12")
    job = only(tmp_path, "iodepth=${DEPTH}", "bs=2*$pagesize", "io_size=$pagesize")
    assert (job.depth, job.directions[0].sizes.low, job.io_bytes) == (12, 8192, 4096)


def test_a_name_may_have_a_variable_that_is_not_set(tmp_path: Path) -> None:
    job = only(tmp_path, "filename=/dev/${NO_SUCH_DRIVE}", "uri=${NO_SUCH_URI}")
    assert job.region.file == "/dev/${NO_SUCH_DRIVE}"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "some.fio: no section; expected [NAME] of a job"),
        ("bs=4k\n", "some.fio, line 1: bs=4k: an option above the first section"),
        (
            "fio version 2 iolog\n",
            "line 1: fio version 2 iolog: a log of fio, no job file; expected",
        ),
        ("[global]\nbs=4k\n", "some.fio: no job; expected a section except [global]"),
        ("[ ]\n", "some.fio, line 1: [ ] []: a section without a name"),
        ("[a]\ntwo words\n", "some.fio, line 2: [a] two words: expected OPTION or OPTION=VALUE"),
        ("[a]\n=4\n", "some.fio, line 2: [a] =4: expected OPTION or OPTION=VALUE"),
        ("[a]\nbs=\n", "some.fio, line 2: [a] bs=: no value; expected OPTION=VALUE"),
        ("[a]\nbs\n", "some.fio, line 2: [a] bs: no value; expected OPTION=VALUE"),
        ("[a]\nsize=${NO_SUCH}\n", "the environment variable NO_SUCH is not set"),
        ("[a]\nnumjobs=$ncpus\n", "$ncpus depends on the machine; expected a number"),
        ("[a]\ninclude nowhere\n", "some.fio, line 2: [a] include"),
    ],
)
def test_an_error_names_file_line_and_section(tmp_path: Path, text: str, error: str) -> None:
    with pytest.raises(ConfigError) as raised:
        job_file(tmp_path, text)
    assert error in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_section_in_an_included_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "part").write_text("[b]\n")
    with pytest.raises(ConfigError, match=r"part, line 1: \[a\] \[b\]: a section in an included"):
        job_file(tmp_path, "[a]\ninclude part\n")


def test_a_file_that_is_not_there_or_no_text_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        read_job_file(tmp_path / "absent.fio")
    path = written(tmp_path, "")
    path.write_bytes(b"[a]\nsize=\xff\n")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_job_file(path)
