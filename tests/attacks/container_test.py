"""The same bank with isolation container, in surroundings like Docker's where bubblewrap cannot
start, and the sample class in as little memory and CPU as course servers give."""
import fcntl
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

import attacks_test as bank
from docker import Docker

CLASS = bank.ROOT / "tests/class"
EXPECTED = json.loads((bank.ROOT / "tests/cli/class_expected.json").read_text())

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="isolation container is root's")


def grade(docker, folder, out, *options):
    return subprocess.run(
        [bank.PROGRAM, "grade", folder, "--lab", "clipping", "--seed", "7", "--out", out, *options],
        cwd=bank.ROOT, env=bank.ENVIRONMENT, text=True, errors="replace", capture_output=True,
        timeout=840, preexec_fn=docker.enter)


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    bank.adopt_orphans()
    with Docker() as docker:
        return bank.Trial(tmp_path_factory.mktemp("container"), "--isolation", "container",
                          enter=docker.enter)


def test_every_promise_holds(trial):
    broken = [row for row in trial.result["attacks"] if row["differs"]]
    assert broken == []
    assert trial.ran.returncode == 0 and trial.result["holds"], trial.ran.stderr
    assert {record["isolation"] for record in trial.records} == {"container"}


def is_free(lock):
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def test_nothing_is_left(trial):
    """No process, no file, and no temporary folder that a freed uid still notes."""
    assert trial.running == []
    assert trial.marks == [] and trial.changed == []
    for path in Path("/run/gradlab-uids").iterdir():
        with path.open("r+") as lock:
            assert not (is_free(lock) and lock.read()), path


def test_no_attack_reached_anything(trial):
    for record in trial.records:
        reached = re.findall(r"REACHED .*", json.dumps(record))
        assert not reached, (record["student"], reached)


def test_grade_refuses_there_without_a_word_and_names_both_ways(tmp_path):
    with Docker() as docker:
        ran = grade(docker, CLASS, tmp_path / "out")
    assert ran.returncode == 3
    assert "docker run --security-opt" in ran.stderr
    assert "--isolation container" in ran.stderr and "--isolation none" in ran.stderr
    assert not list((tmp_path / "out").glob("records/*"))


def test_the_class_gets_the_same_in_768_mebibytes_and_half_a_cpu(tmp_path):
    with Docker(768, 0.5) as docker:
        if not docker.bounded:
            pytest.skip("no control group can be made here")
        ran = grade(docker, CLASS, tmp_path / "out", "--jobs", "1", "--isolation", "container")
    assert ran.returncode == 0, ran.stderr
    for student, expected in EXPECTED.items():
        record = json.loads((tmp_path / "out/records" / f"{student}.json").read_text())
        assert (record["verdict"], record["score"]) == (expected["verdict"], expected["score"]), student


def test_the_class_gets_the_same_without_isolation(tmp_path):
    ran = subprocess.run([bank.PROGRAM, "grade", CLASS, "--lab", "clipping", "--seed", "7", "--out",
                          tmp_path / "out", "--isolation", "none"], cwd=bank.ROOT,
                         env=bank.ENVIRONMENT, text=True, capture_output=True, timeout=600)
    assert ran.returncode == 0, ran.stderr
    for student, expected in EXPECTED.items():
        record = json.loads((tmp_path / "out/records" / f"{student}.json").read_text())
        assert (record["verdict"], record["score"]) == (expected["verdict"], expected["score"]), student
