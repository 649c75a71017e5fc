"""`gradlab drill` as its user sees it: through a pipe and on a terminal, over days, beside another drill,
and with files that are not what they should be."""
import json
import os
import pty
import re
import select
import subprocess
import time

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


# A pipe

def test_a_pipe_is_answered_line_by_line(drill):
    told = right(drill, "clipping", "--seed", 3, "--count", 6)
    assert told.returncode == DONE and not told.stderr
    assert "6 of 6 right" in told.stdout
    assert "\x1b" not in told.stdout
    assert max(map(len, told.stdout.splitlines())) <= 80


def test_every_question_of_a_long_round_keeps_to_80_columns(drill):
    told = drill("--count", 120, "--seed", 1, typed="?\nfoo\n1\n" * 400)
    wide = [line for line in told.stdout.splitlines() if len(line) > 80]
    assert told.returncode == DONE and not wide, wide[:3]


def test_a_seed_asks_the_same_again(drill):
    first = drill("--seed", 11, typed="s\n" * 10).stdout
    right(drill, "--seed", 11)
    assert drill("--seed", 11, typed="s\n" * 10).stdout.split("\nnothing")[0] == first.split("\nnothing")[0]
    assert drill("--seed", 12, typed="s\n" * 10).stdout != first


def test_the_end_of_the_input_keeps_what_was_answered(drill):
    first = answers(drill, "autocast", "--seed", 2, "--count", 4)[0]
    told = drill("autocast", "--seed", 2, "--count", 4, typed=f"{first}\n")
    assert told.returncode == DONE and "1 of 1 right" in told.stdout
    assert sum(item["seen"] for item in json.loads(drill.state.read_text())["items"].values()) == 1


def test_a_near_miss_is_named_and_counted(drill):
    for seed in range(60):
        text = drill("clipping", "--seed", seed, "--count", 1, typed="").stdout
        found = re.search(r"norm of all gradients together is (\d+) and max_norm is (\d+)", text)
        if not found:
            continue
        norm, limit = map(float, found.groups())
        told = drill("clipping", "--seed", seed, "--count", 1, typed=f"{norm / limit}\n").stdout
        assert "That answer turns the fraction round." in told
        assert "turns the fraction round" in drill("--stats").stdout
        return
    pytest.fail("no seed asks for the factor")


# An exam

def test_an_exam_tells_nothing_before_its_end(drill):
    told = drill("--exam", "--seed", 5, "--count", 8, typed="?\n1\n" * 8).stdout
    asked, end = told.split("\nexam: ")
    assert "exam has no hints" in asked
    for word in ("right", "the answer is", "That answer", "read:"):
        assert not re.search(rf"^  {word}\b", asked, re.MULTILINE)
    assert re.match(r"\d of 8 right", end)
    assert re.search(r"^  clipping +\d of \d$", end, re.MULTILINE) or "of " in end
    assert "mistakes" in end


def test_an_exam_leaves_out_what_nobody_else_can_grade(drill):
    told = drill("--exam", "--seed", 5, "--count", 200, typed="s\n" * 200).stdout
    assert "200 not answered" in told and "own words" not in told


# Over days

def test_what_was_answered_is_due_the_day_after_then_after_six_days(drill):
    words = ("resume", "--seed", 4, "--count", 1)
    assert "1 of 1 right" in right(drill, *words).stdout
    assert "Nothing is due today; 1 is due tomorrow" in drill("--due").stdout
    again = drill("--due", "--seed", 1, today="2026-12-02", typed="s\n")
    assert "1 of 1   resume" in again.stdout

    answer = re.search(r"the answer is (.*)", again.stdout)[1]
    second = drill("--due", "--seed", 1, today="2026-12-02", typed=f"{answer}\n").stdout
    assert "1 is due on 2026-12-08" in second
    assert "Nothing is due today" in drill("--due", today="2026-12-07").stdout
    assert "1 of 1   resume" in drill("--due", today="2026-12-08", typed="q\n").stdout


def test_a_clock_that_went_back_loses_nothing_and_makes_nothing_wait_for_ever(drill):
    words = ("resume", "--seed", 4, "--count", 1)
    right(drill, *words, today="2041-01-01")
    assert "1 is due tomorrow" in drill("--due", today="2026-12-01").stdout
    stats = drill("--stats", today="2026-12-01").stdout
    assert re.search(r"^all +\d+ +1 +1 +0  tomorrow$", stats, re.MULTILINE), stats
    assert "1 of 1   resume" in drill("--due", today="2026-12-02", typed="q\n").stdout


def test_stats_show_each_topic(drill):
    right(drill, "autocast", "--seed", 2, "--count", 3)
    told = drill("--stats")
    assert told.returncode == DONE
    for topic in ("clipping", "autocast", "loss_scaling", "step_order", "event_log", "resume", "all"):
        assert re.search(rf"^{topic} +\d+ +\d+ +\d+ +\d+  ", told.stdout, re.MULTILINE), told.stdout


# Its file

@pytest.mark.parametrize("text, why", [("{ not json", "is damaged"), ("", "is damaged"),
                                       ('{"format": "gradlab drills", "version": 9, "items": 1}',
                                        "written by a newer gradlab")])
def test_a_state_that_cannot_be_read_is_kept_aside_and_told(drill, text, why):
    drill.state.parent.mkdir()
    drill.state.write_text(text)
    told = right(drill, "resume", "--seed", 4, "--count", 1)
    kept = drill.state.with_name("drills.json.1")
    assert kept.read_text() == text and drill.state.exists()

    kept.unlink()
    drill.state.write_text(text)
    told = drill("--count", 1, typed="q\n")
    assert told.returncode == DONE and why in told.stderr and ".gradlab/drills.json.1" in told.stderr
    assert kept.read_text() == text


def test_stats_of_a_damaged_state_move_nothing(drill):
    drill.state.parent.mkdir()
    drill.state.write_text("{ not json")
    told = drill("--stats")
    assert told.returncode == DONE and "damaged" in told.stderr
    assert drill.state.read_text() == "{ not json"


def test_a_second_aside_does_not_overwrite_the_first(drill):
    drill.state.parent.mkdir()
    for number in (1, 2):
        drill.state.write_text(f"damaged {number}")
        drill("--count", 1, typed="q\n")
    assert drill.state.with_name("drills.json.1").read_text() == "damaged 1"
    assert drill.state.with_name("drills.json.2").read_text() == "damaged 2"


def test_a_folder_in_the_state_s_place_is_kept_aside_too(drill):
    drill.state.mkdir(parents=True)
    assert right(drill, "resume", "--seed", 4, "--count", 1).returncode == DONE
    assert drill.state.with_name("drills.json.1").is_dir() and drill.state.is_file()


def test_a_state_that_cannot_be_written_is_told_and_earlier_answers_stay(drill):
    right(drill, "resume", "--seed", 4, "--count", 1)
    before = drill.state.read_text()
    code = "import resource, subprocess, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64)); " \
           "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); " \
           "sys.exit(subprocess.run(sys.argv[1:], restore_signals=False).returncode)"
    typed = answers(drill, "resume", "--seed", 5, "--count", 1)[0]
    told = subprocess.run(["/usr/bin/python3", "-c", code, COMMAND, "drill", "resume", "--seed", "5"],
                          cwd=drill.place, text=True, input=f"{typed}\n", capture_output=True,
                          env=environment(drill.place, "2026-12-01"), timeout=60)
    assert told.returncode == FAULT and "drills.json could not be written" in told.stderr
    assert drill.state.read_text() == before


@pytest.fixture
def running(place):
    """A drill that waits for an answer."""
    process = subprocess.Popen([COMMAND, "drill", "--seed", "1"], cwd=place, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=environment(place, "2026-12-01"))
    shown = b""
    while not shown.endswith(b"> "):
        shown += process.stdout.read1(4096)
    yield process
    process.kill()
    process.communicate()


def test_a_second_drill_says_that_one_is_running_and_what_to_do(drill, running):
    told = drill("--count", 1, typed="q\n")
    assert told.returncode == USAGE
    assert "another drill is running" in told.stderr and "end it with q" in told.stderr
    assert drill("--stats").returncode == DONE


def test_a_drill_that_was_killed_leaves_no_lock(drill, running):
    running.kill()
    running.wait()
    assert drill("--count", 1, typed="q\n").returncode == DONE


# A terminal

class Terminal:
    def __init__(self, place, *words, **more):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen([COMMAND, "drill", *words], cwd=place, stdin=slave, stdout=slave,
                                        stderr=slave, start_new_session=True,
                                        env=environment(place, "2026-12-01", **more))
        os.close(slave)

    def until(self, text):
        shown, end = "", time.monotonic() + 60
        while text not in shown and time.monotonic() < end:
            if not select.select([self.master], [], [], 1)[0]:
                continue
            try:
                part = os.read(self.master, 4096)
            except OSError:
                break
            if not part:
                break
            shown += part.decode()
        return shown

    def type(self, line):
        os.write(self.master, f"{line}\n".encode())

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


@pytest.fixture
def terminal(place):
    opened = []

    def start(*words, **more):
        opened.append(Terminal(place, *words, **more))
        return opened[-1]
    yield start
    for each in opened:
        each.close()


def test_on_a_terminal_it_asks_in_colour_and_keeps_each_answer(drill, terminal):
    screen = terminal("autocast", "--seed", "2", "--count", "2")
    assert "\x1b[" in screen.until("> ")
    screen.type("?")
    screen.until("> ")
    screen.type("s")
    assert "skipped" in screen.until("> ")
    screen.type("q")
    assert "nothing answered, 1 skipped" in screen.until("1 skipped")
    assert screen.process.wait(timeout=60) == DONE


@pytest.mark.parametrize("words, more", [(("--plain",), {}), ((), {"NO_COLOR": "1"}),
                                         ((), {"TERM": "dumb"})])
def test_colours_can_be_switched_off(terminal, words, more):
    screen = terminal("--seed", "2", *words, **more)
    assert "\x1b" not in screen.until("> ")


def test_an_interrupt_keeps_what_was_answered(drill, terminal):
    answer = answers(drill, "autocast", "--seed", 2, "--count", 2)[0]
    screen = terminal("autocast", "--seed", "2", "--count", "2", "--plain")
    screen.until("> ")
    screen.type(answer)
    assert "right" in screen.until("2 of 2")
    screen.process.kill()
    screen.process.wait()
    assert sum(item["right"] for item in json.loads(drill.state.read_text())["items"].values()) == 1


# Files of one's own

OWN = """[[drill]]
name = "factor"
question = "Which factor?"
number = "1/10"
near = [{ number = "10", mistake = "turns the fraction round" }]
"""


def test_imported_drills_are_asked(drill):
    (drill.place / "mine.toml").write_text(OWN)
    assert "1 drills kept" in drill("--import", "mine.toml").stdout
    told = drill("own", "--count", 1, typed="10\n").stdout
    assert "1 of 1   own" in told and "That answer turns the fraction round." in told
    assert re.search(r"^own +1 +1 +0", drill("--stats").stdout, re.MULTILINE)


def test_what_is_wrong_in_a_file_is_told_with_its_line_and_nothing_is_kept(drill):
    (drill.place / "mine.toml").write_text(OWN.replace("question", "qestion"))
    told = drill("--import", "mine.toml")
    assert told.returncode == USAGE and "mine.toml:3: key 'qestion'" in told.stderr
    assert "did you mean 'question'" in told.stderr
    assert not list(drill.place.glob(".gradlab/drills/*"))
    missing = drill("--import", "nowhere.toml")
    assert missing.returncode == USAGE and "nowhere.toml" in missing.stderr


def test_an_imported_file_that_was_spoilt_is_left_out_and_told(drill):
    (drill.place / "mine.toml").write_text(OWN)
    drill("--import", "mine.toml")
    (drill.place / ".gradlab/drills/mine.toml").write_text("[[drill]")
    told = drill("--stats")
    assert told.returncode == DONE and ".gradlab/drills/mine.toml:1" in told.stderr


def test_the_handout_s_example_can_be_imported(drill):
    text = (ROOT / "handouts/drills.md").read_text(encoding="utf-8")
    (drill.place / "mine.toml").write_text(re.search(r"```toml\n(.*?)```", text, re.DOTALL)[1])
    assert "3 drills kept" in drill("--import", "mine.toml").stdout


def test_cards_for_anki_are_written(drill):
    told = drill("clipping", "--export", "cards.txt", "--count", 2)
    assert told.returncode == DONE and "File, Import" in told.stdout
    lines = (drill.place / "cards.txt").read_text(encoding="utf-8").splitlines()
    cards = [line.split("\t") for line in lines if not line.startswith("#")]
    assert all(len(card) == 4 and "gradlab::clipping" in card[3] for card in cards)
    assert len({card[0] for card in cards}) == len(cards) > 20
    assert any(r"\(\frac{M}{\lVert g\rVert+10^{-6}}\)" in card[2] for card in cards)
    drill("clipping", "--export", "again.txt", "--count", 2)
    assert (drill.place / "again.txt").read_text() == (drill.place / "cards.txt").read_text()


# Wrong use

@pytest.mark.parametrize("words, told", [(("nowhere",), "unknown lab"), (("own",), "no drill of own"),
                                         (("--exam", "--due"), "--"), (("--count", "0"), "--count"),
                                         (("--seed", "x"), "--seed")])
def test_wrong_use_says_what_to_do(drill, words, told):
    got = drill(*words)
    assert got.returncode == USAGE and told in got.stderr


def test_the_tests_clock_is_refused_where_it_is_no_date(drill):
    got = drill("--stats", today="tomorrow")
    assert got.returncode == USAGE and "GRADLAB_TODAY" in got.stderr


def test_the_handout_names_every_option(drill):
    text = (ROOT / "handouts/drills.md").read_text(encoding="utf-8")
    for option in re.findall(r"--[a-z]+", drill("--help").stdout):
        if option != "--help":
            assert option in text, option
