"""stages: where the time of one check goes. What the record tells (compiling, running, all of the
grading) is taken from it; the rest is measured beside: the same programs, started alone."""
import json
import os

from measure import Figure, complaint, edited, median, timed


def libraries(bench):
    """The environment in which the runner finds LibTorch without its sandbox."""
    toolchain = dict(line.split("=", 1)
                     for line in (bench.root / ".gradlab/toolchain").read_text().splitlines())
    folders = [toolchain["TORCH"] + "/lib", toolchain.get("CUDA_LIBS", "")]
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(filter(None, folders)),
            "OMP_NUM_THREADS": "1"}


def one_check(bench, file):
    ran = bench.check(file, "clipping", "--json")
    try:
        record = json.loads(ran.output)
    except ValueError as error:
        raise complaint("check --json", ran) from error
    checks = [check for task in record["tasks"] for check in task["checks"]]
    return {"all": ran.seconds, **record["timing"],
            "checks": sum(check.get("seconds", 0) for check in checks)}


def run(bench):
    file = bench.folder / "clipping.cpp"
    programs = bench.root / "build/release/bin"
    alone = {
        "start": [bench.command, "--help"],
        "ninja": ["ninja", "-C", bench.root / "build/release", "lab_clipping"],
        "judge": [programs / "judge_clipping", "--list"],
        # Without a judge at descriptor 3 it loads LibTorch, warms up and leaves.
        "runner": ["/bin/sh", "-c", f"exec '{programs / 'runner_clipping'}' 3>/dev/null"],
    }
    environment = libraries(bench)
    found = {}
    for number in range(bench.count(10)):
        for name, argv in alone.items():
            found.setdefault(name, []).append(timed(argv, environment=environment).seconds)
        file.write_text(edited(bench.right_answer(), number))
        for name, seconds in one_check(bench, file).items():
            found.setdefault(name, []).append(seconds)
    of = {name: median(values) for name, values in found.items()}

    def figure(name, seconds, note=""):
        return Figure("stages", name, 1000 * seconds, "ms", note=note)

    before = of["all"] - of["total_s"] - of["start"] - of["ninja"]
    yield figure("starting the command", of["start"])
    yield figure("asking ninja", of["ninja"])
    yield figure("reading the lab, looking for isolation, printing", before)
    yield figure("compiling and linking, in the sandbox", of["compile_s"])
    yield figure("  meanwhile: the judge loads LibTorch", of["judge"])
    yield figure("  meanwhile: the runner loads LibTorch", of["runner"])
    yield figure("from the library to the last verdict", of["run_s"],
                 f"of that {1000 * of['checks']:.0f} ms in checks")
    yield figure("rest of the grading", of["total_s"] - of["compile_s"] - of["run_s"])
    yield figure(f"all of it, median of {len(found['all'])}", of["all"])
