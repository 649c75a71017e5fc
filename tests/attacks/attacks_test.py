"""Hand-ins that attack the grader, graded as one batch. None earns a point beyond what it deserves,
none stops the batch or outlives it, and each gets a verdict that names what it did."""
import ctypes
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAM = ROOT / "build/release/bin/gradlab"
BANK = HERE / "clipping"
ENVIRONMENT = {**os.environ, "GRADLAB_ROOT": str(ROOT), "SECRET": "REACHED the environment"}

# Verdict of the hand-in and, where it tells more, part of what the student reads.
EXPECTED = {
    # the grader's channel
    "forges_answers": ("forged", "wrote into the grader's channel"),
    "forges_the_opening": ("forged", "wrote into the grader's channel"),
    "takes_over_the_channel": ("fail", ""),  # answers in form, and wrong
    "closes_the_channel": ("forged", "closed the grader's channel while it was loaded"),
    "shuts_the_channel": ("forged", "closed the grader's channel"),
    "stops_before_a_large_batch": ("time_limit", "no answer within 10 s"),
    "stops_the_runner": ("time_limit", "no answer within 10 s"),
    "sends_large_answers": ("forged", "wrote into the grader's channel"),
    # looking around
    "reads_the_machine": ("fail", ""),
    "opens_the_box": ("fail", ""),
    "uses_the_network": ("fail", ""),
    # processes and threads
    "forks_without_end": ("time_limit", "no answer within 10 s"),
    "forks_while_loading": ("crashed", ""),
    "kills_everybody": ("crashed", "killed (SIGKILL)"),
    "outlives_the_call": ("forged", "wrote into the grader's channel"),
    "burns_beside": ("fail", ""),
    # before any task
    "exits_while_loading": ("crashed", "the process ended while the file was loaded: exit(0)"),
    "exits_while_resolving": ("crashed", "the process ended while the file was loaded: exit(0)"),
    "loops_while_loading": ("time_limit", "constructors of global objects"),
    "floods_while_loading": ("output_limit", "printed without end while it was loaded"),
    "throws_while_loading": ("crashed", "the process ended while the file was loaded"),
    # symbols
    "interposes": ("fail", ""),
    "replaces_the_table": ("compile_error", "gradlab_fill_table"),
    "replaces_kernels": ("fail", ""),
    "pretends_to_be_the_table": ("fail", ""),
    # the compiler
    "includes_passwd": ("compile_error", "'/etc/passwd' file not found"),
    "includes_the_answer": ("compile_error", "answer.cpp' file not found"),
    "looks_for_the_answer": ("fail", ""),
    "carries_a_file_away": ("compile_error", "incbin file '/etc/passwd'"),
    "embeds_a_file": ("compile_error", "'/etc/passwd' file not found"),
    "includes_itself": ("compile_error", ""),
    "includes_a_device": ("compile_error", "file not found"),
    "clips_behind_a_mark": ("compile_error", "clip_grad_norm_"),
    "clips_by_symbol": ("compile_error", "clip_grad_norm_"),
    "blames_the_header": ("compile_error", ""),
    "bombs_with_templates": ("compile_error", "the compiler ran out of its"),
    "bombs_with_constexpr": ("compile_error", "the compiler ran out of its"),
    "bombs_with_macros": ("compile_error", "the compiler ran out of its"),
    "bombs_with_nesting": ("compile_error", ""),
    "bombs_the_disk": ("compile_error", "the compiler ran out of its"),
    "reserves_more_than_there_is": ("compile_error", ""),
    "reserves_its_memory_at_once": ("memory_limit", "how large are its global arrays?"),
    "names_a_long_symbol": ("compile_error", "undefined symbol: _Z7missing"),
    "crashes_the_compiler": ("compile_error", ""),
    "writes_codes_into_errors": ("compile_error", ""),
    # ways out of a call
    "recurses_without_end": ("crashed", "a bad memory access (SIGSEGV)"),
    "answers_from_a_signal": ("forged", "wrote into the grader's channel"),
    "jumps_out": ("fail", ""),
    "ends_its_thread": ("crashed", "abort() (SIGABRT)"),
    "throws_strange_things": ("crashed", "abort() (SIGABRT)"),
    "prints_terminal_codes": ("fail", ""),
    "leaves_strange_gradients": ("memory_limit", ""),  # the last one names 4 TiB
    # time and state
    "drips": ("time_limit", "the hand-in had used all its time"),
    "remembers_on_disk": ("crashed", "what is kept from one to the next?"),
    "knows_the_worked_cases": ("fail", ""),
    "works_once": ("crashed", ""),
    "leaves_state_behind": ("pass", ""),  # right answers: what they leave behind costs no point
}
DESERVED = {"leaves_state_behind": 30}
# What a small class of honest hand-ins may take beside: nobody waits an afternoon for one attacker.
MOST_SECONDS = 5 * 30 + 60


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


class Graded:
    def __init__(self, ran, out, left):
        self.ran, self.out, self.left = ran, out, left
        self.records = {r["student"]: r for r in
                        (json.loads(file.read_text()) for file in (out / "records").iterdir())}


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    adopt_orphans()
    out = tmp_path_factory.mktemp("attacks") / "results"
    # Six at a time: most of them wait for a limit and use no core.
    ran = subprocess.run(
        [PROGRAM, "grade", BANK, "--lab", "clipping", "--seed", "7", "--jobs", "6", "--out", out],
        cwd=ROOT, env=ENVIRONMENT, text=True, errors="replace", capture_output=True, timeout=840)
    time.sleep(0.5)
    return Graded(ran, out, running_below(os.getpid()))


def what_is_read(record):
    checks = [check for task in record["tasks"] for check in task["checks"]]
    return "\n".join([record["message"], *(check["message"] for check in checks),
                      *(f'{d["message"]} {d["hint"]}' for d in record["diagnostics"])])


def test_batch_survives_and_the_bank_is_complete(graded):
    assert graded.ran.returncode == 0, graded.ran.stderr
    files = {file.stem for file in BANK.glob("*.cpp")}
    assert files == set(EXPECTED) == set(graded.records)
    assert "0 grader errors" in " ".join(graded.ran.stdout.split())


def test_nothing_is_left_running(graded):
    assert graded.left == []


@pytest.mark.parametrize("attack", sorted(EXPECTED))
def test_attack_earns_what_it_deserves(graded, attack):
    record = graded.records[attack]
    verdict, words = EXPECTED[attack]
    assert record["score"] == DESERVED.get(attack, 0)
    assert record["verdict"] == verdict
    assert words in what_is_read(record)
    assert record["timing"]["run_s"] < MOST_SECONDS


def test_no_attack_reached_anything(graded):
    for attack, record in graded.records.items():
        reached = re.findall(r"(?:REACHED|SEEN) .*", json.dumps(record))
        assert not reached, (attack, reached)


def test_texts_and_pages_hold_nothing_that_acts(graded):
    files = [file for file in graded.out.rglob("*") if file.suffix in (".html", ".xml", ".csv")]
    assert len(files) > len(EXPECTED)
    for text in [graded.ran.stdout, graded.ran.stderr, *(f.read_text() for f in files)]:
        assert "\x1b" not in text and "\x07" not in text and "\u202e" not in text
        assert "<script>alert" not in text


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
