# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that is refused before the first byte is written, and the messages."""

import os
import resource
import shutil
import subprocess

from support import (
    BASE,
    LOGDISK,
    MQLDT,
    contains,
    equal,
    mounted,
    opening,
    preloaded,
    read,
    refused,
    root_test,
    strace,
    test,
    tmpfs,
    warnings,
)


@test
def usage_errors(place):
    for options, parts in (
        (["--bsize=5X"], ["--bsize", "'5X'", "512 to 64M", "try"]),
        (["--duration=0"], ["--duration", "'0'"]),
        (["--whatever"], ["--whatever", "--help"]),
        (["--bsize=4K", "-xq"], ["'-xq' is unknown"]),
        (["--bsize=" + ",".join(["4K"] * 1001)], ["--bsize", "1001", "up to 1000"]),
        (["--bsize=4K", "--dir=" + "d" * 5000], ["--dir", "too long", "4095"]),
    ):
        result = place.logdisk(*options)
        equal((result.status, result.out), (1, ""))
        contains(result.err, *parts)
        equal((os.listdir(place.dir), os.path.exists(place.tables)), ([], False))
    for option, text in (
        ("--help", "--bsize=SIZE"),
        ("--version", "logdisk 1."),
        ("--columns", "results.csv,operations,count\n"),
    ):
        done = subprocess.run([LOGDISK, option], stdout=subprocess.PIPE, universal_newlines=True)
        equal(done.returncode, 0)
        contains(done.stdout, text)


@test
def mqldt_abbreviations(place):
    """Abbreviations that are unique among mqldt's options, but not among all options of the tester."""
    result = place.logdisk(
        "--di=" + place.dir, "--de=500", "--du", "1", "--c", place.path + "/a.csv", "--f", "x", dir="/nowhere"
    )
    equal(result.status, 1, result.err)
    contains(result.err, "'--f' is unknown or ambiguous")
    result = place.logdisk("--di=" + place.dir, "--de=500", "--du", "1", "--c", place.path + "/a.csv", dir="/nowhere")
    equal(result.status, 0, result.err)
    equal(result.run()["option_delay_us"], "500")
    contains(read(place.path + "/a.csv"), MQLDT)
    for option in ("--d=5", "--c", "--k=5"):
        result = place.logdisk(option)
        equal((result.status, option in result.err), (1, True), result.err)


@test
def directories_refused(place):
    refused(place, place.logdisk("--duration=1", dir=place.dir + "/none"), "does not exist", "--createDirs")
    refused(place, place.logdisk("--duration=1", "--qm=2"), place.dir + "1 does not exist")
    refused(place, place.logdisk("--duration=1", "--createDirs", dir=place.dir + "/no/where"), "cannot create")
    with open(place.path + "/plain", "w") as file:
        file.write("x")
    refused(place, place.logdisk("--duration=1", dir=place.path + "/plain"), "cannot open")
    os.mkdir(place.tables)
    with open(place.tables + "/results.csv", "w") as file:
        file.write("old")
    done = subprocess.run(
        place.command("--duration=1"), stderr=subprocess.PIPE, stdout=subprocess.PIPE, universal_newlines=True
    )
    equal(done.returncode, 2)
    contains(done.stderr, "results.csv already exists")
    equal(os.listdir(place.tables), ["results.csv"])


@test
def limits_are_told_before_the_first_byte(place):
    result = place.logdisk(
        "--duration=1", "--numFiles=200", preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
    )
    refused(place, result, "open files", "ulimit -n")
    result = place.logdisk("--duration=1", preexec=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)))
    refused(place, result, "limit on file size", "ulimit -f")
    equal(os.listdir(place.dir), [])


@root_test
def threads_and_memory_are_told_before_the_first_file(place):
    for i in range(1, 9):
        os.mkdir(place.dir + str(i))
    # The limit on processes does not apply to root, and it counts all processes of the user.
    everyones = shutil.copy(LOGDISK, place.path)
    for path in (BASE, place.path):
        os.chmod(path, 0o755)
    os.chmod(place.path, 0o777)
    for i in range(1, 9):
        os.chmod(place.dir + str(i), 0o777)

    def few_threads():
        resource.setrlimit(resource.RLIMIT_NPROC, (6, 6))
        os.setgroups([])
        os.setgid(65533)
        os.setuid(65533)

    result = place.logdisk("--duration=1", "--qm=1,2,8", preexec=few_threads, logdisk=everyones)
    refused(place, result, "cannot create a thread for queue manager", "ulimit -u")
    # The memory to write from takes 8 x 5 MiB. Libraries and stacks also count towards the limit.
    result = place.logdisk(
        "--duration=1",
        "--qm=8",
        "--bsize=4M",
        "--fileSize=4M",
        "--numFiles=1",
        before=strace(place, calls="openat") + ["prlimit", "--as=%d" % (40 << 20)],
    )
    refused(place, result, "no memory for the writers", "fewer queue managers", "ulimit -v")
    meminfo = os.path.join(place.path, "meminfo")
    with open(meminfo, "w") as file:
        file.write("MemTotal: 100000 kB\nMemFree: 90000 kB\nMemAvailable:     300 kB\n")
    result = place.logdisk(
        "--duration=1",
        "--qm=8",
        before=["unshare", "-m", "sh", "-c", 'mount --bind %s /proc/meminfo && exec "$@"' % meminfo, "sh"],
    )
    refused(place, result, "the writers take", "307200 are available", "fewer queue managers")
    for i in range(1, 9):
        equal(os.listdir(place.dir + str(i)), [], "left behind")


@test
def no_direct_io(place):
    """The file system opens no file with O_DIRECT, whether or not it supports files without a name."""
    refused(
        place,
        place.logdisk("--duration=1", before=opening(place, "flags & O_DIRECT", "EINVAL")),
        "refuses O_DIRECT",
        "--direct=no",
    )
    equal(os.listdir(place.dir), [], "left behind")


@root_test
def no_space(place):
    with tmpfs(place, "size=2m") as point:
        refused(place, place.logdisk("--duration=1", "--fileSize=1M", dir=point), "free", "--numFiles")
        refused(place, place.logdisk("--duration=1", "--reserve=2M", dir=point), "must stay free", "--reserve")
        equal(os.listdir(point), [])
        equal(place.logdisk("--duration=1", dir=point).status, 0)
    with tmpfs(place, "size=2m,nr_inodes=3") if not os.rmdir(place.path + "/tmpfs") else None as point:
        refused(place, place.logdisk("--duration=1", dir=point), "--numFiles")


@test
def full_while_formatting(place):
    result = place.logdisk("--duration=1", before=strace(place, "pwritev:error=ENOSPC:when=3", calls="pwritev"))
    refused(place, result, "cannot preformat", "No space left", "free some space")
    equal(os.listdir(place.dir), [])
    result = place.logdisk(
        "--duration=1", "--keepFiles", before=strace(place, "pwritev:error=ENOSPC:when=3", calls="pwritev")
    )
    refused(place, result, "cannot preformat")
    equal(os.listdir(place.dir), [])


@root_test
def read_only_file_system(place):
    with mounted(place, options="ro,noload") as point:
        refused(place, place.logdisk("--duration=1", dir=point), "cannot create", "Read-only")


@root_test
def without_permission(place):
    os.chmod(BASE, 0o755)
    os.chmod(place.path, 0o755)
    tables = os.path.join(place.path, "own")
    os.mkdir(tables)
    os.chown(tables, 65534, 65534)
    place.tables = tables + "/t"
    # The build may be in a directory that only root can read.
    everyones = shutil.copy(LOGDISK, place.path)

    def nobody():
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)

    os.chmod(place.dir, 0o755)
    refused(
        place, place.logdisk("--duration=1", preexec=nobody, logdisk=everyones), "cannot create", "Permission denied"
    )
    os.chmod(place.dir, 0o700)
    refused(place, place.logdisk("--duration=1", preexec=nobody, logdisk=everyones), "Permission denied")
    os.chown(place.dir, 65534, 65534)
    equal(place.logdisk("--duration=1", preexec=nobody, logdisk=everyones).status, 0)


@root_test
def block_size_that_the_disk_refuses(place):
    with mounted(place, sector=4096) as point:
        refused(
            place,
            place.logdisk("--duration=1", "--bsize=4K,5K", dir=point),
            "--bsize",
            "5120",
            "next size that works is 8192",
        )
        equal(sorted(os.listdir(point)), ["lost+found"])
        # The same, except that only the second queue manager is on such a disk.
        refused(
            place,
            place.logdisk("--duration=1", "--bsize=4K,5K", "--qm=2", dir=place.dir + "," + point),
            "--bsize",
            "5120",
            point,
            "next size that works is 8192",
        )
    odd = place.logdisk("--duration=1", "--bsize=5K", "--direct=no")
    equal(odd.status, 0, odd.err)
    contains(odd.err, "warning", "5120", "4096")
    contains(warnings(odd.run()), "5120")


@test
def more_bytes_than_can_be_counted(place):
    result = place.logdisk(
        "--duration=1", "--qm=1000", "--createDirs", "--fileSize=16384G", "--numFiles=10000", dir=place.dir + "/q"
    )
    refused(place, result, "--fileSize x --numFiles x --qm", "2^64 bytes")
    equal(os.listdir(place.dir), [])


@root_test
def numbered_directory_on_another_file_system(place):
    with tmpfs(place, "size=8m") as point:
        refused(place, place.logdisk("--duration=1", "--qm=2", "--createDirs", dir=point), "another file system")
        equal(os.path.exists(point + "1"), False)


@test
def alignment_that_the_disk_refuses(place):
    """The alignment is only suggested if it helps."""
    source = """
        #include <dlfcn.h>
        #include <errno.h>
        #include <stdint.h>
        #include <stdlib.h>
        #include <sys/uio.h>
        ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) {
            ssize_t (*true_pwritev)(int, const struct iovec *, int, off64_t) = dlsym(RTLD_NEXT, "pwritev64");
            uintptr_t odd = (uintptr_t)parts->iov_base | parts->iov_len | (getenv("ALWAYS") != NULL);
            if (odd % 4096 != 0) { errno = EINVAL; return -1; }
            return true_pwritev(fd, parts, count, at);
        }
        """
    shim = preloaded(place, source)
    for options, words in (
        (["--alignment=512"], ["a write of 4096 bytes from memory aligned to 512", "; try --alignment=4096"]),
        (["--alignment=512", "--bsize=5K"], ["the next size that works with --alignment=4096 is 8192"]),
        (["--bsize=5K"], ["the next size that works is 8192"]),
    ):
        refused(place, place.logdisk("--duration=1", *options, before=shim), *words)
    for options in ([], ["--alignment=512"]):
        none = place.logdisk("--duration=1", *options, before=[*shim, "ALWAYS=1"])
        refused(place, none, "and so is any other size", "--direct=no")
        assert "--alignment" not in none.err, none.err


@test
def sizes_above_which_the_disk_refuses(place):
    """They are found before the first step, and the largest size that works is named."""
    source = """
        #include <dlfcn.h>
        #include <errno.h>
        #include <stdlib.h>
        #include <sys/uio.h>
        #include <unistd.h>
        ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) {
            ssize_t (*true_pwritev)(int, const struct iovec *, int, off64_t) = dlsym(RTLD_NEXT, "pwritev64");
            if (parts->iov_len >= 1 << 16 && parts->iov_len < 1 << 20) { errno = EINVAL; return -1; }
            return true_pwritev(fd, parts, count, at);
        }
        static ssize_t limited(const char *name, int fd, void *memory, size_t bytes, off64_t offset) {
            ssize_t (*true_pread)(int, void *, size_t, off64_t) = dlsym(RTLD_NEXT, name);
            if (bytes > strtoul(getenv("MOST_BYTES"), NULL, 10)) { errno = EINVAL; return -1; }
            return true_pread(fd, memory, bytes, offset);
        }
        ssize_t pread(int fd, void *memory, size_t bytes, off_t at) { return limited("pread", fd, memory, bytes, at); }
        ssize_t pread64(int fd, void *memory, size_t bytes, off64_t at) {
            return limited("pread64", fd, memory, bytes, at);
        }
        """
    shim = preloaded(place, source)
    reading = [
        "--place=name=data,dir=%s" % place.dir,
        "--stream=name=db,place=data,pattern=random,size=60K,read=50%,sync=none",
    ]
    for most, options, words in (
        (100000, ["--verify"], ["--verify: a read of 1048576 bytes", "the largest size that works is 99840"]),
        (0, ["--verify"], ["--verify: a read of 1048576 bytes", "any other size", "--direct=no"]),
        (1 << 30, ["--bsize=64K"], ["--bsize: a write of 65536 bytes", "the largest size that works is 65024"]),
        (32768, reading, ["--stream: a read of 61440 bytes", "the largest size that works is 32768"]),
    ):
        limited = [*shim, "MOST_BYTES=%d" % most]
        refused(place, place.logdisk("--duration=1", "--fileSize=2M", *options, before=limited), *words)
