"""`doctor --sandbox`: a table of promises, tried out in boxes on this machine."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/attacks"))
from docker import Docker  # noqa: E402


def rows(text):
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("promise"))
    return lines[start].split()[1:], lines[start + 1:]


def test_every_promise_is_kept_here(gradlab):
    done = gradlab("doctor", "--sandbox")
    assert done.returncode == 0, done.stdout + done.stderr
    columns, lines = rows(done.stdout)
    assert columns[-1] == "none" and "BROKEN" not in done.stdout
    assert len(lines) > 15 and all(len(line) <= 80 for line in lines)
    assert "\x1b" not in done.stdout
    bounded = next(line for line in lines if line.startswith("memory is bounded"))
    assert bounded.split()[-len(columns):] == ["kept"] * len(columns)


@pytest.mark.skipif(os.geteuid() != 0, reason="isolation container is root's")
def test_where_namespaces_are_refused_container_is_tried_and_the_cause_is_said(gradlab):
    with Docker() as docker:
        done = subprocess.run([ROOT / "build/release/bin/gradlab", "doctor", "--sandbox"], cwd=ROOT,
                              env={**os.environ, "GRADLAB_ROOT": str(ROOT)}, text=True,
                              capture_output=True, preexec_fn=docker.enter, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    columns, lines = rows(done.stdout)
    assert columns == ["container", "none"] and "full does not work here" in done.stdout
    network = next(line for line in lines if line.startswith("no network"))
    assert network.split()[-3:] == ["kept", "not", "promised"]
