"""grade: hand-ins a minute over a class of right and wrong answers, and the memory of a batch, which
may not grow with the number of hand-ins."""
import os
import resource
import shutil
import subprocess
import threading
import time
from pathlib import Path

from measure import CannotMeasure, Figure

# Hang, crash, flood, eat memory or are missing: their cost is a limit's, not the grader's.
HOSTILE = {"bashir", "viktor", "xavier", "yuki", "zoe", "samir"}
PAGE_MIB = os.sysconf("SC_PAGE_SIZE") / 1024 / 1024


def sample_class(bench):
    return sorted(path for path in (bench.root / "tests/class").glob("*/clipping.cpp")
                  if path.parent.name not in HOSTILE)


def make_class(bench, number, sources, lab):
    """`number` hand-ins that each differ, so that none is known from an earlier one."""
    folder = bench.folder / f"class-{lab}-{number}"
    for index in range(number):
        source = sources[index % len(sources)]
        place = folder / f"student-{index:03}"
        place.mkdir(parents=True)
        (place / f"{lab}.cpp").write_text(source.read_text() + f"\n// hand-in {index}\n")
    return folder


def tree_of(root_pid):
    """{pid: resident MiB} of a process and all below it."""
    parents, memory = {}, {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents[int(entry.name)] = int(fields[1])
        memory[int(entry.name)] = int(fields[21]) * PAGE_MIB
    below = {}
    for pid in parents:
        at = pid
        while at in parents and at != root_pid:
            at = parents[at]
        if at == root_pid and pid in memory:
            below[pid] = memory[pid]
    return below


class Watch(threading.Thread):
    """Looks ten times a second at what a process and its tree hold."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.done = pid, threading.Event()
        self.peak_all = self.peak_own = 0.0

    def run(self):
        while not self.done.wait(0.1):
            held = tree_of(self.pid)
            self.peak_all = max(self.peak_all, sum(held.values()))
            self.peak_own = max(self.peak_own, held.get(self.pid, 0))


def grade(bench, number, sources, lab="clipping"):
    """Seconds, seconds of CPU time, and the memory that was held."""
    folder, out = make_class(bench, number, sources, lab), bench.folder / f"results-{lab}-{number}"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    process = subprocess.Popen([bench.command, "grade", folder, "--lab", lab, "--out", out], cwd=bench.root,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    watch = Watch(process.pid)
    watch.start()
    output = process.communicate()[0].decode("utf-8", "replace")
    seconds = time.monotonic() - begin
    watch.done.set()
    watch.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode != 0:
        raise CannotMeasure(f"grade ended with {process.returncode}: {output[-400:]}")
    records = len(list((out / "records").iterdir()))
    if records != number:
        raise CannotMeasure(f"grade left {records} records of {number}")
    shutil.rmtree(folder)
    shutil.rmtree(out)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, cpu, watch


def run(bench):
    few, many = bench.count(50, 4), bench.count(200, 8)
    sources = sample_class(bench)
    _, _, small = grade(bench, few, sources)
    seconds, cpu, large = grade(bench, many, sources)
    yield Figure("grade", f"{many} hand-ins on {len(os.sched_getaffinity(0))} cores",
                 60 * many / seconds, "a minute", (">=", 80),
                 note="the target is for two cores that do nothing else")
    yield Figure("grade", "CPU time of a hand-in", cpu / many, "s")
    yield Figure("grade", f"peak memory, batch of {many}, all processes", large.peak_all, "MiB",
                 note="shared pages count for each process")
    yield Figure("grade", f"peak memory, {many} hand-ins against {few}",
                 large.peak_all / small.peak_all, "x", ("<=", 1.1),
                 note=f"{small.peak_all:.0f} MiB for {few}; the command itself: "
                      f"{small.peak_own:.0f} MiB and {large.peak_own:.0f} MiB")
