"""Each verb of a student, as a user sees it: what is printed, what is written, the exit status."""
import json
import re

import pytest

from conftest import ROOT

DONE, FAILED, USAGE, FAULT = 0, 1, 2, 3
RIGHT = ROOT / "tests/course/right/clipping/plain_loops.cpp"
STUDENTS = ("list", "start", "check", "hint", "where", "debug", "reset", "drill")
INSTRUCTORS = ("grade", "replay", "doctor", "new", "test", "bench")


def scales_always():
    """A right answer made wrong: it scales below the limit too."""
    text = RIGHT.read_text()
    assert "if (coef < 1.0)" in text
    return text.replace("if (coef < 1.0)", "if (coef > 0)")


@pytest.fixture
def wrong(workspace):
    workspace("start", "clipping")
    workspace.mine.write_text(scales_always())
    return workspace


def is_plain(text):
    """Fit for a file or a pipe: no colour, no cursor, no line that is too wide."""
    assert "\x1b" not in text and "\r" not in text
    wide = [line for line in text.splitlines() if len(line) > 80]
    assert not wide, wide
    return True


# Help

@pytest.mark.parametrize("verb", STUDENTS + INSTRUCTORS)
def test_help_shows_an_example(gradlab, verb):
    told = gradlab(verb, "--help", cwd="/")
    assert told.returncode == DONE
    assert re.search(rf"Example:\n +\./gradlab {verb}\b", told.stdout), told.stdout


def test_help_names_every_verb_and_the_exit_status(gradlab):
    told = gradlab("--help", cwd="/")
    assert told.returncode == DONE
    for verb in STUDENTS + INSTRUCTORS:
        assert re.search(rf"^  {verb} ", told.stdout, re.MULTILINE), verb
    assert "Exit status: 0" in told.stdout


def test_without_words_the_help_is_shown(gradlab):
    assert gradlab().stdout == gradlab("--help").stdout


def test_an_unknown_verb_is_wrong_use_and_the_near_one_is_named(gradlab):
    told = gradlab("chekc")
    assert told.returncode == USAGE and "Did you mean ./gradlab check?" in told.stderr


def test_an_unknown_option_is_wrong_use(gradlab):
    told = gradlab("check", "--taks", "2")
    assert told.returncode == USAGE and "Did you mean --task?" in told.stderr


# list, start, where, reset

def test_list_shows_the_lab_and_where_to_begin(workspace):
    told = workspace("list")
    assert told.returncode == DONE and is_plain(told.stdout)
    assert re.search(r"^clipping .* not started$", told.stdout, re.MULTILINE)
    assert "./gradlab start clipping" in told.stdout


def test_list_shows_the_last_score_and_that_the_file_changed_since(wrong):
    wrong("check")
    assert re.search(r"^clipping .* \d+ of \d+$", wrong("list").stdout, re.MULTILINE)
    wrong.mine.write_text(wrong.mine.read_text() + "\n")
    assert "changed since" in wrong("list").stdout


def test_start_copies_the_skeleton_and_says_what_is_next(workspace):
    told = workspace("start", "clip")
    assert told.returncode == DONE
    assert workspace.mine.read_text() == (ROOT / "labs/clipping/clipping.cpp").read_text()
    for words in ("work/clipping.cpp", "handouts/clipping.md", "./gradlab check clipping"):
        assert words in told.stdout


def test_start_never_writes_over_a_file(wrong):
    told = wrong("start", "clipping")
    assert told.returncode == USAGE and "not touched" in told.stderr
    assert wrong.mine.read_text() == scales_always()


def test_start_never_writes_through_a_broken_link(workspace):
    workspace.mine.parent.mkdir()
    workspace.mine.symlink_to("elsewhere.cpp")
    assert workspace("start", "clipping").returncode == USAGE
    assert not (workspace.root / "work/elsewhere.cpp").exists()


def test_reset_keeps_the_work_beside(wrong):
    told = wrong("reset", "clipping")
    assert told.returncode == DONE and "work/clipping.cpp.1" in told.stdout
    assert (wrong.root / "work/clipping.cpp.1").read_text() == scales_always()
    assert "todo(" in wrong.mine.read_text()
    wrong("reset", "clipping")
    assert (wrong.root / "work/clipping.cpp.1").read_text() == scales_always()
    assert (wrong.root / "work/clipping.cpp.2").exists()


def test_reset_of_nothing_is_wrong_use(workspace):
    told = workspace("reset", "clipping")
    assert told.returncode == USAGE and "./gradlab start clipping" in told.stderr


def test_where_names_files_that_are_there(workspace):
    workspace("start", "clipping")
    told = workspace("where", "clipping")
    paths = [line.split()[-1] for line in told.stdout.splitlines()]
    assert told.returncode == DONE and "work/clipping.cpp" in paths
    assert all((workspace.root / path).exists() for path in paths), paths


# hint

def test_hint_shows_one_more_a_call_and_all_of_them_at_the_end(workspace):
    first, second, third = (workspace("hint", "clipping.2").stdout for _ in range(3))
    assert "hint 1 of 3" in first and "hint 2" not in first
    assert "hint 2 of 3" in second and "hint 1" not in second
    assert "one more: ./gradlab hint clipping.2" in second
    assert "hint 3 of 3" in third and "one more" not in third
    again = workspace("hint", "clipping.2").stdout
    assert all(f"hint {n} of 3" in again for n in (1, 2, 3))
    assert "hint 1 of" in workspace("hint", "clipping.1").stdout, "each task counts by itself"
    assert is_plain(again)


def test_damaged_state_of_hints_is_put_aside_and_costs_nothing(workspace):
    state = workspace.root / ".gradlab/hints.json"
    state.write_text('{"clipping.2": "many')
    told = workspace("hint", "clipping.2")
    assert told.returncode == DONE and "hint 1 of 3" in told.stdout and "is damaged" in told.stderr
    assert (workspace.root / ".gradlab/hints.json.1").read_text() == '{"clipping.2": "many'
    (workspace.root / ".gradlab/hints.json.1").unlink()


@pytest.mark.parametrize("word, told", [("clipping", "clipping.1"), ("clipping.9", "no task 9"),
                                        ("clipping.", "no task"), ("clipping.2x", "no task 2x")])
def test_what_is_no_task_is_wrong_use(workspace, word, told):
    hint = workspace("hint", word)
    assert hint.returncode == USAGE and told in hint.stderr


# Which lab

def test_an_unknown_lab_is_wrong_use_and_the_near_one_is_named(gradlab):
    told = gradlab("where", "cliping")
    assert told.returncode == USAGE and "Did you mean clipping?" in told.stderr


def test_two_labs_that_match_are_both_named(gradlab, tmp_path):
    for slug in ("resume", "result"):
        (tmp_path / "labs" / slug).mkdir(parents=True)
        (tmp_path / "labs" / slug / "lab.toml").write_text("")
    told = gradlab("where", "res", env={"GRADLAB_ROOT": str(tmp_path)})
    assert told.returncode == USAGE and "result and resume" in told.stderr


def test_outside_of_a_copy_it_says_how_to_name_one(gradlab, tmp_path):
    told = gradlab("list", cwd=tmp_path, env={"GRADLAB_ROOT": ""})
    assert told.returncode == USAGE and "GRADLAB_ROOT=" in told.stderr


# check

def test_check_without_a_file_says_how_to_start(workspace):
    told = workspace("check")
    assert told.returncode == USAGE and "./gradlab start clipping" in told.stderr


def test_an_untouched_skeleton_is_not_started(workspace):
    workspace("start", "clipping")
    told = workspace("check")
    assert told.returncode == FAILED and is_plain(told.stdout)
    assert len(re.findall(r"^  clipping\.\d .* not started +0 of \d+$", told.stdout,
                          re.MULTILINE)) == 4
    line = re.search(r"Start with clipping\.1: work/clipping\.cpp:(\d+)", told.stdout)
    assert 'todo("clipping.1"' in workspace.mine.read_text().splitlines()[int(line.group(1)) - 1]


def test_a_right_answer_passes(workspace):
    told = workspace("check", "clipping", "--file", RIGHT)
    assert told.returncode == DONE and is_plain(told.stdout)
    assert re.search(r"^clipping .* (\d+) of \1 ", told.stdout)


def test_a_wrong_answer_is_told_what_and_where_and_how_to_go_on(wrong):
    told = wrong("check")
    assert told.returncode == FAILED and is_plain(told.stdout)
    for words in ("FAIL  small norm is left alone", "max_norm 1", "expected 0.3 (unchanged)",
                  "./gradlab debug clipping.2", "handouts/clipping.md"):
        assert words in told.stdout


def test_the_same_seed_gives_the_same_verdict_and_cases(wrong):
    def failing():
        record = json.loads(wrong("check", "--json").stdout)
        return [check["failing"] for task in record["tasks"] for check in task["checks"]]
    assert failing() == failing()


def test_another_seed_draws_other_cases(wrong):
    records = [json.loads(wrong("check", "--json", "--seed", seed).stdout) for seed in "78"]
    assert [record["seed"] for record in records] == ["7", "8"]
    assert records[0]["score"] == records[1]["score"]


def test_task_looks_at_one_task(wrong):
    told = wrong("check", "--task", 1)
    assert told.returncode == DONE, "the wrong one is task 2"
    assert "clipping.1" in told.stdout and "clipping.2" not in told.stdout
    assert wrong("check", "--task", 2).returncode == FAILED
    assert wrong("check", "--task", 7).returncode == USAGE


def test_json_is_a_record_and_nothing_else(wrong):
    told = wrong("check", "--json")
    record = json.loads(told.stdout)
    assert told.returncode == FAILED and record["schema"] == "gradlab/record/1"
    assert record["score"] == sum(task["points"] for task in record["tasks"])
    assert json.loads((wrong.root / ".gradlab/last/clipping.json").read_text())["score"] == \
        record["score"]


def test_what_does_not_compile_is_shown_with_the_students_own_line(workspace):
    workspace("start", "clipping")
    lines = workspace.mine.read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if 'todo("clipping.1"' in line)
    lines[at] = "  return parameters[0].grad().size();"
    workspace.mine.write_text("\n".join(lines) + "\n")
    told = workspace("check")
    assert told.returncode == FAILED and "does not compile" in told.stdout
    assert f"work/clipping.cpp:{at + 1}:" in told.stdout


def test_a_file_that_is_not_there_is_wrong_use(workspace):
    told = workspace("check", "clipping", "--file", "nowhere/clipping.cpp")
    assert told.returncode == USAGE and "nowhere/clipping.cpp" in told.stderr


def test_a_grader_without_its_toolchain_is_a_fault_of_the_grader(gradlab, linked, tmp_path):
    for name in ("autograder", "build", "handouts", "labs", "reference", "gradlab"):
        (tmp_path / name).symlink_to(ROOT / name)
    told = gradlab("check", "clipping", "--file", RIGHT, env={"GRADLAB_ROOT": str(tmp_path)})
    assert told.returncode == FAULT and "./gradlab setup" in told.stderr


# replay

def test_replay_shows_a_records_case_and_runs_it_again(wrong):
    (wrong.root / "hand_ins/ada").mkdir(parents=True, exist_ok=True)
    hand_in = wrong.root / "hand_ins/ada/clipping.cpp"
    hand_in.write_text(scales_always())
    graded = wrong("grade", "hand_ins", "--out", "results")
    assert graded.returncode == DONE, graded.stderr
    record = wrong.root / "results/records/ada.json"
    shown = wrong("replay", record)
    assert shown.returncode == DONE
    assert "small norm is left alone" in shown.stdout and "expected 0.3" in shown.stdout
    same = wrong("replay", record, "--file", hand_in)
    assert "the same" in same.stdout and "right:" not in same.stdout
    mended = wrong("replay", record, "--file", RIGHT)
    assert "right: 0.3" in mended.stdout and "its hash differs" in mended.stderr


def test_a_crash_is_shown_with_its_case_and_can_be_replayed(workspace):
    workspace("start", "clipping")
    workspace.mine.write_text(RIGHT.read_text().replace("double sum = 0.0;",
                                                        "double sum = 0.0; std::abort();"))
    told = workspace("check", "--task", 1)
    assert told.returncode == FAILED and "one gradient [3, 4]" in told.stdout, told.stdout
    record = workspace.root / "work/crashed.json"
    record.write_text(workspace("check", "--task", 1, "--json").stdout)
    assert "the same" in workspace("replay", record, "--file", workspace.mine).stdout
    mended = workspace("replay", record, "--file", RIGHT).stdout
    assert "right: it returns" in mended and "the same" not in mended


def test_replay_of_what_is_no_record_is_wrong_use(workspace):
    assert workspace("replay", "nowhere.json").returncode == USAGE
    (workspace.root / "work").mkdir()
    (workspace.root / "work/no.json").write_text("{}")
    assert workspace("replay", "work/no.json").returncode == USAGE
