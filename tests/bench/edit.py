"""edit: from a changed line to the verdict, as a student waits for it, sandbox and all."""
import subprocess

from measure import CannotMeasure, Figure, edited, median, percentile

WRONG = ["jonas", "kenji", "lucia", "malik", "oskar"]


def drop_caches():
    subprocess.run(["sync"], check=True)
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("3")


def run(bench):
    file = bench.folder / "clipping.cpp"
    file.write_text(bench.right_answer())
    bench.check(file)  # whatever is built on first use
    times, cpu = [], []
    for number in range(bench.count(30)):
        file.write_text(edited(bench.right_answer(), number))
        ran = bench.check(file)
        times.append(ran.seconds)
        cpu.append(ran.cpu_seconds)
    yield Figure("edit", f"right answer, median of {len(times)}", median(times), "s", ("<=", 1.2))
    yield Figure("edit", f"right answer, 95th percentile of {len(times)}", percentile(times, 95),
                 "s", ("<=", 1.8))
    yield Figure("edit", "right answer, CPU time, median", median(cpu), "s")

    verdicts, ends = [], []
    for round_ in range(bench.count(3, 1)):
        for student in WRONG:
            source = (bench.root / "tests/class" / student / "clipping.cpp").read_text()
            file.write_text(source + f"\n// edit {round_}\n")
            ran = bench.check_on_terminal(file)
            verdicts.append(ran.first_output)
            ends.append(ran.seconds)
    yield Figure("edit", f"wrong answers, to the verdict, median of {len(ends)}", median(verdicts),
                 "s", ("<=", 1.5))
    yield Figure("edit", f"wrong answers, to the end, median of {len(ends)}", median(ends), "s",
                 note="behind the verdict: which known mistake it is, and a smaller case")

    try:
        drop_caches()
    except (OSError, subprocess.CalledProcessError) as error:
        raise CannotMeasure("a cold start; emptying the file cache needs root",
                            expected=True) from error
    file.write_text(edited(bench.right_answer(), "cold"))
    yield Figure("edit", "right answer, file cache emptied before", bench.check(file).seconds, "s")
