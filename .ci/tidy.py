#!/usr/bin/env python3
"""clang-tidy over the files named on standard input, two dozen a unit.

LibTorch's headers are most of a file's tree, and clang-tidy 19 walks all of it for every file: a unit that
includes two dozen of ours costs what one file costs alone. Files whose own names (anonymous namespaces)
clash in a unit are taken out of it and looked at in units of their own, until none clash. Exit status 1 with
a finding, 2 where a unit cannot be read at all.

usage: git ls-files '*.cpp' | .ci/tidy.py BUILD_FOLDER"""
import collections
import json
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES_A_UNIT = 24
FINDING = re.compile(r"^(?P<file>/\S+?):\d+:\d+: (?P<kind>warning|error): .*\[(?P<check>[\w.,-]+)\]$")


def flags_of_files(build, wanted):
    """{(flags, folder of the compile): [file]}, in the order of their names."""
    groups = collections.defaultdict(list)
    commands = json.loads((build / "compile_commands.json").read_text())
    first = {entry["file"]: entry for entry in reversed(commands)}
    for file in sorted(wanted):
        if file in first:  # labs' skeletons are compiled for students only
            entry = first[file]
            flags = re.sub(r" -o \S+ -c \S+$", "", entry["command"])
            groups[flags, entry["directory"]].append(file)
    return groups


def parts(files):
    count = -(-len(files) // FILES_A_UNIT)
    return [files[len(files) * k // count:len(files) * (k + 1) // count] for k in range(count)]


class Units:
    def __init__(self, folder):
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        self.database = []
        self.looked_at = {}

    def write(self, flags, directory, files):
        unit = self.folder / f"unit_{len(self.database):03}.cpp"
        unit.write_text("".join(f'#include "{file}"  // NOLINT(bugprone-suspicious-include)\n'
                                for file in files))
        self.database.append({"directory": directory, "file": str(unit),
                              "command": f"{flags} -c {unit}"})
        self.looked_at[unit] = (flags, directory, files)
        return unit

    def tidy(self, units):
        (self.folder / "compile_commands.json").write_text(json.dumps(self.database, indent=1))
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(self.tidy_one, units))

    def tidy_one(self, unit):
        ran = subprocess.run(
            ["clang-tidy-19", "-quiet", f"--config-file={ROOT / '.clang-tidy'}",
             "--extra-arg=-ferror-limit=0", "--extra-arg=-Wno-shadow", "-p", self.folder, unit],
            text=True, capture_output=True)
        return unit, ran


def clashing(ran, files):
    """Which of them the compiler stumbles over; none where the unit can be read."""
    found = [FINDING.match(line) for line in ran.stdout.splitlines()]
    return [file for file in files
            if any(line and line["file"] == file and line["check"].startswith("clang-diagnostic")
                   for line in found)]


def look_at(units, todo):
    """[text of a finding], {file that cannot be read alone: what clang-tidy said}."""
    findings, unreadable = [], {}
    while todo:
        again = []
        for unit, ran in units.tidy([units.write(*each) for each in todo]):
            flags, directory, files = units.looked_at[unit]
            out = clashing(ran, files)
            if ran.returncode == 0:
                continue
            if len(files) == 1 or not (out or FINDING.search(ran.stdout)):
                (findings.append(ran.stdout) if ran.stdout.strip()
                 else unreadable.update({files[0]: ran.stderr}))
            elif out:  # clang-tidy skips what follows an error: both parts are looked at anew
                rest = [file for file in files if file not in out]
                again += [(flags, directory, part) for part in (out, rest) if part]
                if not rest:
                    again[-1:] = [(flags, directory, [file]) for file in out]
            else:
                findings.append(ran.stdout)
        todo = again
    return findings, unreadable


def main():
    build = Path(sys.argv[1]).resolve()
    wanted = {str(ROOT / line.strip()) for line in sys.stdin if line.strip()}
    groups = flags_of_files(build, wanted)
    units = Units(build / "tidy")
    findings, unreadable = look_at(
        units, [(*key, part) for key, files in groups.items() for part in parts(files)])
    print("".join(findings), end="")
    for file, said in unreadable.items():
        print(f"clang-tidy cannot read {file}:\n{said}")
    if findings or unreadable:
        return 1
    print(f"clang-tidy finds nothing in {sum(map(len, groups.values()))} files"
          f" ({len(units.database)} units)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
