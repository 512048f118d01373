// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Which mount an open file lies on, and, if that is an overlay, which file system holds what is written there.
#ifndef LOGDISK_MOUNTS_H
#define LOGDISK_MOUNTS_H

#include "host/procfs.h"

#include <stdbool.h>
#include <stdint.h>

// The mount that the open file or directory lies on; false where /proc does not tell.
bool mount_of(int fd, struct mount *mount);

// The same, looked through overlays to the file system of the upper directory. False if that cannot be seen from here:
// its path is one of the namespace that mounted the overlay, so it is believed only if what lies there is what is open.
bool mount_behind_overlay(int fd, struct mount *mount);

// The block device of a mount; false: it has none.
bool mount_device(const struct mount *mount, uint32_t *major, uint32_t *minor);

#endif
