# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The test files and the directories of --createDirs: nobody else's file is touched, and nothing is left behind."""

import os
import shutil

from support import consistent, contains, equal, opening, preloaded, refused, strace, test, traced, wait_until_measuring


@test
def made_directories_go_again(place):
    result = place.logdisk("--qm=2", "--duration=1", "--createDirs", dir=place.dir + "/new")
    equal(result.status, 0, result.err)
    equal(os.listdir(place.dir), [], "left behind")
    result = place.logdisk("--duration=1", "--createDirs", "--keepFiles", dir=place.dir + "/kept")
    equal(result.status, 0, result.err)
    equal(sorted(os.listdir(place.dir + "/kept")), ["mqldt_testfile.%04d" % i for i in range(3)])
    equal([os.path.getsize(place.dir + "/kept/mqldt_testfile.%04d" % i) for i in range(3)], [262144] * 3)


@test
def made_directories_go_when_their_files_are_closed(place):
    """NFS and FUSE rename an open file that is removed, and then refuse to remove its directory."""
    silly = preloaded(
        place,
        """
        #include <dirent.h>
        #include <errno.h>
        #include <stdio.h>
        #include <string.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        int rmdir(const char *path) {
            char link[64], target[4096];
            for (int fd = 3; fd < 64; fd++) {
                snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
                ssize_t length = readlink(link, target, sizeof target - 1);
                target[length > 0 ? length : 0] = 0;
                if (strncmp(target, path, strlen(path)) == 0 && target[strlen(path)] == '/') {
                    errno = ENOTEMPTY;
                    return -1;
                }
            }
            return (int)syscall(SYS_unlinkat, -100, path, 0x200);
        }""",
    )
    result = place.logdisk("--duration=1", "--createDirs", before=silly, dir=place.dir + "/q")
    equal((result.status, os.listdir(place.dir)), (0, []), result.err)
    refusal = place.logdisk(
        "--duration=1",
        "--createDirs",
        dir=place.dir + "/q",
        before=strace(place, "pwritev:error=ENOSPC:when=3", calls="pwritev") + silly,
    )
    refused(place, refusal, "cannot preformat")
    equal(os.listdir(place.dir), [], "left behind by a refusal")
    stuck = place.logdisk(
        "--duration=1",
        "--createDirs",
        dir=place.dir + "/q",
        before=preloaded(
            place,
            """
        #include <errno.h>
        int rmdir(const char *path) { errno = ENOTEMPTY; return -1; }""",
        ),
    )
    equal(stuck.status, 0, stuck.err)
    contains(stuck.err, "--createDirs: cannot remove " + place.dir + "/q", "remove it")


@test
def directories_in_each_other_and_twice(place):
    nested = place.dir + "/a," + place.dir + "/a/b"
    result = place.logdisk("--duration=1", "--qm=2", "--createDirs", dir=nested)
    equal(result.status, 0, result.err)
    equal(os.listdir(place.dir), [], "left behind")
    twice = place.dir + "/c," + place.dir + "/c"
    refused(
        place,
        place.logdisk("--duration=1", "--qm=2", "--createDirs", dir=twice),
        "are the same directory",
        "name a separate one",
    )
    equal(os.listdir(place.dir), [], "left behind")
    os.symlink(place.dir, place.path + "/link")
    refused(
        place,
        place.logdisk("--duration=1", "--qm=2", dir=place.dir + "," + place.path + "/link"),
        "are the same directory",
    )


@test
def foreign_files_are_kept(place):
    victim = os.path.join(place.path, "victim")
    for plant in ("file", "symlink", "dangling", "hardlink", "directory"):
        with open(victim, "w") as file:
            file.write("precious")
        name = place.dir + "/mqldt_testfile.0002"
        {
            "file": lambda: shutil.copy(victim, name),
            "symlink": lambda: os.symlink(victim, name),
            "dangling": lambda: os.symlink(victim + ".none", name),
            "hardlink": lambda: os.link(victim, name),
            "directory": lambda: os.mkdir(name),
        }[plant]()
        # The tester's files need no name, unless they are to be kept or the file system does not support files without
        # one.
        unnamed = opening(place, "(flags & O_TMPFILE) == O_TMPFILE", "EOPNOTSUPP") if plant == "symlink" else []
        for options, before, parts in (
            ([], [], None),
            (["--keepFiles"], [], ("mqldt_testfile.0002 already exists", "--filePrefix")),
            ([], unnamed, ("mqldt_testfile.0002 already exists", "--filePrefix") if unnamed else None),
        ):
            result = place.logdisk("--duration=1", *options, before=before)
            if parts is None:
                equal(result.status, 0, result.err)
            else:
                refused(place, result, *parts)
            equal(os.listdir(place.dir), ["mqldt_testfile.0002"], plant)
            with open(victim) as file:
                equal(file.read(), "precious", plant)
            assert not os.path.exists(victim + ".none")
        os.rmdir(name) if plant == "directory" else os.unlink(name)


@test
def file_system_without_unnamed_files(place):
    for error in ("EOPNOTSUPP", "EISDIR", "EINVAL", "ENOENT"):
        shim = opening(place, "(flags & O_TMPFILE) == O_TMPFILE", error)
        result = place.logdisk("--duration=1", "--delay=5000", before=strace(place) + shim)
        equal(result.status, 0, result.err)
        lines = [line for line in traced(place) if '"mqldt_testfile' in line]
        creating = [line for line in lines if "O_CREAT" in line]
        equal(len(creating), 3, error)
        assert all("O_EXCL" in line and "O_NOFOLLOW" in line for line in creating), creating
        equal(len([line for line in lines if "unlinkat(" in line]), 3, "unlinked")
        equal(os.listdir(place.dir), [], "left behind")
    refused(
        place,
        place.logdisk("--duration=1", before=opening(place, "(flags & O_TMPFILE) == O_TMPFILE", "EDQUOT")),
        "cannot create",
        "mqldt_testfile.0000",
        "quota",
    )


@test
def killed_run_leaves_no_file(place):
    process = place.start("--duration=30", "--progress=" + place.path + "/progress")
    wait_until_measuring(place, process)
    equal(os.listdir(place.dir), [], "while it runs")
    process.kill()
    place.finish(process)
    equal(os.listdir(place.dir), [], "after SIGKILL")
    assert not os.path.exists(place.tables + "/run.csv"), "complete tables of a killed run"


@test
def directory_removed_in_mid_run(place):
    process = place.start("--duration=2", "--progress=" + place.path + "/progress")
    wait_until_measuring(place, process)
    os.rmdir(place.dir)
    result = place.finish(process)
    equal(result.status, 0, result.err)
    consistent(result)
