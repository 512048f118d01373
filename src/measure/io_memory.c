// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "measure/io_memory.h"

#include "workload/payload.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define TOUCHES_PER_PAGE 4              // with 4 touches, 2 % of the pages are still in order

// The kernel assigns physical pages in the order in which they are touched, so they are touched in random order.
static void scatter(unsigned char *pages, size_t bytes, size_t page_bytes, bool locked) {
    size_t count = bytes / page_bytes;
    uint64_t random = (uintptr_t)pages;
    (void)munlock(pages, bytes);
    (void)madvise(pages, bytes, MADV_DONTNEED);         // the heap may have used these pages before
    for (size_t i = 0; i < TOUCHES_PER_PAGE * count; i++) {
        *(volatile unsigned char *)(pages + splitmix64(&random) % count * page_bytes) = 0;
    }
    if (locked) {
        (void)mlock(pages, bytes);
    }
}

bool io_memory_open(void **memory, size_t bytes, size_t alignment_bytes, bool locked) {
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    (void)prctl(PR_SET_THP_DISABLE, 1L, 0L, 0L, 0L);    // huge pages are contiguous
    if (posix_memalign(memory, alignment_bytes, bytes) != 0) {
        return false;
    }
    size_t before = (page_bytes - (uintptr_t)*memory % page_bytes) % page_bytes;
    if (bytes >= before + page_bytes) {
        scatter((unsigned char *)*memory + before, (bytes - before) / page_bytes * page_bytes, page_bytes, locked);
    }
    return true;
}
