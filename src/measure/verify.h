// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// --verify: after a step, every block that the step wrote is read back and compared with what was last written there.
// Each 512 bytes carry a stamp that only that write had (payload.h), so a lost, torn, misdirected or corrupted write is
// found. It cannot find writes that a volatile cache would lose in a power cut.
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
    struct stream_step *stream;         // its workers are waiting; it only writes, and its pattern has passes
    // Of all steps so far:
    _Atomic uint64_t blocks, mismatches;
    struct mismatch kept[VERIFY_MISMATCHES_KEPT];
    struct failure failure;             // the first wrong or unreadable block; status EXIT_MEASURED: none
};

// Checks every worker's last pass; a job of a thread.
void verify_stream(void *verify);
