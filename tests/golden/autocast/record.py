"""Runs PyTorch's CPU autocast over the inputs in ops.json, regions.json and traces.json and writes
down what it does.

    python autocast/record.py            # the three files again, in place
    python autocast/record.py --check    # writes nothing; says which cases now go otherwise

To add a case, add its inputs; ops.py, regions.py and traces.py say which those are.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import ops  # noqa: E402
import regions  # noqa: E402
import traces  # noqa: E402
from recording import main  # noqa: E402

RECORDERS = {"ops.json": ops.recorded, "regions.json": regions.recorded,
             "traces.json": traces.recorded}

if __name__ == "__main__":
    raise SystemExit(main(HERE, RECORDERS))
