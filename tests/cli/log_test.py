"""`gradlab log` as a user runs it: what it prints, its exit status, files that are broken, a file that
grows, bounded memory, and a page that a browser draws."""
import json
import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/logs"))

import simulate  # noqa: E402
import write  # noqa: E402

GRADLAB = ROOT / "build/release/bin/gradlab"
DONE, FOUND, USAGE = 0, 1, 2
FORMS = [write.own, write.key_value, write.csv, write.trainer_state, write.megatron, write.deepspeed,
         write.fairseq, write.hf_stdout, write.nanogpt, write.apex, write.swin, write.mmengine]


@pytest.fixture(scope="module")
def records():
    return simulate.run(simulate.Plan(seed=1, steps=1000, ceiling=3e4, overflow_at={412}, growth_interval=300,
                                      norm=0.8))


@pytest.fixture
def log(tmp_path, records):
    path = tmp_path / "run.jsonl"
    path.write_text(write.own(records))
    return path


@pytest.fixture
def collapsed(tmp_path):
    path = tmp_path / "collapsed.jsonl"
    path.write_text(write.own(simulate.run(simulate.Plan(steps=300, overflow_from=200, ceiling=1e9))))
    return path


def test_show_draws_within_eighty_cells(gradlab, log):
    told = gradlab("log", "show", log)
    assert told.returncode == DONE
    for words in ("gradlab-log-1", "steps 0-999, 1,000 lines, 4 skipped", "\nloss  at the end", "norm, before clipping",
                  "\nscale  at the end", "   skipped|", "things to tell: ./gradlab log explain"):
        assert words in told.stdout
    # The path of this test's log is longer than a line, so that the line that names it does not count.
    assert all(len(line) <= 80 for line in told.stdout.splitlines() if str(log) not in line)
    assert told.stdout.isascii()


def test_explain_tells_the_story_in_order(gradlab, log):
    told = gradlab("log", "explain", log).stdout
    flat = " ".join(told.split())
    assert ("step 412 overflowed: scale 16384 -> 8192, the batch left no update; steps 413-415 recovered" in flat)
    assert flat.index("step 310 overflowed") < flat.index("step 412 overflowed") < flat.index("What it points to")
    assert flat.index("single_overflow") > flat.index("What it points to")


def test_no_colour_without_a_terminal(gradlab, collapsed):
    assert "\x1b" not in gradlab("log", "explain", collapsed, env={"TERM": "xterm"}).stdout


def on_terminal(*words, **environment):
    ours, theirs = pty.openpty()
    process = subprocess.Popen([GRADLAB, *words], stdin=subprocess.DEVNULL, stdout=theirs,
                               env={**os.environ, "TERM": "xterm", "COLUMNS": "80", "GRADLAB_ROOT": str(ROOT),
                                    **environment})
    os.close(theirs)
    told = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # a terminal ends so
            break
        if not part:
            break
        told += part
    os.close(ours)
    process.wait(20)
    return told.decode()


def test_colour_on_a_terminal_unless_it_is_unwanted(collapsed):
    assert "\x1b[31mcritical" in on_terminal("log", "explain", collapsed)
    assert "\x1b" not in on_terminal("log", "explain", collapsed, NO_COLOR="1")
    assert "\x1b" not in on_terminal("log", "show", collapsed, TERM="dumb")


def test_check_fails_from_the_severity_asked(gradlab, log, collapsed):
    assert gradlab("log", "check", log).returncode == DONE
    assert gradlab("log", "check", log, "--fail-on", "warning").returncode == DONE
    assert gradlab("log", "check", log, "--fail-on", "info").returncode == FOUND
    told = gradlab("log", "check", collapsed)
    assert told.returncode == FOUND and "scale_collapse" in told.stdout
    assert gradlab("log", "check", collapsed, "--fail-on", "loud").returncode == USAGE


def test_json_is_strict(gradlab, collapsed):
    told = gradlab("log", "explain", collapsed, "--json")
    said = json.loads(told.stdout, parse_constant=lambda word: pytest.fail(word))
    finding = said["runs"][0]["findings"][0]
    assert finding["name"] == "scale_collapse" and finding["severity"] == "critical"
    assert finding["first_step"] == 200 and finding["evidence"] and finding["change_first"]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_every_format_is_known_and_converted(gradlab, tmp_path, records, form):
    path = tmp_path / "log"
    path.write_text(form(records))
    told = json.loads(gradlab("log", "check", path, "--json").stdout)
    assert told["not_understood"] == 0 and told["runs"]
    again = tmp_path / "again.jsonl"
    again.write_text(gradlab("log", "convert", path).stdout)
    second = json.loads(gradlab("log", "check", again, "--json").stdout)
    assert second["formats"] == ["gradlab-log-1"]
    assert ([f["name"] for f in second["runs"][0]["findings"]]
            == [f["name"] for f in told["runs"][0]["findings"]])


def test_convert_is_lossless_for_the_own_record(gradlab, log, records):
    lines = [json.loads(line) for line in gradlab("log", "convert", log).stdout.splitlines()]
    steps = [line for line in lines if line["event"] == "step"]
    assert lines[0]["event"] == "run_start" and lines[-1]["event"] == "run_end"
    assert lines[-1]["steps"] == len(records) == len(steps)
    for was, now in zip(records, steps):
        for name, value in was.items():
            assert now[name] == write.strict(value), name


def test_convert_to_a_table(gradlab, log, records):
    rows = gradlab("log", "convert", log, "--to", "csv").stdout.splitlines()
    assert rows[0] == "step,loss,scale,scale_after,norm,clipped,skipped,lr,max_norm,epoch,batch"
    assert len(rows) == len(records) + 1
    assert rows[413].split(",")[4] == "inf" and rows[413].split(",")[6] == "true"


def test_standard_input_is_a_file(log):
    told = subprocess.run([GRADLAB, "log", "check", "-"], input=log.read_text(), capture_output=True, text=True,
                          check=False)
    assert told.returncode == DONE and "single_overflow" in told.stdout


def test_a_retry_is_told_from_two_files(gradlab, tmp_path, records):
    for name in ("first", "second"):
        (tmp_path / name).write_text(write.own(records, start={"seed": 1, "name": name}))
    alone = gradlab("log", "explain", tmp_path / "second").stdout
    both = gradlab("log", "explain", tmp_path / "second", "--retry-of", tmp_path / "first").stdout
    assert "retry_same_overflow" not in alone and "retry_same_overflow" in both


BROKEN = {
    "empty": (b"", USAGE, "the file is empty"),
    "blank": (b"\n\n\n", USAGE, "No step was understood"),
    "binary": (bytes(range(256)) * 400, USAGE, "zero bytes: this may be no text file"),
    "list": (b"[1, 2, 3]\n", USAGE, "1 of 1 lines were not understood"),
    "object": (b'{\n "a": 1\n}\n', USAGE, "without a log_history"),
    "deep": (b'{"a":' * 100000, USAGE, "cut off"),
    "one_line": (b"a" * (10 << 20), USAGE, "longer than 1 MiB"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_without_steps_is_told_as_such(gradlab, tmp_path, name):
    content, status, words = BROKEN[name]
    path = tmp_path / name
    path.write_bytes(content)
    for action in ("show", "explain", "check"):
        told = gradlab("log", action, path)
        assert told.returncode == status and words in " ".join(told.stdout.split()), told.stdout
    assert gradlab("log", "convert", path).returncode == USAGE


def damage(text):
    lines = text.splitlines(keepends=True)
    return {
        "torn": (text[:-250], "cut off"),
        "crlf": (text.replace("\n", "\r\n"), "CRLF"),
        "bom": ("\ufeff" + text, "byte order mark"),
        "back": ("".join(lines[:80] + lines[40:]), "steps go back once"),
        "doubled": ("".join(line + line for line in lines), "told of a step once more"),
        "two_runs": (text + text, "2 runs in one file"),
        "strings": (text.replace('"loss": ', '"loss": "').replace(', "scale":', '", "scale":'), "skipped"),
        "fields_gone": ("".join(f'{{"step": {i}, "loss": 1.0}}\n' for i in range(30)), "no gradient norm"),
    }


@pytest.mark.parametrize("name", sorted(damage("")))
def test_odd_files_are_read_with_a_note(gradlab, tmp_path, records, name):
    text, words = damage(write.own(records[:300]))[name]
    path = tmp_path / name
    path.write_bytes(text.encode())
    told = gradlab("log", "explain", path)
    assert told.returncode == DONE and words in " ".join(told.stdout.split()), told.stdout


def test_utf16(gradlab, tmp_path, records):
    path = tmp_path / "log"
    path.write_bytes(write.own(records).encode("utf-16"))
    told = gradlab("log", "check", path)
    assert told.returncode == DONE and "UTF-16" in told.stdout and "1,000 lines" in told.stdout


def test_a_missing_file_and_a_wrong_word_say_what_to_do(gradlab, tmp_path):
    told = gradlab("log", "show", tmp_path / "none")
    assert told.returncode == USAGE and "cannot be read (No such file" in told.stderr
    told = gradlab("log", "sow", tmp_path)
    assert told.returncode == USAGE and "Did you mean show?" in told.stderr
    told = gradlab("log")
    assert told.returncode == USAGE and "show, explain, check, convert and follow" in told.stderr
    told = gradlab("log", "show", tmp_path, "--htm", "x")
    assert told.returncode == USAGE and "--html" in told.stderr
    told = gradlab("log", "show", "--help")
    assert told.returncode == DONE and "./gradlab log show run.jsonl --html run.html" in told.stdout


def test_memory_does_not_grow_with_the_file(tmp_path):
    """100 MB in an address space of 96 MiB, program and libraries included."""
    path = tmp_path / "big.jsonl"
    line = ('{"event":"step","step":%d,"loss":%.6f,"scale":65536.0,"scale_after":65536.0,"norm":0.%d,'
            '"clipped":false,"skipped":false,"lr":0.0003,"max_norm":1.0,"note":"%s"}\n')
    with path.open("w") as file:
        for step in range(150_000):
            file.write(line % (step, 2 / (1 + step / 1e5), 100 + step % 800, "x" * 520))
    assert path.stat().st_size > 100e6

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (96 << 20, 96 << 20))
    told = subprocess.run([GRADLAB, "log", "check", path], preexec_fn=limit, capture_output=True, text=True,
                          check=False, timeout=300)
    assert told.returncode == DONE and "150,000 lines" in told.stdout, told.stderr


class Following:
    def __init__(self, path, tmp_path):
        self.out = (tmp_path / "told").open("w+")
        self.process = subprocess.Popen([GRADLAB, "log", "follow", path], stdout=self.out, stderr=self.out,
                                        stdin=subprocess.DEVNULL)

    def waits_for(self, words, seconds=20):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            told = Path(self.out.name).read_text()
            if words in told:
                return told
            time.sleep(0.05)
        pytest.fail(f"{words!r} did not come: {Path(self.out.name).read_text()}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)


def append(path, text):
    with path.open("a") as file:
        file.write(text)


def test_follow_tells_skips_as_they_come_and_ends_with_the_run(tmp_path, records):
    path, lines = tmp_path / "log", write.own(records[:60]).splitlines(keepends=True)
    path.write_text("".join(lines[:5]))
    following = Following(path, tmp_path)
    following.waits_for("step        0")
    append(path, "".join(lines[5:30]) + lines[30][:20])
    following.waits_for("step        8")
    append(path, lines[30][20:] + "".join(lines[31:]))
    told = following.waits_for("calibration")
    assert following.process.wait(20) == DONE
    assert told.count("  skipped, now ") == 2


def test_follow_survives_a_file_that_shrinks(tmp_path, records):
    path, lines = tmp_path / "log", write.own(records[:60]).splitlines(keepends=True)
    path.write_text("".join(lines[:40]))
    following = Following(path, tmp_path)
    following.waits_for("step        0")
    path.write_text("".join(lines[:3]))
    following.waits_for("became shorter")
    append(path, "".join(lines[3:20]))
    following.waits_for("step       17")
    assert following.stop() == DONE
    assert "read anew" in " ".join(following.waits_for("note:").split())


@pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed")
def test_the_page_is_one_file_and_a_browser_draws_it(gradlab, tmp_path):
    plan = simulate.Plan(steps=400, overflow_at={150}, ceiling=3e4, norm=0.8)
    hostile = "<script>alert(1)</script>\x1b[31m"
    log, page = tmp_path / "run<b>.jsonl", tmp_path / "page.html"
    log.write_text(hostile + "\n" + write.own(simulate.run(plan)))
    assert gradlab("log", "show", log, "--html", page).returncode == DONE
    html = page.read_text()
    assert hostile not in html and "run<b>" not in html and "src=" not in html and "href=" not in html
    picture = tmp_path / "page.png"
    ran = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         "--dump-dom", "--virtual-time-budget=3000", f"--screenshot={picture}", f"file://{page}"],
        capture_output=True, text=True, timeout=120, check=False, env={**os.environ, "HOME": str(tmp_path)})
    assert "CONSOLE" not in ran.stderr, ran.stderr
    assert ran.stdout.count("<figure>") == 4  # hidden until they are drawn


def test_a_page_that_cannot_be_written_is_told(gradlab, log):
    told = gradlab("log", "show", log, "--html", "/nowhere/page.html")
    assert told.returncode == USAGE and "/nowhere/page.html" in told.stderr


def commands_of(page):
    return [line.split("#")[0].strip() for line in re.findall(r"^\.?/?gradlab log .*|\./gradlab log [^`\n]*",
                                                              page.read_text(), re.MULTILINE)]


@pytest.mark.parametrize("page", ["handouts/reading_logs.md", "handouts/instructor/log.md"])
def test_commands_of_the_handouts_exist(gradlab, page):
    commands = commands_of(ROOT / page)
    assert commands
    for command in commands:
        words = command.split()[1:]
        told = gradlab(*words[:2], "--help").stdout
        for option in (word for word in words if word.startswith("--")):
            assert option in told, command


def test_paths_of_the_handouts_exist():
    for page in ("handouts/reading_logs.md", "handouts/instructor/log.md"):
        for path in re.findall(r"(?:handouts|tests|autograder)/[\w./]+\w", (ROOT / page).read_text()):
            assert (ROOT / path).exists(), path
