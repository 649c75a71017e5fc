"""./gradlab new: a whole lab at once, sound from the start; and what doctor says when it no longer is.
Everything happens in a copy of the tree, which is built once (about a minute)."""
import hashlib
import re
import shutil
import subprocess

import pytest

from conftest import ROOT
from doctor_test import fails, replaced

DONE, FAILED, USAGE, FAULT = 0, 1, 2, 3
SLUG = "weight_decay"
PARTS = [f"labs/{SLUG}/{SLUG}.hpp", f"labs/{SLUG}/{SLUG}.cpp", f"labs/{SLUG}/lab.toml",
         f"autograder/experiments/{SLUG}.cpp", f"autograder/checks/{SLUG}/task1.cpp",
         f"reference/{SLUG}/answer.cpp", f"reference/{SLUG}/bugs/task1.cpp",
         f"tests/course/right/{SLUG}/one.cpp", f"handouts/{SLUG}.md"]


def files_of(root):
    return {str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
            for top in ("autograder", "cmake", "handouts", "labs", "reference", "tests")
            for path in sorted((root / top).rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def copy(tmp_path_factory, gradlab):
    root = tmp_path_factory.mktemp("copy")
    for name in ("autograder", "cmake", "handouts", "labs", "reference", "tests"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("CMakeLists.txt", "CMakePresets.json", "gradlab", ".clang-format"):
        shutil.copy(ROOT / name, root / name)
    (root / ".gradlab").mkdir()
    shutil.copy(ROOT / ".gradlab/toolchain", root / ".gradlab/toolchain")

    def run(*words, **how):
        return gradlab(*words, cwd=root, env={"GRADLAB_ROOT": str(root)}, **how)
    run.root = root
    run.before = files_of(root)
    run.new = run("new", SLUG)
    return run


def test_new_writes_the_whole_set_and_edits_no_existing_file(copy):
    assert copy.new.returncode == DONE, copy.new.stderr
    after = files_of(copy.root)
    assert {path: after.get(path) for path in copy.before} == copy.before
    assert sorted(set(after) - set(copy.before)) == sorted(PARTS)
    for words in [*PARTS, f"./gradlab doctor {SLUG}", "handouts/instructor/adding-a-lab.md"]:
        assert words in copy.new.stdout
    assert "{{" not in "".join((copy.root / path).read_text() for path in PARTS)


@pytest.mark.skipif(not shutil.which("clang-format-19"), reason="no clang-format-19 here")
def test_the_new_files_are_in_the_house_style(copy):
    ours = [copy.root / path for path in PARTS if path.endswith("pp") and "/right/" not in path]
    told = subprocess.run(["clang-format-19", "--dry-run", "-Werror", *ours], text=True,
                          capture_output=True)
    assert told.returncode == 0, told.stderr


def test_new_never_writes_over_a_file(copy):
    before = files_of(copy.root)
    assert copy("new", SLUG).returncode == USAGE
    (copy.root / "handouts/momentum.md").write_text("mine")
    told = copy("new", "momentum")
    assert told.returncode == USAGE and "handouts/momentum.md" in told.stderr
    (copy.root / "handouts/momentum.md").unlink()
    assert files_of(copy.root) == before


@pytest.mark.parametrize("slug, words", [
    ("Weight", "lower case"), ("9lives", "a letter first"), ("a__b", "single '_'"),
    ("../up", "lower case"), ("", "lower case"), ("clipping", "already"), ("common", "already"),
    ("int", "C++ namespace"), ("signal", "different kind of symbol"), ("torch", "redefinition"),
])
def test_a_slug_that_cannot_be_is_refused_with_the_reason(copy, slug, words):
    before = files_of(copy.root)
    told = copy("new", slug)
    assert told.returncode == USAGE and words in told.stderr, told.stderr
    assert files_of(copy.root) == before


def test_the_new_lab_builds_and_its_skeleton_is_not_started(copy):
    assert re.search(rf"^{SLUG} .* not started$", copy("list").stdout, re.MULTILINE)
    assert copy("start", SLUG).returncode == DONE
    told = copy("check", SLUG, timeout=900)
    assert told.returncode == FAILED, told.stderr
    assert re.search(rf"{SLUG}\.1 .* not started +0 of 4$", told.stdout, re.MULTILINE)


def test_a_right_answer_to_it_passes_and_a_wrong_one_is_recognised(copy):
    mine = copy.root / f"work/{SLUG}.cpp"
    right = (copy.root / f"tests/course/right/{SLUG}/one.cpp").read_text()
    mine.write_text(right)
    assert copy("check", SLUG).returncode == DONE
    mine.write_text(replaced(right, ("return sum / static_cast<double>(flat.numel());",
                                     "return sum;")))
    told = copy("check", SLUG)
    assert told.returncode == FAILED and "sum of squares" in told.stdout, told.stdout


def test_doctor_is_green_at_once(copy):
    told = copy("doctor", SLUG)
    assert told.returncode == DONE, told.stdout + told.stderr
    assert "bugs 3 of 3 fail exactly" in told.stdout and "right answers 1 of 1" in told.stdout


def test_every_command_of_the_handout_works(copy):
    text = (copy.root / "handouts/instructor/adding-a-lab.md").read_text()
    blocks = "\n".join(re.findall(r"^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    commands = [line.split()[1:] for line in blocks.splitlines() if line.startswith("./gradlab ")]
    assert ["new", SLUG] in commands and len(commands) >= 5
    (copy.root / f"work/{SLUG}.cpp").unlink()
    for words in commands:
        if words[0] != "new":
            told = copy(*words)
            assert told.returncode in (DONE, FAILED), (words, told.stderr)
    judge = re.search(r"`(build/release/bin/judge_\S+ --self bug:)NAME (--seed 3)`", text)
    told = subprocess.run((judge.group(1) + "sum_of_squares " + judge.group(2)).split(),
                          cwd=copy.root, text=True, capture_output=True)
    assert told.returncode == DONE and "hand_worked_means" in told.stdout


def test_bugs_that_lie_and_checks_that_need_the_reference_are_named(copy):
    bugs = copy.root / f"reference/{SLUG}/bugs/task1.cpp"
    bugs.write_text(replaced(
        bugs.read_text(), ('.caught_by = {"nothing_else_changes"}', '.caught_by = {}'),
        ('return values.square().sum().item<double>();', 'std::abort();'),
        ('return values.mean().square().item<double>();',
         'return values.square().mean().item<double>();')))
    (copy.root / f"reference/{SLUG}/yardstick.hpp").write_text("#pragma once\n")
    checks = copy.root / f"autograder/checks/{SLUG}/task1.cpp"
    include = f'#include "../../../reference/{SLUG}/yardstick.hpp"\n'
    checks.write_text(include + checks.read_text())
    told = copy("doctor", SLUG)
    assert told.returncode == FAILED, told.stdout + told.stderr
    said = fails(told)
    for words in ("no bug fails nothing_else_changes",
                  "bug squares_in_place names no check that catches it",
                  "it fails nothing_else_changes",
                  "bug sum_of_squares ends hand_worked_means in crashed",
                  "bug square_of_the_mean passes hand_worked_means, means_of_random_tensors",
                  f"include reference/{SLUG}/yardstick.hpp"):
        assert any(words in entry for entry in said), (words, said)
    checks.write_text(checks.read_text().replace(include, ""))


def test_without_its_reference_the_lab_still_builds(copy):
    shutil.rmtree(copy.root / f"reference/{SLUG}")
    told = copy("check", SLUG, timeout=900)
    assert told.returncode == FAULT and "holds no reference" in told.stdout + told.stderr, told
