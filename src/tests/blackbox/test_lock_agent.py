# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""--lock: what it refuses, how it ends, what it leaves behind, and that it works although a file system hangs."""

import fcntl
import os
import signal
import subprocess

from agents import MARK, PAGE, Agent, agents, files_in, is_gone, make_folder, until_answer
from support import (
    BUILD,
    LOGDISK,
    PATIENCE_S,
    contains,
    equal,
    frozen,
    mounted,
    near,
    read,
    root_test,
    strace,
    test,
    traced,
    until,
    write,
)


def refuse(status, *options):
    done = subprocess.run(
        [LOGDISK, "--lock"] + list(options),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
        timeout=PATIENCE_S,
    )
    equal((done.returncode, done.stdout), (status, ""), done.stderr)
    return done.stderr


@test
def refused_directories(place):
    folder = make_folder(place)
    os.symlink(folder, place.path + "/link")
    contains(refuse(2, "--dir=%s/link" % place.path), "must not be a symbolic link")
    contains(refuse(2, "--dir=%s/link/" % place.path), "must not be a symbolic link")
    contains(refuse(2, "--dir=%s/missing" % place.path), "No such file")
    mark = folder + "/.mqops-logdisk.json"
    for text in ("", '{"kind": "other"}', '{"king": "mqops.logdisk"}', MARK + " " * 65536, '{"kind" "mqops.logdisk"}'):
        write(mark, text)
        contains(refuse(2, "--dir=" + folder), "does not have the mark")
    os.rename(mark, place.path + "/mark")
    contains(refuse(2, "--dir=" + folder), "does not have the mark")
    write(place.path + "/mark", MARK)
    os.symlink(place.path + "/mark", mark)
    contains(refuse(2, "--dir=" + folder), "does not have the mark")
    os.unlink(mark)
    os.mkfifo(mark)
    pipe = os.open(mark, os.O_RDWR)
    os.write(pipe, MARK.encode())
    contains(refuse(2, "--dir=" + folder), "does not have the mark")
    os.close(pipe)
    os.unlink(mark)
    write(mark, '{ "a": 1, "kind" :\n"mqops.logdisk"}')
    equal(
        subprocess.call([LOGDISK, "--lock", "--dir=" + folder], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL), 0
    )


@test
def made_directory(place):
    """With --createDirs, the directory is made with its mark, once for all machines, and kept."""
    os.mkdir(place.path + "/volume")
    folder = place.path + "/volume/made"
    command = [LOGDISK, "--lock", "--createDirs", "--dir=" + folder]
    first, second = (subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) for _ in range(2))
    for each in (first, second):
        each.stdin.close()
    equal([each.wait(PATIENCE_S) for each in (first, second)], [0, 0])
    equal(os.listdir(place.path + "/volume"), ["made"])
    equal((os.listdir(folder), os.stat(folder).st_mode & 0o777), ([".mqops-logdisk.json"], 0o700))
    contains(refuse(2, "--createDirs", "--dir=%s/no/where" % place.path), "--createDirs: cannot create")
    os.mkdir(place.path + "/other")
    contains(refuse(2, "--createDirs", "--dir=%s/other" % place.path), "does not have the mark")


@test
def refused_options(place):
    folder = make_folder(place)
    contains(refuse(1, "--dir=" + folder, "--bsize=4K"), "--bsize is not for --lock")
    contains(refuse(1, "--dir=" + folder, "--acknowledge"), "--acknowledge is not for --lock")
    contains(refuse(1, "--dir=%s,%s" % (folder, folder)), "a list of --dir is not allowed")


@test
def first_line(place):
    with agents(make_folder(place)) as agent:
        with open("/proc/sys/kernel/random/boot_id") as file:
            boot_id = file.read().strip()
        words = agent.ready.split()
        equal(words[:3] + words[4:6], ["ready", "r", boot_id, "uid=%d" % os.geteuid(), "gid=%d" % os.getegid()])
        contains(subprocess.check_output([LOGDISK, "--version"], universal_newlines=True), words[3].split("=")[1])
        with open("/proc/1/stat") as first, open("/proc/uptime") as up:
            start_ticks = int(first.read().rpartition(")")[2].split()[19])
            age_s = float(up.read().split()[0]) - start_ticks / os.sysconf("SC_CLK_TCK")
        near(int(words[6].split("=")[1]) / 1e9, age_s, 10)


@test
def wrong_lines(place):
    """Each wrong line is answered, and the lines after it are still understood."""
    with agents(make_folder(place)) as agent:
        for line, begin, part in (
            ("", "0 error", "number of a locker"),
            ("65 start", "0 error", "number of a locker"),
            ("1 test lock", "1 error", "start it first"),
            ("1 create ../x 4096", "1 error", "FILE must be"),
            ("1 " + "x" * 5000, "1 error", "unknown command"),
            ("1 start\0", "1 error", "unknown command"),
        ):
            agent.tell(line)
            contains(agent.answer(begin), "usage", part)
        agent.start(1)
        agent.tell("1 start")
        contains(agent.answer("1 error"), "already running")
        equal(agent.must("1 lock lock try 1", "failed")["errno"], "EBADF")
        equal(agent.must("1 open missing", "failed")["errno"], "ENOENT")
        equal(agent.must("1 create big %d" % (1 << 40), "failed")["errno"], "ENOSPC")
        agent.must("1 exit", "ended")
        agent.start(1)


@test
def only_own_files_are_opened(place):
    folder = make_folder(place)
    with agents(folder) as agent:
        agent.start(1)
        agent.must("1 create lock 4096")
        equal(agent.must("1 create lock 4096", "failed")["errno"], "EEXIST")
        agent.must("1 open lock")
        equal(agent.must("1 open lock", "failed")["errno"], "EBUSY")
        os.link(folder + "/lock", place.path + "/other")
        agent.start(2)
        equal(agent.must("2 open lock", "failed")["errno"], "EPERM", "two names")
        os.unlink(place.path + "/other")
        os.symlink(folder + "/lock", folder + "/link")
        equal(agent.must("2 open link", "failed")["errno"], "ELOOP")
        equal(agent.must("2 create link 4096", "failed")["errno"], "EEXIST")
        os.unlink(folder + "/link")
        os.mkfifo(folder + "/pipe")
        agent.must("2 open pipe", "failed")
        os.unlink(folder + "/pipe")
        agent.must("2 open lock")


@root_test
def files_of_others_are_refused(place):
    folder = make_folder(place)
    with agents(folder) as agent:
        agent.start(1)
        agent.must("1 create lock 4096")
        os.chown(folder + "/lock", 12345, 12345)
        equal(agent.must("1 open lock", "failed")["errno"], "EPERM")


@test
def new_files(place):
    """Files are created exclusively, without holes, and only for this user. They and their names are on the disk before
    the answer."""
    folder = make_folder(place)
    with agents(folder, before=strace(place, calls="openat,fsync")) as agent:
        agent.start(1)
        agent.must("1 create log %d" % (3 << 20))
        status = os.stat(folder + "/log")
        equal((status.st_size, status.st_mode & 0o7777), (3 << 20, 0o600))
        assert status.st_blocks * 512 >= status.st_size, "holes"
    calls = [line.split(None, 1)[1] for line in traced(place)]
    opened = next(number for number, call in enumerate(calls) if '"log"' in call and "O_CREAT" in call)
    contains(calls[opened], "O_EXCL", "O_NOFOLLOW")
    descriptor = calls[opened].split()[-1]
    assert "fsync(%s)" % descriptor in calls[opened + 1] and "fsync(" in calls[opened + 2], calls[opened:]
    reopened = [call for call in calls[opened + 1 :] if "openat" in call]
    assert all("O_NOFOLLOW" in call for call in reopened), reopened


@test
def end_of_input(place):
    """When standard input ends, locks and files are removed, and an incomplete last line is ignored."""
    folder = make_folder(place)
    agent = Agent(folder)
    pids = [agent.start(number) for number in (1, 2)]
    agent.must("1 create lock 4096")
    agent.must("1 many m 20")
    agent.must("2 open lock")
    agent.must("2 lock lock wait", "held")
    agent.process.stdin.write("1 create cut 4096")
    equal(agent.end(), (0, ""))
    equal(files_in(folder), [])
    assert all(map(is_gone, pids)), pids
    for number in (1, 2):
        equal(agent.answer("%d kill" % number), "ended signal=KILL")


@test
def signal_and_deadline(place):
    folder = make_folder(place)
    for number, options in ((signal.SIGTERM, []), (signal.SIGINT, []), (None, ["--deadline=2"])):
        agent = Agent(folder, *options)
        pid = agent.start(1)
        agent.must("1 create log 1048576")
        agent.must("1 open log")
        agent.tell("1 write log 1 0")
        if number:
            agent.process.send_signal(number)
        equal(agent.wait(), (4, ""), number)
        equal((files_in(folder), is_gone(pid)), ([], True))


@test
def lost_reader(place):
    folder = make_folder(place)
    agent = Agent(folder, reads=False)
    agent.tell("1 start", "1 create lock 4096")
    until(lambda: "lock" in files_in(folder), "it is created", agent.process)
    agent.process.stdout.close()
    agent.tell("2 start")
    equal(agent.process.wait(timeout=PATIENCE_S), 2)
    contains(agent.process.stderr.read(), "cannot write to standard output")
    equal(files_in(folder), [])


@test
def killed_agent(place):
    """No process outlives a killed agent, not even one that waits for a lock. The files remain in the marked
    directory."""
    folder = make_folder(place)
    agent, other = Agent(folder), Agent(folder)
    pids = [agent.start(number) for number in (1, 2, 3)]
    agent.must("1 create lock 4096")
    agent.must("1 create log 1048576")
    other.start(1, "lock")
    other.must("1 lock lock try 1", "held")
    agent.must("2 open lock")
    agent.tell("2 lock lock wait")
    agent.must("3 open log")
    agent.tell("3 write log 1 0")
    until_answer(agent, "3 write each", lambda found: int(found["count"]) > 0)
    agent.process.kill()
    agent.process.wait()
    until(lambda: all(map(is_gone, pids)), "the lockers end")
    equal(files_in(folder), ["lock", "log"])
    equal(other.end(), (0, ""))


@test
def ignored_child_signal(place):
    """If the parent ignores SIGCHLD, the agent inherits this. Unless it resets this, it would not notice that
    lockers end."""
    with agents(make_folder(place), preexec=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)) as agent:
        agent.start(1)
        equal(agent.ask("1 exit"), "ended status=0")


@test
def crashed_locker(place):
    with agents(make_folder(place)) as agent:
        os.kill(agent.start(1), signal.SIGSEGV)
        equal(agent.answer("1 exit"), "ended signal=SEGV")
        agent.start(1)


@test
def replaced_files_stay(place):
    """A name is not removed if it now belongs to another file."""
    folder = make_folder(place)
    agent = Agent(folder)
    agent.start(1)
    agent.must("1 create lock 4096")
    agent.must("1 create log 4096")
    agent.must("1 open lock")
    os.unlink(folder + "/lock")
    write(folder + "/new", "mine")
    os.rename(folder + "/new", folder + "/lock")
    status, err = agent.end()
    equal((status, files_in(folder)), (2, ["lock"]))
    contains(err, "files are left in " + folder, "cleanup")


@test
def slow_reader(place):
    """The agent does not wait for a slow reader: reports are left out, but answers are not."""
    folder = make_folder(place)
    agent = Agent(folder, reads=False)
    fcntl.fcntl(agent.process.stdout, 1031, 4096)  # F_SETPIPE_SZ
    agent.tell("1 start", "1 create lock 4096", "1 open lock")
    agent.tell(*["2 exit"] * 5000)
    agent.tell("1 verify lock 1")

    def verified():
        with open(folder + "/lock", "rb") as file:
            return int.from_bytes(file.read(8), "little")

    until(lambda: os.path.exists(folder + "/lock") and verified() >= 50, "it verifies", agent.process)
    agent.tell("1 stop verify")
    agent.read()
    contains(agent.answer("ready"), "version=")
    found = agent.must_answer("1 verify", "done")
    reports = [line for line in agent.lines if line.startswith("1 verify each")]
    assert int(found["count"]) >= 50 and len(reports) < 10, (found, len(reports))
    equal(len([line for line in agent.lines if line.startswith("2 error usage")]), 5000)
    equal(agent.end(), (0, ""))


@root_test
def frozen_file_system_below_lockers(place):
    """The agent reports, obeys and ends, although every process that accesses the files hangs."""
    with mounted(place) as point:
        folder = make_folder(place, "mount")
        agent = Agent(folder)
        pids = [agent.start(number) for number in (1, 2, 3)]
        agent.must("1 create lock 4096")
        agent.must("1 create log 1048576")
        for number in (1, 2):
            agent.must("%d open lock" % number)
        agent.must("1 lock lock try 1", "held")
        agent.must("1 open log")
        agent.tell("1 write log 1 0")
        before = until_answer(agent, "1 write each", lambda found: int(found["count"]) > 0)
        with frozen(point):
            found = until_answer(agent, "1 write each", lambda found: int(found["pause_max_ns"]) > 1500000000)
            assert int(found["count"]) >= int(before["count"]), (found, before)
            agent.tell("3 create more 4096")
            agent.must("2 lock lock try 1", "refused")
            agent.must("4 start")
            agent.must("2 kill", "ended")
            status, err = agent.end()
            equal(status, 2)
            contains(err, "files are left in", "does not respond")
        until(lambda: all(map(is_gone, pids)), "the lockers end")
        assert set(files_in(folder)) <= {"lock", "log", "more"}


@test
def sanitized(place):
    """Runs all commands and threads, and ends lockers in all possible ways, under the address and thread sanitizers."""
    for kind in ("asan", "tsan"):
        folder, log = make_folder(place, kind), os.path.join(place.path, kind + "-log")
        options = "%s_OPTIONS" % kind.upper()
        env = {options: os.environ.get(options, "") + ":log_path=" + log}
        with agents(folder, logdisk=os.path.join(BUILD, kind, "logdisk"), env=env) as agent:
            agent.start(1)
            for name, size in (("lock", PAGE), ("log", 64 * PAGE), ("record", PAGE), ("nonce", PAGE)):
                agent.must("1 create %s %d" % (name, size))
            agent.must("1 exit", "ended")
            for number in (1, 2, 3):
                agent.start(number, "lock", "log", "record", "nonce")
            agent.must("1 lock lock wait", "held")
            agent.tell("2 lock lock wait", "3 lock lock poll 5")
            agent.tell("1 verify lock 5", "1 write log 1 0", "1 add record 20", "1 scan log 1 2 0 0 0", "1 test lock")
            agent.tell("1 nonce nonce write abcd", "1 nonce nonce read")
            agent.must_answer("1 nonce", "done")
            agent.must_answer("1 nonce", "done")
            until_answer(agent, "1 verify each", lambda found: "ns" in found)
            until_answer(agent, "1 write each", lambda found: int(found["count"]) > 0)
            agent.tell("1 stop verify", "1 stop write", "3 stop lock")
            for verb in ("verify", "write"):
                agent.must_answer("1 " + verb, "done")
            agent.must_answer("3 lock", "refused")
            agent.must("1 unlock lock")
            agent.must_answer("2 lock", "held")
            agent.must("1 many m 30")
            agent.must("1 close lock")
            agent.must("1 exit", "ended")
            agent.tell("2 write log 2 0", "2 verify lock 5")
            until_answer(agent, "2 write each", lambda found: int(found["count"]) > 0)
            equal(agent.ask("2 kill"), "ended signal=KILL")
            agent.tell("3 write log 3 0")
            until_answer(agent, "3 write each", lambda found: int(found["count"]) > 0)
            equal(agent.ask("3 exit"), "ended status=0")
        found = [name for name in os.listdir(place.path) if name.startswith(kind + "-log")]
        equal("".join(read(os.path.join(place.path, name)) for name in found), "", kind)
