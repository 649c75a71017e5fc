"""The files of `gradlab drill`: what it remembers and how that can be spoilt, a second drill beside it,
one's own drills, cards for Anki."""
import re
import subprocess

import pytest

from drilling import (COMMAND, DONE, FAULT, ROOT, USAGE, answers, drill, environment,  # noqa: F401
                      place, right)


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


def test_own_drills_of_a_topic_are_asked_with_it_and_as_own(drill):
    (drill.place / "mine.toml").write_text(OWN.replace("question", 'topic = "weight_decay"\nquestion'))
    drill("--import", "mine.toml")
    for word in ("own", "weight_decay"):
        assert "1 of 1   weight_decay" in drill(word, "--count", 1, typed="q\n").stdout


def test_an_import_of_the_same_name_replaces_the_earlier_one(drill):
    (drill.place / "mine.toml").write_text(OWN)
    drill("--import", "mine.toml")
    (drill.place / "mine.toml").write_text(OWN.replace("Which factor?", "Which one?"))
    drill("--import", "mine.toml")
    told = drill("own", "--count", 1, typed="q\n").stdout
    assert "Which one?" in told and "Which factor?" not in told


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
                                         (("--exam", "--due"), "one of them"), (("--count", "0"), "--count"),
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
