"""The set-up's parts, called as functions: packages and rights, wheels, interruption, the editor's
files. What needs a whole run is in setup_test.py."""
import ast
import io
import json
import os
import shutil

import pytest

from fake_machine import Machine, make_wheels

import build
import editor
import messages
import packages
import setup
import wheels
from say import Say


@pytest.fixture
def machine(tmp_path, monkeypatch):
    machine = Machine(tmp_path)
    for name in ("GRADLAB_WHEELS", "GRADLAB_TORCH"):  # whoever runs the tests may have set them
        monkeypatch.delenv(name, raising=False)
    for name, value in machine.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(wheels, "REQUIREMENTS", machine.setup / "torch-requirements.txt")
    return machine


@pytest.fixture
def say():
    return Say(stream=io.StringIO())


def test_set_up_imports_nothing_that_an_old_python_lacks():
    """Whatever python3 is there runs it, from 3.7 on."""
    new = {"graphlib", "tomllib", "zoneinfo"}
    for file in wheels.HERE.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else \
                [node.module] if isinstance(node, ast.ImportFrom) else []
            assert not new & set(names), (file.name, names)


LISTS = packages.read_lists(wheels.HERE / "packages.txt")


def test_a_student_needs_fewer_packages():
    assert len(LISTS["student"]) > 10 and len(LISTS["instructor"]) > 5
    named = [group[0] for group in LISTS["student"] + LISTS["instructor"]]
    assert len(named) == len(set(named))


def test_without_rights_the_exact_line_is_told(machine, say, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("LACKING", "mold libfmt-dev")
    with pytest.raises(messages.SetupError) as refused:
        packages.ensure(LISTS["student"], say)
    assert str(refused.value).endswith(
        "\n  sudo apt-get install --no-install-recommends mold libfmt-dev")
    assert refused.value.status == 2 and machine.calls.read_text() == ""


def test_without_rights_a_run_stops_with_status_2_and_changes_nothing(machine, monkeypatch, capsys):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(setup, "ROOT", machine.root)
    monkeypatch.setattr(setup, "STATE", machine.root / ".gradlab")
    monkeypatch.setattr(setup.libtorch, "from_environment", lambda say: None)
    monkeypatch.setattr(setup.signal, "signal", lambda number, action: None)
    monkeypatch.setenv("LACKING", "clang-19 g++ mold")
    assert setup.main(["install", "student"]) == 2
    assert capsys.readouterr().err == (
        "2 Debian packages are missing, and only root may install them. Install them, then run "
        "the same command again:\n"
        "  sudo apt-get install --no-install-recommends clang-19 mold\n")
    assert machine.calls.read_text() == ""


def test_root_installs_what_is_missing_and_nothing_else(machine, say, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    packages.ensure(LISTS["student"], say)
    assert machine.calls.read_text() == ""
    monkeypatch.setenv("LACKING", "mold")
    packages.ensure(LISTS["student"], say)
    installed = machine.calls.read_text().splitlines()[-1]
    assert installed.startswith("apt-get install -y") and installed.endswith("=300 mold")


def test_gpp_is_enough_where_nothing_can_be_installed(machine, say, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("LACKING", "clang-19 libclang-rt-19-dev")
    packages.ensure(LISTS["student"], say)


def test_gpp_is_taken_with_its_price(machine, say, tmp_path, monkeypatch):
    monkeypatch.setattr(build.shutil, "which", lambda name: name == "g++" and "/usr/bin/g++")
    compiler = build.find_compiler()
    (machine.root / ".gradlab").mkdir()
    torch = type("Torch", (), {"root": "/t", "version": "2.11.0", "cuda_libs": ""})
    build.write_toolchain(machine.root, torch, compiler, "student", say)
    assert "about 10 s instead of 1 s a check" in say.stream_.getvalue()
    monkeypatch.setattr(build.shutil, "which", lambda name: None)
    with pytest.raises(messages.SetupError, match="neither clang"):
        build.find_compiler()


def test_a_wheel_that_differs_is_refused(machine, say, tmp_path):
    folder = make_wheels(tmp_path / "wheels", machine.setup)
    wheel = folder / "torch-2.11.0-cp311-x.whl"
    with open(wheel, "r+b") as data:
        data.seek(100)
        data.write(b"?")
    with pytest.raises(messages.SetupError) as refused:
        wheels.verified(folder, say)
    assert refused.value.kind == "wheel_differs" and str(wheel) in str(refused.value)
    wheel.unlink()
    with pytest.raises(messages.SetupError, match="torch 2.11.0 is missing"):
        wheels.verified(folder, say)


def test_an_interruption_leaves_no_half_tree(machine, say, tmp_path, monkeypatch):
    state = machine.root / ".gradlab"
    state.mkdir()
    monkeypatch.setenv("GRADLAB_WHEELS", str(make_wheels(tmp_path / "wheels", machine.setup)))

    def interrupt(label, done, total):
        if label.startswith("unpacking") and done > 100_000:
            raise KeyboardInterrupt

    with monkeypatch.context() as during:
        during.setattr(say, "progress", interrupt)
        with pytest.raises(KeyboardInterrupt):
            wheels.provide(state, say)
    assert (state / "libtorch-2.11.0.part").is_dir() and not (state / "libtorch-2.11.0").exists()
    wheels.provide(state, say)
    assert sorted(path.name for path in state.iterdir()) == ["libtorch-2.11.0"]


def test_too_little_space_is_refused_before_anything_is_fetched(machine, say, tmp_path, monkeypatch):
    monkeypatch.setattr(wheels.shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(9, 8, 1))
    monkeypatch.setattr(wheels, "download", lambda folder, say: pytest.fail("fetched"))
    with pytest.raises(messages.SetupError, match="0 MB are free, the set-up needs 1567 MB"):
        wheels.provide(tmp_path, say)


def test_a_failed_download_says_what_to_do_without_a_network(machine, say, tmp_path, monkeypatch):
    told = ["ERROR: Could not find a version that satisfies the requirement torch==2.11.0"]
    monkeypatch.setattr(wheels, "run_logged", lambda *rest, **options: (1, told))
    with pytest.raises(messages.SetupError) as refused:
        wheels.download(tmp_path / "wheels", say)
    assert "GRADLAB_WHEELS=FOLDER" in str(refused.value) and told[0] in str(refused.value)
    assert not (tmp_path / "wheels.part").exists()


def test_editor_files_name_every_lab_and_no_precompiled_header(machine):
    root = machine.root
    for slug in ("clipping", "autocast"):
        (root / "labs" / slug).mkdir(parents=True)
        for name in ("lab.toml", f"{slug}.cpp"):
            (root / "labs" / slug / name).write_text("")
    (root / "build/release").mkdir(parents=True)
    (root / "build/release/compile_commands.json").write_text(json.dumps([{
        "directory": "/b", "file": f"{root}/autograder/x.cpp",
        "command": "clang++ -Xclang -include-pch -Xclang /b/cmake_pch.hxx.pch -Xclang -include "
                   "-Xclang /b/cmake_pch.hxx -Winvalid-pch -Xclang -fno-pch-timestamp -c x.cpp"}]))
    (root / ".gradlab").mkdir()
    (root / ".gradlab/toolchain").write_text("TORCH=/t\nCOMPILER=/c\nPROFILE=instructor\n")
    editor.write(root)
    entries = {entry["file"]: entry["arguments"]
               for entry in json.loads((root / "compile_commands.json").read_text())}
    work = entries[f"{root}/work/clipping.cpp"]  # there before `gradlab start` makes the file
    assert "-fclang-abi-compat=17" not in work  # /c is no clang
    assert "/t/include" in work and f"{root}/labs/clipping" in work
    assert f"{root}/labs/autocast/autocast.cpp" in entries
    assert entries[f"{root}/autograder/x.cpp"] == ["clang++", "-Xclang", "-fno-pch-timestamp", "-c",
                                                   "x.cpp"]
    assert "pch.hxx" not in (root / "compile_commands.json").read_text()
    assert "work/.*" in (root / ".clangd").read_text()
