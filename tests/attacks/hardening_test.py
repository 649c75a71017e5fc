"""The programs that are shipped carry what makes a mistake in them hard to use (cmake/hardening.cmake)."""
import re
import subprocess
from pathlib import Path

import pytest

BIN = Path(__file__).resolve().parents[2] / "build/release/bin"
PROGRAMS = ["gradlab", "judge_clipping", "runner_clipping"]


def readelf(option, program):
    return subprocess.run(["readelf", option, "-W", BIN / program], text=True, capture_output=True,
                          check=True).stdout


@pytest.mark.parametrize("program", PROGRAMS)
def test_addresses_are_drawn_and_tables_are_read_only(program):
    assert re.search(r"Type:\s+DYN", readelf("-h", program))
    headers = readelf("-l", program)
    assert "GNU_RELRO" in headers
    assert not re.search(r"^\s*(LOAD|GNU_STACK)\b.*\bRWE\b", headers, re.M)
    dynamic = readelf("-d", program)
    assert "BIND_NOW" in dynamic or re.search(r"FLAGS_1\).*NOW", dynamic)
    paths = re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic)
    assert all(path.startswith("/") for text in paths for path in text.split(":"))


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_smashed_stack_ends_the_program(program):
    assert "__stack_chk_fail" in readelf("--dyn-syms", program)


def test_a_copy_beyond_its_end_ends_the_judge():
    """The runner has no copy whose size the compiler knows; its flags are the judge's."""
    symbols = readelf("--dyn-syms", "judge_clipping").replace("__stack_chk", "")
    assert re.search(r"__\w+_chk@", symbols)
