"""A batch survives: Ctrl-C, a judge that is killed, a full disk, the same command again. What was
graded stays graded, and only the rest is done."""
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/release/bin/gradlab"
QUICK = (ROOT / "labs/clipping/clipping.cpp").read_text()
# Takes its time while it is loaded; what it answers then is one point's worth of nothing.
SLOW = QUICK + """
#include <unistd.h>
__attribute__((constructor)) static void wait() { usleep(5'000'000); }
"""


@pytest.fixture
def batch(tmp_path):
    return Batch(tmp_path)


class Batch:
    """tmp_path/class, graded one at a time into tmp_path/out."""

    def __init__(self, tmp_path):
        self.folder = tmp_path / "class"
        self.out = tmp_path / "out"
        self.folder.mkdir()

    def put(self, student, text):
        (self.folder / student).mkdir(exist_ok=True)
        (self.folder / student / "clipping.cpp").write_text(text)

    def command(self, *args):
        return [str(PROGRAM), "grade", str(self.folder), "--lab", "clipping", "--jobs", "1",
                "--out", str(self.out), *map(str, args)]

    def start(self, *args):
        return subprocess.Popen(self.command(*args), text=True, cwd=ROOT, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={**os.environ, "GRADLAB_ROOT": str(ROOT)})

    def run(self, *args):
        running = self.start(*args)
        running.out, running.err = running.communicate(timeout=300)
        return running

    def record(self, student):
        path = self.out / "records" / f"{student}.json"
        return json.loads(path.read_text()) if path.exists() else None

    def students(self):
        return sorted(path.stem for path in (self.out / "records").glob("*.json"))


def graded_now(stdout):
    """Whom this run graded; what an earlier run graded has no line."""
    return [line.split()[-1] for line in stdout.splitlines() if re.match(r"\d+ of \d+ ", line)]


def wait_for(happened, seconds=120):
    until = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.02)


def children(pid):
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(stat.parent.name))
    return found


def name_of(pid):
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def judges(command):
    """The judge that waits for orders, and its child that grades a hand-in now."""
    servers = [pid for pid in children(command.pid) if name_of(pid).startswith("judge_")]
    workers = [pid for server in servers for pid in children(server)
               if name_of(pid).startswith("judge_")]
    return servers, workers


def boxes_of(pid):
    """Everything below a process, whole generations of it."""
    below = children(pid)
    return below + [deeper for child in below for deeper in boxes_of(child)]


def wait_until_slow_runs(running):
    """Until the runner of the hand-in that is graded now exists, below the judge's child."""
    wait_for(lambda: any(boxes_of(worker) for worker in judges(running)[1]))
    time.sleep(0.5)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_batch_goes_on_where_it_was(batch, how):
    batch.put("a", QUICK)
    batch.put("b", SLOW)
    batch.put("c", QUICK)
    running = batch.start("--seed", "1")
    wait_for(lambda: batch.record("a"))
    wait_until_slow_runs(running)
    left = boxes_of(running.pid)
    running.send_signal(how)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "stopped: interrupted. What is graded stays; the same command goes on from there." in err
    assert batch.students() == ["a"]
    wait_for(lambda: not [pid for pid in left if name_of(pid) not in ("", "gradlab")], 10)
    kept = (batch.out / "records/a.json").read_bytes()
    first_table = [line for line in out.splitlines() if " / 30" in line]
    assert [line.split()[0] for line in first_table] == ["a"]

    again = batch.run()
    assert again.returncode == 0, again.err
    assert graded_now(again.out) == ["b", "c"] and batch.students() == ["a", "b", "c"]
    assert (batch.out / "records/a.json").read_bytes() == kept
    assert "Seed 1 from" in again.out


def test_an_interrupted_hand_in_has_no_verdict(batch):
    batch.put("b", SLOW)
    running = batch.start()
    wait_until_slow_runs(running)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=60)
    assert running.returncode == 130 and batch.students() == []


def test_the_same_command_again_grades_nothing(batch):
    batch.put("a", QUICK)
    batch.put("b", "int main( {}\n")
    first = batch.run("--seed", "1")
    second = batch.run("--seed", "1")
    assert graded_now(first.out) == ["a", "b"] and graded_now(second.out) == []
    table = [line for line in first.out.splitlines() if " / 30" in line]
    assert table == [line for line in second.out.splitlines() if " / 30" in line]
    assert second.returncode == 0


def test_a_changed_hand_in_alone_is_graded_again_and_is_another_attempt(batch):
    batch.put("a", QUICK)
    batch.put("b", QUICK)
    assert batch.run("--seed", "1").returncode == 0
    batch.put("b", "// again\n" + QUICK)
    again = batch.run("--seed", "1")
    assert graded_now(again.out) == ["b"]
    assert batch.record("a")["attempt"] == 1 and batch.record("b")["attempt"] == 2


@pytest.mark.parametrize("which", ["server", "worker"])
def test_a_killed_judge_costs_one_record_and_no_points(batch, which):
    batch.put("a", QUICK)
    batch.put("b", SLOW)
    batch.put("c", QUICK)
    running = batch.start("--seed", "1")
    wait_for(lambda: batch.record("a"))
    wait_until_slow_runs(running)
    servers, workers = judges(running)
    os.kill((servers if which == "server" else workers)[0], signal.SIGKILL)
    out, err = running.communicate(timeout=120)
    assert running.returncode == 3, err
    assert batch.students() == ["a", "b", "c"]
    lost = batch.record("b")
    assert (lost["verdict"], lost["score"], lost["attempt"]) == ("grader_error", None, 1)
    assert batch.record("c")["verdict"] == "not_started"
    assert "1 grader error" in out
    said = lost["message"] + " ".join(c["message"] for t in lost["tasks"] for c in t["checks"])
    assert "the judge" in said

    again = batch.run()  # a fault of the grader is tried again, and is no attempt
    assert again.returncode == 0 and graded_now(again.out) == ["b"]
    assert (batch.record("b")["score"], batch.record("b")["attempt"]) == (0, 1)


def test_a_grader_error_leaves_the_earlier_score(batch):
    batch.put("b", QUICK)
    assert batch.run("--seed", "1").returncode == 0
    before = batch.record("b")
    batch.put("b", SLOW)
    running = batch.start()
    wait_until_slow_runs(running)
    os.kill(judges(running)[0][0], signal.SIGKILL)
    running.communicate(timeout=120)
    after = batch.record("b")
    assert (after["score"], after["files"]) == (before["score"], before["files"])
    assert any("this is the earlier result" in note for note in after["notes"])


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount a small file system")
def test_a_full_disk_stops_the_batch_and_loses_nothing(batch):
    for student in "abcdef":
        batch.put(student, QUICK)
    batch.out.mkdir()
    # Room for batch.json and a few records: one is about 20 KB.
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", batch.out], check=True)
    try:
        stopped = batch.run("--seed", "1")
        assert stopped.returncode == 3
        assert "No space left on device" in stopped.err and ".json" in stopped.err
        assert "the same command goes on from there" in stopped.err
        whole = batch.students()
        assert 0 < len(whole) < 6
        assert all(batch.record(student)["score"] == 0 for student in whole)
        assert not list(batch.out.rglob("*.tmp"))
        subprocess.run(["mount", "-o", "remount,size=8m", batch.out], check=True)
        again = batch.run()
        assert again.returncode == 0, again.err
        assert sorted(whole + graded_now(again.out)) == batch.students() == list("abcdef")
    finally:
        subprocess.run(["umount", batch.out], check=True)


@pytest.mark.parametrize("change, words", [
    (lambda batch: None, "holds another batch (lab clipping, "),
    (lambda batch: (batch.out / "batch.json").unlink(), "holds files but no batch of gradlab"),
    (lambda batch: (batch.out / "batch.json").write_text("{"), "is damaged or of another version"),
])
def test_an_output_folder_of_something_else_is_left_alone(batch, tmp_path, change, words):
    batch.put("a", QUICK)
    assert batch.run("--seed", "1").returncode == 0
    change(batch)
    before = {path: path.read_bytes() for path in batch.out.rglob("*") if path.is_file()}
    other = tmp_path / "other"
    (other / "z").mkdir(parents=True)
    (other / "z/clipping.cpp").write_text(QUICK)
    batch.folder = other
    ran = batch.run()
    assert ran.returncode == 2 and words in ran.err and "--out" in ran.err
    assert {path: path.read_bytes() for path in batch.out.rglob("*") if path.is_file()} == before


def test_another_seed_needs_another_folder(batch):
    batch.put("a", QUICK)
    assert batch.run("--seed", "1").returncode == 0
    ran = batch.run("--seed", "2")
    assert ran.returncode == 2
    assert "was graded with seed 1, not 2: leave --seed out to go on" in ran.err


def test_a_damaged_record_is_graded_again(batch):
    batch.put("a", QUICK)
    batch.run("--seed", "1")
    (batch.out / "records/a.json").write_text('{"schema": "gradlab/record/1", "sco')
    again = batch.run()
    assert again.returncode == 0 and graded_now(again.out) == ["a"]
    assert batch.record("a")["score"] == 0
