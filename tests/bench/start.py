"""start: the small verbs through the launcher. `hint` keeps a state, so they run in a tree of links
with a state of its own."""
import shutil

from measure import Figure, complaint, median, timed


def tree_of_links(bench):
    root = bench.folder / "tree"
    for folder in ("autograder/setup", "build/release/bin", ".gradlab"):
        (root / folder).mkdir(parents=True)
    for name in ("gradlab", "autograder/setup/pins", "autograder/setup/packages.txt"):
        shutil.copy2(bench.root / name, root / name)
    for name in ("labs", "handouts", "build/release/bin/gradlab"):
        (root / name).symlink_to(bench.root / name)
    ready = (bench.root / ".gradlab/ready").read_text()
    (root / ".gradlab/ready").write_text(ready.replace(f"ROOT={bench.root}\n", f"ROOT={root}\n"))
    return root


def seconds_of(root, words):
    ran = timed([root / "gradlab", *words], cwd=root)
    if ran.status != 0:
        raise complaint(" ".join(words), ran)
    return ran.seconds


def run(bench):
    root = tree_of_links(bench)
    for words in (["--help"], ["list"], ["hint", "clipping.1"]):
        seconds_of(root, words)
        times = [1000 * seconds_of(root, words) for _ in range(bench.count(20))]
        yield Figure("start", f"gradlab {' '.join(words)}, median of {len(times)}", median(times),
                     "ms", ("<=", 50))
