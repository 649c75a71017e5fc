"""A round of `gradlab drill` as its user sees it: through a pipe and on a terminal, as an exam, over
days. The clock is GRADLAB_TODAY."""
import json
import re

import pytest

from drilling import COMMAND, DONE, answers, drill, environment, place, right  # noqa: F401
from terminal import Terminal


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


# A terminal

@pytest.fixture
def terminal(place):
    opened = []

    def start(*words, **more):
        opened.append(Terminal([COMMAND, "drill", *words], place,
                               environment(place, "2026-12-01", **more)))
        return opened[-1]
    yield start
    for each in opened:
        each.close()


def test_on_a_terminal_it_asks_in_colour_and_keeps_each_answer(drill, terminal):
    screen = terminal("autocast", "--seed", "2", "--count", "2")
    assert "\x1b[" in screen.expect("> ")
    screen.type("?\n")
    screen.expect("> ")
    screen.type("s\n")
    assert "skipped" in screen.expect("> ")
    screen.type("q\n")
    assert "nothing answered, 1 skipped" in screen.expect("1 skipped")
    assert screen.process.wait(timeout=60) == DONE


@pytest.mark.parametrize("words, more", [(("--plain",), {}), ((), {"NO_COLOR": "1"}),
                                         ((), {"TERM": "dumb"})])
def test_colours_can_be_switched_off(terminal, words, more):
    screen = terminal("--seed", "2", *words, **more)
    assert "\x1b" not in screen.expect("> ")


def test_an_interrupt_keeps_what_was_answered(drill, terminal):
    answer = answers(drill, "autocast", "--seed", 2, "--count", 2)[0]
    screen = terminal("autocast", "--seed", "2", "--count", "2", "--plain")
    screen.expect("> ")
    screen.type(f"{answer}\n")
    assert "right" in screen.expect("2 of 2")
    screen.process.kill()
    screen.process.wait()
    assert sum(item["right"] for item in json.loads(drill.state.read_text())["items"].values()) == 1
