# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the tester with --lock as an agent, to which a test sends commands."""

import contextlib
import os
import queue
import subprocess
import threading
import time

from support import LOGDISK, PATIENCE_S, equal

PAGE = 4096
MARK = '{"host": "h", "kind": "mqops.logdisk", "run_id": "r"}'


def make_folder(place, name="dir"):
    """Creates a directory with the mark of the collection, and returns its path."""
    path = os.path.join(place.path, name)
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, ".mqops-logdisk.json"), "w") as file:
        file.write(MARK)
    return path


def files_in(path):
    return sorted(name for name in os.listdir(path) if name not in (".mqops-logdisk.json", "lost+found"))


class Agent:
    """A process with --lock. All its lines are kept in `lines`, and those that no test has asked for yet in
    `unread`."""

    def __init__(self, path, *options, **keywords):
        command = [keywords.get("logdisk", LOGDISK), "--lock", "--dir=" + path, "--runId=r", "--deadline=120"]
        self.process = subprocess.Popen(
            keywords.get("before", []) + command + list(options),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            preexec_fn=keywords.get("preexec"),
            env=dict(os.environ, **keywords.get("env", {})),
        )
        self.lines, self.unread, self._arrived = [], [], queue.Queue()
        if keywords.get("reads", True):
            self.read()
            self.ready = self._next()

    def read(self):
        """Starts a thread that receives the lines of the agent."""
        self._reader = threading.Thread(target=self._take_lines, daemon=True)
        self._reader.start()

    def _take_lines(self):
        for line in self.process.stdout:
            self._arrived.put(line.rstrip("\n"))
        self._arrived.put(None)

    def _next(self):
        line = self._arrived.get(timeout=PATIENCE_S)
        assert line is not None, "the agent ended: " + self.process.stderr.read()
        self.lines.append(line)
        return line

    def tell(self, *commands):
        self.process.stdin.write("".join(command + "\n" for command in commands))
        self.process.stdin.flush()

    def answer(self, begin):
        """Waits for the first line that begins with these words and was not returned before. Returns the rest of the
        line."""
        for line in self.unread:
            if (line + " ").startswith(begin + " "):
                self.unread.remove(line)
                return line[len(begin) + 1 :]
        while True:
            line = self._next()
            if (line + " ").startswith(begin + " "):
                return line[len(begin) + 1 :]
            self.unread.append(line)

    def ask(self, command):
        """Sends a command, and returns the rest of its answer."""
        self.tell(command)
        return self.answer(" ".join(command.split()[:2]))

    def must(self, command, wanted="done"):
        """Sends a command, checks the outcome in its answer, and returns the figures of the answer."""
        self.tell(command)
        return self.must_answer(" ".join(command.split()[:2]), wanted)

    def must_answer(self, begin, wanted):
        """Waits for a final answer, checks its outcome, and returns its figures."""
        answer = self.answer(begin)
        while answer.split()[0] == "each":
            answer = self.answer(begin)
        equal(answer.split()[0], wanted, begin + " " + answer)
        return figures(answer)

    def start(self, number, *names):
        """Starts a locker with open files, and returns its process ID."""
        pid = self.must("%d start" % number)["pid"]
        for name in names:
            self.must("%d open %s" % (number, name))
        return int(pid)

    def end(self):
        """Closes standard input, and returns the exit status and the text from standard error."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        return self.wait()

    def wait(self):
        status = self.process.wait(timeout=PATIENCE_S)
        self._reader.join(PATIENCE_S)
        return status, self.process.stderr.read()


def figures(answer):
    """Returns the values in an answer by their keys."""
    return dict(word.split("=", 1) for word in answer.split() if "=" in word)


def is_gone(pid):
    """Returns whether a process has ended, even if its parent has not waited for it."""
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


@contextlib.contextmanager
def agents(path, count=1, **keywords):
    """Starts agents. At the end of the block, each must end in an orderly way, and no file may be left."""
    running = [Agent(path, **keywords) for _ in range(count)]
    try:
        yield running if count > 1 else running[0]
        for agent in running:
            equal(agent.end(), (0, ""))
        equal(files_in(path), [], "files left")
    finally:
        for agent in running:
            agent.process.kill()
            agent.process.wait()


def until_answer(agent, begin, condition):
    """Takes answers that begin with these words until the figures of one fulfil the condition, and returns these
    figures."""
    end = time.monotonic() + PATIENCE_S
    while True:
        found = figures(agent.answer(begin))
        if condition(found):
            return found
        assert time.monotonic() < end, begin
