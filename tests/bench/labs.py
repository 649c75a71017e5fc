"""labs: what the other labs' verdicts and gradings take; a lab added must not slow a student down."""
from grade import grade
from measure import Figure, median

MEASURED_ALONE = "clipping"


def answers(bench, kind, lab):
    return sorted((bench.root / "tests/course" / kind / lab).glob("*.cpp"))


def verdicts(bench, lab, sources):
    """Seconds to the verdict, each of an answer that differs from all before."""
    file = bench.folder / f"{lab}.cpp"
    times = []
    for number in range(bench.count(10)):
        source = sources[number % len(sources)]
        file.write_text(source.read_text() + f"\n// edit {number}\n")
        times.append(bench.check_on_terminal(file, lab).first_output)
    return times


def run(bench):
    for manifest in sorted((bench.root / "labs").glob("*/lab.toml")):
        lab = manifest.parent.name
        if lab == MEASURED_ALONE:
            continue
        right, wrong = answers(bench, "right", lab), answers(bench, "wrong", lab)
        verdicts(bench, lab, right[:1])  # whatever is built on first use
        for kind, sources in (("right", right), ("wrong", wrong)):
            if sources:
                yield Figure("labs", f"{lab}, {kind} answers, to the verdict, median",
                             median(verdicts(bench, lab, sources)), "s", ("<=", 1.5))
        number = bench.count(60, 4)
        seconds, _, _ = grade(bench, number, right + wrong, lab)
        yield Figure("labs", f"{lab}, {number} hand-ins graded", 60 * number / seconds,
                     "a minute", (">=", 60))
