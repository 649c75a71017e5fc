"""compile_commands.json and .clangd at the root, so that an editor just works.

Entries for every work/<slug>.cpp (also before it exists), labs/ and answers, and for an instructor
gradlab's own files as its build compiles them. Never with precompiled-header flags: an editor's
clangd is another build than the compiler, and would refuse them.
"""
from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

from build import read_pairs, write_if_changed

CLANGD = """\
# Written by gradlab's set-up; changes are overwritten.
CompileFlags:
  CompilationDatabase: .
# Every file in the background costs 15 s of a core with LibTorch's headers: not on a student's.
Index:
  Background: {}
---
# A hand-in is the student's: warnings of the compiler, but not this project's lint.
If:
  PathMatch: work/.*
Diagnostics:
  ClangTidy:
    Remove: '*'
  UnusedIncludes: None
"""


def flags(root: Path, torch: str, compiler: str, slug: str) -> list:
    mangling = ["-fclang-abi-compat=17"] if "clang" in compiler else []  # LibTorch's, g++'s own
    return [compiler, "-std=c++20", "-O1", "-Wall", "-Wextra", *mangling,
            "-isystem", f"{torch}/include",
            "-isystem", f"{torch}/include/torch/csrc/api/include",
            "-I", str(root / "labs/common"), "-I", str(root / "labs" / slug),
            "-I", str(root / "autograder"),
            *(word for name in libraries(root, slug)
              for word in ("-I", str(root / "reference" / name / "include")))]


def libraries(root: Path, slug: str) -> list:
    """Of ours, that the lab's hand-ins may use, as cmake/targets.cmake reads them: Python has a reader
    of TOML from 3.11 on only."""
    manifest = (root / "labs" / slug / "lab.toml").read_text(encoding="utf-8", errors="replace")
    named = re.search(r"^libraries *= *\[([^]]*)\]", manifest, re.MULTILINE)
    return re.findall(r'"([a-z0-9_]+)"', named.group(1)) if named else []


def lab_files(root: Path, slug: str) -> list:
    yield root / "work" / f"{slug}.cpp"
    yield from sorted((root / "labs" / slug).glob("*.cpp"))
    yield from (root / "reference" / slug).glob("answer.cpp")


def without_precompiled_headers(command: str) -> list:
    """A build's command line less -include-pch FILE and the forced include that goes with it."""
    kept, words = [], iter(shlex.split(command))
    for word in words:
        if word in ("-Xclang", "-include"):
            value = next(words, "")
            if value not in ("-include-pch", "-include") and "cmake_pch" not in value:
                kept += [word, value]
        elif word not in ("-Winvalid-pch", "-fpch-instantiate-templates"):
            kept.append(word)
    return kept


def own_entries(root: Path, seen: set) -> list:
    database = root / "build/release/compile_commands.json"
    try:
        built = json.loads(database.read_text())
    except (OSError, ValueError):
        return []
    entries = []
    for entry in built:
        path = entry["file"]
        if path in seen or path.startswith(str(root / "build")):
            continue
        seen.add(path)
        words = entry.get("arguments") or without_precompiled_headers(entry["command"])
        entries.append({"directory": entry["directory"], "file": path, "arguments": words})
    return entries


def write(root: Path) -> None:
    pairs = read_pairs(root / ".gradlab/toolchain")
    torch, compiler = pairs.get("TORCH"), pairs.get("COMPILER")
    if not torch or not compiler:
        return
    entries = []
    for manifest in sorted((root / "labs").glob("*/lab.toml")):
        slug = manifest.parent.name
        for path in lab_files(root, slug):
            entries.append({"directory": str(root), "file": str(path),
                            "arguments": flags(root, torch, compiler, slug)
                            + ["-c", str(path)]})
    instructor = pairs.get("PROFILE") == "instructor"
    if instructor:
        entries += own_entries(root, {entry["file"] for entry in entries})
    write_if_changed(root / "compile_commands.json", json.dumps(entries, indent=1) + "\n")
    write_if_changed(root / ".clangd", CLANGD.format("Build" if instructor else "Skip"))
