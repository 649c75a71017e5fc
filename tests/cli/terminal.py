"""The command on a terminal of its own, as somebody sits before it."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

PATIENCE = 240  # seconds, of a busy machine


class Terminal:
    """What it wrote is `text`; what was not met by expect() begins at `read_to`."""

    def __init__(self, argv, cwd, env, columns=80):
        self.master, self.slave = pty.openpty()
        self.resize(columns)
        self.before = self.settings()
        self.process = subprocess.Popen(argv, cwd=cwd, env=env, stdin=self.slave, stdout=self.slave,
                                        stderr=self.slave, start_new_session=True)
        self.text, self.read_to = "", 0

    def resize(self, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def settings(self):
        return termios.tcgetattr(self.slave)

    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            self.text += os.read(self.master, 65536).decode("utf-8", "replace")

    def expect(self, words):
        """Waits for words behind those that were met last; returns all up to their end."""
        until = time.monotonic() + PATIENCE
        while (found := re.search(words, self.text[self.read_to:])) is None:
            assert time.monotonic() < until, f"no {words!r} in {self.text[self.read_to:]!r}"
            ended = self.process.poll() is not None
            before = len(self.text)
            self.read(0 if ended else 1)
            assert not ended or len(self.text) > before, self.text
        begin, self.read_to = self.read_to, self.read_to + found.end()
        return self.text[begin:self.read_to]

    def type(self, keys):
        os.write(self.master, keys.encode())

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)
