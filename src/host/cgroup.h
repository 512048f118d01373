// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// How long a quota of processor time (cpu.max, CPUQuota, limits.cpu of a pod) kept this process's cgroup from running.
// Every group above it can also have a quota. From inside a container, groups outside its namespace cannot be seen.
#pragma once

#include "base/standard.h"

#define CGROUP_LEVELS 16  // if there are more levels, only the lowest ones are read

struct cgroup {
    char path[PATH_MAX];                // directory of the process's own group; empty if it cannot be seen
    size_t mount_length;                // length of the prefix of path that names the highest visible group
    bool legacy;                        // cgroup version 1
};

// Finds the group to which the cpu controller applies, from the text of /proc/self/cgroup: version 1 if it is mounted
// for that controller, version 2 otherwise. Returns false if there is none.
bool parse_cgroup(const char *text, struct cgroup *cgroup);

// Builds a group's directory from its path in the hierarchy, and the root and mount point of the mount that shows it.
// Returns false, with an empty path, if the mount does not show the group.
bool cgroup_locate(struct cgroup *cgroup, const char *root, const char *point);

// Returns the throttled time in the text of a cpu.stat, in nanoseconds; NAN if it is not there.
double parse_throttled_ns(const char *text, bool legacy);

void cgroup_find(struct cgroup *cgroup);

// The throttled times of the process's own group (first) and of the groups above it; NAN if the kernel does not report
// them.
void cgroup_throttled_ns(const struct cgroup *cgroup, double levels[CGROUP_LEVELS]);
