"""Makes the golden data anew from the PyTorch that is installed: generate.py FOLDER

For comparing another version: the tests run on the result with GRADLAB_GOLDEN=FOLDER. Exits with 77
where there is no PyTorch, which ctest takes as skipped.
"""

import pathlib
import shutil
import sys

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"
TOPICS = ("clip", "grad_scaler", "autocast")
SKIPPED = 77


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        import torch
    except ImportError:
        print("skipped: no Python PyTorch here")
        sys.exit(SKIPPED)
    folder = pathlib.Path(sys.argv[1])
    for topic in TOPICS:
        (folder / topic).mkdir(parents=True, exist_ok=True)
        shutil.copy(GOLDEN / topic / "generate.py", folder / topic)
    common = (GOLDEN / "golden_common.py").read_text()
    version = torch.__version__.split("+")[0]
    # The generators refuse a version that they do not name.
    common = common.replace('EXPECTED_TORCH = "2.11.0"', f'EXPECTED_TORCH = "{version}"')
    (folder / "golden_common.py").write_text(common)
    import runpy

    for topic in TOPICS:
        # Each generator puts its parent folder first on the path, and imports the copy above.
        runpy.run_path(str(folder / topic / "generate.py"), run_name="__main__")


if __name__ == "__main__":
    main()
