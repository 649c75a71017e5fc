"""closed-book: a lab from memory, on the clock, without help, checked once."""
import json
import re
import shutil

import pytest

from conftest import ROOT

DONE, CHECK_FAILED, USAGE = 0, 1, 2
RIGHT = ROOT / "tests/course/right/clipping/plain_loops.cpp"


@pytest.fixture
def closed(workspace):
    state = workspace.root / ".gradlab/closed_book.json"
    for file in state.parent.glob("closed_book.json*"):
        file.unlink()
    workspace.state = state
    workspace.file = workspace.root / "work/closed-book/clipping.cpp"
    return workspace


def test_it_begins_with_the_contract_alone(closed):
    told = closed("closed-book", "clipping")
    assert told.returncode == DONE and "labs/clipping/clipping.hpp" in told.stdout
    text = closed.file.read_text()
    assert not re.search(r"^\s*//", text, re.M) and 'todo("clipping.4"' in text
    assert not closed.mine.exists()


@pytest.mark.parametrize("words", [("hint", "clipping.1")])
def test_nothing_helps_while_it_is_open(closed, words):
    closed("closed-book", "clipping")
    told = closed(*words)
    assert told.returncode == USAGE and "from memory" in told.stderr and told.stdout == ""
    assert closed("hint", "autocast.1").returncode == DONE
    closed("closed-book", "clipping", "--give-up")
    assert closed(*words).returncode == DONE


def test_the_result_of_its_one_check_is_kept(closed):
    closed("closed-book", "clipping")
    shutil.copy(RIGHT, closed.file)
    told = closed("closed-book", "clipping", "--check")
    assert told.returncode == DONE and "from memory: 30 of 30" in told.stdout
    kept = json.loads(closed.state.read_text())
    assert kept["open"] == {} and kept["results"][0]["score"] == 30
    assert len(kept["results"][0]["sha256"]) == 64
    assert closed("closed-book", "clipping", "--check").returncode == USAGE
    assert "30 of 30" in closed("closed-book").stdout
    status = closed("status").stdout
    assert "from memory: clipping 30 of 30" in status
    assert "clipping matches the reference: clipping not started" in status  # another thing


def test_an_attempt_that_fails_counts_too(closed):
    closed("closed-book", "clipping")
    assert closed("closed-book", "clipping", "--check").returncode == CHECK_FAILED
    assert "0 of 30" in closed("closed-book").stdout


def test_another_attempt_keeps_the_file_of_the_last(closed):
    closed("closed-book", "clipping")
    closed.file.write_text("// mine\n")
    assert closed("closed-book", "clipping").returncode == USAGE  # begun already
    closed("closed-book", "clipping", "--give-up")
    told = closed("closed-book", "clipping")
    assert (closed.file.parent / "clipping.cpp.1").read_text() == "// mine\n"
    assert "clipping.cpp.1" in told.stderr


def test_a_clock_that_went_back_gives_no_negative_time(closed):
    closed("closed-book", "clipping")
    state = json.loads(closed.state.read_text())
    state["open"]["clipping"] += 100000
    closed.state.write_text(json.dumps(state))
    told = closed("closed-book", "clipping", "--check")
    assert "went back" in told.stderr and "unknown time" in told.stdout
    assert json.loads(closed.state.read_text())["results"][0]["minutes"] == 0


@pytest.mark.parametrize("content", ["", "[]", '{"format": 2}', '{"format": 1, "open": 3}'])
def test_damaged_state_is_kept_aside_and_named(closed, content):
    closed.state.write_text(content)
    told = closed("closed-book", "clipping")
    assert told.returncode == DONE and "closed_book.json" in told.stderr
    assert (closed.state.parent / "closed_book.json.1").read_text() == content


@pytest.mark.parametrize("words, says", [
    (["--check"], "need a lab"), (["clipping", "--check"], "is not begun"),
    (["clipping", "--give-up"], "is not begun"), (["clping"], "clipping"),
    (["clipping", "--check", "--give-up"], "--give-up")])
def test_wrong_use_is_told(closed, words, says):
    told = closed("closed-book", *words)
    assert told.returncode == USAGE and says in told.stderr
