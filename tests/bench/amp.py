"""The AMP library beside LibTorch's own calls and Python's scaler, both sides turn by turn in one
run: tests/amp/bench/amp_bench.cpp measures, this builds it and reads what it says."""
import json
import os

from measure import Figure, complaint, timed
from peers import python_with_torch

HERE = os.path.dirname(os.path.abspath(__file__))


def built(bench, program="amp_bench"):
    """The program, at its library's own optimisation, from the tests' build."""
    build = bench.root / "build/dev"
    steps = [["ninja", "-C", build, program]]
    if not (build / "build.ninja").exists():
        steps.insert(0, ["cmake", "--preset", "dev",
                         f"-DCMAKE_CXX_COMPILER={bench.toolchain()['COMPILER']}"])
    for step in steps:
        ran = timed(step, cwd=bench.root)
        if ran.status != 0:
            raise complaint(" ".join(str(word) for word in step), ran)
    return build / "bin" / program


def measured(argv):
    ran = timed(argv)
    if ran.status != 0:
        raise complaint(os.path.basename(str(argv[0])), ran)
    return json.loads(ran.output)


def size_figures(size):
    """Figures of one number of gradients, and their targets where there are any."""
    where = f"{size['elements']:.0e} in {size['tensors']}".replace("e+0", "e")
    huge, many_small = size["elements"] == 50_000_000, size["tensors"] == 300
    fused = 4 if huge else 2 if size["elements"] == 1_000_000 and many_small else None
    for name, key, target in (
            ("three calls over unscale_and_clip_", "three_calls_over_fused", fused),
            ("part of a bare pass's bandwidth", "bandwidth_of_bare_pass", 0.85 if huge else None),
            ("LibTorch's clip over the fused clip", "libtorch_clip_over_fused",
             2.5 if huge else None),
            ("LibTorch's clip over the plain clip", "libtorch_clip_over_plain", 1)):
        yield Figure("amp", f"{where}: {name}", size["ratios"][key]["median"], "x",
                     target and (">=", target))


def run(bench):
    few = ["--rounds", "2", "--most", "1000000"] if bench.short else []
    report = measured([built(bench), *few])
    for size in report["sizes"]:
        yield from size_figures(size)
    ours = report["tiny_step"]["scale_step_update"]["wall_us"]["median"]
    yield Figure("amp", "scale, step, update of 64 parameters", ours, "us")
    python = python_with_torch()
    theirs = measured([python, os.path.join(HERE, "amp_python.py")])["median_us"]
    yield Figure("amp", "the same in Python", theirs, "us")
    yield Figure("amp", "Python's over ours", theirs / ours, "x", (">=", 1))
