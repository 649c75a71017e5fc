"""`gradlab watch` on a terminal and on a pipe: every way in which editors save, every key, a file that
goes away, a terminal that becomes narrow."""
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from terminal import PATIENCE, Terminal

ROOT = Path(__file__).resolve().parents[2]


def right_answer():
    return sorted((ROOT / "tests/course/right/clipping").glob("*.cpp"))[0].read_text()


class Watched(Terminal):
    def __init__(self, root, *words, columns=80, colour=True):
        environment = {"PATH": os.environ["PATH"], "HOME": str(root), "LC_ALL": "C.UTF-8",
                       "TERM": "xterm", "GRADLAB_ROOT": str(root), "PAGER": "cat"}
        if not colour:
            environment["NO_COLOR"] = "1"
        super().__init__([ROOT / "build/release/bin/gradlab", "watch", *words], root, environment,
                         columns)

    def end(self):
        self.type("q")
        assert self.process.wait(PATIENCE) == 0
        return self.settings()


@pytest.fixture
def watch(workspace):
    started = []
    workspace("start", "clipping")

    def start(*words, **how):
        started.append(Watched(workspace.root, *words, **how))
        return started[-1]
    start.mine = workspace.mine
    start.root = workspace.root
    yield start
    for each in started:
        each.close()


KEYS = "q quit"


def test_each_way_of_saving_is_noticed(watch):
    seen = watch("clipping")
    seen.expect("clipping.1.*not started")
    seen.expect(KEYS)
    wrong = right_answer().replace("1e-6", "0.0")
    watch.mine.write_text(right_answer())  # in place
    seen.expect("30 of 30")
    seen.expect(KEYS)
    aside = watch.mine.with_suffix(".tmp")  # a new file under the old name, as vim and VS Code do it
    aside.write_text(wrong + "\n// saved\n")
    aside.rename(watch.mine)
    seen.expect("checking")
    seen.expect(KEYS)
    with watch.mine.open("w") as file:  # in two halves
        file.write(right_answer()[:200])
        file.flush()
        time.sleep(0.01)
        file.write(right_answer()[200:])
    seen.expect("30 of 30")
    seen.end()


def test_each_key_does_what_it_says(watch):
    seen = watch("clipping")
    seen.expect(KEYS)
    for key, words in (("h", "hint 1 of"), ("h", "hint 2 of"), ("n", "clipping.2"), ("n", "clipping.3"),
                       ("l", "autocast .*not started"), ("o", "# "), ("d", "first run"),
                       ("r", "checking")):
        seen.type(key)
        seen.expect(words)
        seen.expect(KEYS)
    seen.type("\x1b[A")  # an arrow key is none of them
    watch.mine.write_text(right_answer())
    seen.expect("30 of 30")
    seen.expect(KEYS)
    seen.type("d")
    seen.expect("clipping.1 .*: pass, was not_started")
    seen.expect(r"\+\+\+ this run")
    seen.type("n")
    seen.expect("All tasks of clipping pass")
    assert seen.end() == seen.before  # the terminal is as it was


def test_a_signal_leaves_the_terminal_as_it_was(watch):
    seen = watch("clipping")
    seen.expect(KEYS)
    assert seen.settings() != seen.before
    seen.process.send_signal(signal.SIGINT)
    assert seen.process.wait(PATIENCE) == -signal.SIGINT
    assert seen.settings() == seen.before


def test_a_deleted_file_is_waited_for(watch):
    seen = watch("clipping")
    seen.expect(KEYS)
    watch.mine.unlink()
    seen.expect("work/clipping.cpp is gone")
    seen.type("r")
    seen.expect("is gone")
    watch.mine.write_text(right_answer())
    seen.expect("30 of 30")
    seen.end()


def test_a_file_that_does_not_compile_is_told_and_waited_for(watch):
    watch.mine.write_text("this is no C++\n")
    seen = watch("clipping")
    seen.expect("does not compile")
    seen.expect(KEYS)
    watch.mine.write_text(right_answer())
    seen.expect("30 of 30")
    seen.end()


def test_any_lab_that_is_saved_is_checked(watch, workspace):
    workspace("start", "autocast")
    other = workspace.root / "work/autocast.cpp"
    os.utime(other, (1, 1))  # clipping is the one that changed last
    seen = watch()
    seen.expect("clipping +saved")
    seen.expect(KEYS)
    other.write_text(other.read_text() + "\n")
    seen.expect("autocast +saved")  # its header takes half a minute: not waited for


def test_other_labs_are_left_alone_where_one_is_named(watch, workspace):
    workspace("start", "autocast")
    seen = watch("clipping")
    seen.expect(KEYS)
    (workspace.root / "work/autocast.cpp").write_text("another lab")
    (workspace.root / "work/notes.cpp").write_text("no lab")
    watch.mine.write_text(right_answer())
    seen.expect("30 of 30")
    assert "autocast" not in seen.text
    seen.end()


def test_polling_notices_a_save_too(watch):
    seen = watch("clipping", "--poll")
    seen.expect(KEYS)
    watch.mine.write_text(right_answer())
    seen.expect("30 of 30")
    seen.end()


def test_a_narrow_terminal_and_no_colour_do_no_harm(watch):
    seen = watch("clipping", columns=120, colour=False)
    seen.expect(KEYS)
    assert "\x1b[3" not in seen.text and "\x1b[1m" not in seen.text
    seen.resize(20)
    os.killpg(seen.process.pid, signal.SIGWINCH)
    seen.expect("clipping.1")
    seen.expect(r"h hint  n next task\r?\n")
    seen.type("l")
    seen.expect("autocast")
    seen.end()


def test_a_pipe_gets_lines_and_gives_commands(watch):
    environment = {"PATH": os.environ["PATH"], "HOME": "/", "GRADLAB_ROOT": str(watch.root)}
    ran = subprocess.run([ROOT / "build/release/bin/gradlab", "watch", "clipping"], cwd=watch.root,
                         input="h\nl\no\nd\nz\nq\n", env=environment, text=True, capture_output=True,
                         timeout=PATIENCE)
    assert ran.returncode == 0, ran.stderr
    assert "\x1b" not in ran.stdout
    for words in ("clipping.1", "hint 1 of", "autocast", "handouts/clipping.md", "first run"):
        assert words in ran.stdout


def test_what_is_not_started_is_told(workspace):
    told = workspace("watch", "clipping")
    assert told.returncode == 2 and "./gradlab start clipping" in told.stderr
    assert workspace("watch").returncode == 2
    assert workspace("watch", "nonsense").returncode == 2
