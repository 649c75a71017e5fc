"""generate.py records the golden data anew: as tests/golden has it where PyTorch is 2.11, and it says
why where it cannot. GRADLAB_PYTHON names a Python that has PyTorch; without it, python3."""
import json
import math
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
GENERATE = HERE / "generate.py"
GOLDEN = HERE.parent / "golden"
# The monitor's are another program's: monitor_record_test.py.
FILES = sorted(str(file.relative_to(GOLDEN)) for file in GOLDEN.glob("*/*.json")
               if file.parent.name != "monitor")
PYTHON = os.environ.get("GRADLAB_PYTHON") or "python3"


def run(*command, **environment):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          env={**os.environ, **environment})


def loaded(file):
    return json.loads(file.read_text())


def tolerance():
    """Relative and absolute. With AVX2 the 8 ulp that the order of summation in a BLAS can make; on
    other processors the widest of the README's table."""
    if platform.machine() == "x86_64" and "avx2" in Path("/proc/cpuinfo").read_text():
        return 1e-6, 1e-6
    return 1e-2, 1e-3


RELATIVE, ABSOLUTE = tolerance()


def same(got, expected):
    """Floats within the tolerance, all else exactly."""
    if isinstance(expected, float) and isinstance(got, float):
        return math.isclose(got, expected, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    if isinstance(expected, dict) and isinstance(got, dict):
        return got.keys() == expected.keys() and all(same(got[key], expected[key]) for key in got)
    if isinstance(expected, list) and isinstance(got, list):
        return len(got) == len(expected) and all(map(same, got, expected))
    return type(got) is type(expected) and got == expected


# ---- with PyTorch


@pytest.fixture(scope="module")
def version():
    found = run(PYTHON, "-c", "import torch; print(torch.__version__.split('+')[0])")
    if found.returncode != 0:
        pytest.skip(f"{PYTHON} has no PyTorch; GRADLAB_PYTHON names a Python that has")
    return found.stdout.strip()


@pytest.fixture(scope="module")
def made(version, tmp_path_factory):
    folder = tmp_path_factory.mktemp("generated") / "golden"
    done = run(PYTHON, GENERATE, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_file_is_there_and_names_the_version(made, version):
    assert sorted(str(file.relative_to(made)) for file in made.rglob("*.*")
                  if file.parent.name != "monitor") == FILES
    assert {loaded(made / file)["torch"] for file in FILES} == {version}


@pytest.mark.parametrize("file", FILES)
def test_torch_2_11_does_what_the_golden_data_says(made, version, file):
    if version != "2.11.0":
        pytest.skip(f"the golden data is that of PyTorch 2.11.0, and {PYTHON} has {version}")
    got, expected = loaded(made / file), loaded(GOLDEN / file)
    assert {**got, "cases": None} == {**expected, "cases": None}
    assert [one["name"] for one in got["cases"]] == [one["name"] for one in expected["cases"]]
    assert [one["name"] for one, other in zip(got["cases"], expected["cases"])
            if not same(one, other)] == []


# ---- without


@pytest.fixture
def empty_torch(tmp_path):
    """A PYTHONPATH where there seems to be a PyTorch: what comes before recording asks for no more."""
    (tmp_path / "torch.py").touch()
    return str(tmp_path)


def test_without_pytorch_exits_with_77_and_says_so(tmp_path):
    done = run(sys.executable, "-I", "-S", GENERATE, tmp_path / "golden")
    assert done.returncode == 77
    assert "skipped" in done.stdout and "has no PyTorch" in done.stdout
    assert not (tmp_path / "golden").exists()


@pytest.mark.parametrize("arguments", [[], ["--help"], ["one", "two"]])
def test_other_arguments_are_answered_with_the_usage(arguments):
    done = run(sys.executable, GENERATE, *arguments)
    assert done.returncode == 2
    assert "generate.py FOLDER" in done.stderr


def test_a_folder_that_cannot_be_made_is_named(tmp_path, empty_torch):
    (tmp_path / "file").touch()
    done = run(sys.executable, GENERATE, tmp_path / "file" / "golden", PYTHONPATH=empty_torch)
    assert done.returncode == 1
    assert f"cannot make {tmp_path}/file/golden/autocast: Not a directory" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write everywhere")
def test_a_folder_that_cannot_be_written_is_named(tmp_path, empty_torch):
    (tmp_path / "golden" / "autocast").mkdir(parents=True)
    (tmp_path / "golden" / "autocast").chmod(0o500)
    done = run(sys.executable, GENERATE, tmp_path / "golden", PYTHONPATH=empty_torch)
    assert done.returncode == 1
    assert f"cannot write in {tmp_path}/golden/autocast" in done.stderr


def test_the_golden_data_itself_is_left_alone(empty_torch):
    done = run(sys.executable, GENERATE, GOLDEN, PYTHONPATH=empty_torch)
    assert done.returncode == 1
    assert "name a folder outside tests/golden" in done.stderr
