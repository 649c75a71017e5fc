"""How often `gradlab log` is right, over logs whose causes are known, and how fast it reads."""
import resource
import subprocess
import sys
import time
from pathlib import Path

from measure import CannotMeasure, Figure

MEGABYTES = 100
LINE = ('{"event":"step","step":%d,"loss":%.6f,"scale":65536.0,"scale_after":65536.0,"norm":%.6f,'
        '"clipped":false,"skipped":false,"lr":0.0003,"max_norm":1.0}\n')


def scores(bench):
    sys.path.insert(0, str(bench.root / "tests/logs"))
    import score
    for name, make in score.SETS.items():
        result = score.measure(make())
        wrong, missed = sum(result.wrong.values()), sum(result.missed.values())
        yield Figure("log", f"{name} logs: told right, of what is told", 100 * result.precision, "%",
                     (">=", 99), f"{sum(result.right.values())} right, {wrong} wrong")
        yield Figure("log", f"{name} logs: told, of what could be", 100 * result.recall, "%", (">=", 99),
                     f"{missed} missed in {result.logs} logs")


def resident_at_most(pid):
    """KiB; 0 once it is gone. Not ru_maxrss, which counts what this program held when it forked."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


def speed(bench):
    path = bench.folder / "long.jsonl"
    most = (2 if bench.short else MEGABYTES) * 10**6
    with path.open("w") as file:
        written = step = 0
        while written < most:
            written += file.write(LINE % (step, 2 / (1 + step / 1e5), 0.5 + step % 97 / 200))
            step += 1
    argv = [bench.root / "build/release/bin/gradlab", "log", "check", path]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process, resident = subprocess.Popen(argv, stdout=subprocess.DEVNULL), 0
    while process.poll() is None:
        resident = max(resident, resident_at_most(process.pid))
        time.sleep(0.02)
    if process.returncode != 0:
        raise CannotMeasure(f"log check ended with {process.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    yield Figure("log", "read and diagnosed, in a second of one core", written / 1e6 / took, "MB", None,
                 f"{step} steps of gradlab's record, {written / 1e6:.0f} MB")
    yield Figure("log", "memory that it took at most", resident / 1024, "MiB", ("<=", 64))


def run(bench):
    yield from scores(bench)
    yield from speed(bench)
