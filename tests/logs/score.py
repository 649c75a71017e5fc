"""Precision and recall of `gradlab log` over the two hundred logs: python3 tests/logs/score.py prints
the table that handouts/instructor/log.md holds."""
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
ROOT = Path(__file__).resolve().parents[2]

import cases  # noqa: E402


def told_of(case, folder, gradlab=ROOT / "build/release/bin/gradlab"):
    log = Path(folder) / case.file_name
    log.write_text(case.text)
    words = [gradlab, "log", "check", log, "--json", *case.options]
    if case.earlier:
        before = Path(folder) / "before.log"
        before.write_text(case.earlier)
        words += ["--retry-of", before]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ran.returncode in (0, 1), ran.stderr
    return {finding["name"] for run in json.loads(ran.stdout)["runs"] for finding in run["findings"]}


def measure(all_cases):
    right, wrong, missed, faults = Counter(), Counter(), Counter(), []
    with tempfile.TemporaryDirectory(prefix="gradlab-logs-") as folder:
        for number, case in enumerate(all_cases):
            told = told_of(case, folder)
            right.update(told & case.truth)
            wrong.update(told - case.truth)
            not_told = case.truth - told - case.optional
            missed.update(not_told)
            if told - case.truth or not_told:
                faults.append((number, case, told - case.truth, not_told))
    return right, wrong, missed, faults


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "-"


def table(right, wrong, missed):
    names = [name for name in dict.fromkeys(
        name for made in cases.all_cases() for name in [made.kind] if name not in ("near_miss", "healthy"))]
    lines = ["| diagnosis | true in | told right | told wrong | missed |", "|---|---|---|---|---|"]
    for name in names:
        lines.append(f"| `{name}` | {right[name] + missed[name]} | {right[name]} | {wrong[name]} | {missed[name]} |")
    told, true = sum(right.values()), sum(right.values()) + sum(missed.values())
    lines.append(f"| all | {true} | {told} | {sum(wrong.values())} | {sum(missed.values())} |")
    return "\n".join(lines), percent(told, told + sum(wrong.values())), percent(told, true)


def main():
    all_cases = cases.all_cases(int(sys.argv[1])) if len(sys.argv) > 1 else cases.all_cases()
    right, wrong, missed, faults = measure(all_cases)
    text, precision, recall = table(right, wrong, missed)
    print(f"{text}\n\n{len(all_cases)} logs: precision {precision}, recall {recall}")
    for number, case, told_wrong, not_told in faults:
        print(f"  log {number} ({case.kind}, {case.name}): wrong {sorted(told_wrong)}, missed {sorted(not_told)}")


if __name__ == "__main__":
    main()
