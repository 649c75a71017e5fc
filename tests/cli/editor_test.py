"""An editor just works: clangd finds no error in the skeletons and the answers, with the files that
the set-up wrote. Needs a tree that is set up, with clangd-19."""
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLANGD = shutil.which("clangd-19")

pytestmark = pytest.mark.skipif(not CLANGD or not (ROOT / ".gradlab/toolchain").exists(),
                                reason="not set up as an instructor's")


def files():
    for manifest in sorted(ROOT.glob("labs/*/lab.toml")):
        slug = manifest.parent.name
        yield from (path for path in (f"labs/{slug}/{slug}.cpp", f"reference/{slug}/answer.cpp")
                    if (ROOT / path).exists())


def clangd(folder: Path, name: str):
    # Not at every location: there a refactoring that does not apply (no loop to extract a `continue`
    # from) counts as an error of the file.
    return subprocess.run([CLANGD, f"--check={name}", "--check-locations=false"], cwd=folder,
                          timeout=300, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.mark.parametrize("name", files())
def test_clangd_finds_no_error(name):
    subprocess.run(["/usr/bin/python3", "-B", "autograder/setup/setup.py", "editor"], cwd=ROOT,
                   check=True)
    checked = clangd(ROOT, name)
    assert "All checks completed, 0 errors" in checked.stdout, checked.stdout[-3000:]
    assert "-isystem" in checked.stdout and "Failed to find compilation database" not in \
        checked.stdout


def test_clangd_finds_an_error_where_there_is_one(tmp_path):
    (tmp_path / "broken.cpp").write_text("int main() { return no_such_name; }\n")
    assert "undeclared_var_use" in clangd(tmp_path, "broken.cpp").stdout
