"""gradlab(*words) runs the command from outside, like a user. `workspace` does so in a place of its
own, made of links to this copy, with a work/ and a .gradlab/ that are no developer's."""
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("autograder", "build", "cmake", "gradlab", "handouts", "labs", "reference", "tests")


@pytest.fixture(scope="session")
def gradlab():
    def run(*words, cwd=ROOT, env=None, timeout=600, input=""):
        plain = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"),
                 "LC_ALL": "C.UTF-8", "GRADLAB_ROOT": str(ROOT)}
        return subprocess.run([ROOT / "build/release/bin/gradlab", *map(str, words)], cwd=cwd,
                              env={**plain, **(env or {})}, timeout=timeout, text=True,
                              input=input, capture_output=True)
    return run


@pytest.fixture(scope="session")
def linked(tmp_path_factory):
    """Once for all tests, because the lab's header is precompiled for its place (15 s)."""
    root = tmp_path_factory.mktemp("workspace")
    (root / ".gradlab").mkdir()
    (root / ".gradlab/toolchain").symlink_to(ROOT / ".gradlab/toolchain")
    for name in FOLDERS:
        (root / name).symlink_to(ROOT / name)
    return root


@pytest.fixture
def workspace(linked, gradlab):
    for part in ("work", "results", ".gradlab/last", ".gradlab/debug"):
        shutil.rmtree(linked / part, ignore_errors=True)
    for part in (".gradlab/hints.json", ".gradlab/explained.json", ".gradlab/work_time.log",
                 "launch.json"):
        (linked / part).unlink(missing_ok=True)

    def run(*words, **how):
        return gradlab(*words, cwd=linked, env={"GRADLAB_ROOT": str(linked)}, **how)
    run.root = linked
    run.mine = linked / "work/clipping.cpp"
    return run
