// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Measures the cost of a synchronous write compared with a plain direct write, on a file of the run before its first
// step. If both take the same time, no flush reaches the disk. Then either its write cache is off or is reported to be
// off, or the mount suppresses flushes. Nothing more can be concluded from it: a disk that only pretends to flush looks
// like one with a battery.
#pragma once

#include "base/standard.h"

struct sync_probe {
    uint64_t plain_p50_ns, sync_p50_ns; // with O_DIRECT, and with O_DSYNC as well; 0: unknown
};

// Writes to the beginning of a file that is open for direct I/O and has been written in full. This takes less than a
// second, unless a single write takes longer. Returns 0, or the error of a write. If the file cannot be opened again or
// does not accept blocks of 4096 bytes, the figures remain unknown.
int sync_probe_run(struct sync_probe *probe, int fd, uint64_t file_bytes, uint64_t seed, const atomic_bool *stop);
