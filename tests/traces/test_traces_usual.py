"""Usual lines of text traces: the engine reads what the expression of the format reads."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_traces_formats import TEXT, content
from test_traces_pieces import check_same, outcome

from floatgate.traces import read_trace
from floatgate.traces.formats import FORMATS
from floatgate.traces.text import TextReader

CHARACTERS = b' \t,.-+0123456789eExRWDFrwd#\r\n"\x00\x0b\xff\xc3\xa4:/()['
"""Bytes that replace others."""


def _check_like_the_expression(path: Path, form: str) -> None:
    """Checks that a file has the same requests, units and notes if no line is a usual one."""
    usual = outcome(read_trace, path, format=form)
    with pytest.MonkeyPatch.context() as patch:
        none = property(lambda reader: None, lambda reader, usual: None)
        patch.setattr(TextReader, "usual", none, raising=False)
        check_same(outcome(read_trace, path, format=form), usual)


@pytest.mark.parametrize("name", TEXT)
def test_usual_lines_are_read_like_the_expression(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content(name, tmp_path))
    _check_like_the_expression(path, TEXT[name])


@settings(deadline=None, max_examples=300, suppress_health_check=list(HealthCheck))
@given(name=st.sampled_from(sorted(TEXT)), seed=st.integers(0, 1 << 32))
def test_damaged_lines_are_read_like_the_expression(tmp_path: Path, name: str, seed: int) -> None:
    draw = random.Random(seed)
    lines = content(name, tmp_path).splitlines(keepends=True) * 3
    for _ in range(draw.randint(1, 4)):
        row = draw.randrange(len(lines))
        data = bytearray(lines[row])
        at = draw.randrange(len(data) + 1)
        data[at : at + draw.randrange(3)] = draw.choices(CHARACTERS, k=draw.randrange(3))
        lines[row] = bytes(data)
    path = tmp_path / "damaged"
    # Undamaged lines keep the share of lines that cannot be read below the limit.
    path.write_bytes(b"".join(lines + content(name, tmp_path).splitlines(keepends=True) * 300))
    _check_like_the_expression(path, TEXT[name])


WITH_USUAL = {
    "floatgate-csv": "1.5,R,4096,512",
    "spc": "0,16,4096,r,1.5",
    "msr": "128166372003061629,usr,0,Write,4096,512,7",
    "alibaba": "7,W,4096,512,1500",
    "tencent": "1500,8,1,0,7",
    "systor17": "1.5,0.1,R,3,4096,512",
    "diskmon": "5\t1.5\t0.1\t0\tRead\t16\t8",
    "disksim": "1.5 0 16 8 1",
    "fiu": "1500 77 httpd 16 8 W 6 0 09af",
    "blkparse": "  8,0    1        1     0.000000000  697  D   W 16 + 8 [kworker]",
    "block-events": "fio-7 [001] ..... 1.5: block_rq_issue: 8,0 WS 4096 () 16 + 8 be,0,4 [fio]",
    "biosnoop": "1.774198    ThreadPoolFore 5270    nvme0n1   W 520198144  225280     0.05    0.48",
    "iosnoop": "11165.028153 11165.028194 app 11425 W 253,1 4534 130560 0.04",
    "biotracer": "4043872\t\t96\t\t49152\t\t5\t\t8.168065791\t\t8.168307510\t\t8.168\t\t8.1",
    "etw": " DiskRead,  350, System (  4), 80, 0xfffffa80, 0x0000101e00, 0x2000, 250, 0, 0x060043",
    "fio 2": "/dev/sda wait 4096 512",
    "fio 3": "1500 /dev/sda write 4096 512",
}


@pytest.mark.parametrize("form", WITH_USUAL)
def test_a_common_line_of_a_format_is_a_usual_one(form: str) -> None:
    """A line that is not would be read rightly, but slowly."""
    reader = next(row for row in FORMATS if row.name == form.split()[0]).reader()
    assert isinstance(reader, TextReader)
    if form.startswith("fio "):
        reader.take(f"fio version {form[-1]} iolog\n".encode(), False)
    assert reader.usual is not None
    _, left = reader.usual.line(reader.ops).scan(WITH_USUAL[form].encode() + b"\n")
    assert (left.lines, left.left_numbers) == (1, [])
