"""A machine made of stand-ins, for the set-up's tests: a copy of the launcher and of the set-up, and
a PATH whose programs (dpkg-query, apt-get, sudo, cmake, ninja, a compiler) only note that they were
called. LibTorch is a small library under its names. No network, no second of waiting."""
import os
import shutil
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SETUP = ROOT / "autograder/setup"
sys.path.insert(0, str(SETUP))

PROGRAMS = {
    "dpkg-query": 'for p; do case " $LACKING " in *" $p "*) ;; *) echo "installed $p" ;; esac; done',
    "apt-cache": 'shift; for p; do printf "%s:\\n  Installed: (none)\\n  Candidate: 1\\n" "$p"; done',
    "apt-get": 'echo "apt-get $*" >>"$CALLS"',
    "sudo": "exit 1",
    "clang++-19": "exit 0",
    "cmake": 'mkdir -p build/release; : >build/release/build.ninja; printf "%s\\n" '
             '"CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "CMAKE_CXX_COMPILER:STRING=${4#*=}" '
             '>build/release/CMakeCache.txt; echo "cmake $*" >>"$CALLS"',
    "ninja": '[ -e "$2/bin/gradlab" ] && exit; mkdir -p "$2/bin"; printf "#!/bin/sh\\necho built \\"\\$GRADLAB_ROOT\\" \\"\\$@\\"\\n" '
             '>"$2/bin/gradlab"; chmod +x "$2/bin/gradlab"; echo "[1/1] gradlab"',
}
HEADERS = ["include/torch/csrc/api/include/torch/types.h", "include/ATen/ATen.h"]


def make_torch(folder: Path, version="2.11.0") -> Path:
    """A torch folder that the set-up takes for LibTorch: it loads, and tells its version."""
    libc = next(Path("/").glob("lib/x86_64-linux-gnu/libm.so.6"))
    for name in HEADERS + ["include/torch/headeronly/version.h"]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    numbers = zip(("MAJOR", "MINOR", "PATCH"), version.split("+")[0].split("."))
    (folder / "include/torch/headeronly/version.h").write_text(
        "".join(f"#define TORCH_VERSION_{part} {number}\n" for part, number in numbers))
    (folder / "version.py").write_text(f"__version__ = '{version}'\n")
    (folder / "lib").mkdir()
    for name in ("libtorch_cpu.so", "libc10.so"):
        shutil.copy(libc, folder / "lib" / name)
    return folder


def make_wheels(folder: Path, setup: Path) -> Path:
    """Three small wheels, and the set-up's pins rewritten to them."""
    folder.mkdir()
    torch = make_torch(folder.parent / "wheel-contents/torch")
    (torch / "lib/libtorch_cuda.so").write_text("not wanted")
    files = {"torch-2.11.0-cp311-x.whl": torch, "nvidia_cuda_runtime-13.0.96-x.whl": None,
             "nvidia_cuda_cupti-13.0.85-x.whl": None}
    lines = []
    for name, tree in files.items():
        with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as wheel:
            for path in sorted(tree.rglob("*")) if tree else []:
                wheel.write(path, path.relative_to(tree.parent))
            if "runtime" in name:
                wheel.writestr("nvidia/cu13/lib/libcudart.so.13", "library")
        package, version = name.split("-")[:2]
        digest = sha256((folder / name).read_bytes()).hexdigest()
        lines.append(f"{package.replace('_', '-')}=={version} --hash=sha256:{digest}")
    (setup / "torch-requirements.txt").write_text("\n".join(lines) + "\n")
    return folder


class Machine:
    def __init__(self, folder: Path):
        self.root, self.bin, self.calls = folder / "a tree", folder / "bin", folder / "calls"
        self.setup = self.root / "autograder/setup"
        shutil.copytree(SETUP, self.setup, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "gradlab", self.root / "gradlab")
        self.bin.mkdir()
        self.calls.write_text("")
        for name, body in PROGRAMS.items():
            self.program(name, body)
        self.environment = {"PATH": f"{self.bin}:/usr/bin:/bin", "CALLS": str(self.calls),
                            "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(folder)}

    def program(self, name: str, body: str) -> None:
        (self.bin / name).write_text(f"#!/bin/sh\n{body}\n")
        (self.bin / name).chmod(0o755)

    def run(self, *arguments, launcher=None, **environment):
        return subprocess.run([str(launcher or self.root / "gradlab"), *arguments], timeout=60,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd="/",
                              stderr=subprocess.PIPE, universal_newlines=True,
                              env={**self.environment, **environment})

    def set_up_again_is_visible(self) -> None:
        """From here on a set-up only says that it was called."""
        (self.setup / "setup.py").write_text("import sys\nprint('set-up', *sys.argv[1:])\n"
                                             "sys.exit(7)\n")
