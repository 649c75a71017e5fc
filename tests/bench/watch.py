"""watch: from the write of a file to the verdict on the terminal, while ./gradlab watch runs."""
import os
import pty
import select
import subprocess
import time

from measure import CannotMeasure, Figure, edited, median, percentile

LINKED = ("autograder", "build", "cmake", "gradlab", "handouts", "labs", "reference", "tests")
PATIENCE = 120  # seconds


def place_of_its_own(bench):
    """A copy made of links, with a work/ and a state of its own."""
    root = bench.folder / "watched"
    (root / ".gradlab").mkdir(parents=True)
    (root / "work").mkdir()
    for name in LINKED:
        (root / name).symlink_to(bench.root / name)
    for name in ("toolchain", "cache"):
        (root / ".gradlab" / name).symlink_to(bench.root / ".gradlab" / name)
    return root


def wait_for(terminal, words):
    text, until = "", time.monotonic() + PATIENCE
    while words not in text:
        if time.monotonic() > until:
            raise CannotMeasure(f"watch did not say {words!r}: {text[-300:]!r}")
        if select.select([terminal], [], [], 1)[0]:
            text += os.read(terminal, 65536).decode("utf-8", "replace")


def run(bench):
    root = place_of_its_own(bench)
    file = root / "work/clipping.cpp"
    file.write_text(bench.right_answer())
    ours, theirs = pty.openpty()
    process = subprocess.Popen([bench.root / "build/release/bin/gradlab", "watch", "clipping"],
                               cwd=root, stdin=theirs, stdout=theirs, stderr=theirs,
                               env={**os.environ, "GRADLAB_ROOT": str(root), "TERM": "xterm"})
    try:
        wait_for(ours, "q quit")
        times = []
        for number in range(bench.count(20)):
            text = edited(bench.right_answer(), f"watched {number}")
            begin = time.monotonic()
            file.write_text(text)
            wait_for(ours, "30 of 30")
            times.append(time.monotonic() - begin)
            wait_for(ours, "q quit")
    finally:
        process.kill()
        process.wait()
        os.close(ours)
        os.close(theirs)
    yield Figure("watch", f"saved, to the verdict, median of {len(times)}", median(times), "s",
                 ("<=", 1.2))
    yield Figure("watch", f"saved, to the verdict, 95th percentile of {len(times)}",
                 percentile(times, 95), "s")
