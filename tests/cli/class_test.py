"""The sample class in tests/class, graded once: every student gets what a person who knows the lab
would give. The expectations lie in class_expected.json, outside the folder that is graded."""
import csv
import json
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
CLASS = HERE.parent / "class"
EXPECTED = json.loads((HERE / "class_expected.json").read_text())
FAILED = ("fail", "crashed", "time_limit", "memory_limit", "output_limit", "forged")


class Graded:
    def __init__(self, ran, out):
        self.ran = ran
        self.out = out
        self.records = {r["student"]: r for r in
                        (json.loads(f.read_text()) for f in (out / "records").iterdir())}


@pytest.fixture(scope="module")
def graded(gradlab, tmp_path_factory):
    out = tmp_path_factory.mktemp("class") / "results"
    return Graded(gradlab("grade", CLASS, "--lab", "clipping", "--seed", "7", "--out", out), out)


def shape_of(record):
    """What the expectations hold of a record."""
    checks = [check for task in record["tasks"] for check in task["checks"]]
    return {
        "verdict": record["verdict"],
        "score": record["score"],
        "tasks": {str(t["id"]): [t["verdict"], t["points"]] for t in record["tasks"]},
        "failing": {c["name"]: c["verdict"] for c in checks if c["verdict"] in FAILED},
        "misconceptions": sorted({c["behaves_like"]["bug"] for c in checks if c["behaves_like"]}),
    }


def test_the_whole_class_has_records_and_nobody_else(graded):
    assert graded.ran.returncode == 0, graded.ran.stderr
    folders = {folder.name for folder in CLASS.iterdir()}
    assert set(graded.records) == set(EXPECTED) == folders
    assert "24 hand-ins found" in graded.ran.stdout
    assert "6 full marks" in graded.ran.stdout and "0 grader errors" in graded.ran.stdout


@pytest.mark.parametrize("student", sorted(EXPECTED))
def test_a_student_gets_what_is_deserved(graded, student):
    assert shape_of(graded.records[student]) == EXPECTED[student]


def test_points_add_up(graded):
    for record in graded.records.values():
        assert record["score"] == sum(task["points"] for task in record["tasks"])
        assert record["max_score"] == sum(task["max_points"] for task in record["tasks"]) == 30
        for task in record["tasks"]:
            assert task["points"] == sum(check["points"] for check in task["checks"])
            assert all(c["points"] == (c["max_points"] if c["verdict"] == "pass" else 0)
                       for c in task["checks"])


def test_gradebook_says_the_same_as_the_records(graded):
    with open(graded.out / "grades.csv", newline="", encoding="utf-8") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert set(rows) == set(graded.records)
    for student, record in graded.records.items():
        assert int(rows[student]["score"]) == record["score"]
        assert rows[student]["verdict"] == record["verdict"]


@pytest.mark.parametrize("student, words", [
    ("daniel", "left alone, not part of the hand-in: CMakeLists.txt, gtest/, notes.md"),
    ("farah", "because it includes torch/torch.h"),
    ("samir", "left alone, not part of the hand-in: notes.txt"),
])
def test_what_a_person_would_remark_is_noted(graded, student, words):
    assert any(words in note for note in graded.records[student]["notes"])


@pytest.mark.parametrize("student, words", [
    ("samir", "clipping.cpp is missing; found only notes.txt"),
    ("umar", "it uses clip_grad_norm_ in line 15, which this lab asks you to write"),
    ("tess", "it does not compile"),
])
def test_a_hand_in_that_was_not_run_says_why(graded, student, words):
    assert graded.records[student]["message"] == words


def test_compile_errors_have_the_students_lines(graded):
    places = [(d["file"], d["line"]) for d in graded.records["tess"]["diagnostics"]]
    assert places == [("clipping.cpp", 13), ("clipping.cpp", 28)]
    assert all(d["hint"] for d in graded.records["tess"]["diagnostics"])


def test_a_printed_full_mark_is_only_output(graded):
    zoe = graded.records["zoe"]
    assert "22 tests." in zoe["student_output"] and '"score": 30' in zoe["student_output"]
    messages = {c["message"] for t in zoe["tasks"] for c in t["checks"]}
    assert messages == {"the process ended while the file was loaded: exit(0)"}


def test_another_seed_gives_the_same_scores(graded, gradlab, tmp_path):
    again = Graded(gradlab("grade", CLASS, "--lab", "clipping", "--seed", "another",
                           "--out", tmp_path / "results"), tmp_path / "results")
    assert again.ran.returncode == 0, again.ran.stderr
    assert {name: shape_of(record) for name, record in again.records.items()} == EXPECTED
