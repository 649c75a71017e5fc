"""Precision and recall of `gradlab log` over simulated logs. `python3 tests/logs/score.py` prints the two
tables of handouts/instructor/log.md; with --write it puts them there; with a number it uses that seed."""
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import cases  # noqa: E402
import mixed  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "handouts/instructor/log.md"
SETS = {"named": cases.all_cases, "mixed": mixed.all_cases}


class Score:
    def __init__(self):
        self.logs, self.right, self.wrong, self.missed, self.faults = 0, Counter(), Counter(), Counter(), []

    def add(self, case, told):
        not_told = case.truth - told - case.optional
        self.logs += 1
        self.right.update(told & case.truth)
        self.wrong.update(told - case.truth)
        self.missed.update(not_told)
        if told - case.truth or not_told:
            self.faults.append(f"{case.kind}, {case.name}: wrong {sorted(told - case.truth)}, "
                               f"missed {sorted(not_told)}")

    @property
    def precision(self):
        return sum(self.right.values()) / (sum(self.right.values()) + sum(self.wrong.values()))

    @property
    def recall(self):
        return sum(self.right.values()) / (sum(self.right.values()) + sum(self.missed.values()))

    def table(self):
        lines = ["| diagnosis | told right | told wrong | missed |", "|---|---|---|---|"]
        # In the order of the student's page.
        for name in names():
            if self.right[name] + self.wrong[name] + self.missed[name]:
                lines.append(f"| `{name}` | {self.right[name]} | {self.wrong[name]} | {self.missed[name]} |")
        lines.append(f"| all, in {self.logs} logs | {sum(self.right.values())} | {sum(self.wrong.values())} | "
                     f"{sum(self.missed.values())} |")
        return "\n".join(lines) + (f"\n\nPrecision {100 * self.precision:.1f} %, recall "
                                   f"{100 * self.recall:.1f} %.\n")


def names():
    page = (ROOT / "handouts/reading_logs.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `(\w+)` \| (?:info|warning|critical) \|", page, re.MULTILINE)


def told_of(case, folder, gradlab=ROOT / "build/release/bin/gradlab"):
    log = Path(folder) / "run.log"
    log.write_text(case.text, encoding="utf-8")
    words = [gradlab, "log", "check", log, "--json"]
    if case.earlier:
        before = Path(folder) / "before.log"
        before.write_text(case.earlier, encoding="utf-8")
        words += ["--retry-of", before]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    if ran.returncode not in (0, 1):
        raise RuntimeError(f"{case.name}: {ran.stderr}")
    return {finding["name"] for run in json.loads(ran.stdout)["runs"] for finding in run["findings"]}


def measure(all_cases):
    score = Score()
    with tempfile.TemporaryDirectory(prefix="gradlab-logs-") as folder:
        for case in all_cases:
            score.add(case, told_of(case, folder))
    return score


def section_of(guide, name):
    begin = guide.index(f"<!-- {name}:")
    begin = guide.index("-->\n", begin) + len("-->\n")
    return begin, guide.index("<!-- end -->", begin)


def main():
    seed = [int(word) for word in sys.argv[1:] if word.isdigit()]
    for name, make in SETS.items():
        score = measure(make(*seed))
        print(f"{name}\n{score.table()}")
        print("".join(f"  {fault}\n" for fault in score.faults))
        if "--write" in sys.argv:
            guide = GUIDE.read_text(encoding="utf-8")
            begin, end = section_of(guide, name)
            GUIDE.write_text(guide[:begin] + score.table() + guide[end:], encoding="utf-8")


if __name__ == "__main__":
    main()
