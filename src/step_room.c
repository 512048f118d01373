// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "step_room.h"

#include "host/procfs.h"
#include "run.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdlib.h>

#define OWN_TABLE_MAX_DESCRIPTORS 1024          // above that, copies of the descriptor table would cost too much
#define MEMINFO_BYTES 8192

// Processors of --cpu in turn; -1 where writers are not pinned.
static int cpu_for(const struct options *options, uint32_t index) {
    unsigned chosen = 0;
    for (unsigned cpu = 0; cpu < OPTIONS_CPUS_MAX; cpu++) {
        chosen += cpu_in_list(options, cpu);
    }
    unsigned wanted = chosen > 0 ? index % chosen : 0;
    for (unsigned cpu = 0; cpu < OPTIONS_CPUS_MAX && chosen > 0; cpu++) {
        if (cpu_in_list(options, cpu) && wanted-- == 0) {
            return (int)cpu;
        }
    }
    return -1;
}

static uint64_t largest_block(const struct options *options) {
    uint64_t largest = 0;
    for (size_t i = 0; i < options->block_sizes.count; i++) {
        largest = options->block_sizes.values[i] > largest ? options->block_sizes.values[i] : largest;
    }
    return largest;
}

static bool has_flush(const struct options *options) {
    return options->sync == SYNC_FDATASYNC || options->sync == SYNC_FSYNC;
}

static bool prepare_room(const struct options *options, struct result_room *room) {
    room->flush = has_flush(options) ? calloc(1, sizeof *room->flush) : NULL;
    room->response = options->rate_micro_per_s > 0 ? calloc(1, sizeof *room->response) : NULL;
    return has_flush(options) == (room->flush != NULL) && (options->rate_micro_per_s > 0) == (room->response != NULL);
}

static bool prepare_writer(struct run *run, uint32_t index, size_t pool_bytes) {
    const struct options *options = run->options;
    struct writer *writer = &run->writers[index];
    void *pool;
    if (posix_memalign(&pool, run->workspace.alignment_bytes, pool_bytes) != 0) {
        return false;
    }
    writer->queue_manager = index + 1;
    writer->fds = run->workspace.directories[index].files;
    writer->cpu = options->cpu_list != NULL ? cpu_for(options, index) : -1;
    writer->own_fd_table = options->files * options->queue_managers <= OWN_TABLE_MAX_DESCRIPTORS;
    writer->ring = (struct ring){.files = (uint32_t)options->files, .file_bytes = options->file_bytes, .block_bytes = 1};
    content_open(&writer->content, pool, pool_bytes, run->seed, index + 1);
    writer->flush = has_flush(options) ? calloc(1, sizeof *writer->flush) : NULL;
    writer->response = options->rate_micro_per_s > 0 ? calloc(1, sizeof *writer->response) : NULL;
    return has_flush(options) == (writer->flush != NULL) &&
           (options->rate_micro_per_s > 0) == (writer->response != NULL);
}

// Without this the kernel would grant more than it has, and end the run, or another process, while it measures.
static bool memory_available(uint64_t needed_bytes, struct failure *failure) {
    char text[MEMINFO_BYTES], parts[2][THOUSANDS_BYTES];
    uint64_t available_kib;
    if (!read_text("/proc/meminfo", text, sizeof text) || !parse_vmstat(text, "MemAvailable:", &available_kib) ||
        needed_bytes / 1024 < available_kib) {
        return true;
    }
    return failure_set(failure, EXIT_REFUSED, "--qm x --bsize: the writers take %s bytes of memory, and %s are "
                       "available; take fewer queue managers or smaller blocks", format_thousands(parts[0], needed_bytes),
                       format_thousands(parts[1], available_kib * 1024));
}

static bool allocate(struct run *run, uint32_t count, size_t pool_bytes) {
    run->writers = calloc(count, sizeof *run->writers);
    run->rows = calloc(run->steps, sizeof *run->rows);
    if (run->writers == NULL || run->rows == NULL || !prepare_room(run->options, &run->all_room) ||
        !prepare_room(run->options, &run->one_room) || step_plan_init(&run->plan) != 0) {
        return false;
    }
    // One after the other, so that a run that is to end need not wait until much memory is filled.
    for (uint32_t i = 0; i < count && !atomic_load(&run->workspace.stop); i++) {
        if (!prepare_writer(run, i, pool_bytes)) {
            return false;
        }
    }
    return true;
}

bool step_room(void *argument, struct failure *failure) {
    struct run *run = argument;
    uint32_t count = (uint32_t)run->options->queue_managers;
    size_t pool_bytes = content_pool_bytes(largest_block(run->options), run->workspace.alignment_bytes);
    uint64_t needed_bytes = count * (pool_bytes + sizeof *run->writers + 2 * sizeof *run->writers->flush);
    if (!memory_available(needed_bytes, failure)) {
        return false;
    }
    if (!allocate(run, count, pool_bytes)) {
        char text[THOUSANDS_BYTES];
        return failure_set(failure, EXIT_REFUSED, "no memory for the writers, which take %s bytes; take fewer queue "
                           "managers or smaller blocks, or raise the limit on memory (ulimit -v)",
                           format_thousands(text, needed_bytes));
    }
    return true;
}
