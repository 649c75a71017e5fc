"""gradlab's set-up. `./gradlab` calls it on first use, and again when something it needs changed.

  setup.py install [student | instructor]   whatever is missing; silent where nothing is
  setup.py tell [student | instructor]      the same, and says what is there (./gradlab setup)
  setup.py editor                           compile_commands.json and .clangd again
  setup.py wheels FOLDER                    LibTorch's wheels, for a machine without a network
  setup.py help                             the command's help before it is built
Any Python from 3.7 on; nothing but its own library is imported.
"""
from __future__ import annotations

import errno
import fcntl
import os
import signal
import sys
import time
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import build
import editor
import libtorch
import messages
import packages
import wheels
from say import Say, seconds_since

ROOT = Path(os.environ.get("GRADLAB_ROOT") or Path(__file__).resolve().parents[2])
HERE = Path(__file__).resolve().parent
STATE = ROOT / ".gradlab"

HELP = """\
gradlab is not set up here yet. Its first command sets it up, and says what it fetches:
LibTorch 2.11 (544 MB to download, 523 MB on disk; an installed PyTorch 2.11 is used where there is
one) and Debian packages.

  ./gradlab start LAB      begin a lab                ./gradlab grade FOLDER   grade a class
  ./gradlab check          is it right?               ./gradlab test           gradlab's own tests
  ./gradlab hint LAB.TASK  a hint                     ./gradlab setup          only set up
"""


@contextmanager
def locked(say: Say):
    """Two first runs at once: the second waits, then finds everything done."""
    STATE.mkdir(exist_ok=True)
    with open(STATE / "lock", "a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say.line("Another set-up is at work in this folder; waiting for it.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def find_torch(say: Say):
    """A LibTorch that is there already, or None."""
    if os.environ.get("GRADLAB_TORCH"):
        return libtorch.from_variable(os.environ["GRADLAB_TORCH"])
    own = STATE / f"libtorch-{libtorch.VERSION}/torch"
    before = build.read_pairs(STATE / "toolchain").get("TORCH")
    for folder in dict.fromkeys([before, str(own)]):
        if not folder or not os.path.isdir(folder):
            continue
        try:
            return libtorch.examine(folder)
        except libtorch.Unfit as unfit:
            kind = "is of the version" if unfit.kind == "version" else "is damaged:"
            say.line(f"The LibTorch in {folder} {kind} {unfit.what}. Another is looked for.")
    return libtorch.from_environment(say)


def ensure_packages(profile: str, fetching: bool, say: Say) -> None:
    lists = packages.read_lists(HERE / "packages.txt")
    groups = list(lists["student"])
    if profile == "instructor":
        groups += lists["instructor"]
    if fetching and wheels.python_with_pip() is None:
        groups += lists["fetch"]
    packages.ensure(groups, say)


def install(profile: str, say: Say) -> str:
    if build.read_pairs(STATE / "toolchain").get("PROFILE") == "instructor":
        profile = "instructor"  # never taken back
    torch = find_torch(say)
    fetching = torch is None and not os.environ.get("GRADLAB_WHEELS")
    ensure_packages(profile, fetching, say)
    if torch is None:
        tree = wheels.provide(STATE, say)
        try:
            torch = libtorch.examine(tree)
        except libtorch.Unfit as unfit:
            raise messages.own_unusable(str(tree), unfit.what)
    compiler = build.find_compiler()
    build.write_toolchain(ROOT, torch, compiler, profile, say)
    build.build(ROOT, torch, compiler, say)
    editor.write(ROOT)
    write_stamp(torch, compiler, profile)
    return (f"Set up for {'an ' if profile == 'instructor' else 'a '}{profile}. LibTorch "
            f"{torch.version}: {torch.root}\nCompiler: {compiler}")


def write_stamp(torch, compiler: str, profile: str) -> None:
    """What the launcher compares; never older than the files it compares the stamp with."""
    stamp = STATE / "ready"
    asked = os.environ.get("GRADLAB_TORCH") or build.read_pairs(stamp).get("GRADLAB_TORCH", "")
    part = STATE / "ready.part"
    part.write_text(f"PINS={(HERE / 'pins').read_text().splitlines()[0]}\nROOT={ROOT}\n"
                    f"GRADLAB_TORCH={asked}\nTORCH={torch.root}\nCOMPILER={compiler}\n"
                    f"PROFILE={profile}\n")
    inputs = [HERE / "packages.txt", Path(torch.root) / "version.py", ROOT / ".git/logs/HEAD"]
    newest = max([time.time()] + [path.stat().st_mtime for path in inputs if path.exists()])
    os.utime(part, (newest, newest))
    part.replace(stamp)


def stop(number, frame):
    raise KeyboardInterrupt


def act(verb: str, rest: list, say: Say) -> int:
    if verb in ("install", "tell") and rest in ([], ["student"], ["instructor"]):
        with locked(say):
            told = install((rest or ["student"])[0], say)
        if verb == "tell":
            say.last(told)
        return 0
    if verb == "wheels" and len(rest) == 1:
        wheels.download(Path(rest[0]).resolve(), say)
        return 0
    sys.stderr.write(__doc__)
    return 2


def main(arguments: list) -> int:
    start = time.monotonic()
    verb, rest = (arguments or ["install"])[0], arguments[1:]
    if verb == "help":
        sys.stdout.write(HELP)
        return 0
    if verb == "editor":
        editor.write(ROOT)
        return 0
    signal.signal(signal.SIGTERM, stop)
    say = Say(log_path=STATE / "log/setup.log", heading="Setting up gradlab. An interruption loses "
              "nothing: the same command goes on from there.")
    try:
        (STATE / "log").mkdir(parents=True, exist_ok=True)
        status = act(verb, rest, say)
    except messages.SetupError as error:
        say.last(str(error))
        return error.status
    except KeyboardInterrupt:
        say.last("Interrupted. The same command goes on from here.")
        return 130
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        say.last(str(messages.disk_full(str(STATE)) if full else messages.not_possible(error)))
        return 3
    if status == 0 and say.spoke and verb == "install":
        say.line(f"Set up in {seconds_since(start)}.\n")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
