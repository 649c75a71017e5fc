"""Records the golden data anew with the PyTorch that is installed.

    python generate.py FOLDER

FOLDER gets the files of tests/golden: their inputs, and what this PyTorch, of any version, does with
them. The C++ tests run on it with GRADLAB_GOLDEN=FOLDER. Exits with 77 where there is no PyTorch,
which ctest takes as skipped.
"""

import importlib.util
import os
import pathlib
import subprocess
import sys

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"
SKIPPED = 77


def folder_asked_for(arguments):
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    folder = pathlib.Path(arguments[0])
    if folder.resolve().is_relative_to(GOLDEN):
        sys.exit(f"{folder} is where the tests' own data is; name a folder outside tests/golden")
    return folder


def make(folder):
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        sys.exit(f"cannot make {folder}: {error.strerror}; name a folder that can be written")
    if not os.access(folder, os.W_OK):
        sys.exit(f"cannot write in {folder}; name a folder that can be written")


def main():
    folder = folder_asked_for(sys.argv[1:])
    if importlib.util.find_spec("torch") is None:
        print(f"skipped: {sys.executable} has no PyTorch")
        sys.exit(SKIPPED)
    for recorder in sorted(GOLDEN.glob("*/record.py")):
        topic = recorder.parent.name
        make(folder / topic)
        command = [sys.executable, "-B", recorder, "--into", folder / topic]
        status = subprocess.run(command).returncode
        if status == SKIPPED:  # it needs more than PyTorch, and has said what
            (folder / topic).rmdir()
        elif status != 0:
            sys.exit(f"recording {topic} failed, so {folder} is not complete")
    print(f"the C++ tests run on this data with GRADLAB_GOLDEN={folder.resolve()}")


if __name__ == "__main__":
    main()
