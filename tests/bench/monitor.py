"""What the monitor costs a training loop with every step looked at, and ormas-monitor beside it on
the same models: tests/monitor/bench/monitor_bench.cpp and monitor_python.py measure."""
import os

from amp import built, measured
from measure import CannotMeasure, Figure, timed
from peers import python_with_torch

HERE = os.path.dirname(os.path.abspath(__file__))
TARGET_MODEL = "24 x Linear 256"  # 1.6 million parameters in 48 tensors


def figures(ours):
    for one in ours:
        name = one["model"]
        target = ("<=", 2) if name == TARGET_MODEL else None
        yield Figure("monitor", f"{name}: a step without it", one["step_us"], "us")
        yield Figure("monitor", f"{name}: a check", one["check_us"], "us")
        yield Figure("monitor", f"{name}: a check's part of a step", 100 * one["share"], "%",
                     target)
        yield Figure("monitor", f"{name}: in the quickest tenth of both",
                     100 * one["quiet_share"], "%")
        yield Figure("monitor", f"{name}: the loop with it over without", one["loop_ratio"], "x")


def python_with_ormas():
    python = python_with_torch()
    if timed([python, "-c", "import ormas_monitor"]).status != 0:
        raise CannotMeasure(f"{python} has no ormas-monitor (pip install ormas-monitor==0.2.3)",
                            expected=True)
    return python


def beside(ours, theirs):
    for our, their in zip(ours, theirs):
        yield Figure("monitor", f"{our['model']}: a check of ormas-monitor", their["check_us"], "us")
        yield Figure("monitor", f"{our['model']}: its check over ours",
                     their["check_us"] / our["check_us"], "x", (">=", 10))
        yield Figure("monitor", f"{our['model']}: the loop with it over without",
                     their["loop_ratio"], "x")


def run(bench):
    steps = bench.count(400, 20)
    ours = measured([built(bench, "monitor_bench"), "--steps", steps])
    yield from figures(ours)
    yield from beside(ours, measured([python_with_ormas(), os.path.join(HERE, "monitor_python.py"),
                                      bench.count(60, 20)]))
