"""LibTorch from its three pinned wheels: from a folder (GRADLAB_WHEELS) or fetched with pip.

Only what C++ needs is unpacked. Everything is written beside its place and renamed when it is
whole, so that an interruption at any moment leaves nothing half done.
"""
from __future__ import annotations

import fnmatch
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from collections import namedtuple
from pathlib import Path

import messages
from libtorch import MANIFEST, VERSION
from say import Say, megabytes, run_logged

HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE / "torch-requirements.txt"
DOWNLOAD = 544_000_000  # bytes of the three wheels
ON_DISK = 523_000_000   # bytes unpacked
BUILD = 500_000_000     # bytes for gradlab's own build and its caches
WANTED = ["torch/include/*", "torch/version.py", "torch/lib/libtorch_cpu.so",
          "torch/lib/libc10.so", "torch/lib/libgomp*.so*", "nvidia/cu13/lib/libcudart.so.13",
          "nvidia/cu13/lib/libcupti.so.13"]
# Any Python fetches the same files: nothing here depends on the one that runs pip.
TARGET = ["--no-deps", "--require-hashes", "--only-binary=:all:", "--python-version", "3.11",
          "--implementation", "cp", "--abi", "cp311", "--platform", "manylinux_2_28_x86_64",
          "--platform", "manylinux_2_25_x86_64", "--platform", "manylinux2014_x86_64",
          "--platform", "manylinux_2_17_x86_64"]

Pin = namedtuple("Pin", "name version sha256")


def pins() -> list:
    lines = re.findall(r"^([\w-]+)==(\S+) --hash=sha256:(\w{64})$", REQUIREMENTS.read_text(),
                       re.MULTILINE)
    return [Pin(*line) for line in lines]


def find(folder: Path, pin: Pin):
    start = f"{pin.name.replace('-', '_')}-{pin.version}-"
    return next((path for path in sorted(folder.glob("*.whl")) if path.name.startswith(start)),
                None)


def fetch_line() -> str:
    return "python3 autograder/setup/setup.py wheels FOLDER"


def sha256_of(path: Path, say: Say) -> str:
    digest, done, size = hashlib.sha256(), 0, path.stat().st_size
    with open(path, "rb") as data:
        for block in iter(lambda: data.read(1 << 20), b""):
            digest.update(block)
            done += len(block)
            if size > 100_000_000:
                say.progress("checking the wheels", done, size)
    return digest.hexdigest()


def verified(folder: Path, say: Say) -> list:
    """The three wheels of the folder, each with the pinned hash; raises SetupError."""
    found = {pin: find(folder, pin) for pin in pins()}
    missing = [f"{pin.name} {pin.version}" for pin, path in found.items() if path is None]
    if missing:
        raise messages.wheel_missing(str(folder), missing, fetch_line())
    for pin, path in found.items():
        got = sha256_of(path, say)
        if got != pin.sha256:
            raise messages.wheel_differs(str(path), got, pin.sha256, fetch_line())
    return list(found.values())


def ensure_space(folder: Path, need: int) -> int:
    free = shutil.disk_usage(folder).free
    if free < need:
        raise messages.too_little_space(str(folder), megabytes(free), megabytes(need))
    return free


def provide(state: Path, say: Say) -> Path:
    """Puts LibTorch into the state folder; returns its tree."""
    given, kept = os.environ.get("GRADLAB_WHEELS"), state / "wheels"
    fetched_before = all(find(kept, pin) for pin in pins())
    load = 0 if given or fetched_before else DOWNLOAD
    free = ensure_space(state, load + ON_DISK + BUILD)
    say.line(f"LibTorch {VERSION}: " + (f"{megabytes(load)} to download, " if load else "")
             + f"{megabytes(ON_DISK)} on disk; {megabytes(free)} free")
    if given:
        wheels = verified(Path(given).expanduser().resolve(), say)
    else:
        wheels = fetched(kept, say)
    tree = unpack(wheels, state / f"libtorch-{VERSION}", say)
    shutil.rmtree(kept, ignore_errors=True)
    return tree


def fetched(folder: Path, say: Say) -> list:
    """The wheels an interrupted set-up left, if they are whole; else from pip."""
    if all(find(folder, pin) for pin in pins()):
        try:
            return verified(folder, say)
        except messages.SetupError:
            shutil.rmtree(folder)
    download(folder, say)
    return verified(folder, say)


def python_with_pip():
    for python in dict.fromkeys([sys.executable, "/usr/bin/python3", shutil.which("python3")]):
        if python and subprocess.run([python, "-m", "pip", "--version"], cwd="/",
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


def download(folder: Path, say: Say) -> None:
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise messages.unsupported_machine(f"{platform.system()} on {platform.machine()}")
    python = python_with_pip()
    if python is None:
        raise messages.tool_missing("pip")
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    say.line("Fetching the three wheels with pip (hashes pinned)")
    stop = threading.Event()
    watch = threading.Thread(target=watch_size, args=(part, stop, say), daemon=True)
    watch.start()
    try:
        # TMPDIR: where pip writes while it downloads; /tmp may be small, and is not watched.
        status, tail = run_logged(
            say, [python, "-m", "pip", "download", "--no-cache-dir", "--no-input",
                  "--progress-bar", "off", "-r", str(REQUIREMENTS), "-d", str(part)] + TARGET,
            env=dict(os.environ, TMPDIR=str(part), PIP_REQUIRE_VIRTUALENV="0",
                     PIP_DISABLE_PIP_VERSION_CHECK="1"))
    finally:
        stop.set()
        watch.join()
        say.close_bar()
    if status != 0:
        shutil.rmtree(part, ignore_errors=True)
        changed = any("DO NOT MATCH THE HASHES" in line for line in tail)
        raise (messages.fetched_differs if changed else messages.fetch_failed)(tail)
    folder.mkdir(exist_ok=True)
    for path in part.glob("*.whl"):
        path.replace(folder / path.name)
    shutil.rmtree(part)


def watch_size(folder: Path, stop: threading.Event, say: Say) -> None:
    while not stop.wait(0.5):
        size = 0
        for place, _, names in os.walk(folder):
            for name in names:
                try:
                    size += os.stat(os.path.join(place, name)).st_size
                except FileNotFoundError:
                    pass
        say.progress("downloading LibTorch", size, DOWNLOAD)


def wanted_of(wheel: Path) -> list:
    with zipfile.ZipFile(wheel) as archive:
        return [member for member in archive.infolist() if not member.is_dir()
                and any(fnmatch.fnmatch(member.filename, pattern) for pattern in WANTED)]


def unpack(wheels: list, tree: Path, say: Say) -> Path:
    part = tree.with_name(tree.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    members = {wheel: wanted_of(wheel) for wheel in wheels}
    total = sum(member.file_size for chosen in members.values() for member in chosen)
    done, manifest = 0, []
    for wheel, chosen in members.items():
        with zipfile.ZipFile(wheel) as archive:
            for member in chosen:
                place = part / member.filename
                place.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(member) as source, open(place, "wb") as target:
                    for block in iter(lambda: source.read(1 << 20), b""):
                        target.write(block)
                        done += len(block)
                        say.progress("unpacking LibTorch", done, total)
                manifest.append(f"{member.file_size} {member.filename}")
    say.close_bar()
    (part / MANIFEST).write_text("\n".join(sorted(manifest)) + "\n")
    shutil.rmtree(tree, ignore_errors=True)
    part.rename(tree)
    return tree
