"""What all measurements share: a figure, a timed command, a place to work in, and the machine."""
import os
import pty
import resource
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional


class CannotMeasure(Exception):
    """With `expected`: a peer is not installed here, which is no fault."""

    def __init__(self, why, expected=False):
        super().__init__(why)
        self.expected = expected


@dataclass
class Figure:
    measure: str
    name: str
    value: float
    unit: str  # us, ms, s, MiB, x (a ratio), or words
    target: Optional[tuple] = None  # ("<=", 1.2) or (">=", 20)
    note: str = ""
    ok: Optional[bool] = field(init=False, default=None)

    def __post_init__(self):
        if self.target:
            operator, bound = self.target
            self.ok = bool(self.value <= bound if operator == "<=" else self.value >= bound)


def percentile(values, part):
    """The smallest value that `part` of all values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * part // 100) - 1)]


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


@dataclass
class Ran:
    seconds: float
    first_output: Optional[float]  # seconds until the first byte on stdout, where it was watched
    cpu_seconds: float
    status: int
    output: str
    errors: str


def timed(argv, cwd=None, environment=None):
    """Runs a command to its end, stdin empty."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    ran = subprocess.run([str(word) for word in argv], cwd=cwd, stdin=subprocess.DEVNULL,
                         capture_output=True, env=environment)
    seconds = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Ran(seconds, None, cpu, ran.returncode, ran.stdout.decode("utf-8", "replace"),
               ran.stderr.decode("utf-8", "replace"))


def on_terminal(argv, cwd):
    """Seconds until the first byte of a command whose stdout is a terminal, and until its end: there
    a verdict comes before what explains it."""
    ours, theirs = pty.openpty()
    begin = time.monotonic()
    process = subprocess.Popen([str(word) for word in argv], cwd=cwd, stdin=subprocess.DEVNULL,
                               stdout=theirs, stderr=subprocess.PIPE)
    os.close(theirs)
    first, output = None, b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # a terminal ends so
            break
        if not part:
            break
        first = first or time.monotonic() - begin
        output += part
    errors = process.communicate()[1]
    os.close(ours)
    return Ran(time.monotonic() - begin, first, 0, process.returncode,
               output.decode("utf-8", "replace"), errors.decode("utf-8", "replace"))


def complaint(what, ran):
    """What a command that ended badly said, in one line."""
    said = " ".join((ran.output + ran.errors).split())
    return CannotMeasure(f"{what} ended with {ran.status}: {said[-400:]}")


class Bench:
    """The repository under test, and a folder that is gone afterwards. Nothing is written into the
    repository: no work/, no state of hints, no last record."""

    def __init__(self, root, folder, short):
        self.root = root
        self.folder = folder
        self.short = short
        self.command = root / "gradlab"

    def toolchain(self):
        """What the set-up wrote down: COMPILER, TORCH, CUDA_LIBS."""
        return dict(line.split("=", 1) for line in
                    (self.root / ".gradlab/toolchain").read_text().splitlines())

    def count(self, many, few=2):
        return few if self.short else many

    def right_answer(self):
        return (self.root / "tests/course/right/clipping/plain_loops.cpp").read_text()

    def check(self, file, lab="clipping", *words):
        return self.checked(timed, file, lab, *words)

    def check_on_terminal(self, file, lab="clipping"):
        return self.checked(on_terminal, file, lab)

    def checked(self, run, file, lab, *words):
        ran = run([self.command, "check", lab, "--file", file, *words], cwd=self.root)
        if ran.status not in (0, 1):
            raise complaint("check", ran)
        return ran


def edited(source, number):
    """The same answer with one line changed."""
    lines = source.splitlines()
    at = next(i for i, line in enumerate(lines) if "sum" in line and line.endswith(";"))
    lines[at] += f"  // edit {number}"
    return "\n".join(lines) + "\n"


def first_line(path, key):
    for line in Path(path).read_text().splitlines():
        if line.startswith(key):
            return line.split(":", 1)[1].strip()
    return "unknown"


def busy_part(seconds):
    """The part of all cores that was in use, or taken by other machines on the same host."""
    def counts():
        words = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
        numbers = [int(word) for word in words]
        return sum(numbers[:8]), numbers[3] + numbers[4]
    all_before, idle_before = counts()
    time.sleep(seconds)
    all_after, idle_after = counts()
    return 1 - (idle_after - idle_before) / max(1, all_after - all_before)


def machine():
    busy = busy_part(1.0)
    return {"cores": len(os.sched_getaffinity(0)),
            "cpu": first_line("/proc/cpuinfo", "model name"),
            "memory_mib": int(first_line("/proc/meminfo", "MemTotal").split()[0]) // 1024,
            "load": list(os.getloadavg()), "busy": busy, "quiet": busy < 0.1}
