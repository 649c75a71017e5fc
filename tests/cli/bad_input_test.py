"""What goes wrong before a line of a hand-in runs: each has its own message and its own exit
status, and nothing is lost. A user's wrong word ends with 2, a fault of the machine with 3."""
import csv
import json
import os
import re
import shutil
import socket
import stat
import subprocess
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("GRADLAB_ROOT") or Path(__file__).resolve().parents[2])
SKELETON = (ROOT / "labs/clipping/clipping.cpp").read_bytes()
HAS_MOUNT = subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0
needs_mount = pytest.mark.skipif(not HAS_MOUNT, reason="needs root, to cover a file in a mount "
                                                       "namespace of its own")


def put(path, content=SKELETON):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def records_of(out):
    records = [json.loads(file.read_text()) for file in (out / "records").iterdir()]
    return {record["student"]: record for record in records}


@pytest.fixture
def grade(gradlab, tmp_path):
    """Grades tmp_path/class into tmp_path/out."""
    (tmp_path / "class").mkdir()

    def run(*args, lab="clipping"):
        return gradlab("grade", tmp_path / "class", "--lab", lab, "--out", tmp_path / "out",
                       "--seed", "1", *args)
    return run


# ---- The command line names what is not there.

@pytest.mark.parametrize("args, status, words", [
    (["/nowhere"], 2, "/nowhere: no such folder; name one with a folder or a file a student"),
    (["/etc/passwd"], 2, "/etc/passwd: is a file, not a folder"),
    (["/dev/null"], 2, "/dev/null: is a device, not a folder"),
    (["tests/class", "--lab", "cliping"], 2, "unknown lab 'cliping'. Did you mean clipping?"),
    (["tests/class", "--jobs", "-2"], 2, "--jobs"),
    (["tests/class", "--isolation", "weak"], 2, "there is no isolation 'weak'"),
    (["docs"], 2, "docs: no such folder"),
])
def test_wrong_words_are_named(gradlab, tmp_path, args, status, words):
    ran = gradlab("grade", *args, "--out", tmp_path / "out")
    assert ran.returncode == status, ran.stderr
    assert words in ran.stderr and ran.stdout == ""
    assert not (tmp_path / "out").exists() or "--isolation" in args


def test_an_empty_folder(gradlab, tmp_path):
    (tmp_path / "class").mkdir()
    for lab in ([], ["--lab", "clipping"]):
        ran = gradlab("grade", tmp_path / "class", *lab, "--out", tmp_path / "out")
        assert ran.returncode == 2
        assert "class: is empty; name a folder with a folder or a file a student" in ran.stderr


def test_a_folder_without_hand_ins(grade, tmp_path):
    put(tmp_path / "class/readme.txt")
    ran = grade()
    assert ran.returncode == 2
    assert "holds no hand-in; each student is a folder with clipping.cpp or one .cpp" in ran.stderr


@pytest.mark.parametrize("args, words", [
    (["--file", "/nowhere.cpp"], "/nowhere.cpp: cannot be read (No such file or directory)"),
    (["--task", "9"], "clipping has no task 9"),
])
def test_check_names_what_is_wrong(gradlab, args, words):
    ran = gradlab("check", "clipping", *args)
    assert ran.returncode == 2 and words in ran.stderr


def test_replay_of_what_is_no_record(gradlab, tmp_path):
    for path, words in [(tmp_path / "none.json", "cannot be read"), (tmp_path, "it is a folder"),
                        (put(tmp_path / "half.json", b'{"schema": "gradlab/rec'), "half.json")]:
        ran = gradlab("replay", path)
        assert ran.returncode == 2 and words in ran.stderr, ran.stderr


# ---- A copy of the course with other labs. Only what is read before anything is built.

@pytest.fixture
def course(gradlab, tmp_path):
    root = tmp_path / "course"
    root.mkdir()
    shutil.copytree(ROOT / "labs", root / "labs")
    shutil.copy(ROOT / "gradlab", root / "gradlab")

    def run(*args):
        program = ROOT / "build/release/bin/gradlab"
        return subprocess.run([program, *map(str, args)], cwd=root, text=True, capture_output=True,
                              env={**os.environ, "GRADLAB_ROOT": str(root)})
    run.labs = root / "labs"
    return run


def test_two_labs_match(course, tmp_path):
    shutil.copytree(course.labs / "clipping", course.labs / "clipping_again")
    put(tmp_path / "class/ada/clipping.cpp")
    ran = course("grade", tmp_path / "class", "--out", tmp_path / "out")
    assert ran.returncode == 2
    assert "holds files of clipping and clipping_again; name one with --lab" in ran.stderr
    ran = course("grade", tmp_path / "class", "--lab", "clip", "--out", tmp_path / "out")
    assert ran.returncode == 2
    assert "two labs match 'clip': clipping and clipping_again" in ran.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("old, new, words", [
    ("points = 1 }", "points = -1 }", r"key '.*points'.*must be"),
    ("minutes = 45", "minuts = 45", r"'minuts'"),
    ('title = "Clip in place"', "title = Clip in place", r"lab\.toml:\d+"),
])
def test_a_broken_manifest_names_file_line_and_key(course, tmp_path, old, new, words):
    manifest = course.labs / "clipping/lab.toml"
    manifest.write_text(manifest.read_text().replace(old, new, 1))
    line = 1 + manifest.read_text()[:manifest.read_text().index(new)].count("\n")
    put(tmp_path / "class/ada/clipping.cpp")
    ran = course("grade", tmp_path / "class", "--lab", "clipping", "--out", tmp_path / "out")
    assert ran.returncode == 3
    assert f"labs/clipping/lab.toml:{line}:" in ran.stderr and re.search(words, ran.stderr)
    assert not (tmp_path / "out").exists()


# ---- Hand-ins that are no source files.

def make_fifo(path):
    os.mkfifo(path)


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as end:
        os.chdir(path.parent)
        end.bind(path.name)


def make_device(path):
    os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5))


def make_sparse(path):
    with open(path, "wb") as file:
        file.truncate(100 << 20)


REFUSED = {
    "link": (lambda path: path.symlink_to("/etc/passwd"), "forbidden",
             "clipping.cpp is a symbolic link; hand in the file itself"),
    "dangling": (lambda path: path.symlink_to("nowhere"), "forbidden", "is a symbolic link"),
    "fifo": (make_fifo, "forbidden", "clipping.cpp is a named pipe; hand in the file itself"),
    "socket": (make_socket, "forbidden", "clipping.cpp is a socket; hand in the file itself"),
    "folder": (lambda path: path.mkdir(), "forbidden", "clipping.cpp is a folder"),
    "100_mb": (make_sparse, "forbidden", "clipping.cpp is bigger than 256 KiB"),
    "binary": (lambda path: path.write_bytes(b"\x7fELF\0\0"), "compile_error",
               "clipping.cpp is no text: byte 5 is 0; hand in the source"),
    "latin1": (lambda path: path.write_bytes(b"// a\n// \xe4\n"), "compile_error",
               "clipping.cpp is not UTF-8 text at byte 9 (line 2); save it as UTF-8"),
    "utf16": (lambda path: path.write_bytes(SKELETON.decode().encode("utf-16")), "compile_error",
              "clipping.cpp is UTF-16 text; save it as UTF-8"),
    "empty": (lambda path: path.write_bytes(b""), "not_started", "clipping.cpp is empty"),
    "blank": (lambda path: path.write_bytes(b" \n\t\n"), "not_started", "clipping.cpp is empty"),
    "nothing": (lambda path: None, "not_started", "clipping.cpp is missing; nothing was handed in"),
    "two": (lambda path: [put(path.parent / name) for name in ("a.cpp", "b.cpp")], "not_started",
            "it could be any of a.cpp, b.cpp; rename the one that counts"),
}
if os.geteuid() == 0:
    REFUSED["device"] = (make_device, "forbidden", "clipping.cpp is a device")


def test_each_refused_hand_in_says_why_and_the_others_are_graded(grade, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, (make, _, _) in REFUSED.items():
        (tmp_path / "class" / name).mkdir()
        make(tmp_path / "class" / name / "clipping.cpp")
    put(tmp_path / "class/anna/clipping.cpp")
    (tmp_path / "class/whole_link").symlink_to(ROOT / "tests/class/amelie")
    os.mkfifo(tmp_path / "class/whole_fifo")
    ran = grade()
    assert ran.returncode == 0, ran.stderr
    records = records_of(tmp_path / "out")
    assert set(records) == {*REFUSED, "anna", "whole_link", "whole_fifo"}
    for name, (_, verdict, words) in REFUSED.items():
        record = records[name]
        assert (record["verdict"], record["score"]) == (verdict, 0), name
        assert words in record["message"], name
        assert record["files"] == [] or verdict in ("compile_error", "not_started")
    assert records["anna"]["verdict"] == "not_started" and records["anna"]["files"]
    assert "is a symbolic link" in records["whole_link"]["message"]
    assert "is a named pipe" in records["whole_fifo"]["message"]


def test_line_ends_and_a_byte_order_mark_are_no_fault(grade, tmp_path):
    put(tmp_path / "class/windows/clipping.cpp", b"\xef\xbb\xbf" + SKELETON.replace(b"\n", b"\r\n"))
    put(tmp_path / "class/renamed/my clipping (2).cpp")
    assert grade().returncode == 0
    records = records_of(tmp_path / "out")
    assert {record["verdict"] for record in records.values()} == {"not_started"}
    assert all(record["message"] == "" for record in records.values())
    assert records["renamed"]["notes"] == ["took my clipping (2).cpp as clipping.cpp"]


def test_what_is_nobodys_is_named(grade, tmp_path):
    put(tmp_path / "class/ada/clipping.cpp")
    put(tmp_path / "class/late.zip", b"PK")
    put(tmp_path / "class/..eve/clipping.cpp")
    ran = grade()
    assert "late.zip is no hand-in and was left alone; unpack it first" in ran.stderr
    assert "..eve is no hand-in and was left alone; its name begins with a dot" in ran.stderr
    assert set(records_of(tmp_path / "out")) == {"ada"}


NAMES = [b"; rm -rf $HOME", b"$(touch pwned)", b"`touch pwned`", b"\"a\" 'b'", b"two\nlines",
         b"=cmd()", b"+1", b"@sum", b"-rf", b"up\\..\\..", b"%2e%2e%2f", b"<script>alert(1)<",
         b"\x1b[2J\x07red",
         b"not \xff utf8", b"n" * 255, "\u202egnp.cpp".encode(), b" blank ", b"CON", b"*", b"|true"]


def test_hostile_names_are_only_names(grade, tmp_path):
    for name in NAMES:
        folder = os.path.join(os.fsencode(tmp_path), b"class", name)
        os.mkdir(folder)
        with open(os.path.join(folder, b"notes.txt"), "wb") as file:
            file.write(b"later")
    put(tmp_path / "class/ada/clipping.cpp")
    ran = grade()
    assert ran.returncode == 0, ran.stderr
    out = tmp_path / "out"
    assert len(records_of(out)) == len(NAMES) + 1
    # No name acts: not as a command, not on a terminal, not as a path, in a page or in a sheet.
    assert not list(tmp_path.rglob("pwned")) and not (ROOT / "pwned").exists()
    assert "\x1b" not in ran.stdout + ran.stderr and "\u202e" not in ran.stdout + ran.stderr
    assert all("two\nlines" not in text for text in (ran.stdout, ran.stderr))
    assert {p.name for p in tmp_path.iterdir()} == {"class", "out"}
    assert all(path.parent == out / "records" for path in (out / "records").rglob("*"))
    for page in (out / "report").rglob("*.html"):
        assert "<script>alert" not in page.read_text(errors="replace")
    with open(out / "grades.csv", newline="", encoding="utf-8") as file:
        cells = [row["student"] for row in csv.DictReader(file)]
    assert len(cells) == len(NAMES) + 1
    assert not [cell for cell in cells if cell[0] in "=+-@\t\r"]


def test_an_unreadable_hand_in_is_no_zero(grade, gradlab, tmp_path):
    put(tmp_path / "class/ada/clipping.cpp")
    hidden = put(tmp_path / "class/bob/clipping.cpp")
    if os.geteuid() == 0 and not HAS_MOUNT:
        pytest.skip("root reads everything, and no file system here refuses it")
    if os.geteuid() == 0:
        # A file that fails to be read, whoever reads it: the memory of a process, at address 0.
        script = 'mount --bind /proc/$$/mem "$0" && exec "$@"'
        ran = subprocess.run(
            ["unshare", "--mount", "sh", "-c", script, hidden, ROOT / "gradlab", "grade",
             tmp_path / "class", "--lab", "clipping", "--out", tmp_path / "out"],
            text=True, capture_output=True, cwd=ROOT)
    else:
        hidden.chmod(0)
        ran = grade()
    assert ran.returncode == 3, ran.stderr
    records = records_of(tmp_path / "out")
    assert records["ada"]["score"] == 0 and records["ada"]["verdict"] == "not_started"
    assert records["bob"]["score"] is None and records["bob"]["verdict"] == "grader_error"
    assert "clipping.cpp cannot be read (" in records["bob"]["message"]
    assert "make it readable and grade this hand-in again" in records["bob"]["message"]


# ---- A machine that cannot isolate.

def under_broken_bwrap(tmp_path, says, *args, env=None):
    """Runs the command where /usr/bin/bwrap is a program that says so and fails."""
    fake = tmp_path / "bwrap"
    fake.write_text(f"#!/bin/sh\necho '{says}' >&2\nexit 1\n")
    fake.chmod(0o755)
    script = 'mount --bind "$0" /usr/bin/bwrap && exec "$@"'
    return subprocess.run(["unshare", "--mount", "sh", "-c", script, fake, *map(str, args)],
                          text=True, capture_output=True, cwd=ROOT,
                          env={**os.environ, **(env or {})})


@needs_mount
@pytest.mark.parametrize("says, remedy", [
    ("bwrap: No permissions to create new namespace, likely because the kernel does not allow it",
     "--security-opt seccomp=unconfined"),
    ("bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces "
     "exceeded (ENOSPC)", "user.max_user_namespaces"),
])
def test_grade_refuses_without_isolation_and_names_the_remedy(tmp_path, says, remedy):
    put(tmp_path / "class/ada/clipping.cpp")
    ran = under_broken_bwrap(tmp_path, says, ROOT / "gradlab", "grade", tmp_path / "class",
                             "--lab", "clipping", "--out", tmp_path / "out")
    assert ran.returncode == 3
    assert "no isolation on this machine" in ran.stderr and remedy in ran.stderr
    assert "Nothing was graded and no attempt is used up" in ran.stderr
    assert "--isolation none" in ran.stderr
    assert not list((tmp_path / "out").rglob("*.json")) or records_of(tmp_path / "out") == {}


@needs_mount
def test_check_goes_on_without_isolation_and_says_so_once(tmp_path):
    # A state folder of its own: this machine's user must still be told when it happens here.
    root = tmp_path / "course"
    root.mkdir()
    for entry in ROOT.iterdir():
        if entry.name not in (".git", ".gradlab", "work", "results"):
            (root / entry.name).symlink_to(entry)
    (root / ".gradlab").mkdir()
    for name in ("toolchain", "ready"):
        text = (ROOT / ".gradlab" / name).read_text()
        (root / ".gradlab" / name).write_text(text.replace(f"ROOT={ROOT}\n", f"ROOT={root}\n"))
    mine = put(tmp_path / "mine.cpp")
    for told in (True, False):
        ran = under_broken_bwrap(
            tmp_path, "bwrap: No permissions to create new namespace",
            ROOT / "build/release/bin/gradlab", "check", "clipping", "--file", mine,
            env={"GRADLAB_ROOT": str(root)})
        assert ran.returncode == 1, ran.stderr
        assert "not started" in ran.stdout
        assert ("your file runs without isolation here" in ran.stderr) == told, ran.stderr
        assert ("--security-opt seccomp=unconfined" in ran.stderr) == told
