// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The engine, with a workload of two streams: the stream of mq-log, and one that reads and writes.
#include "base/clock.h"
#include "check.h"
#include "measure/io_memory.h"
#include "measure/result.h"
#include "workload/test_files.h"
#include "workload/workload.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct workers workers;

static void ignore_second(const struct recorder_sink *sink, uint32_t second, bool partial,
                          const struct distribution *latency) {
    (void)sink, (void)second, (void)partial, (void)latency;
}

static void ignore_batch(const struct recorder_sink *sink, uint32_t batch, const struct distribution *latency) {
    (void)sink, (void)batch, (void)latency;
}

static bool before_files(void *argument, struct failure *failure) {
    struct workspace *workspace = argument;
    return workers_create(&workers, workspace, failure);
}

// A step of 100 ms; the first 20 ms are the warm-up.
static void run_step(uint64_t block_bytes, uint32_t load_point) {
    struct step_plan *plan = &workers.plan;
    workers_prepare_step(
        &workers, &(struct result_key){.step = 1, .block_bytes = block_bytes, .load_point = load_point});
    plan->begin_ns = now_ns();
    plan->timeline = (struct timeline){.start_ns = plan->begin_ns + 20000000, .duration_ns = 80000000};
    plan->end_ns = plan->begin_ns + 100000000;
    for (int stream = 0; stream < 2; stream++) {
        for (int operation = 0; operation < OPERATIONS; operation++) {
            if (workers.streams[stream].recorders[operation] != NULL) {
                recorder_start_step(workers.streams[stream].recorders[operation], plan->timeline,
                                    (struct recorder_sink){.second = ignore_second, .batch = ignore_batch});
            }
        }
    }
    workers_start_step(&workers);
    while (atomic_load(&plan->finished) < workers.active_count) {
        sleep_until_ns(now_ns() + 1000000);
    }
}

static struct result row_of_all(int stream, enum operation operation) {
    struct stream_step *step = &workers.streams[stream];
    recorder_finish(step->recorders[operation], step->first_worker->finish_ns);
    return result_of_all(step, operation);
}

void test_workers(void) {
    static struct options options;
    static struct workload workload;
    static struct workspace workspace;
    static const atomic_bool stop;
    char directory[] = "/tmp/logdisk-unit-XXXXXX", option[64];
    CHECK(mkdtemp(directory) != NULL);
    (void)snprintf(option, sizeof option, "--dir=%s/qm", directory);
    char *arguments[] = {option, "--createDirs", "--bsize=4K,16K", "--fileSize=64K", "--numFiles=2", "--qm=1,2",
                         "--direct=no", "--sync=fdatasync", "--reserve=0", NULL};
    CHECK(options_parse(&options, arguments) == OPTIONS_RUN);
    CHECK(mq_log_open(&workload, &options) && workload.places_count == 2);
    workload.streams[workload.streams_count++] = (struct stream){
        .name = "data", .block_bytes = 8192, .read_ppm = 500000, .sync = SYNC_NONE, .workers = 3, .shares_place = true};
    CHECK(workspace_init(&workspace, &options, &workload, &stop));
    workspace.before_files = before_files;
    workspace.before_files_context = &workspace;
    workspace_prepare(&workspace);
    CHECK(workspace.failure.status == EXIT_MEASURED && workers.count == 2 + 3);
    for (uint32_t load_point = 2; load_point >= 1 && workers.count == 5; load_point--) {
        uint64_t block_bytes = load_point == 1 ? 4096 : 16384;
        run_step(block_bytes, load_point);
        CHECK(workers.active_count == load_point + 3);
        struct result log = row_of_all(0, OPERATION_WRITE);
        struct result writes = row_of_all(1, OPERATION_WRITE), reads = row_of_all(1, OPERATION_READ);
        CHECK(log.latency->count > 0 && log.bytes == log.latency->count * block_bytes && log.ring_passes > 0);
        CHECK(log.flush != NULL && log.flush->count == log.latency->count && log.response == NULL);
        CHECK(log.key.block_bytes == block_bytes && strcmp(log.key.stream, "log") == 0);
        CHECK(writes.latency->count > 0 && reads.latency->count > 0 && reads.flush == NULL);
        CHECK(reads.key.block_bytes == 8192 && strcmp(reads.key.operation, "read") == 0);
        CHECK(reads.bytes == reads.latency->count * 8192);
        uint64_t count = 0;
        for (uint32_t i = 0; i < 3; i++) {
            const struct worker *worker = &workers.streams[1].first_worker[i];
            struct result one = result_of_worker(worker, OPERATION_READ);
            CHECK(one.key.worker == i + 1 && worker->error.call == NULL);
            count += one.latency->count;
        }
        CHECK(count == reads.latency->count);
    }
    workers_end(&workers);
    workspace_close(&workspace);
    CHECK(rmdir(directory) == 0);
}

// Returns the physical page number of a page; 0 if the process is not permitted to see it.
static uint64_t frame_of(int pagemap, const unsigned char *page, size_t page_bytes) {
    uint64_t entry = 0;
    CHECK(pread(pagemap, &entry, sizeof entry, (off_t)((uintptr_t)page / page_bytes * sizeof entry)) == sizeof entry);
    return entry & ((UINT64_C(1) << 55) - 1);
}

// Pages are adjacent in physical memory only by chance: on average, one pair of 512 pages is.
void test_io_memory(void) {
    void *memory;
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), bytes = 512 * page_bytes;
    CHECK(io_memory_open(&memory, bytes, 8 * page_bytes, false) && (uintptr_t)memory % (8 * page_bytes) == 0);
    memset(memory, 1, bytes);
    int contiguous = 0, pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    uint64_t before = 0;
    for (size_t at = 0; at < bytes; at += page_bytes) {
        uint64_t frame = frame_of(pagemap, (unsigned char *)memory + at, page_bytes);
        contiguous += before > 0 && frame == before + 1;
        before = frame;
    }
    CHECK(contiguous < 16);
    CHECK(close(pagemap) == 0);
    free(memory);
    CHECK(io_memory_open(&memory, page_bytes + 512, 512, true));      // not even one whole page
    memset(memory, 1, page_bytes + 512);
    free(memory);
}
