"""What the set-up shows: plain lines, and a progress bar where there is a terminal.

Everything goes to standard error, so that `./gradlab check --json` stays clean on a first run too.
Programs' own output goes to .gradlab/log/setup.log.
"""
from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import deque


class Say:
    def __init__(self, stream=None, log_path=None, heading=""):
        self.stream_ = stream or sys.stderr
        self.terminal_ = self.stream_.isatty()
        self.log_path_ = log_path
        self.heading_ = heading  # shown before the first line only
        self.bar_open_ = False
        self.label_ = None
        self.shown_ = -1
        self.spoke = False  # nothing to do stays silent, also at the end

    def line(self, text: str) -> None:
        self.close_bar()
        self.write(text)

    def write(self, text: str) -> None:
        if self.heading_:
            text, self.heading_ = f"{self.heading_}\n{text}", ""
        self.stream_.write(text + "\n")
        self.stream_.flush()
        self.spoke = True

    def last(self, text: str) -> None:
        self.heading_ = ""
        self.line(text)

    def progress(self, label: str, done: float, total: float) -> None:
        """A bar on a terminal; elsewhere a line at each quarter."""
        percent = min(100, int(100 * done / total)) if total else 100
        if label != self.label_:
            self.close_bar()
            self.label_, self.shown_ = label, -1
        if self.terminal_:
            if percent != self.shown_:
                self.spoke = True
                filled = percent * 30 // 100
                bar = "#" * filled + "." * (30 - filled)
                self.stream_.write(f"\r  [{bar}] {percent:3d} %  {label[:38]:<38}")
                self.stream_.flush()
                self.bar_open_, self.shown_ = True, percent
        elif percent // 25 > self.shown_ // 25 and percent >= 25:
            self.shown_ = percent
            self.write(f"  {label}: {percent} %")

    def close_bar(self) -> None:
        if self.bar_open_:
            self.stream_.write("\n")
        self.bar_open_, self.label_, self.shown_ = False, None, -1

    def log(self, text: str) -> None:
        if self.log_path_:
            with open(self.log_path_, "a", errors="replace") as log:
                log.write(text if text.endswith("\n") else text + "\n")


def run_logged(say: Say, command: list, on_line=None, own_session=False, **options):
    """Runs a program with its output into the log; returns (status, the last 200 lines).

    `own_session` keeps a terminal's Ctrl-C from the children: the program alone is asked to stop,
    and it is waited for (a cut dpkg would leave half-installed packages).
    """
    say.log("$ " + " ".join(map(str, command)))
    tail = deque(maxlen=200)
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True, errors="replace",
                          start_new_session=own_session, **options) as process:
        try:
            for line in process.stdout:
                line = line.rstrip("\n")
                if not (on_line and on_line(line)):
                    tail.append(line)
                    say.log(line)
        except BaseException:
            process.send_signal(signal.SIGINT)
            process.communicate()
            raise
    return process.returncode, list(tail)


def megabytes(size: float) -> str:
    return f"{size / 1e6:.0f} MB" if size < 2e9 else f"{size / 1e9:.1f} GB"


def seconds_since(start: float) -> str:
    taken = time.monotonic() - start
    return f"{taken:.0f} s" if taken < 120 else f"{int(taken) // 60} min {int(taken) % 60} s"
