"""The launcher and its set-up, on a machine of stand-ins (fake_machine.py): what a person sees on a
first run, a second run, a bad LibTorch, no rights, an interruption."""
import fcntl
import os
import shutil
import signal
import subprocess
import time

import pytest

from fake_machine import Machine, make_torch, make_wheels


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


@pytest.fixture
def ready(machine, tmp_path):
    """Set up, with the LibTorch that GRADLAB_TORCH named."""
    machine.torch = make_torch(tmp_path / "given/torch")
    first = machine.run("check", GRADLAB_TORCH=str(machine.torch))
    assert first.returncode == 0, first.stderr
    return machine


def test_first_run_sets_up_and_then_runs_the_command(machine, tmp_path):
    wheels = make_wheels(tmp_path / "wheels", machine.setup)
    ran = machine.run("check", "clipping", GRADLAB_WHEELS=str(wheels))
    assert ran.stdout == f"built {machine.root} check clipping\n", ran.stderr
    assert "LibTorch 2.11.0" in ran.stderr and "free" in ran.stderr
    tree = machine.root / ".gradlab/libtorch-2.11.0"
    assert (tree / "torch/lib/libtorch_cpu.so").is_file()
    assert (tree / "nvidia/cu13/lib/libcudart.so.13").is_file()
    assert not (tree / "torch/lib/libtorch_cuda.so").exists()
    assert "PROFILE=student" in (machine.root / ".gradlab/toolchain").read_text()


def test_second_run_starts_no_program(ready):
    ready.set_up_again_is_visible()
    ran = ready.run("check", PATH="", GRADLAB_TORCH=str(ready.torch))
    assert (ran.stdout, ran.stderr, ran.returncode) == (f"built {ready.root} check\n", "", 0)


def test_a_link_to_the_launcher_finds_its_tree(ready, tmp_path):
    (tmp_path / "link").symlink_to(ready.root / "gradlab")
    (tmp_path / "second link").symlink_to("link")
    ran = ready.run("list", launcher=tmp_path / "second link")
    assert ran.stdout == f"built {ready.root} list\n", ran.stderr


def test_set_up_again_with_nothing_missing_is_silent(ready):
    os.remove(ready.root / ".gradlab/ready")
    ran = ready.run("check")
    assert (ran.stdout, ran.stderr) == (f"built {ready.root} check\n", "")


def commit_later(root):
    (root / ".git/logs").mkdir(parents=True)
    (root / ".git/logs/HEAD").write_text("")
    os.utime(root / ".git/logs/HEAD", (time.time() + 60,) * 2)


@pytest.mark.parametrize("change, verb, need", [
    (lambda m: (m.setup / "pins").write_text("set-up 99\n"), "check", "student"),
    (lambda m: shutil.rmtree(m.torch), "check", "student"),
    (lambda m: os.utime(m.setup / "packages.txt", (time.time() + 60,) * 2), "hint", "student"),
    (lambda m: os.utime(m.torch / "version.py", (time.time() + 60,) * 2), "check", "student"),
    (lambda m: os.remove(m.root / "build/release/bin/gradlab"), "list", "student"),
    (lambda m: commit_later(m.root), "list", "student"),
    (lambda m: m.environment.update(GRADLAB_TORCH="/elsewhere"), "check", "student"),
    (lambda m: None, "grade", "instructor"),
], ids=["pins", "torch gone", "packages", "torch replaced", "no binary", "a pull", "other torch", "grade"])
def test_what_makes_it_set_up_again(ready, change, verb, need):
    ready.set_up_again_is_visible()
    change(ready)
    ran = ready.run(verb)
    assert (ran.stdout, ran.returncode) == (f"set-up install {need}\n", 7)


def test_help_before_the_set_up_fetches_nothing(machine):
    ran = machine.run("--help")
    assert ran.returncode == 0 and "./gradlab start LAB" in ran.stdout
    assert not (machine.root / ".gradlab").exists()


def test_variable_comes_before_the_environment_and_that_before_wheels(machine, tmp_path):
    given = make_torch(tmp_path / "given/torch")
    venv = tmp_path / "venv/lib/python3/site-packages"
    inside = make_torch(venv / "torch", "2.11.1+cpu")
    (inside / "__init__.py").write_text("raise SystemExit('imported')\n")
    (tmp_path / "venv/bin").mkdir()
    python = tmp_path / "venv/bin/python"
    python.write_text(f"#!/bin/sh\nPYTHONPATH={venv} exec /usr/bin/python3 \"$@\"\n")
    python.chmod(0o755)
    wheels = str(make_wheels(tmp_path / "wheels", machine.setup))
    toolchain = machine.root / ".gradlab/toolchain"
    machine.environment.update(VIRTUAL_ENV=str(tmp_path / "venv"), GRADLAB_WHEELS=wheels)

    machine.run("check")
    assert f"TORCH={inside}\nTORCH_VERSION=2.11.1\n" in toolchain.read_text()
    machine.run("check", GRADLAB_TORCH=str(given.parent))
    assert f"TORCH={given}\n" in toolchain.read_text()
    shutil.rmtree(given)
    shutil.rmtree(machine.root / ".gradlab")
    (inside / "version.py").write_text("__version__ = '2.9.0'\n")
    (inside / "include/torch/headeronly/version.h").unlink()
    ran = machine.run("check")
    assert "is 2.9.0, not 2.11; passed over" in ran.stderr
    assert f"TORCH={machine.root}/.gradlab/libtorch-2.11.0/torch\n" in toolchain.read_text()


@pytest.mark.parametrize("spoil, told", [
    (shutil.rmtree, "where there is no LibTorch"),
    (lambda torch: (torch / "lib/libc10.so").unlink(), "damaged: lib/libc10.so is missing"),
    (lambda torch: os.truncate(torch / "lib/libtorch_cpu.so", 5000), "libtorch_cpu.so does not"),
    (lambda torch: (torch / "version.py").write_text("__version__ = '2.11.4'"), "headers say"),
], ids=["absent", "lacks a library", "cut", "two versions"])
def test_a_bad_libtorch_is_named_and_nothing_is_fetched(machine, tmp_path, spoil, told):
    torch = make_torch(tmp_path / "given/torch")
    spoil(torch)
    ran = machine.run("check", GRADLAB_TORCH=str(torch))
    assert ran.returncode == 2 and told in ran.stderr and "unset GRADLAB_TORCH" in ran.stderr
    assert machine.calls.read_text() == ""


def test_a_wrong_version_is_named(machine, tmp_path):
    torch = make_torch(tmp_path / "given/torch", "2.9.1")
    ran = machine.run("check", GRADLAB_TORCH=str(torch))
    assert ran.returncode == 2
    assert f"{torch} holds LibTorch 2.9.1; gradlab needs 2.11.x" in ran.stderr


def test_own_libtorch_that_was_cut_is_unpacked_again(machine, tmp_path):
    machine.environment["GRADLAB_WHEELS"] = str(make_wheels(tmp_path / "wheels", machine.setup))
    machine.run("check")
    header = machine.root / ".gradlab/libtorch-2.11.0/torch/include/ATen/ATen.h"
    header.write_text("longer than before")
    ran = machine.run("setup")
    assert "is damaged: torch/include/ATen/ATen.h has 18 bytes and should have 0" in ran.stderr
    assert ran.returncode == 0 and header.read_text() == ""


def test_two_first_runs_at_once_do_not_collide(machine, tmp_path):
    machine.environment["GRADLAB_WHEELS"] = str(make_wheels(tmp_path / "wheels", machine.setup))
    both = [subprocess.Popen([str(machine.root / "gradlab"), "list"], env=machine.environment,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    told = [process.communicate(timeout=60) for process in both]
    assert [out for out, _ in told] == [f"built {machine.root} list\n".encode()] * 2, told
    assert machine.calls.read_text().count("cmake") == 1


def start(machine, *arguments):
    return subprocess.Popen([str(machine.root / "gradlab"), *arguments], env=machine.environment,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, start_new_session=True)


def wait_for(path, text):
    end = time.monotonic() + 30
    while not (path.exists() and text in path.read_text()):
        assert time.monotonic() < end, f"{path} never told {text}"
        time.sleep(0.02)


def test_an_interruption_is_told_and_the_next_run_goes_on(machine, tmp_path):
    machine.environment["GRADLAB_WHEELS"] = str(make_wheels(tmp_path / "wheels", machine.setup))
    builds = (machine.bin / "ninja").read_text().partition("\n")[2]
    machine.program("ninja", 'echo "ninja $$" >>"$CALLS"; exec sleep 60')
    run = start(machine, "list")
    wait_for(machine.calls, "ninja")
    os.killpg(run.pid, signal.SIGINT)
    out, told = run.communicate(timeout=30)
    assert run.returncode in (130, -signal.SIGINT) and out == ""
    assert told.endswith("Interrupted. The same command goes on from here.\n")
    machine.program("ninja", builds)
    ran = machine.run("list")
    assert ran.stdout == f"built {machine.root} list\n", ran.stderr
    assert "unpacking" not in ran.stderr and "Configuring" not in ran.stderr  # both were done


def test_another_set_up_at_work_is_waited_for(ready):
    os.remove(ready.root / ".gradlab/ready")
    with open(ready.root / ".gradlab/lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        run = start(ready, "list")
        told = run.stderr.readline() + run.stderr.readline()
        assert "Another set-up is at work in this folder; waiting for it." in told
        assert run.poll() is None
    out, _ = run.communicate(timeout=30)
    assert out == f"built {ready.root} list\n"


def test_a_moved_tree_sets_up_again_and_then_is_silent(ready):
    place = ready.root.with_name("another tree")
    ready.root.rename(place)
    ran = ready.run("list", launcher=place / "gradlab")
    assert ran.stdout == f"built {place} list\n", ran.stderr
    assert "Configuring the build" in ran.stderr  # a build folder knows its place
    ran = ready.run("list", launcher=place / "gradlab", PATH="")
    assert (ran.stdout, ran.stderr) == (f"built {place} list\n", "")


def test_without_python3_the_line_that_brings_it_is_told(machine):
    launcher = machine.root / "gradlab"
    launcher.write_text(launcher.read_text().replace("/usr/bin/python3", "/nowhere/python3"))
    ran = machine.run("check", PATH=str(machine.bin))
    assert ran.returncode == 2 and "sudo apt-get install python3" in ran.stderr


@pytest.mark.parametrize("spoil, told", [
    (lambda folder: next(folder.glob("nvidia_cuda_cupti*")).unlink(),
     "nvidia-cuda-cupti 13.0.85 is missing"),
    (lambda folder: next(folder.glob("torch-*")).write_bytes(b"?"), "is not the pinned file"),
    (shutil.rmtree, "torch 2.11.0, nvidia-cuda-runtime 13.0.96, nvidia-cuda-cupti 13.0.85 are"),
], ids=["one is missing", "another file", "no folder"])
def test_a_bad_folder_of_wheels_is_named(machine, tmp_path, spoil, told):
    folder = make_wheels(tmp_path / "wheels", machine.setup)
    spoil(folder)
    ran = machine.run("check", GRADLAB_WHEELS=str(folder))
    assert ran.returncode == 2 and told in ran.stderr and str(folder) in ran.stderr
    assert "setup.py wheels FOLDER" in ran.stderr
    assert not (machine.root / ".gradlab/libtorch-2.11.0").exists()
