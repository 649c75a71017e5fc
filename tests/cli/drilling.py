"""What the tests of `gradlab drill` share: a place where nobody has drilled yet, and right answers."""
import os
import re
import subprocess

import pytest

from conftest import ROOT

DONE, USAGE, FAULT = 0, 2, 3
COMMAND = ROOT / "build/release/bin/gradlab"


@pytest.fixture
def place(tmp_path):
    """A copy of gradlab, made of links, where nobody has drilled yet."""
    for name in ("autograder", "gradlab", "handouts", "labs", "reference"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def environment(place, today, **more):
    return {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TERM": "xterm", "GRADLAB_ROOT": str(place),
            "GRADLAB_TODAY": today, **more}


@pytest.fixture
def drill(place):
    def run(*words, typed="", today="2026-12-01", **more):
        return subprocess.run([COMMAND, "drill", *map(str, words)], cwd=place, text=True, input=typed,
                              env=environment(place, today, **more), capture_output=True, timeout=60)
    run.state = place / ".gradlab/drills.json"
    run.place = place
    return run


def answers(drill, *words):
    """What is right for these words' questions: told when they are skipped."""
    told = drill(*words, typed="s\n" * 200).stdout
    each = re.split(r"^\d+ of \d+   ", told, flags=re.MULTILINE)[1:]
    return ["anything\ny" if "in your own words" in one
            else re.search(r"skipped   the answer is (.*)", one)[1] for one in each]


def right(drill, *words, **how):
    return drill(*words, typed="".join(f"{each}\n" for each in answers(drill, *words)), **how)
