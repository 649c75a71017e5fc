"""run, explain, status: from a student's own loop to the page that is handed in."""
import json
import re
import shutil

import pytest

from conftest import ROOT

DONE, CHECK_FAILED, USAGE = 0, 1, 2
RIGHT = sorted((ROOT / "tests/course/right/step_order").glob("*.cpp"))[0]


@pytest.fixture
def ran(workspace):
    """A workspace with the log of a right answer."""
    (workspace.root / "work").mkdir()
    shutil.copy(RIGHT, workspace.root / "work/step_order.cpp")
    told = workspace("run", "step_order", "--seed", 7)
    assert told.returncode == DONE, told.stderr + told.stdout
    workspace.log = workspace.root / "work/step_order.jsonl"
    return workspace


def steps_of(log):
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert lines[0]["format"] == "gradlab-log-1" and lines[-1]["event"] == "run_end"
    return [line for line in lines if line["event"] == "step"]


def rows_of(steps):
    """(first, last) of the skipped steps in a row."""
    rows = []
    for step in steps:
        if not step["skipped"]:
            continue
        if rows and rows[-1][1] == step["step"] - 1:
            rows[-1] = (rows[-1][0], step["step"])
        else:
            rows.append((step["step"], step["step"]))
    return rows


def test_run_writes_what_the_students_own_loop_did(ran):
    steps = steps_of(ran.log)
    assert [step["step"] for step in steps] == list(range(len(steps)))
    assert len(rows_of(steps)) == 3 and steps[0]["skipped"] and steps[0]["scale"] == 65536
    for step, following in zip(steps, steps[1:]):
        assert step["scale_after"] == following["scale"]
        assert step["scale_after"] == step["scale"] / (2 if step["skipped"] else 1)
        assert step["clipped"] == (not step["skipped"] and step["norm"] > step["max_norm"])


def test_another_seed_gives_other_data_and_the_same_seed_the_same(ran):
    first = ran.log.read_text()
    told = ran("run", "step_order", "--seed", 8)
    kept = re.search(r"kept as (\S+)\.", told.stderr)[1]
    assert (ran.root / kept).read_text() == first and ran.log.read_text() != first
    ran("run", "step_order", "--seed", 7, "--out", ran.root / "work/again.jsonl")
    assert (ran.root / "work/again.jsonl").read_text() == first
    told = ran("run", "step_order", "--out", ran.root / "work/again.jsonl")
    assert told.returncode == USAGE and "is there already" in told.stderr


def test_a_loop_that_ends_early_says_why(workspace):
    (workspace.root / "work").mkdir()
    wrong = RIGHT.read_text().replace("scaler.update();", "")
    assert wrong != RIGHT.read_text()
    (workspace.root / "work/step_order.cpp").write_text(wrong)
    told = workspace("run", "step_order")
    assert told.returncode == CHECK_FAILED
    assert "train ended early" in told.stdout and "unscale_" in told.stdout
    assert not (workspace.root / "work/step_order.jsonl").exists()


@pytest.mark.parametrize("lab, says", [
    ("step_order", "step_order.5 is not written yet"), ("clipping", "has no training run")])
def test_what_cannot_run_is_told(workspace, lab, says):
    workspace("start", lab)
    told = workspace("run", lab)
    assert told.returncode == (CHECK_FAILED if lab == "step_order" else USAGE)
    assert says in told.stdout + told.stderr
    assert not (workspace.root / f"work/{lab}.jsonl").exists()


def answers(log, right=True):
    """What somebody types who reads each question and finds the answer in the log alone."""
    steps = steps_of(log)
    scale_after = {row[0]: steps[row[1]]["scale_after"] for row in rows_of(steps)}

    def answer(question):
        first = int(re.search(r"steps? (\d+)", question)[1])
        if "Which scale" in question:
            return scale_after[first] if right else scale_after[first] * 2
        finite = not isinstance(steps[first]["loss"], str)
        wanted = ("changed no weight" if "What became" in question
                  else "loss was finite" if finite else "loss itself was inf")
        number = int(re.search(rf"(\d)  [^\n]*{wanted}", question)[1])
        return number if right else number % 4 + 1
    return answer


def explain(workspace, answer, *words):
    """Answers each question as it comes: asks again with one answer more until all are given."""
    typed = []
    while True:
        told = workspace("explain", *words, input="".join(f"{each}\n" for each in typed) + "q\n")
        questions = re.split(r"^\d+ of \d+   ", told.stdout, flags=re.M)[1:]
        (workspace.root / ".gradlab/explained.json").unlink(missing_ok=True)
        if len(questions) <= len(typed):
            return workspace("explain", *words, input="".join(f"{each}\n" for each in typed))
        typed.append(answer(questions[-1]))


def test_explaining_every_skip_meets_the_criterion(ran):
    told = explain(ran, answers(ran.log))
    assert told.returncode == DONE and "Every skip of work/step_order.jsonl is explained" in told.stdout
    status = json.loads(ran("status", "--json").stdout)
    assert [each["met"] for each in status["criteria"]] == [False, False, True]
    assert "is explained" in ran("explain").stdout  # and is not asked again


def test_wrong_answers_explain_nothing_and_say_why(ran):
    told = explain(ran, answers(ran.log, right=False))
    assert "0 of 3 places explained" in told.stdout and "wrong" in told.stdout
    assert "takes the scale" in told.stdout or "leaves the last out" in told.stdout
    assert not json.loads(ran("status", "--json").stdout)["criteria"][2]["met"]


def test_a_log_that_was_changed_is_another_log(ran):
    explain(ran, answers(ran.log))
    ran.log.write_text(ran.log.read_text().replace('"loss":', '"loss": ', 1))
    assert "3 places to explain" in ran("explain", input="q\n").stdout


@pytest.mark.parametrize("content, says", [
    (None, "gradlab run step_order"), ("", "holds no step"), ("\x00\x01 nothing\n", "holds no step"),
    ('{"event":"step","step":0,"loss":1.0,"scale":2.0,"norm":1.0,"skipped":false}\n', "skipped")])
def test_a_log_without_anything_to_explain_is_told(workspace, content, says):
    if content is not None:
        (workspace.root / "work").mkdir()
        (workspace.root / "work/step_order.jsonl").write_text(content)
    told = workspace("explain")
    assert told.returncode == USAGE and says in told.stderr


def test_damaged_state_is_kept_aside_and_named(ran):
    state = ran.root / ".gradlab/explained.json"
    state.write_text('{"format": 99}')
    told = ran("explain", input="q\n")
    assert told.returncode == DONE and ".gradlab/explained.json" in told.stderr
    kept = list(state.parent.glob("explained.json.*"))
    assert [each.read_text() for each in kept] == ['{"format": 99}']
    for each in kept:
        each.unlink()


def test_status_follows_the_student(workspace):
    first = workspace("status")
    assert "0 of 3" in first.stdout and "Next: ./gradlab start clipping" in first.stdout
    workspace("start", "clipping")
    assert "Next: ./gradlab check clipping" in workspace("status").stdout
    shutil.copy(ROOT / "tests/course/right/clipping/plain_loops.cpp", workspace.mine)
    workspace("check", "clipping")
    told = workspace("status").stdout
    assert "1 of 3" in told and "done  clipping matches the reference: clipping 30 of 30" in told
    workspace.mine.write_text(workspace.mine.read_text() + "// another\n")
    told = workspace("status").stdout
    assert "0 of 3" in told and "changed since" in told


def test_the_page_holds_the_hashes_of_what_it_was_made_from(ran):
    import hashlib
    explain(ran, answers(ran.log))
    page = ran.root / "ada.html"
    ran("status", "--page", page, "--name", "Ada <b>")
    text = page.read_text()
    assert hashlib.sha256(ran.log.read_bytes()).hexdigest() in text
    assert "Ada &lt;b&gt;" in text and "://" not in text
    assert json.loads((ran.root / "ada.json").read_text())["logs"][0]["skips"] == 3


def test_minutes_are_those_between_commands_without_pauses(workspace):
    log = workspace.root / ".gradlab/work_time.log"
    at = 1764550000
    log.write_text(f"{at} clipping\n{at + 600} clipping\nno line\n{at + 90000} clipping\n"
                   f"{at + 90060} autocast\n{at} clipping\n")  # the last: the clock went back
    labs = {lab["lab"]: lab["minutes"]
            for lab in json.loads(workspace("status", "--json").stdout)["labs"]}
    assert labs["clipping"] == 2 + 10 + 2 and labs["autocast"] == 1
