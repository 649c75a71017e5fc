"""A machine that is too busy makes a hand-in wait: that is no time limit of the student's. Here the box of an
honest hand-in gets almost no core for longer than its limit."""
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cli"))
from batch_test import Batch, SLOW, boxes_of, judges, wait_until_slow_runs  # noqa: E402

RIGHT = (ROOT / "tests/course/right/clipping/plain_loops.cpp").read_text()
HOG = "import os\nos.sched_setaffinity(0, {%d})\nos.setpriority(os.PRIO_PROCESS, 0, -20)\nwhile True: pass"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to run before all others")


def set_group(pid, nice):
    """Where the kernel shares cores between sessions first, a process's own nice counts within one."""
    if Path(f"/proc/{pid}/autogroup").exists():
        Path(f"/proc/{pid}/autogroup").write_text(str(nice))


def starve(pids, core):
    """These processes, and what they start, run on one core, after everybody else."""
    for pid in pids:
        for task in Path(f"/proc/{pid}/task").glob("*"):
            os.sched_setaffinity(int(task.name), {core})
            os.setpriority(os.PRIO_PROCESS, int(task.name), 19)
        set_group(pid, 19)


def grade_starved(batch, text, seconds):
    core = max(os.sched_getaffinity(0))
    batch.put("ada", text + SLOW[SLOW.index("\n#include <unistd.h>"):])
    running = batch.start("--seed", "1")
    wait_until_slow_runs(running)
    starve(boxes_of(judges(running)[1][0]), core)
    hogs = [subprocess.Popen([sys.executable, "-c", HOG % core], start_new_session=True)
            for _ in range(2)]
    try:
        for hog in hogs:
            set_group(hog.pid, -20)
        time.sleep(seconds)
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
    running.communicate(timeout=600)
    return batch.record("ada")


@needs_root
def test_an_honest_hand_in_waits_and_loses_nothing(tmp_path):
    record = grade_starved(Batch(tmp_path), RIGHT, 25)
    assert (record["verdict"], record["score"]) == ("pass", 30)


@needs_root
def test_a_hand_in_that_sleeps_is_not_excused_by_a_busy_machine(tmp_path):
    asleep = RIGHT + "__attribute__((constructor)) static void stay() { usleep(600'000'000); }\n"
    record = grade_starved(Batch(tmp_path), "#include <unistd.h>\n" + asleep, 25)
    assert (record["verdict"], record["score"]) == ("time_limit", 0)
