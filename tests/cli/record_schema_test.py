"""Every record that `grade` writes over the sample class, and what `check --json` prints, keeps to
record.schema.json and is strict JSON: a number that is not finite is "inf", "-inf" or "nan"."""
import json
from pathlib import Path

import pytest

jsonschema = pytest.importorskip("jsonschema")
ROOT = Path(__file__).resolve().parents[2]
CLASS = ROOT / "tests/class"


def strict(text):
    def refuse(word):
        raise AssertionError(f"{word} is no JSON")
    return json.loads(text, parse_constant=refuse)


def values(json_value):
    if isinstance(json_value, dict):
        json_value = list(json_value.values())
    if isinstance(json_value, list):
        for each in json_value:
            yield from values(each)
    else:
        yield json_value


@pytest.fixture(scope="module")
def validator():
    schema = strict((ROOT / "autograder/record/record.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.fixture(scope="module")
def records(gradlab, tmp_path_factory):
    """The sample class, graded once for this file: {student: record}."""
    out = tmp_path_factory.mktemp("graded")
    done = gradlab("grade", CLASS, "--lab", "clipping", "--out", out)
    assert done.returncode == 0, done.stdout + done.stderr
    read = [strict(path.read_text()) for path in sorted((out / "records").glob("*.json"))]
    return {record["student"]: record for record in read}


def test_each_hand_in_has_a_record_that_keeps_to_the_schema(records, validator):
    assert sorted(records) == sorted(each.name for each in CLASS.iterdir() if each.is_dir())
    for student, record in records.items():
        errors = [f"{'/'.join(map(str, e.absolute_path))}: {e.message}"
                  for e in validator.iter_errors(record)]
        assert not errors, (student, errors)


def test_points_add_up(records):
    for student, record in records.items():
        checks = [check for task in record["tasks"] for check in task["checks"]]
        assert record["score"] == sum(check["points"] for check in checks), student
        assert record["max_score"] == sum(check["max_points"] for check in checks), student


def test_numbers_that_are_not_finite_are_strings(records):
    """The class has answers that fail on NaN and on infinities: their cases hold such numbers."""
    cases = [check["failing"]["case"] for record in records.values() for task in record["tasks"]
             for check in task["checks"] if check["failing"]]
    assert cases
    assert {"nan", "inf", "-inf"} & {value for case in cases for value in values(case)
                                     if isinstance(value, str)}


@pytest.mark.parametrize("student, status, verdict",
                         [("bruno", 0, "pass"), ("ian", 1, "fail"), ("tess", 1, "compile_error")])
def test_check_prints_such_a_record(gradlab, validator, student, status, verdict):
    done = gradlab("check", "clipping", "--file", CLASS / student / "clipping.cpp", "--json")
    assert done.returncode == status, done.stderr
    record = strict(done.stdout)
    assert record["verdict"] == verdict
    assert not list(validator.iter_errors(record))


def test_the_schema_refuses_what_is_no_result(records, validator):
    """A schema that lets everything through would pass all of the above."""
    good = records["ian"]
    for change in ({"score": None}, {"score": "27"}, {"score": -1}, {"verdict": "passed"},
                   {"isolation": "some"}, {"surplus": 1}, {"tasks": [{}]}, {"schema": "other"}):
        assert not validator.is_valid({**good, **change}), change
    for field in good:
        assert not validator.is_valid({k: v for k, v in good.items() if k != field}), field
