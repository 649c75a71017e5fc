"""The monitor's golden traces are what ormas-monitor 0.2.3 tells of their inputs. GRADLAB_PYTHON names
a Python that has it and PyTorch; elsewhere the recorder says what is missing, and this is skipped."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

RECORD = Path(__file__).resolve().parent.parent / "golden" / "monitor" / "record.py"
PYTHON = os.environ.get("GRADLAB_PYTHON") or "python3"


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


def test_ormas_monitor_tells_what_is_recorded():
    done = run(PYTHON, "-B", RECORD, "--check")
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("as recorded") == len(list(RECORD.parent.glob("*.json")))


def test_without_the_packages_it_says_what_is_missing():
    done = run(sys.executable, "-I", "-S", RECORD)
    assert done.returncode == 77
    assert "has no torch and no ormas_monitor" in done.stdout
