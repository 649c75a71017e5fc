"""./gradlab debug: the failing case alone, in one process, with places in the student's own file."""
import json
import os
import pty
import re
import shutil
import subprocess

import pytest

from conftest import ROOT

DONE, USAGE = 0, 2
RIGHT = ROOT / "tests/course/right/clipping/plain_loops.cpp"


def write(workspace, text):
    workspace.mine.parent.mkdir(exist_ok=True)
    workspace.mine.write_text(text)
    return workspace


@pytest.fixture
def scales_always(workspace):
    return write(workspace, RIGHT.read_text().replace("if (coef < 1.0)", "if (coef > 0)"))


@pytest.fixture
def reads_too_far(workspace):
    return write(workspace, RIGHT.read_text().replace("i < flat.numel()", "i < 100000000"))


def test_it_shows_the_case_what_came_and_what_was_expected(scales_always):
    told = scales_always("debug", "clipping.2", "--launch-json")
    assert told.returncode == DONE, told.stderr
    for words in ("clipping.2  small norm is left alone", "one gradient [0.3], max_norm 1",
                  "what can be seen afterwards:", "expected at gradient 0, element [0]: 0.3"):
        assert words in told.stdout, told.stdout
    assert "gradients[0] = [0.9999" in told.stdout
    line = re.search(r"^in a debugger: .*gdb --args (\S+) (\S+)$", told.stdout, re.MULTILINE)
    assert all((scales_always.root / path).exists() for path in line.groups())


def test_launch_json_starts_the_same_program(scales_always):
    scales_always("debug", "clipping.2", "--launch-json")
    launch = json.loads((scales_always.root / "launch.json").read_text())["configurations"][0]
    told = subprocess.run([launch["program"], *launch["args"]], cwd=launch["cwd"], text=True,
                          env={**os.environ, **{e["name"]: e["value"]
                                                for e in launch["environment"]}},
                          capture_output=True, timeout=60)
    assert told.returncode == 0 and "gradients[0] = [0.9999" in told.stdout


def test_a_bad_memory_access_is_named_with_file_and_line(reads_too_far):
    told = reads_too_far("debug", "clipping.1")
    at = next(number for number, line in enumerate(reads_too_far.mine.read_text().splitlines(), 1)
              if "sum += data[i]" in line)
    assert "AddressSanitizer: heap-buffer-overflow" in told.stderr
    assert re.search(rf"clipping::total_norm.*/clipping\.cpp:{at}\b", told.stderr), told.stderr


@pytest.mark.skipif(not shutil.which("gdb"), reason="no gdb here")
def test_in_a_terminal_gdb_stops_in_the_students_function(scales_always):
    commands = b"where\nquit\n"
    leader, follower = pty.openpty()
    env = {**os.environ, "GRADLAB_ROOT": str(scales_always.root), "TERM": "dumb"}
    with subprocess.Popen([ROOT / "build/release/bin/gradlab", "debug", "clipping.2"],
                          stdin=follower, stdout=follower, stderr=follower, env=env,
                          start_new_session=True) as process:
        os.close(follower)
        told = b""
        try:
            while True:
                told += os.read(leader, 65536)
                if commands and told.rstrip().endswith(b"(gdb)"):
                    os.write(leader, commands)
                    commands = b""
                if b"Quit anyway?" in told:
                    os.write(leader, b"y\n")
        except OSError:  # the terminal is gone with the last process on it
            pass
        process.wait(timeout=60)
    os.close(leader)
    stops = re.search(rb"#0 +clipping::\w+ \([^#]*/clipping\.cpp:\d+", told)
    assert stops, told.decode(errors="replace")


@pytest.mark.parametrize("task, words", [("clipping.1", "no failing case: it is pass"),
                                         ("clipping.7", "no task 7")])
def test_where_nothing_fails_there_is_nothing_to_debug(scales_always, task, words):
    told = scales_always("debug", task)
    assert told.returncode == USAGE and words in told.stderr


def test_what_is_not_written_yet_has_no_case(workspace):
    workspace("start", "clipping")
    told = workspace("debug", "clipping.2")
    assert told.returncode == USAGE and "it is not started" in told.stderr


def test_an_unknown_check_is_wrong_use(scales_always):
    told = scales_always("debug", "clipping.2", "--check", "nonesuch")
    assert told.returncode == USAGE and "no check 'nonesuch'" in told.stderr
