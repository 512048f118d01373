# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of a host that decide whether locks on a shared file system work, and whether a test of them proves
anything.

A setting that the system does not show is empty.

Private to this collection; it may change at any time.
"""

import errno
import os
import re
import socket
import stat
import time

from . import _machine, _mounts

NFS_PARAMETERS = "/sys/module/nfs/parameters"
CLIENT_IDENTIFIER = "/sys/fs/nfs/net/nfs_client/identifier"
MOUNT_STATISTICS = "/proc/self/mountstats"
VISIBLE_S = 10
"""How long a directory that another host has just created may take to become visible here."""
LOOK_S = 0.2
MOUNT_KEYS = ("mount_point", "mount_source", "mount_options", "filesystem_type")


def settings_of(path, directory, patience_s=0):
    """Return the settings for a path, and whether the ``directory`` below it exists, or begins to exist within
    ``patience_s`` seconds."""
    mount = _mounts.mount_of(path)
    found = dict((key, mount.get(key) or "") for key in MOUNT_KEYS)
    found.update(
        _machine.identity(),
        uid=os.geteuid(),
        gid=os.getegid(),
        pid_namespace=_namespace("pid"),
        mount_namespace=_namespace("mnt"),
        nfs4_unique_id=_read(CLIENT_IDENTIFIER) or _read(os.path.join(NFS_PARAMETERS, "nfs4_unique_id")),
        lease_s=lease_s(_read(MOUNT_STATISTICS, 1 << 20), found["mount_source"], found["mount_point"]),
        server_address=server_address(found["mount_source"], found["mount_options"]),
        path=path,
    )
    directory_errno = errno_of(directory, patience_s)
    found.update(directory_exists=not directory_errno, directory_errno=directory_errno)
    return found


def errno_of(directory, patience_s):
    """Return the name of the error with which a directory cannot be used; empty if it can be used. A directory that
    does not exist may begin to exist within ``patience_s`` seconds."""
    end = time.monotonic() + patience_s
    while True:
        number = _errno_of(directory)
        if number != errno.ENOENT or time.monotonic() >= end:
            return errno.errorcode.get(number, str(number)) if number else ""
        time.sleep(LOOK_S)


def _errno_of(directory):
    try:
        if not stat.S_ISDIR(os.lstat(directory).st_mode):
            return errno.ENOTDIR
        os.close(os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW))
    except OSError as error:
        return error.errno or errno.EIO
    return 0


def lease_s(statistics, mount_source, mount_point):
    """Return the lease of the file server in seconds, from the statistics of all NFS mounts; None if they do not show
    it."""
    sections = re.split(r"^device ", statistics, flags=re.MULTILINE)
    for section in reversed(sections):
        line = _mounts.unescape(section.split("\n", 1)[0])
        if line.startswith("%s mounted on %s with fstype nfs" % (mount_source, mount_point)):
            found = re.search(r"\blease_time=([0-9]{1,6})\b", section)
            return int(found.group(1)) if found else None
    return None


def server_address(source, options):
    """Return the address of the file server; empty if the mount does not show it."""
    named = [option[len("addr=") :] for option in options.split(",") if option.startswith("addr=")]
    host = source.rpartition(":/")[0].strip("[]")
    return next((text for text in named + [host] if _is_address(text)), "")


def _is_address(text):
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, text)
        except (OSError, UnicodeError):
            continue
        return True
    return False


def _namespace(name):
    """Return the number of a namespace of this process. The number is unique within one kernel."""
    try:
        return os.readlink("/proc/self/ns/%s" % name)
    except OSError:
        return ""


def _read(path, most_bytes=4096):
    text = _machine.read_text(path, most_bytes=most_bytes).strip()
    return "" if text == "(null)" else text
