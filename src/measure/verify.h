// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// --verify: after a step, every block that the step wrote is read back and compared with what was last written there.
// Each 512 bytes carry a stamp that is unique to the write (payload.h), so lost, torn, misdirected and corrupted writes
// are found. It cannot find writes that a volatile cache would lose in a power cut.
#pragma once

#include "measure/worker.h"

#define VERIFY_MISMATCHES_KEPT 10

struct mismatch {
    uint32_t worker, file;
    uint64_t offset_bytes;              // the first wrong 512 bytes of the block
    uint64_t ordinal;  // the number of the write that should be there, from 1 in its step, including the warm-up
};

struct verify {
    const struct workspace *workspace;
    struct stream_step *stream;         // a stream without reads, whose workers are idle and whose pattern has passes
    // For all steps so far:
    _Atomic uint64_t blocks, mismatches;
    struct mismatch kept[VERIFY_MISMATCHES_KEPT];
    struct failure failure;             // the first wrong or unreadable block; status EXIT_MEASURED: none
};

// Checks the last pass of every worker. Runs in a thread, because disks may hang.
void verify_stream(void *verify);
