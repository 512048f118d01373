# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes on hosts that open, lock, read and write a file of a shared file system as a test instructs them."""

import queue
import shlex
import subprocess
import threading

from testbed import Bed, Host

PROGRAM = r"""
import errno, fcntl, os, signal, struct, sys, threading, time

file, loads, loaded = None, False, 0

def path(name):
    global file
    file = os.open("/fut/" + name, os.O_RDWR | os.O_CREAT, 0o600)

def lock(how, start="0", length="0"):
    kinds = {"try": fcntl.LOCK_EX | fcntl.LOCK_NB, "wait": fcntl.LOCK_EX, "share": fcntl.LOCK_SH | fcntl.LOCK_NB,
             "free": fcntl.LOCK_UN}
    fcntl.lockf(file, kinds[how], int(length), int(start))
    return "free" if how == "free" else "held"

def poll(seconds):
    until = time.monotonic() + float(seconds)
    while True:
        try:
            return lock("try")
        except BlockingIOError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)

def test():
    request = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
    return {fcntl.F_UNLCK: "free"}.get(struct.unpack_from("h", fcntl.fcntl(file, fcntl.F_GETLK, request))[0], "locked")

def write(text):
    os.pwrite(file, text.ljust(8).encode(), 0)

def read():
    return os.pread(file, 8, 0).decode().strip() or "nothing"

def truncate():
    os.ftruncate(file, 8)

def add(count):
    for _ in range(int(count)):
        poll(60)
        number = int(os.pread(file, 4096, 0) or b"0")
        os.pwrite(file, str(number + 1).rjust(4096).encode(), 0)
        lock("free")

def total():
    return str(int(os.pread(file, 4096, 0)))

def load():
    global loads
    loads = True
    def run():
        global loaded
        while loads:
            os.pwrite(file, str(loaded + 1).rjust(4096).encode(), 4096)
            loaded += 1
    threading.Thread(target=run).start()

def unload():
    global loads
    loads = False

def written():
    return str(loaded)

def page():
    return str(int(os.pread(file, 4096, 4096)))

def alarm(seconds):
    def on_alarm(*dummy):
        raise InterruptedError(errno.EINTR, "")
    signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, float(seconds))

print(os.getpid(), flush=True)
for line in sys.stdin:
    verb, *words = line.split()
    try:
        answer = globals()[verb](*words) or "done"
    except OSError as error:
        answer = errno.errorcode[error.errno]
    print(answer, flush=True)
"""


class Locker:
    """A process on a host that has the file open. PROGRAM defines the requests that it understands."""

    def __init__(self, bed: Bed, host: Host, file: str = "file") -> None:
        self.bed = bed
        self.host = host
        self._answers: queue.Queue[str] = queue.Queue()
        self._process = subprocess.Popen(
            ["ssh", *bed.ssh_options(host), f"root@{host.address}", f"exec python3 -c {shlex.quote(PROGRAM)}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        threading.Thread(target=self._listen, daemon=True).start()
        self.pid = int(self.answer())
        assert self.ask("path", file) == "done"

    def _listen(self) -> None:
        for line in self._process.stdout:
            self._answers.put(line.strip())

    def tell(self, *words: object) -> None:
        self._process.stdin.write(" ".join(map(str, words)) + "\n")
        self._process.stdin.flush()

    def answer(self, timeout_s: float = 60.0) -> str:
        """Return the next answer of the process, or "" if none arrives in time."""
        try:
            return self._answers.get(timeout=timeout_s)
        except queue.Empty:
            return ""

    @property
    def answered(self) -> bool:
        return not self._answers.empty()

    def ask(self, *words: object) -> str:
        self.tell(*words)
        return self.answer()

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
