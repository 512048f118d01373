// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/sync_probe.h"

#include "base/clock.h"
#include "base/failure.h"
#include "workload/payload.h"

#include <fcntl.h>
#include <unistd.h>

#define BLOCK_BYTES 4096
#define WRITES_MAX 200
#define WRITES_MIN 5                    // enough for a meaningful median
#define TIME_NS UINT64_C(400000000)     // time limit for the writes of each kind
#define PAYLOAD_WORKER 65535            // unlike the number of any worker

static int by_value(const void *left, const void *right) {
    uint64_t one = *(const uint64_t *)left, other = *(const uint64_t *)right;
    return (one > other) - (one < other);
}

// Uses pwrite instead of pwritev, which the workers use, so that a trace can distinguish the calls.
static int write_some(int fd, uint64_t file_bytes, struct payload *payload, const atomic_bool *stop, uint64_t *p50_ns) {
    uint64_t took_ns[WRITES_MAX], end_ns = now_ns() + TIME_NS, places = file_bytes / BLOCK_BYTES;
    size_t count = 0;
    while (count < WRITES_MAX && now_ns() < end_ns && !atomic_load(stop)) {
        const void *block = payload_next(payload);
        uint64_t start_ns = now_ns();
        ssize_t written = pwrite(fd, block, BLOCK_BYTES, (off_t)(count % places * BLOCK_BYTES));
        took_ns[count] = now_ns() - start_ns;
        if (written != BLOCK_BYTES) {
            return written < 0 ? errno : FAILURE_SHORT_WRITE;
        }
        count++;
    }
    qsort(took_ns, count, sizeof took_ns[0], by_value);
    *p50_ns = count >= WRITES_MIN ? took_ns[count / 2] : 0;
    return 0;
}

// The flag O_DSYNC of an open file cannot be changed, so the file is opened again. It may have no name, so it is opened
// through /proc.
static int
write_with(int flags, int fd, uint64_t file_bytes, struct payload *payload, const atomic_bool *stop, uint64_t *p50_ns) {
    char path[40];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int again = open(path, O_WRONLY | O_DIRECT | O_CLOEXEC | flags);
    if (again < 0) {
        return 0;
    }
    int error = write_some(again, file_bytes, payload, stop, p50_ns);
    (void)close(again);
    return error == EINVAL ? 0 : error;
}

int sync_probe_run(struct sync_probe *probe, int fd, uint64_t file_bytes, uint64_t seed, const atomic_bool *stop) {
    struct payload payload;
    size_t bytes = payload_pool_bytes(BLOCK_BYTES, BLOCK_BYTES);
    void *pool;
    if (posix_memalign(&pool, BLOCK_BYTES, bytes) != 0) {
        return 0;
    }
    payload_open(&payload, pool, bytes, seed, PAYLOAD_WORKER);
    payload_start_step(&payload, BLOCK_BYTES, BLOCK_BYTES);
    int error = write_with(0, fd, file_bytes, &payload, stop, &probe->plain_p50_ns);
    error = error == 0 ? write_with(O_DSYNC, fd, file_bytes, &payload, stop, &probe->sync_p50_ns) : error;
    free(pool);
    return error;
}
