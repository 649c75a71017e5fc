"""The bank of hostile hand-ins (bank.toml), graded by `./gradlab attacks`: every promise holds. Here are
the looks that the command cannot take itself: at the machine before and after, at the pages that were
written, at what an attacker finds in the programs."""
import ctypes
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import archives

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAM = ROOT / "build/release/bin/gradlab"
BANK = HERE / "clipping"
ENVIRONMENT = {**os.environ, "GRADLAB_ROOT": str(ROOT), "SECRET": "REACHED the environment"}
MARK = "gradlab-attack-mark"  # in the name of everything that an attack tries to leave somewhere
MARK_KEY = 0x67726164         # the same for System V
# All that one hand-in is given for its checks (150 s), twice since what a busy machine delays is not counted
# against it, and its compile: nobody waits an afternoon for one attacker.
MOST_SECONDS = 2 * 150 + 60


def adopt_orphans():
    """A process that outlives its parents becomes our child, so that it is seen."""
    PR_SET_CHILD_SUBREAPER = 36
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def running_below(pid):
    below = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, rest = stat.read_text().rsplit(")", 1)
        except OSError:
            continue
        state, parent = rest.split()[:2]
        if state != "Z":
            below.setdefault(int(parent), []).append((int(stat.parent.name), name.split("(")[1]))
    found, todo = [], [pid]
    while todo:
        for child, name in below.get(todo.pop(), []):
            found.append(name)
            todo.append(child)
    return found


def marks():
    """What carries an attack's name anywhere on this machine."""
    found = [path for folder in ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", "/", "/root")
             for path in Path(folder).glob(f"*{MARK}*")]
    found += [line for line in Path("/proc/net/unix").read_text().splitlines() if MARK in line]
    for kind in ("shm", "msg", "sem"):
        table = Path("/proc/sysvipc") / kind
        lines = table.read_text().splitlines()[1:] if table.exists() else []
        found += [f"{kind} {line}" for line in lines if int(line.split()[0]) == MARK_KEY]
    return [str(each) for each in found]


def course_files():
    """Every file that decides a grade, with what changes when it is written."""
    folders = ("labs", "reference", "autograder", "tests/attacks")
    programs = [path for kind in ("gradlab", "judge_*", "runner_*")  # others are built meanwhile
                for path in (ROOT / "build/release/bin").glob(kind)]
    return {path: (status.st_size, status.st_mtime_ns, status.st_mode)
            for path in [*programs, *(path for folder in folders
                                      for path in (ROOT / folder).rglob("*"))]
            if path.is_file() and "__pycache__" not in path.parts
            for status in [path.stat()]}


class Trial:
    """The bank, graded with these words. In a container boxes meet the temporary folder at its real
    place, and pytest's is closed to them."""

    def __init__(self, folder, *words, enter=None):
        self.out, self.tmp = folder / "out", folder / "tmp"
        self.tmp.mkdir()
        found_before = marks()
        environment = ENVIRONMENT if enter else {**ENVIRONMENT, "TMPDIR": str(self.tmp)}
        subprocess.run([PROGRAM, "attacks", "is_a_link", *words], env=ENVIRONMENT, capture_output=True,
                       timeout=600, preexec_fn=enter)  # builds and precompiles what is missing
        before = course_files()
        self.ran = subprocess.run(
            [PROGRAM, "attacks", "--json", "--out", self.out, *words], cwd=ROOT, text=True,
            errors="replace", env=environment, capture_output=True, timeout=1700, preexec_fn=enter)
        time.sleep(0.5)
        self.running = running_below(os.getpid())
        after = course_files()
        self.changed = sorted(str(path) for path in before.keys() | after.keys()
                              if before.get(path) != after.get(path))
        self.marks = [mark for mark in marks() if mark not in found_before]
        self.result = json.loads(self.ran.stdout)
        self.records = [json.loads(file.read_text()) for file in self.out.glob("*/records/*.json")]


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    adopt_orphans()
    return Trial(tmp_path_factory.mktemp("attacks"))


def test_every_promise_holds(trial):
    broken = [row for row in trial.result["attacks"] if row["differs"]]
    assert broken == []
    assert trial.ran.returncode == 0 and trial.result["holds"], trial.ran.stderr


def test_every_hostile_file_is_in_the_bank(trial):
    bank = (HERE / "bank.toml").read_text()
    for file in [*BANK.glob("*.cpp"), *(HERE / "archives").iterdir()]:
        assert f'"{file.stem}"' in bank or f"archives/{file.name}" in bank, file
    names = [row["name"] for row in trial.result["attacks"]]
    assert len(set(names)) > 66 and "honest" in names


def test_archives_are_what_the_script_writes():
    for name, content in archives.archives().items():
        assert (HERE / "archives" / name).read_bytes() == content


def test_nothing_is_left_running(trial):
    assert trial.running == []


def test_nothing_outside_is_changed(trial):
    assert trial.marks == []
    assert trial.changed == []
    assert list(trial.tmp.iterdir()) == []
    mounts = Path("/proc/self/mountinfo").read_text()
    assert str(trial.tmp) not in mounts


def test_nobody_waits_long_for_one_attacker(trial):
    slow = {row["name"]: row["seconds"] for row in trial.result["attacks"]
            if row["seconds"] > MOST_SECONDS}
    assert slow == {}


def test_no_attack_reached_anything(trial):
    for record in trial.records:
        reached = re.findall(r"(?:REACHED|SEEN) .*", json.dumps(record))
        assert not reached, (record["student"], reached)


def test_texts_and_pages_hold_nothing_that_acts(trial):
    files = [file for file in trial.out.rglob("*") if file.suffix in (".html", ".xml", ".csv")]
    assert len(files) > len(trial.records)
    for text in [trial.ran.stderr, *(file.read_text() for file in files)]:
        assert "\x1b" not in text and "\x07" not in text and "\u202e" not in text
    for page in files:  # a sheet shows it as it is, and runs nothing
        assert page.suffix == ".csv" or "<script>alert" not in page.read_text()


def test_a_promise_that_does_not_hold_is_told(tmp_path):
    """The same command over a bank that expects something else: it must not call that well."""
    for name in ("autograder", "build", "cmake", "gradlab", "handouts", "labs", "reference",
                 ".gradlab"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "tests/attacks").mkdir(parents=True)
    (tmp_path / "tests/course").symlink_to(ROOT / "tests/course")
    (tmp_path / "tests/attacks/bank.toml").write_text(
        '[honest]\nclipping = "tests/course/right/clipping/plain_loops.cpp"\n'
        '[[promise]]\nsays = "it is forbidden"\ncase = [\n'
        '  { name = "a", verdict = "pass", reads = "welcome", entries = ["link a /etc"] },\n]\n')
    ran = subprocess.run([PROGRAM, "attacks", "--json"], text=True, capture_output=True,
                         env={**ENVIRONMENT, "GRADLAB_ROOT": str(tmp_path)}, timeout=300)
    assert ran.returncode == 1, ran.stderr
    rows = {row["name"]: row for row in json.loads(ran.stdout)["attacks"]}
    assert rows["honest"]["differs"] == []
    assert rows["a"]["differs"] == ["the verdict differs", 'the student does not read "welcome"']
    assert (rows["a"]["expected"], rows["a"]["got"]) == ("pass, 0", "forbidden, 0")


@pytest.mark.parametrize("words, says", [
    (["forks_without_ends"], "forks_without_end"),
    (["--isolation", "none"], "would act on this machine"),
])
def test_wrong_use_is_told(words, says):
    ran = subprocess.run([PROGRAM, "attacks", *words], text=True, capture_output=True,
                         env=ENVIRONMENT)
    assert ran.returncode == 2 and says in ran.stderr


def test_no_page_carries_the_cases_that_a_hand_in_wrote_down(trial):
    record = next(each for each in trial.records if each["student"] == "prints_its_cases")
    assert "CASE" in record["student_output"]
    for name in ("prints_its_cases", "leaks_by_time"):
        page = (trial.out / f"clipping/report/students/{name}.html").read_text()
        assert "CASE" not in page and "judged in" not in page
    everybodys = [trial.out / "clipping/grades.csv", trial.out / "clipping/report/index.html",
                  trial.out / "clipping/junit.xml"]
    assert not [file for file in everybodys if "CASE" in file.read_text()]


@pytest.mark.parametrize("attack", ["prints_terminal_codes", "writes_codes_into_errors",
                                    "throws_strange_things"])
def test_check_shows_hostile_text_as_text(attack):
    ran = subprocess.run([PROGRAM, "check", "clipping", "--file", BANK / f"{attack}.cpp"], cwd=ROOT,
                         env=ENVIRONMENT, text=True, errors="replace", capture_output=True)
    assert ran.returncode == 1
    assert "\x1b" not in ran.stdout + ran.stderr and "\u202e" not in ran.stdout + ran.stderr


@pytest.mark.parametrize("attack", ["sends_large_answers", "names_a_long_symbol"])
def test_what_is_small_when_it_comes_stays_small(attack):
    """Both come as some bytes and make gigabytes of whoever believes them. In a process of its own,
    whose largest child is then the command, the judge, a runner or the compiler."""
    script = ("import resource, subprocess, sys\n"
              "subprocess.run(sys.argv[1:], capture_output=True)\n"
              "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    ran = subprocess.run(
        [sys.executable, "-c", script, PROGRAM, "check", "clipping", "--file",
         BANK / f"{attack}.cpp"], cwd=ROOT, env=ENVIRONMENT, text=True, capture_output=True)
    assert int(ran.stdout) < 1_000_000  # KiB


def test_the_runner_holds_no_answer():
    """The program that a hand-in runs in knows neither checks nor reference nor bugs."""
    runner = (ROOT / "build/release/bin/runner_clipping").read_bytes()
    judge = subprocess.run([ROOT / "build/release/bin/judge_clipping", "--list"],
                           text=True, capture_output=True, env=ENVIRONMENT)
    manifest = (ROOT / "labs/clipping/lab.toml").read_text()
    names = re.findall(r'name = "(\w+)"', manifest)
    if judge.returncode == 0:
        contents = json.loads(judge.stdout)
        names += [bug["name"] for bug in contents["bugs"]] + [b["belief"] for b in contents["bugs"]]
    assert len(names) > 20
    assert [name for name in names if name.encode() in runner] == []
