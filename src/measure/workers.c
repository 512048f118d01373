// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "measure/workers.h"

#include "base/clock.h"
#include "base/thread.h"
#include "base/units.h"
#include "host/procfs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define OWN_TABLE_MAX_DESCRIPTORS 1024          // above that, copies of the descriptor table would cost too much
#define MEMINFO_BYTES 8192
#define PIN_POLL_NS UINT64_C(100000)

// Processors of --cpu in turn; -1 if workers are not pinned.
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

static uint64_t largest_block(const struct stream *stream, const struct options *options) {
    uint64_t largest = stream->block_bytes;
    for (size_t i = 0; stream->block_bytes == 0 && i < options->block_sizes.count; i++) {
        largest = options->block_sizes.values[i] > largest ? options->block_sizes.values[i] : largest;
    }
    return largest;
}

// Memory that the payload of a worker takes.
static size_t pool_bytes_of(const struct stream *stream, const struct workspace *workspace,
                            const struct options *options) {
    return payload_pool_bytes(largest_block(stream, options), workspace->alignment_bytes);
}

static bool few_descriptors(const struct workload *workload) {
    uint64_t files = 0;
    for (uint32_t i = 0; i < workload->places_count; i++) {
        files += workload->places[i].files;
    }
    return files <= OWN_TABLE_MAX_DESCRIPTORS;
}

static bool has_flush(const struct stream *stream, enum operation operation) {
    return operation == OPERATION_WRITE && (stream->sync == SYNC_FDATASYNC || stream->sync == SYNC_FSYNC);
}

// A distribution if it is wanted; false if there is no memory for it.
static bool create_distribution(struct distribution **distribution, bool wanted) {
    *distribution = wanted ? calloc(1, sizeof **distribution) : NULL;
    return wanted == (*distribution != NULL);
}

static bool create_figures(struct figures **figures, const struct stream *stream, enum operation operation) {
    *figures = calloc(1, sizeof **figures);
    return *figures != NULL && create_distribution(&(*figures)->flush, has_flush(stream, operation)) &&
           create_distribution(&(*figures)->response, stream->arrival.rate_micro_per_s > 0);
}

static bool create_worker(struct worker *worker, const struct workspace *workspace, const struct options *options,
                          uint32_t index) {
    const struct stream *stream = worker->stream->stream;
    size_t pool_bytes = pool_bytes_of(stream, workspace, options);
    void *pool;
    worker->place = stream->first_place + (stream->shares_place ? 1 : worker->number);
    const struct directory *directory = &workspace->directories[worker->place - 1];
    worker->fds = directory->files;
    worker->through_libc = getenv("LD_PRELOAD") != NULL;
    worker->cpu = options->cpu_list != NULL ? cpu_for(options, index) : -1;
    worker->random = workspace->seed ^ index;
    worker->pattern = (struct pattern){.kind = stream->pattern, .files = (uint32_t)directory->place->files,
                                       .file_bytes = directory->place->file_bytes, .block_bytes = 1};
    if (posix_memalign(&pool, workspace->alignment_bytes, pool_bytes) != 0) {
        return false;
    }
    payload_open(&worker->payload, pool, pool_bytes, workspace->seed, index + 1);
    for (int i = 0; i < OPERATIONS; i++) {
        if (stream_has(stream, (enum operation)i) && !create_figures(&worker->figures[i], stream, (enum operation)i)) {
            return false;
        }
    }
    return !stream_has(stream, OPERATION_READ) ||
           posix_memalign(&worker->read_block, workspace->alignment_bytes, pool_bytes) == 0;
}

static bool create_stream(struct workers *workers, struct stream_step *step, const struct workspace *workspace,
                          const struct options *options) {
    uint32_t count = stream_workers(step->stream, options->queue_managers);
    bool own_fd_table = few_descriptors(workers->workload);
    step->plan = &workers->plan;
    step->first_worker = &workers->worker[workers->count];
    for (int i = 0; i < OPERATIONS; i++) {
        if (stream_has(step->stream, (enum operation)i)) {
            step->recorders[i] = calloc(1, sizeof *step->recorders[i]);
            if (step->recorders[i] == NULL || !create_figures(&step->all[i], step->stream, (enum operation)i)) {
                return false;
            }
        }
    }
    // One after the other, so that a run that is to end need not wait until much memory is filled.
    for (uint32_t n = 0; n < count && !atomic_load(&workspace->stop); n++) {
        struct worker *worker = &step->first_worker[n];
        worker->number = n + 1;
        worker->stream = step;
        worker->own_fd_table = own_fd_table;
        if (!create_worker(worker, workspace, options, workers->count++)) {
            return false;
        }
    }
    return true;
}

// Without this the kernel would grant more than it has, and end the run, or another process, while it measures.
static bool memory_is_available(uint64_t needed, struct failure *failure) {
    char text[MEMINFO_BYTES], parts[2][THOUSANDS_BYTES];
    uint64_t available_kib;
    if (!read_text("/proc/meminfo", text, sizeof text) || !parse_figures(text, "MemAvailable:", 1, &available_kib) ||
        needed / 1024 < available_kib) {
        return true;
    }
    return failure_set(failure, EXIT_REFUSED, "--qm x --bsize: the writers take %s bytes of memory, and %s are "
                       "available; take fewer queue managers or smaller blocks", format_thousands(parts[0], needed),
                       format_thousands(parts[1], available_kib * 1024));
}

// Threads.

// thread_start() cannot tell "no memory" from "too many threads", so try to map a stack ourselves.
static bool has_memory_for_stack(void) {
    void *stack = mmap(NULL, THREAD_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    return stack != MAP_FAILED && munmap(stack, THREAD_STACK_BYTES) == 0;
}

static bool refuse_thread(struct failure *failure, uint32_t number) {
    if (!has_memory_for_stack()) {
        return failure_set(failure, EXIT_REFUSED, "--qm: no memory for the thread of queue manager %" PRIu32 "; raise the "
                           "limit on memory (ulimit -v), or take fewer queue managers", number);
    }
    return failure_set(failure, EXIT_REFUSED, "--qm: cannot make a thread for queue manager %" PRIu32 "; raise the limit "
                       "on processes (ulimit -u), or take fewer", number);
}

// The kernel has the last word on pinning: seccomp may forbid it, and a processor may be offline.
static bool is_pinned(struct worker *worker, struct failure *failure) {
    int error = atomic_load(&worker->pin_error);
    while (error < 0) {
        sleep_until_ns(now_ns() + PIN_POLL_NS);
        error = atomic_load(&worker->pin_error);
    }
    return error == 0 || failure_set(failure, EXIT_REFUSED, "--cpu: the kernel does not pin to processor %d: %s; name "
                                     "some of those that this process may use (nproc, taskset -p)", worker->cpu,
                                     strerror(error));
}

static bool start_thread(struct worker *worker) {
    atomic_store(&worker->pin_error, -1);
    return sem_init(&worker->start, 0, 0) == 0 && thread_start(&worker->thread, worker_main, worker);
}

static bool start_threads(struct workers *workers, struct failure *failure) {
    uint32_t started = 0;
    while (started < workers->count && start_thread(&workers->worker[started])) {
        started++;
    }
    bool good = started == workers->count || refuse_thread(failure, started + 1);
    for (uint32_t i = 0; good && i < started; i++) {
        good = is_pinned(&workers->worker[i], failure);
    }
    workers->count = started;
    return good;
}

static bool no_memory(struct failure *failure, uint64_t needed) {
    char text[THOUSANDS_BYTES];
    return failure_set(failure, EXIT_REFUSED, "no memory for the writers, which take %s bytes; take fewer queue managers "
                       "or smaller blocks, or raise the limit on memory (ulimit -v)", format_thousands(text, needed));
}

// Sets count to that of all streams, at the greatest load point.
static uint64_t needed_bytes(const struct workspace *workspace, const struct options *options, uint32_t *count) {
    const struct workload *workload = workspace->workload;
    uint64_t needed = 0;
    *count = 0;
    for (uint32_t i = 0; i < workload->streams_count; i++) {
        const struct stream *stream = &workload->streams[i];
        uint32_t of_stream = stream_workers(stream, options->queue_managers);
        needed += of_stream * (pool_bytes_of(stream, workspace, options) + sizeof(struct worker) + sizeof(struct figures) +
                               2 * sizeof(struct distribution));
        *count += of_stream;
    }
    return needed;
}

bool workers_create(struct workers *workers, const struct workspace *workspace, const struct options *options,
                    struct failure *failure) {
    const struct workload *workload = workspace->workload;
    uint32_t count;
    uint64_t needed = needed_bytes(workspace, options, &count);
    if (!memory_is_available(needed, failure)) {
        return false;
    }
    workers->workload = workload;
    workers->alignment_bytes = workspace->alignment_bytes;
    workers->worker = calloc(count, sizeof *workers->worker);
    bool good = workers->worker != NULL;
    for (uint32_t i = 0; good && i < workload->streams_count; i++) {
        workers->streams[i].stream = &workload->streams[i];
        good = create_stream(workers, &workers->streams[i], workspace, options);
    }
    if (!good) {
        workers->count = 0;             // none has a thread
        return no_memory(failure, needed);
    }
    return start_threads(workers, failure);
}

// Steps.

void workers_prepare_step(struct workers *workers, const struct result_key *key) {
    workers->plan.key = *key;
    workers->plan.begin_ns = 0;
    atomic_store(&workers->plan.stop, false);
    atomic_store(&workers->plan.finished, 0);
    for (uint32_t i = 0; i < workers->workload->streams_count; i++) {
        struct stream_step *step = &workers->streams[i];
        step->block_bytes = step->stream->block_bytes > 0 ? step->stream->block_bytes : key->block_bytes;
        step->workers = stream_workers(step->stream, key->load_point);
        for (uint32_t n = 0; n < step->workers; n++) {
            worker_prepare_step(&step->first_worker[n], workers->alignment_bytes);
        }
    }
}

uint32_t workers_in_step(const struct workers *workers) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < workers->workload->streams_count; i++) {
        count += workers->streams[i].workers;
    }
    return count;
}

struct worker *workers_at(const struct workers *workers, uint32_t index) {
    const struct stream_step *step = workers->streams;
    for (; index >= step->workers; step++) {
        index -= step->workers;
    }
    return &step->first_worker[index];
}

void workers_start_step(struct workers *workers) {
    for (uint32_t i = 0; i < workers_in_step(workers); i++) {
        (void)sem_post(&workers_at(workers, i)->start);
    }
}

void workers_end(struct workers *workers) {
    for (uint32_t i = 0; i < workers->count; i++) {
        workers->worker[i].ends = true;
        (void)sem_post(&workers->worker[i].start);
    }
    for (uint32_t i = 0; i < workers->count; i++) {
        (void)pthread_join(workers->worker[i].thread, NULL);
    }
    workers->count = 0;
}
