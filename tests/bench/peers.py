"""The peers: the same exercise the usual way in C++ (CMake, torch/torch.h, g++, GoogleTest, ctest),
and in Python with pytest. Each is measured turn by turn with gradlab, so that the ratio holds on a
busy machine too."""
import os
import shutil
import sys

from measure import CannotMeasure, Figure, complaint, edited, median, timed

HERE = os.path.dirname(os.path.abspath(__file__))


def turn_by_turn(bench, rounds, peer):
    """Median seconds of gradlab and of `peer(number)`, one after the other."""
    file = bench.folder / "clipping.cpp"
    file.write_text(bench.right_answer())
    bench.check(file)
    ours, theirs = [], []
    for number in range(rounds):
        file.write_text(edited(bench.right_answer(), f"beside {number}"))
        ours.append(bench.check(file).seconds)
        theirs.append(peer(number))
    return median(ours), median(theirs)


def must(ran, what):
    if ran.status != 0:
        raise complaint(what, ran)
    return ran.seconds


def figures(name, way, ours, theirs, target):
    yield Figure(name, f"{way}, edit to verdict, median", theirs, "s")
    yield Figure(name, "gradlab in the same rounds, median", ours, "s")
    yield Figure(name, "ratio", theirs / ours, "x", (">=", target))


def usual_way(bench):
    if not os.access("/usr/bin/g++", os.X_OK):
        raise CannotMeasure("g++ is not installed (apt-get install g++)", expected=True)
    project, build = bench.folder / "usual_way", bench.folder / "usual_way_build"
    shutil.copytree(os.path.join(HERE, "usual_way"), project)
    toolchain = bench.toolchain()
    (project / "clipping.cpp").write_text(bench.right_answer())
    must(timed(["cmake", "-G", "Ninja", "-S", project, "-B", build, "-DCMAKE_BUILD_TYPE=Release",
                "-DCMAKE_CXX_COMPILER=/usr/bin/g++", f"-DTORCH={toolchain['TORCH']}",
                f"-DCUDA_LIBS={toolchain.get('CUDA_LIBS', '')}"]), "cmake")
    answer = project / "clipping.cpp"  # the same answer; its header here is torch/torch.h

    def edit(number):
        answer.write_text(edited(bench.right_answer(), number))
        return (must(timed(["cmake", "--build", build]), "the build")
                + must(timed(["ctest", "--test-dir", build, "--output-on-failure"]), "ctest"))

    edit("first")  # with the test's own file, which is compiled once
    yield from figures("usual_way", "CMake, torch/torch.h, g++, ctest",
                       *turn_by_turn(bench, bench.count(3, 1), edit), 20)


def python_with_torch():
    """GRADLAB_PYTHON, or the first python3 that has torch and pytest."""
    tried = [os.environ.get("GRADLAB_PYTHON"), sys.executable, shutil.which("python3")]
    for python in filter(None, tried):
        if timed([python, "-c", "import torch, pytest"]).status == 0:
            return python
    raise CannotMeasure("no Python here has PyTorch and pytest; GRADLAB_PYTHON names one that has",
                        expected=True)


def pytest_way(bench):
    python = python_with_torch()
    project = bench.folder / "pytest_way"
    shutil.copytree(os.path.join(HERE, "pytest_way"), project)
    answer = project / "clipping.py"
    source = answer.read_text()

    def edit(number):
        answer.write_text(source + f"\n# edit {number}\n")
        return must(timed([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."],
                          cwd=project), "pytest")

    edit("first")
    yield from figures("pytest", "Python, import torch, pytest",
                       *turn_by_turn(bench, bench.count(10), edit), 2)
