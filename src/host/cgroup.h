// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// This process's cgroup and the groups above it, and how long a quota of processor time (cpu.max, CPUQuota, limits.cpu
// of a pod) kept them from running. Every group above it can also have a quota. From inside a container, groups outside
// its namespace cannot be seen.
#pragma once

#include "base/standard.h"

#define CGROUP_LEVELS 16  // if there are more levels, only the lowest ones are read
#define CGROUP_FILE_BYTES (PATH_MAX + 64)

struct cgroup {
    char path[PATH_MAX];                // directory of the process's own group; empty if it cannot be seen
    size_t mount_length;                // length of the prefix of path that names the highest visible group
    bool legacy;                        // cgroup version 1
};

// Finds the group to which a controller applies, from the text of /proc/self/cgroup: version 1 if it is mounted for
// that controller (cpu, blkio), version 2 otherwise. Returns false if there is none.
bool parse_cgroup(const char *text, const char *controller, struct cgroup *cgroup);

// Builds a group's directory from its path in the hierarchy, and the root and mount point of the mount that shows it.
// Returns false, with an empty path, if the mount does not show the group.
bool cgroup_locate(struct cgroup *cgroup, const char *root, const char *point);

// Returns the throttled time in the text of a cpu.stat, in nanoseconds; NAN if it is not there.
double parse_throttled_ns(const char *text, bool legacy);

void cgroup_find(struct cgroup *cgroup, const char *controller);

// Builds the path of a file of the process's own group (level 0) or of a group above it. Returns false if that group
// cannot be seen.
bool cgroup_file(const struct cgroup *cgroup, int level, const char *name, char file[CGROUP_FILE_BYTES]);

// The throttled times of the process's own group (first) and of the groups above it; NAN if the kernel does not report
// them.
void cgroup_throttled_ns(const struct cgroup *cgroup, double levels[CGROUP_LEVELS]);
