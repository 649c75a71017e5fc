"""Finds a LibTorch that fits, without importing torch, and says why one does not.

Order: GRADLAB_TORCH, the one set up before, the PyTorch of the active environment or of python3,
GRADLAB_WHEELS, pip. The last two are wheels.py's.
"""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import messages

VERSION = "2.11.0"  # what is fetched; any 2.11.x that is there already fits
NEEDED_FILES = ["include/torch/csrc/api/include/torch/types.h", "include/ATen/ATen.h",
                "lib/libtorch_cpu.so", "lib/libc10.so"]

MANIFEST = "gradlab-manifest"  # a line "size name" for each file that wheels.py unpacked

Torch = namedtuple("Torch", "root version cuda_libs")


class Unfit(Exception):
    """kind: absent, version or damaged."""

    def __init__(self, kind: str, what: str, root=None):
        super().__init__(what)
        self.kind, self.what, self.root = kind, what, root


def examine(folder) -> Torch:
    """The LibTorch in a torch folder, or in the site-packages above one; else raises Unfit."""
    folder = Path(folder).expanduser()
    root = next((path for path in (folder, folder / "torch")
                 if (path / "include/ATen").is_dir() or (path / "version.py").is_file()), None)
    if root is None:
        raise Unfit("absent", "no LibTorch there")
    root = root.resolve()
    version = version_of(root)
    if not version.startswith(messages.NEEDED + "."):
        raise Unfit("version", version, root)
    for name in NEEDED_FILES:
        if not (root / name).is_file():
            raise Unfit("damaged", f"{name} is missing", root)
    why = unmanifested(root.parent) or unloadable(root / "lib/libtorch_cpu.so")
    if why:
        raise Unfit("damaged", why, root)
    return Torch(str(root), version.split("+")[0], cuda_libs_beside(root))


def version_of(root: Path) -> str:
    """From version.py as text (a wheel), or build-version (the zip of LibTorch alone)."""
    told, header = None, root / "include/torch/headeronly/version.h"
    if (root / "version.py").is_file():
        found = re.search(r"__version__\s*=\s*['\"]([^'\"]+)", (root / "version.py").read_text())
        told = found and found.group(1)
    elif (root / "build-version").is_file():
        told = (root / "build-version").read_text().strip()
    if not header.is_file():
        header = root / "include/torch/csrc/api/include/torch/version.h"
    numbers = re.findall(r"#define TORCH_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)",
                         header.read_text()) if header.is_file() else []
    headers = ".".join(numbers) if len(numbers) == 3 else None
    if told and headers and told.split("+")[0] != headers:
        raise Unfit("damaged", f"version.py says {told}, its headers say {headers}", root)
    if not told and not headers:
        raise Unfit("damaged", "it does not tell its version", root)
    return told or headers


def unmanifested(tree: Path) -> str:
    """For a tree that wheels.py unpacked: the first file that is not as long as it was then."""
    manifest = tree / MANIFEST
    if not manifest.is_file():
        return ""
    for line in manifest.read_text().splitlines():
        size, _, name = line.partition(" ")
        path = tree / name
        if not path.is_file():
            return f"{name} is missing"
        if path.stat().st_size != int(size):
            return f"{name} has {path.stat().st_size} bytes and should have {size}"
    return ""


def unloadable(library: Path) -> str:
    """Loads it in a process of its own: a cut file, another machine's, a library it lacks."""
    loaded = subprocess.run([sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])",
                             str(library)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, universal_newlines=True, cwd="/")
    if loaded.returncode == 0:
        return ""
    last = (loaded.stderr.strip().splitlines() or [""])[-1]
    why = last.partition("OSError: ")[2] or f"status {loaded.returncode}"
    return f"{library.name} does not load ({why})"


def cuda_libs_beside(root: Path) -> str:
    """The folder of libcudart and libcupti, which a CUDA build's libtorch_cpu.so asks for."""
    found = sorted((root.parent / "nvidia").glob("cu[0-9]*/lib/libcudart.so.*"))
    return str(found[-1].parent) if found else ""


def from_variable(path: str) -> Torch:
    try:
        return examine(path)
    except Unfit as unfit:
        if unfit.kind == "absent":
            raise messages.no_such_torch(path)
        if unfit.kind == "version":
            raise messages.wrong_version(str(unfit.root), unfit.what)
        raise messages.torch_damaged(str(unfit.root), unfit.what)


def pythons() -> list:
    """The interpreters to ask: the active environment's first."""
    names = [os.path.join(os.environ[name], "bin", "python")
             for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if os.environ.get(name)]
    names += [shutil.which("python3"), "/usr/bin/python3"]
    return list(dict.fromkeys(name for name in names if name and os.access(name, os.X_OK)))


def from_environment(say) -> Torch:
    """The PyTorch of an installed Python, or None; one that does not fit is named and passed."""
    ask = ("import importlib.util as u; s = u.find_spec('torch'); "
           "print((s.submodule_search_locations or [''])[0] if s else '')")
    seen = set()
    for python in pythons():
        try:
            told = subprocess.run([python, "-c", ask], stdin=subprocess.DEVNULL, cwd="/",
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=30,
                                  universal_newlines=True)
        except (OSError, subprocess.TimeoutExpired):
            continue
        folder = told.stdout.strip()
        if told.returncode != 0 or not folder or folder in seen:
            continue
        seen.add(folder)
        try:
            return examine(folder)
        except Unfit as unfit:
            why = f"is {unfit.what}, not {messages.NEEDED}" if unfit.kind == "version" else \
                f"does not serve: {unfit.what}"
            say.line(f"The PyTorch in {folder} {why}; passed over.")
    return None
