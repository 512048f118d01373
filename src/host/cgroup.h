// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// How long a quota of processor time (cpu.max, CPUQuota, limits.cpu of a pod) kept this process's cgroup from running.
// Every group above it can also have a quota. Groups outside a container's namespace cannot be seen from inside.
#pragma once

#include "base/standard.h"

#define CGROUP_LEVELS 16  // in a deeper hierarchy, the lowest levels; the kernel itself advises against depth

struct cgroup {
    char path[PATH_MAX];                // directory of the process's own group; empty: cannot be seen
    size_t mount_length;                // the length of the part of path that leads to the highest visible group
    bool legacy;                        // version 1
};

// The group that the cpu controller applies to, from the text of /proc/self/cgroup: version 1 if it is mounted for that
// controller, version 2 otherwise. False if there is none.
bool parse_cgroup(const char *text, struct cgroup *cgroup);

// Builds a group's directory from the root of the mount that shows it, its mount point and its path in the hierarchy.
// False, with an empty path, if the mount does not show the group.
bool cgroup_locate(struct cgroup *cgroup, const char *root, const char *point);

// The throttled time in the text of a cpu.stat, in nanoseconds; NAN if it is not there.
double parse_throttled_ns(const char *text, bool legacy);

void cgroup_find(struct cgroup *cgroup);

// The throttled time of the process's own group, which comes first, and of those above it; NAN if the kernel does not
// report it.
void cgroup_throttled_ns(const struct cgroup *cgroup, double levels[CGROUP_LEVELS]);
