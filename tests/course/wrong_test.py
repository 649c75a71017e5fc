"""Wrong hand-ins by someone who had not read the known mistakes: each loses points, and what is named
is what was wrong. tests/course/wrong/README.md tells them one by one."""
import json
import os
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BANK = HERE / "wrong"
# Of each hand-in the mistakes that may be named; none where the list is silent.
NAMED = json.loads((BANK / "named.json").read_text())
LABS = sorted(NAMED)


@pytest.fixture(scope="module", params=LABS)
def graded(request, tmp_path_factory):
    lab, out = request.param, tmp_path_factory.mktemp(request.param) / "results"
    ran = subprocess.run([ROOT / "gradlab", "grade", BANK / lab, "--lab", lab, "--seed", "7",
                          "--out", out], cwd=ROOT, env={**os.environ, "GRADLAB_ROOT": str(ROOT)},
                         text=True, capture_output=True, timeout=840)
    assert ran.returncode == 0, ran.stderr
    records = [json.loads(file.read_text()) for file in (out / "records").iterdir()]
    return lab, {record["student"]: record for record in records}


def misconceptions(record):
    """The sets of names that stand together, a set for each check that has any."""
    return [{check["behaves_like"]["bug"], *check["behaves_like"]["also"]}
            for task in record["tasks"] for check in task["checks"] if check["behaves_like"]]


def test_bank_is_whole(graded):
    lab, records = graded
    assert set(records) == set(NAMED[lab]) == {file.stem for file in (BANK / lab).glob("*.cpp")}


def test_no_wrong_answer_gets_all_points(graded):
    _, records = graded
    assert [name for name, record in records.items()
            if record["score"] is None or record["score"] == record["max_score"]] == []


def test_what_is_named_is_what_is_wrong(graded):
    lab, records = graded
    for name, record in records.items():
        seen = misconceptions(record)
        for together in seen:
            assert together & set(NAMED[lab][name]), (name, together)
        assert bool(seen) == bool(NAMED[lab][name]), name
