"""Debian packages: which are missing, and their installation by apt-get.

Installs only as root or where sudo asks for no password; otherwise the exact line is told.
"""
from __future__ import annotations

import os
import re
import shutil
import subprocess

import messages
from say import Say, run_logged

KEEP_WAITING = ["-o", "DPkg::Lock::Timeout=300"]  # another apt may be at work on a new machine


def read_lists(path) -> dict:
    """{section: [[name, what will do instead, ...], ...]} of packages.txt."""
    lists, section = {}, None
    with open(path) as text:
        for line in text:
            line = line.split("#")[0].strip()
            if line.startswith("["):
                section = lists.setdefault(line.strip("[]"), [])
            elif line:
                section.append([name.strip() for name in line.split("|")])
    return lists


def installed_of(names: list) -> set:
    told = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status} ${Package}\n"] + names,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          universal_newlines=True)
    return {line.split()[1] for line in told.stdout.splitlines() if line.startswith("installed ")}


def offered_of(names: list) -> set:
    """Those of the names that the package sources have; empty before a first apt-get update."""
    told = subprocess.run(["apt-cache", "policy"] + names, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, universal_newlines=True,
                          env=dict(os.environ, LC_ALL="C"))
    return set(re.findall(r"^(\S+):\n  Installed: .*\n  Candidate: (?!\(none\))", told.stdout,
                          re.MULTILINE))


def rights() -> list:
    """The words to put before a command that needs root, or None where root can't be had."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo"):
        asked = subprocess.run(["sudo", "-n", "true"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if asked.returncode == 0:
            return ["sudo", "-n"]
    return None


def ensure(groups: list, say: Say) -> None:
    """Brings in the first name of each group, or another of it where that can't be had."""
    if not shutil.which("dpkg-query"):
        if say.spoke:
            say.line("This is no Debian: its packages are not looked at. The build names what is "
                     "missing; the list is autograder/setup/packages.txt.")
        return
    have = installed_of([name for group in groups for name in group])
    absent = [group for group in groups if group[0] not in have]
    needed = [group for group in absent if not have.intersection(group)]
    if not absent:
        return
    root = rights()
    if root is None:
        if needed:
            names = [group[0] for group in absent]
            line = "sudo apt-get install --no-install-recommends " + " ".join(names)
            if not offered_of(names):
                line = "sudo apt-get update && " + line
            raise messages.packages_needed(line, f"{len(names)} Debian packages are missing, and "
                                           "only root may install them.")
        return
    install(choose(absent, needed, root, say), root, say)


def choose(absent: list, needed: list, root: list, say: Say) -> list:
    every = [name for group in absent for name in group]
    offered = offered_of(every)
    if any(group[0] not in offered for group in absent):
        update(root, say)
        offered = offered_of(every)
    unknown = [group[0] for group in needed if not offered.intersection(group)]
    if unknown:
        raise messages.package_unknown(unknown)
    chosen = [next((name for name in group if name in offered), None) for group in absent]
    return list(dict.fromkeys(name for name in chosen if name))


def as_root(root: list, command: list) -> list:
    return root + ["env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C"] + command


def update(root: list, say: Say) -> None:
    say.line("Reading the lists of Debian packages (apt-get update)")
    status, tail = run_logged(say, as_root(root, ["apt-get", "update"] + KEEP_WAITING),
                              own_session=True)
    if status != 0:
        raise messages.packages_failed(tail)


def install(names: list, root: list, say: Say) -> None:
    if not names:
        return
    say.line(f"Debian packages: {len(names)} to install{sizes(names)}\n  " + " ".join(names))
    command = as_root(root, ["apt-get", "install", "-y", "--no-install-recommends",
                             "-o", "APT::Status-Fd=1", "-o", "Dpkg::Use-Pty=0"]
                      + KEEP_WAITING + names)

    def attempt():
        return run_logged(say, command, lambda line: show(line, say), own_session=True)

    status, tail = attempt()
    text = "\n".join(tail)
    if status != 0 and "dpkg --configure -a" in text:  # an earlier installation was cut
        run_logged(say, as_root(root, ["dpkg", "--configure", "-a"]), own_session=True)
        status, tail = attempt()
    elif status != 0 and ("404 " in text or "Unable to fetch" in text):  # lists of long ago
        update(root, say)
        status, tail = attempt()
    say.close_bar()
    if status != 0:
        raise messages.packages_failed(tail)


def sizes(names: list) -> str:
    """What apt-get says about the sizes, and the space there is; empty where it can't tell."""
    told = subprocess.run(["apt-get", "install", "--no-install-recommends", "--assume-no"] + names,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, universal_newlines=True,
                          env=dict(os.environ, LC_ALL="C")).stdout
    load = re.search(r"Need to get (?:[\d.,]+ ?\w*/)?([\d.,]+ \w+) of archives", told)
    disk = re.search(r"After this operation, ([\d.,]+ \w+) of additional", told)
    if not load or not disk:
        return ""
    free = shutil.disk_usage("/usr").free
    return (f": {load.group(1)} to download, {disk.group(1)} on disk; "
            f"{free / 1e9:.0f} GB free in /usr")


def show(line: str, say: Say) -> bool:
    """True where the line is one of apt's progress reports."""
    match = re.match(r"(dl|pm)status:[^:]*:([\d.]+):", line)
    if match:
        step = "downloading" if match.group(1) == "dl" else "installing"
        say.progress(f"packages: {step}", float(match.group(2)), 100)
    return bool(match)
