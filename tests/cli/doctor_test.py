"""./gradlab doctor: green for the lab as it is; for one that was broken, a FAIL line that says what.
Breaking what has to be built anew is new_lab_test's, on a small lab."""
import re
import shutil

import pytest

from conftest import ROOT

DONE, FAILED, USAGE, FAULT = 0, 1, 2, 3
LAB_TOML = (ROOT / "labs/clipping/lab.toml").read_text()
HANDOUT = (ROOT / "handouts/clipping.md").read_text()
RIGHT = (ROOT / "tests/course/right/clipping/plain_loops.cpp").read_text()


def replaced(text, *pairs):
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


class Broken:
    """The linked workspace with files of its own in the place of some links."""

    def __init__(self, root):
        self.root, self.tops = root, set()

    def write(self, path, text):
        folder, here = self.root, ROOT
        self.tops.add(path.split("/")[0])
        for part in path.split("/")[:-1]:
            folder, here = folder / part, here / part
            if folder.is_symlink():
                folder.unlink()
                folder.mkdir()
                for entry in here.iterdir():  # a sandbox sees no file behind a link
                    if entry.is_dir():
                        (folder / entry.name).symlink_to(entry)
                    else:
                        shutil.copy(entry, folder / entry.name)
        (self.root / path).unlink(missing_ok=True)
        (self.root / path).write_text(text)

    def mend(self):
        for top in self.tops:
            shutil.rmtree(self.root / top)
            (self.root / top).symlink_to(ROOT / top)


@pytest.fixture
def broken(linked):
    broken = Broken(linked)
    yield broken
    broken.mend()


def fails(told):
    """The FAIL entries, each in one line."""
    return [" ".join(entry.split()) for entry in
            re.findall(r"^  FAIL  (.*(?:\n {8}\S.*)*)", told.stdout, re.MULTILINE)]


def test_the_lab_as_it_is_is_green(workspace):
    told = workspace("doctor", "clipping", "--seeds", 1)
    assert told.returncode == DONE, told.stdout + told.stderr
    assert max(map(len, told.stdout.splitlines())) <= 80
    said = " ".join(told.stdout.split())
    bugs = re.search(r"bugs (\d+) of (\d+) fail exactly the checks they name", said)
    right = re.search(r"right answers (\d+) of (\d+) x 1 seeds", said)
    assert bugs.group(1) == bugs.group(2) and int(bugs.group(1)) > 30
    assert right.group(1) == right.group(2) and int(right.group(1)) > 10
    for words in ("contract ok", "skeleton not started on 4 of 4", "do-nothing answers 0 points",
                  "reference passes", "handout, checks and manifest agree",
                  "builds without reference"):
        assert words in said


def test_mutants_are_killed_and_named(workspace):
    told = workspace("doctor", "clipping", "--mutants", "--seeds", 1)
    assert told.returncode == DONE, told.stdout + told.stderr
    assert max(map(len, told.stdout.splitlines())) <= 80
    said = " ".join(told.stdout.split())
    killed = re.search(r"clipping: bugs killed (\d+) of (\d+); do-nothing answers 0 points", said)
    named = re.search(r"named alone (\d+) of (\d+); in a tie \d+; not named 0", said)
    assert killed.group(1) == killed.group(2) == named.group(2)
    assert int(named.group(1)) > 30
    assert re.search(r"counterexamples of \d+: median [12] tensors of [12] elements", said)


def test_what_is_broken_is_named_with_what_to_do(workspace, broken):
    guard = 'guard = true, needs = "large_norm_is_scaled_as_one_vector"'
    assert guard in LAB_TOML
    broken.write("labs/clipping/lab.toml", LAB_TOML.replace(", " + guard, ""))
    broken.write("tests/course/right/clipping/wrong.cpp",
                 replaced(RIGHT, ("step >= warmup_steps", "step > warmup_steps")))
    told = workspace("doctor", "clipping", "--seeds", 1)
    assert told.returncode == FAILED, told.stdout + told.stderr
    said = fails(told)
    assert any("do-nothing answer" in entry and "small_norm_is_left_alone" in entry
               and "make that check a guard" in entry for entry in said), said
    assert any("right answer wrong.cpp: loses" in entry and "the_boundary_step_clips" in entry
               and "./gradlab check clipping --file tests/course/right/clipping/wrong.cpp --seed 1"
               in entry for entry in said), said


def test_checks_that_disagree_with_the_manifest_are_named_and_nothing_is_run(workspace, broken):
    broken.write("labs/clipping/lab.toml",
                 replaced(LAB_TOML, ('name = "nothing_happens_before"', 'name = "nothing_before"'),
                          ('name = "non_finite_norm_is_refused", points = 3',
                           'name = "non_finite_norm_is_refused", points = 1')))
    told = workspace("doctor", "clipping")
    said = fails(told)
    assert told.returncode == FAILED and "nothing was run" in told.stdout
    assert any("task4_nothing_happens_before is not in lab.toml" in entry for entry in said), said
    assert any("nothing_before" in entry and "no check has that name" in entry for entry in said)
    assert any("the regime of task 3 carries 1 of" in entry for entry in said), said


def test_a_handout_that_is_no_longer_true_is_told_where(workspace, broken):
    # With a check that nobody has, so that no code is run.
    broken.write("labs/clipping/lab.toml",
                 replaced(LAB_TOML, ('name = "nothing_happens_before"', 'name = "nothing_before"')))
    broken.write("handouts/clipping.md", replaced(
        HANDOUT, ("## Task 3: ", "## Task 9: "), ("labs/clipping/clipping.hpp", "labs/clipping.hpp"),
        ("./gradlab check clipping --task 4", "./gradlab chekc clipping --task 4"),
        ("`total_norm` in", "`total_norms` in"),
        ("./gradlab start clipping", "./gradlab start clipping --now")))
    said = fails(workspace("doctor", "clipping"))
    for words in ("is of task 9", "has no section of task 3", "`labs/clipping.hpp`, which is not",
                  "there is no command 'chekc'", "task 4, does not show its command",
                  "task 1, does not name `total_norm`", "`total_norms`: is it total_norm?",
                  "start does not take --now"):
        assert any(words in entry for entry in said), (words, said)


def test_a_copy_without_reference_is_told_so(gradlab, tmp_path):
    for name in ("autograder", "build", "handouts", "labs", "gradlab"):
        (tmp_path / name).symlink_to(ROOT / name)
    told = gradlab("doctor", "clipping", env={"GRADLAB_ROOT": str(tmp_path)})
    assert told.returncode == FAULT and "reference/clipping/answer.cpp is not here" in told.stderr


def test_an_unknown_lab_or_no_seed_is_wrong_use(gradlab):
    assert gradlab("doctor", "cliping").returncode == USAGE
    assert gradlab("doctor", "clipping", "--seeds", 0).returncode == USAGE
