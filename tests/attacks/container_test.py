"""The same bank with isolation container, in surroundings like Docker's where bubblewrap cannot
start, and the sample class in as little memory and CPU as course servers give."""
import fcntl
import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

import attacks_test as bank
from docker import Docker

CLASS = bank.ROOT / "tests/class"
EXPECTED = json.loads((bank.ROOT / "tests/cli/class_expected.json").read_text())

# What reads otherwise than in a full box: there the file does not exist, here it is closed.
DIFFERS = {
    "includes_passwd": ("compile_error", "cannot open file '/etc/passwd'"),
    "includes_a_device": ("compile_error", "cannot open file"),
    "looks_for_the_answer": ("compile_error", "cannot open file"),
}
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="isolation container is root's")


def grade(docker, folder, out, *options):
    return subprocess.run(
        [bank.PROGRAM, "grade", folder, "--lab", "clipping", "--seed", "7", "--out", out, *options],
        cwd=bank.ROOT, env=bank.ENVIRONMENT, text=True, errors="replace", capture_output=True,
        timeout=840, preexec_fn=docker.enter)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    bank.adopt_orphans()
    out = tmp_path_factory.mktemp("container") / "results"
    with Docker() as docker:
        ran = grade(docker, bank.BANK, out, "--jobs", "6", "--isolation", "container")
    time.sleep(0.5)
    return bank.Graded(ran, out, bank.running_below(os.getpid()))


def test_batch_survives_and_each_record_names_the_isolation(graded):
    assert graded.ran.returncode == 0, graded.ran.stderr
    assert set(graded.records) == set(bank.EXPECTED)
    assert {r["isolation"] for r in graded.records.values()} == {"container"}
    assert "0 grader errors" in " ".join(graded.ran.stdout.split())


def is_free(lock):
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def test_nothing_is_left(graded):
    """No process, and no temporary folder that a freed uid still notes."""
    assert graded.left == []
    for path in Path("/run/gradlab-uids").iterdir():
        with path.open("r+") as lock:
            assert not (is_free(lock) and lock.read()), path


@pytest.mark.parametrize("attack", sorted(bank.EXPECTED))
def test_attack_earns_what_it_deserves(graded, attack):
    record = graded.records[attack]
    verdict, words = DIFFERS.get(attack, bank.EXPECTED[attack])
    assert record["score"] == bank.DESERVED.get(attack, 0)
    assert record["verdict"] == verdict
    assert words in bank.what_is_read(record)


def test_no_attack_reached_anything(graded):
    for attack, record in graded.records.items():
        reached = re.findall(r"REACHED .*", json.dumps(record))
        assert not reached, (attack, reached)


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
