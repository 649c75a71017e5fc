"""Writes .gradlab/toolchain, configures with CMake and builds the command itself.

Labs, judges and tests are not built here: the command asks ninja for them when they are needed.
"""
from __future__ import annotations

import fcntl
import re
import shutil
from pathlib import Path

import messages
from say import Say, run_logged

SLOWER = ("clang++-19 is not installed, so g++ is used. It is slower: about 10 s instead of 1 s a "
          "check.\nFor the quick one: sudo apt-get install clang-19, then ./gradlab setup")


def write_if_changed(path: Path, text: str) -> bool:
    if path.is_file() and path.read_text() == text:
        return False
    part = path.with_name(path.name + ".part")
    part.write_text(text)
    part.replace(path)
    return True


def read_pairs(path: Path) -> dict:
    if not path.is_file():
        return {}
    pairs = (line.partition("=") for line in path.read_text().splitlines())
    return {key: value for key, _, value in pairs}


def find_compiler() -> str:
    for name in ("clang++-19", "/usr/lib/llvm-19/bin/clang++", "g++"):
        path = shutil.which(name)
        if path:
            return path
    raise messages.no_compiler()


def write_toolchain(root: Path, torch, compiler: str, profile: str, say: Say) -> None:
    path = root / ".gradlab/toolchain"
    if compiler != read_pairs(path).get("COMPILER") and "clang" not in compiler:
        say.line(SLOWER)
    write_if_changed(path, f"TORCH={torch.root}\nTORCH_VERSION={torch.version}\n"
                     f"CUDA_LIBS={torch.cuda_libs}\nCOMPILER={compiler}\nPROFILE={profile}\n")


def is_configured(folder: Path, root: Path, compiler: str) -> bool:
    """Whether the build folder is of this place and this compiler. (Another LibTorch makes ninja
    configure again by itself: the build depends on .gradlab/toolchain.)"""
    if not (folder / "build.ninja").is_file() or not (folder / "CMakeCache.txt").is_file():
        return False
    cache = (folder / "CMakeCache.txt").read_text(errors="replace")
    home = re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", cache, re.MULTILINE)
    used = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache, re.MULTILINE)
    return bool(home and home.group(1) == str(root) and used and used.group(1) == compiler)


def build(root: Path, torch, compiler: str, say: Say) -> None:
    for tool in ("cmake", "ninja"):
        if not shutil.which(tool):
            raise messages.tool_missing(tool)
    folder = root / "build/release"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "a+") as lock:  # the command's own builds take the same lock
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_configured(folder, root, compiler):
            say.line(f"Configuring the build ({Path(compiler).name}, LibTorch {torch.version})")
            status, tail = run_logged(say, ["cmake", "--fresh", "--preset", "release",
                                            f"-DCMAKE_CXX_COMPILER={compiler}"], cwd=root)
            if status != 0:
                raise messages.build_failed("configured", tail)
        if not (folder / "bin/gradlab").is_file():
            say.line("Building the command")
        status, tail = run_logged(say, ["ninja", "-C", str(folder), "gradlab"],
                                  lambda line: show(line, say))
        say.close_bar()
    if status != 0:
        raise messages.build_failed("built", tail)


def show(line: str, say: Say) -> bool:
    match = re.match(r"\[(\d+)/(\d+)\] ", line)
    if match:
        say.progress("building", int(match.group(1)), int(match.group(2)))
    return bool(match)
