// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "lock/ring_writer.h"

#include "base/clock.h"
#include "base/failure.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define BLOCK_BYTES PROTOCOL_PAGE_BYTES
#define POOL_BYTES ((size_t)32 << 10)   // payload_pool_bytes of these blocks
#define QUEUE_MANAGER 1
#define NS_PER_MS UINT64_C(1000000)

static struct ring_writer {
    struct locker *locker;
    const struct opened_file *file;
    struct command command;
    struct payload payload;
    uint64_t ring_bytes;
} writer;                               // a locker has one at a time

static _Alignas(BLOCK_BYTES) unsigned char pool[POOL_BYTES];

void ring_geometry(struct geometry *geometry, uint64_t seed, uint64_t file_bytes) {
    *geometry = (struct geometry){.seed = seed, .block_bytes = BLOCK_BYTES, .file_bytes = file_bytes, .files = 1,
                                  .queue_managers = QUEUE_MANAGER};
    geometry_complete(geometry);
}

// The kernel is called directly, as in measurements: libc's function is a cancellation point.
static inline ssize_t write_block(int fd, void *block, uint64_t offset_bytes) {
    struct iovec vector = {.iov_base = block, .iov_len = BLOCK_BYTES};
    ssize_t done;
    while ((done = syscall(SYS_pwritev, fd, &vector, 1L, (long)offset_bytes, (long)(offset_bytes >> 32))) < 0 &&
           errno == EINTR) {
    }
    return done;
}

// Writes until the task is stopped, until a pause is longer than allowed, or until an error occurs, which it returns.
// The loop does not allocate memory, wait for a lock, or make system calls other than the write. A reader of the state
// may see an older count, but never a write that has not returned.
static int write_ring(struct ring_writer *ring) {
    struct locker_state *state = ring->locker->state;
    const atomic_bool *stop = &state->stop[TASK_WRITE];
    const uint64_t allowed_ns = ring->command.values[1] > 0 ? ring->command.values[1] * NS_PER_MS : UINT64_MAX;
    uint64_t count = 0, offset_bytes = 0, pause_max_ns = 0, last_ns = now_ns();
    atomic_store_explicit(&state->last_return_ns, last_ns, memory_order_release);
    while (!atomic_load_explicit(stop, memory_order_relaxed) && pause_max_ns <= allowed_ns) {
        ssize_t done = write_block(ring->file->fd, payload_next(&ring->payload), offset_bytes);
        uint64_t end_ns = now_ns();
        if (__builtin_expect(end_ns - last_ns > pause_max_ns, 0)) {
            pause_max_ns = end_ns - last_ns;
            atomic_store_explicit(&state->pause_max_ns, pause_max_ns, memory_order_relaxed);
        }
        if (__builtin_expect(done != BLOCK_BYTES, 0)) {
            return done < 0 ? errno : FAILURE_SHORT_WRITE;
        }
        last_ns = end_ns;
        atomic_store_explicit(&state->last_return_ns, end_ns, memory_order_relaxed);
        atomic_store_explicit(&state->writes, ++count, memory_order_release);
        offset_bytes = offset_bytes + BLOCK_BYTES < ring->ring_bytes ? offset_bytes + BLOCK_BYTES : 0;
    }
    return 0;
}

static void *work(void *argument) {
    struct ring_writer *ring = argument;
    const struct locker_state *state = ring->locker->state;
    struct answer answer = locker_answer_to(ring->locker, &ring->command);
    answer.error = write_ring(ring);
    answer.outcome = answer.error != 0 ? ANSWER_FAILED : ANSWER_DONE;
    answer_add(&answer, FIGURE_COUNT, atomic_load(&state->writes));
    answer_add(&answer, FIGURE_PAUSE_MAX_NS, atomic_load(&state->pause_max_ns));
    locker_end_task(ring->locker, TASK_WRITE);
    locker_answer(ring->locker, &answer);
    return NULL;
}

static void open_payload(struct payload *payload, uint64_t seed, uint64_t positions) {
    payload_open(payload, pool, POOL_BYTES, seed, QUEUE_MANAGER);
    payload_start_step(payload, BLOCK_BYTES, BLOCK_BYTES);
    payload_start_passes(payload, positions);
}

void ring_writer_start(struct locker *locker, const struct command *command) {
    const struct opened_file *file = locker_file(locker, command->file);
    struct locker_state *state = locker->state;
    uint64_t positions = file != NULL ? file->bytes / BLOCK_BYTES : 0;
    writer = (struct ring_writer){.locker = locker, .file = file, .command = *command,
                                  .ring_bytes = positions * BLOCK_BYTES};
    open_payload(&writer.payload, command->values[0], positions);
    atomic_store(&state->writes, 0);
    atomic_store(&state->pause_max_ns, 0);
    atomic_store(&state->positions, positions);
    int error = file == NULL ? EBADF : positions == 0 ? EINVAL : 0;
    error = error != 0 ? error : locker_start_task(locker, TASK_WRITE, file, work, &writer);
    if (error != 0) {
        locker_answer_done(locker, command, error);
    }
}
