// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a worker does next: writes or reads, by the share of reads that its stream has.
#ifndef LOGDISK_OPERATION_H
#define LOGDISK_OPERATION_H

#include "workload/payload.h"

#include <stdint.h>

#define OPERATION_PPM UINT32_C(1000000)

enum operation { OPERATION_WRITE, OPERATION_READ, OPERATIONS };

static inline enum operation operation_next(uint32_t read_ppm, uint64_t *random) {
    if (__builtin_expect(read_ppm == 0, 1)) {
        return OPERATION_WRITE;
    }
    return splitmix64(random) % OPERATION_PPM < read_ppm ? OPERATION_READ : OPERATION_WRITE;
}

static inline const char *operation_name(enum operation operation) {
    return operation == OPERATION_READ ? "read" : "write";
}

#endif
