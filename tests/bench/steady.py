"""Grades the sample class again and again, with busy processes beside it, and compares the records: the same
hand-in and seed give the same record, but for times. By hand: 300 rounds take about an hour on two cores.

  /usr/bin/python3 tests/bench/steady.py [--rounds 300] [--busy 2] [--lab clipping] [--minutes M]"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/release/bin/gradlab"
# What may differ: times, and what is measured beside them.
TIMES = {"timing", "seconds", "at"}


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if key not in TIMES}
    if isinstance(value, str):
        return re.sub(r"compiling took [\d.]+ s", "compiling took a while", value)
    return [without_times(each) for each in value] if isinstance(value, list) else value


def grade(hand_ins, lab, out):
    ran = subprocess.run([PROGRAM, "grade", hand_ins, "--lab", lab, "--seed", "steady", "--out", out],
                         cwd=ROOT, text=True, capture_output=True,
                         env={**os.environ, "GRADLAB_ROOT": str(ROOT)})
    records = {file.stem: without_times(json.loads(file.read_text()))
               for file in (out / "records").glob("*.json")}
    return ran.returncode, records


def differences(first, other, path=""):
    """Places where two records differ, as "tasks.1.checks.0.verdict: pass, now fail"."""
    if type(first) is type(other) and isinstance(first, dict):
        return [line for key in sorted(first.keys() | other.keys())
                for line in differences(first.get(key), other.get(key), f"{path}.{key}")]
    if isinstance(first, list) and isinstance(other, list) and len(first) == len(other):
        return [line for i, (a, b) in enumerate(zip(first, other))
                for line in differences(a, b, f"{path}.{i}")]
    return [] if first == other else [f"{path[1:]}: {str(first)[:60]}, now {str(other)[:60]}"]


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=300)
    options.add_argument("--busy", type=int, default=2, help="processes that burn beside it")
    options.add_argument("--lab", default="clipping")
    options.add_argument("--hand-ins", type=Path, default=ROOT / "tests/class")
    options.add_argument("--minutes", type=float, default=1e9, help="begin no round after these")
    chosen = options.parse_args()
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(chosen.busy)]
    started, unsteady, done, first = time.monotonic(), 0, 0, None
    try:
        while done < chosen.rounds and time.monotonic() - started < 60 * chosen.minutes:
            with tempfile.TemporaryDirectory() as folder:
                status, records = grade(chosen.hand_ins, chosen.lab, Path(folder) / "out")
            done += 1
            if status != 0:
                print(f"round {done}: the command ended with {status}")
            first = first or records
            found = [f"{name} {line}" for name in sorted(first.keys() | records.keys())
                     for line in differences(first.get(name), records.get(name))]
            unsteady += bool(found or status)
            for line in found:
                print(f"round {done}: {line}", flush=True)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    print(f"{done} rounds of {len(first or {})} hand-ins, {chosen.busy} busy processes beside: "
          f"{unsteady} rounds differ from the first ({time.monotonic() - started:.0f} s)")
    sys.exit(1 if unsteady else 0)


if __name__ == "__main__":
    main()
