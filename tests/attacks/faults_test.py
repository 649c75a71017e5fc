"""Faults of the grader itself and of its machine, one at each stage: whatever breaks, the batch ends, what
could not be graded is grader_error with a cause and without a score, and what was graded stays."""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cli"))
from batch_test import Batch, SLOW, judges, wait_for, wait_until_slow_runs  # noqa: E402

PROGRAM = ROOT / "build/release/bin/gradlab"
RIGHT = (ROOT / "tests/course/right/clipping/plain_loops.cpp").read_text()
PARTS = ("autograder", "build", "cmake", "gradlab", "handouts", "labs", "reference", "tests",
         ".gradlab")
HAS_MOUNT = os.geteuid() == 0 and subprocess.run(
    ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True
).returncode == 0
needs_mount = pytest.mark.skipif(not HAS_MOUNT, reason="needs root, to put a stand-in in a program's place")


@pytest.fixture(scope="module", autouse=True)
def prepared():
    """The lab is built and its headers are precompiled with programs that work."""
    run([PROGRAM, "check", "clipping", "--file", ROOT / "labs/clipping/clipping.cpp"])


@pytest.fixture
def batch(tmp_path):
    batch = Batch(tmp_path)
    for student in ("ada", "bob"):
        batch.put(student, RIGHT)
    return batch


def run(words, **how):
    how.setdefault("env", {**os.environ, "GRADLAB_ROOT": str(ROOT)})
    return subprocess.run([str(word) for word in words], cwd=ROOT, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=600, **how)


def with_stand_in(folder, program, script, words):
    """Runs it where `program` is a shell script, for this one command alone."""
    stand_in = folder / Path(program).name
    stand_in.write_text("#!/bin/sh\n" + script)
    stand_in.chmod(0o755)
    return run(["unshare", "--mount", "sh", "-c", f'mount --bind "$0" {program} && exec "$@"',
                stand_in, *words])


def assert_grader_errors(batch, ran, students, cause):
    assert ran.returncode == 3, ran.stdout + ran.stderr
    for student in students:
        record = batch.record(student)
        assert (record["verdict"], record["score"]) == ("grader_error", None)
        checks = [check for task in record["tasks"] for check in task["checks"]]
        assert all(check["points"] == 0 for check in checks)
        said = record["message"] + " ".join(check["message"] for check in checks)
        assert re.search(cause, said), said


# ---- The compiler and the linker.

@needs_mount
@pytest.mark.parametrize("program, script, cause", [
    ("/usr/bin/mold", "kill -SEGV $$", "skeleton too|made no file"),  # a first process ignores it
    ("/usr/bin/mold", "echo 'mold: fatal: mmap failed' >&2; exit 1", "fails on the lab's own skeleton"),
    ("/usr/bin/mold", "exit 0", "the linker made no file"),
    ("/usr/bin/mold", "exit 1", "fails on the lab's own skeleton too"),
])
def test_a_broken_linker_is_nobodys_compile_error(batch, tmp_path, program, script, cause):
    ran = with_stand_in(tmp_path, program, script, batch.command("--seed", "1"))
    assert_grader_errors(batch, ran, ["ada", "bob"], cause)


@needs_mount
@pytest.mark.parametrize("how, cause", [
    ("kill -SEGV $$", "the compiler fails on the lab's own skeleton"),
    ("kill -KILL $$", "the machine ended the compiler"),  # as when its memory runs out
    ("exit 1", "the compiler fails on the lab's own skeleton"),
    ("echo 'LLVM ERROR: out of memory' >&2; exit 134", "the compiler fails on the lab's own skeleton"),
])
def test_a_broken_compiler_is_nobodys_compile_error(batch, tmp_path, how, cause):
    run(batch.command("--seed", "1"))
    shutil.rmtree(batch.out)
    compiler = Path(os.path.realpath("/usr/bin/clang++-19"))
    version = run([compiler, "--version"]).stdout
    script = f"case \"$*\" in *--version*) cat <<'END'\n{version}END\nexit ;; esac\n{how}"
    ran = with_stand_in(tmp_path, compiler, script, batch.command("--seed", "1"))
    if (batch.out / "records").exists() and batch.students():
        assert_grader_errors(batch, ran, ["ada", "bob"], cause)
    else:  # it was noticed before the first hand-in
        assert ran.returncode == 3 and "clang" in ran.stderr, ran.stderr


def other_root(tmp_path):
    """This tree again, made of links."""
    root = tmp_path / "tree"
    root.mkdir()
    for name in PARTS:
        (root / name).symlink_to(ROOT / name)
    return root


def test_a_missing_compiler_is_named_and_grades_nobody(batch, tmp_path):
    root = other_root(tmp_path)
    (root / ".gradlab").unlink()
    (root / ".gradlab").mkdir()
    text = (ROOT / ".gradlab/toolchain").read_text()
    (root / ".gradlab/toolchain").write_text(
        re.sub("COMPILER=.*", "COMPILER=/usr/bin/clang++-of-nobody", text))
    ran = run(batch.command("--seed", "1"), env={**os.environ, "GRADLAB_ROOT": str(root)})
    assert ran.returncode == 3 and "/usr/bin/clang++-of-nobody is gone" in ran.stderr, ran.stderr
    assert batch.students() == []


# ---- The judge.

@needs_mount
@pytest.mark.parametrize("script", [
    "exit 0", "kill -SEGV $$", "echo 'cannot open libtorch_cpu.so' >&2; exit 127",
    "while read order; do echo 'no JSON'; done", "while read order; do echo '{}'; echo '[1]'; done",
    "read order; echo '{\"event\": \"check\", \"name\": \"nobody\", \"verdict\": \"pass\"}'",
    "read order; echo '{\"event\": \"done\"}'",
    "read order; echo '{\"event\": \"check\", \"name\": \"hand_worked_norms\", \"verdict\": \"pass\"}'",
    "read order; printf '{\"event\": \"check\", \"name\": \"hand_worked'",
])
def test_a_broken_judge_gives_no_points(batch, tmp_path, script):
    ran = with_stand_in(tmp_path, ROOT / "build/release/bin/judge_clipping", script,
                        batch.command("--seed", "1"))
    assert_grader_errors_or_unproved(batch, ran)


def assert_grader_errors_or_unproved(batch, ran):
    assert ran.returncode == 3, ran.stdout + ran.stderr
    assert batch.students() == ["ada", "bob"]
    for student in batch.students():
        record = batch.record(student)
        assert (record["verdict"], record["score"]) == ("grader_error", None)
        said = record["message"] + " ".join(check["message"] for task in record["tasks"]
                                            for check in task["checks"])
        assert "judge" in said or "verdict" in said, said


def test_a_judge_that_died_between_two_hand_ins_is_replaced(batch):
    """It is told by a write that nobody reads any more: that must not end the command."""
    batch.put("ada", "#error waits for nobody\n" * 3)
    batch.put("bob", SLOW)
    batch.put("cyd", RIGHT)
    running = batch.start("--seed", "1")
    wait_until_slow_runs(running)
    server = judges(running)[0][0]
    wait_for(lambda: batch.record("bob"))
    os.kill(server, signal.SIGKILL)
    running.communicate(timeout=120)
    assert running.returncode in (0, 3)  # 3 where it died while cyd was compiled or judged
    assert batch.students() == ["ada", "bob", "cyd"]
    cyd = batch.record("cyd")
    assert (cyd["verdict"], cyd["score"]) in [("pass", 30), ("grader_error", None)]


@pytest.mark.parametrize("mib", [200, 440])  # while it loads LibTorch, and while it draws cases
def test_a_judge_without_memory_costs_one_record_and_blames_nobody(batch, mib):
    running = batch.start("--seed", "1")
    wait_for(lambda: judges(running)[0])
    for judge in judges(running)[0]:
        resource.prlimit(judge, resource.RLIMIT_AS, (mib << 20, mib << 20))
    out, err = running.communicate(timeout=300)
    assert running.returncode == 3, err
    records = {student: batch.record(student) for student in ("ada", "bob")}
    assert [records[student]["score"] for student in records] == [None, 30]
    assert re.search("the judge ended|bad_alloc", json.dumps(records["ada"]))


# ---- The machine.

@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become a user without processes")
def test_a_machine_without_processes_blames_nobody(batch, tmp_path):
    if not os.access(ROOT, os.X_OK) or os.stat(ROOT).st_mode & 0o005 != 0o005:
        pytest.skip("this tree cannot be read by another user")
    root = other_root(tmp_path)
    (root / ".gradlab").unlink()
    shutil.copytree(ROOT / ".gradlab", root / ".gradlab", symlinks=True,
                    ignore=lambda *_: ["libtorch-2.11.0"])
    subprocess.run(["chown", "-R", "61000:61000", tmp_path], check=True)
    for folder in [tmp_path, *tmp_path.parents][:3]:
        folder.chmod(0o755)

    def become_poor():
        os.setgid(61000)
        os.setuid(61000)
        resource.setrlimit(resource.RLIMIT_NPROC, (4, 4))

    ran = run(batch.command("--seed", "1"), preexec_fn=become_poor,
              env={"PATH": os.environ["PATH"], "GRADLAB_ROOT": str(root), "HOME": str(tmp_path)})
    assert ran.returncode == 3, ran.stdout + ran.stderr
    assert all(batch.record(student)["score"] is None for student in batch.students())
    assert ran.stderr or batch.students()


def test_a_reader_that_leaves_ends_no_batch(batch):
    graded = subprocess.Popen(batch.command("--seed", "1"), cwd=ROOT, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env={**os.environ, "GRADLAB_ROOT": str(ROOT)})
    head = subprocess.run(["head", "-n", "1"], stdin=graded.stdout, capture_output=True, text=True)
    graded.stdout.close()
    graded.stderr.read()
    assert graded.wait(timeout=300) == 0
    assert "2 hand-ins found" in head.stdout
    assert [batch.record(student)["score"] for student in ("ada", "bob")] == [30, 30]
    assert (batch.out / "grades.csv").exists() and (batch.out / "report/index.html").exists()


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_cost_nobody_a_point(batch, closed):
    ran = run(["sh", "-c", f'exec "$@" {closed}', "sh", *batch.command("--seed", "1")])
    assert ran.returncode == 0
    assert [batch.record(student)["score"] for student in ("ada", "bob")] == [30, 30]


def test_an_output_folder_that_vanishes_stops_the_batch_with_its_name(batch):
    batch.put("bob", SLOW)
    running = batch.start("--seed", "1")
    wait_until_slow_runs(running)
    shutil.rmtree(batch.out)
    _, err = running.communicate(timeout=300)
    assert running.returncode == 3
    assert "stopped:" in err and str(batch.out) in err
    again = batch.run("--seed", "1")
    assert again.returncode == 0 and batch.record("ada")["score"] == 30


def test_no_room_for_work_is_no_fault_of_a_student(batch, tmp_path):
    ran = run(batch.command("--seed", "1"),
              env={**os.environ, "GRADLAB_ROOT": str(ROOT), "TMPDIR": str(tmp_path / "nowhere")})
    assert ran.returncode in (2, 3) and "TMPDIR" in ran.stderr, ran.stderr
    assert batch.students() == []


@pytest.mark.parametrize("limit, size", [(resource.RLIMIT_AS, 700 << 20), (resource.RLIMIT_CPU, 3),
                                         (resource.RLIMIT_NOFILE, 40)])
def test_a_machine_with_little_blames_nobody(batch, limit, size):
    ran = run(batch.command("--seed", "1"),
              preexec_fn=lambda: resource.setrlimit(limit, (size, size)))
    records = [batch.record(student) for student in batch.students()]
    assert all(record["verdict"] in ("pass", "grader_error") for record in records), [
        (record["verdict"], record["message"], record["diagnostics"]) for record in records]
    assert ran.returncode in (0, 3), ran.stderr
    if not records:
        assert "ulimit" in ran.stderr, ran.stderr


@needs_mount
def test_a_disk_that_fills_while_a_hand_in_is_compiled_blames_nobody(batch, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", small], check=True)
    try:
        ran = run(batch.command("--seed", "1"),
                  env={**os.environ, "GRADLAB_ROOT": str(ROOT), "TMPDIR": str(small)})
        assert ran.returncode == 3, ran.stdout + ran.stderr
        for student in batch.students():
            record = batch.record(student)
            assert (record["verdict"], record["score"]) == ("grader_error", None), record
    finally:
        subprocess.run(["umount", small], check=True)


@needs_mount
def test_an_earlier_score_stays_whatever_breaks(batch, tmp_path):
    assert run(batch.command("--seed", "1")).returncode == 0
    before = batch.record("ada")
    batch.put("ada", "// again\n" + RIGHT)
    ran = with_stand_in(tmp_path, "/usr/bin/mold", "kill -SEGV $$", batch.command("--seed", "1"))
    after = batch.record("ada")
    assert ran.returncode in (0, 3)
    assert (after["score"], after["files"]) == (before["score"], before["files"])
    assert any("this is the earlier result" in note for note in after["notes"])
