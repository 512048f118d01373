// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "measure/worker.h"

#include "base/supervisor.h"
#include "base/units.h"
#include "measure/io_memory.h"

#include <sched.h>

#define OWN_TABLE_MAX_DESCRIPTORS 1024          // with more, copying the descriptor table would cost too much

static uint64_t largest(const struct number_list *list) {
    uint64_t max = 0;
    for (size_t i = 0; i < list->count; i++) {
        max = list->values[i] > max ? list->values[i] : max;
    }
    return max;
}

// Returns the memory that a worker needs for its payload, for the largest block of all steps.
static size_t pool_bytes_of(const struct stream *stream, const struct workspace *workspace) {
    uint64_t block_bytes = stream_is_described(stream) ? stream->terms.size_max : largest(&workspace->workload->writes);
    return payload_pool_bytes(block_bytes, workspace->alignment_bytes);
}

// Returns NULL if there is not enough memory.
static struct group_commit *create_commits(const struct stream *stream, uint64_t applications) {
    struct group_commit *commits = malloc(sizeof *commits);
    return commits != NULL && group_commit_open(commits, &stream->commits, applications) ? commits : NULL;
}

static size_t over_bytes(size_t thresholds) {
    return RECORDER_PENDING * thresholds * sizeof(struct distribution_over);
}

// Allocates figures with the distributions and counters that the operation needs. Returns NULL if there is not enough
// memory.
static struct figures *create_figures(const struct stream *stream, enum operation operation, size_t thresholds) {
    bool flush = operation == OPERATION_WRITE && stream_flushes(stream), response = stream_is_open_loop(stream);
    bool sizes = operation == OPERATION_WRITE && stream_has(stream, OPERATION_COMMIT);
    size_t distributions = (size_t)(flush + response + sizes) * sizeof(struct distribution);
    struct figures *figures = calloc(1, sizeof *figures + distributions + over_bytes(thresholds));
    if (figures != NULL) {
        struct distribution *behind = (struct distribution *)(figures + 1);
        figures->flush = flush ? behind : NULL;
        figures->response = response ? behind + flush : NULL;
        figures->sizes = sizes ? behind + flush + response : NULL;
        figures->over = thresholds > 0 ? (struct distribution_over *)((char *)behind + distributions) : NULL;
    }
    return figures;
}

// For a ring of --stream, each worker has its own part of the files. For all other patterns, the workers share the
// files.
static void open_pattern(struct worker *worker, const struct workload *workload) {
    const struct stream *stream = worker->stream->stream;
    const struct place *place = &workload->places[worker->place - 1];
    uint32_t parts = stream->pattern == PATTERN_RING ? stream_workers(stream, workload_load_max(workload)) : 1;
    uint32_t part = parts > 1 ? worker->number - 1 : 0, files = (uint32_t)place->files, end = files;
    if (stream_is_described(stream)) {
        files = stream->terms.files;
        worker->first_file = (uint32_t)((uint64_t)files * part / parts);
        end = (uint32_t)((uint64_t)files * (part + 1) / parts);
    }
    worker->target = place;
    worker->fds = place->fds + worker->first_file;
    worker->pattern = (struct pattern){
        .kind = stream->pattern,
        .files = end - worker->first_file,
        .file_bytes = place->file_bytes,
        .block_bytes = 1,
        .unit_bytes = stream->terms.size_min,
        .leaf_reads = worker->stream->leaf_reads};
    pattern_open(&worker->pattern, &stream->terms.pattern, &worker->random);
}

static bool create_worker(struct worker *worker, const struct workspace *workspace, uint32_t index) {
    const struct stream *stream = worker->stream->stream;
    size_t pool_bytes = pool_bytes_of(stream, workspace);
    void *pool;
    worker->place = stream->first_place + (stream->shares_place ? 1 : worker->number);
    worker->random = workspace->options->seed ^ index;
    open_pattern(worker, workspace->workload);
    if (!io_memory_open(&pool, pool_bytes, workspace->alignment_bytes, workspace->options->mlock)) {
        return false;
    }
    payload_open(&worker->payload, pool, pool_bytes, workspace->options->seed, index + 1);
    for (enum operation i = 0; i < OPERATIONS; i++) {
        size_t thresholds = i == OPERATION_WRITE && !stream_is_described(stream) ? worker->stream->over->count : 0;
        worker->figures[i] = stream_has(stream, i) ? create_figures(stream, i, thresholds) : NULL;
        if (stream_has(stream, i) && worker->figures[i] == NULL) {
            return false;
        }
    }
    if (stream_has(stream, OPERATION_COMMIT)) {
        worker->commits = create_commits(stream, workload_load_max(workspace->workload));
        if (worker->commits == NULL) {
            return false;
        }
    }
    return !stream_has(stream, OPERATION_READ) ||
           io_memory_open(&worker->read_block, pool_bytes, workspace->alignment_bytes, workspace->options->mlock);
}

// Allocates the figures of all streams of --stream together.
static bool create_whole(struct workers *workers) {
    const struct workload *workload = workers->workspace->workload;
    struct stream all = {.terms.process = ARRIVAL_EVEN};
    for (uint32_t i = 0; i < workload->streams_count; i++) {
        if (!stream_is_open_loop(&workload->streams[i])) {
            all.terms.process = ARRIVAL_CLOSED;
        }
    }
    bool wanted = stream_is_described(&workload->streams[0]);
    workers->whole = wanted ? create_figures(&all, OPERATION_WRITE, 0) : NULL;
    return !wanted || workers->whole != NULL;
}

// For a walk, one byte for each leaf of its region; 0 for other patterns.
static uint64_t leaf_reads_bytes(const struct stream *stream, const struct workload *workload) {
    const struct stream_terms *of = &stream->terms;
    uint64_t file_bytes = workload->places[stream->first_place].file_bytes;
    return stream->pattern == PATTERN_WALK ? pattern_walk_leaves(&of->pattern, of->files, file_bytes, of->size_min) : 0;
}

static bool create_stream(struct workers *workers, struct stream_step *step) {
    const struct workspace *workspace = workers->workspace;
    uint32_t count = stream_workers(step->stream, workload_load_max(workspace->workload));
    step->plan = &workers->plan;
    step->over = &workspace->options->over_asked;
    step->first_worker = &workers->worker[workers->count];
    uint64_t leaves = leaf_reads_bytes(step->stream, workspace->workload);
    step->leaf_reads = leaves > 0 ? calloc(leaves, sizeof *step->leaf_reads) : NULL;
    if (leaves > 0 && step->leaf_reads == NULL) {
        return false;
    }
    for (enum operation i = 0; i < OPERATIONS; i++) {
        if (stream_has(step->stream, i)) {
            step->recorders[i] = calloc(1, sizeof *step->recorders[i]);
            step->all[i] = create_figures(step->stream, i, 0);
            if (step->recorders[i] == NULL || step->all[i] == NULL) {
                return false;
            }
        }
    }
    // Memory is filled one worker at a time, so that a stopped run does not have to wait until all of it is filled.
    for (uint32_t n = 0; n < count && !atomic_load(workspace->stop); n++) {
        struct worker *worker = &step->first_worker[n];
        worker->number = n + 1;
        worker->stream = step;
        if (!create_worker(worker, workspace, workers->count++)) {
            return false;
        }
    }
    return true;
}

static bool memory_is_available(uint64_t needed, const struct workload *workload, struct failure *failure) {
    char parts[2][THOUSANDS_BYTES];
    uint64_t available = memory_available_bytes();
    return needed < available ||
           failure_set(failure, EXIT_REFUSED,
                       "%s x %s: the writers take %s bytes of memory, and %s are "
                       "available; take fewer %ss or smaller blocks",
                       workload->load_option, workload->write_option, format_thousands(parts[0], needed),
                       format_thousands(parts[1], available), workload->worker_title);
}

// Threads.

// Pinning can fail: seccomp may forbid it, and a processor may be offline.
static bool pin(pthread_t thread, int cpu, struct failure *failure) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    int error = pthread_setaffinity_np(thread, sizeof set, &set);
    return error == 0 ||
           failure_set(failure, EXIT_REFUSED,
                       "--cpu: the kernel does not pin to processor %d: %s; name some of those that this process may "
                       "use (nproc, taskset -p)",
                       cpu, strerror(error));
}

static bool start_threads(struct workers *workers, struct failure *failure) {
    const struct options *options = workers->workspace->options;
    const struct workload *workload = workers->workspace->workload;
    uint32_t wanted = workers->count;
    bool good = true;
    for (workers->count = 0; good && workers->count < wanted; workers->count++) {
        struct worker *worker = &workers->worker[workers->count];
        if (sem_init(&worker->start, 0, 0) != 0 || !thread_start(&worker->thread, worker_main, worker)) {
            return failure_set(
                failure, EXIT_REFUSED,
                "%s: cannot create a thread for %s %" PRIu32 "; raise the "
                "limits on processes and on memory (ulimit -u, ulimit -v), or take fewer %ss",
                workload->load_option, workload->worker_title, workers->count + 1, workload->worker_title);
        }
        if (options->cpus.count > 0) {
            good = pin(worker->thread, (int)options->cpus.values[workers->count % options->cpus.count], failure);
        }
    }
    return good;
}

// Sets count to the number of workers of all streams at the greatest load point.
static uint64_t needed_bytes(const struct workspace *workspace, uint32_t *count) {
    const struct workload *workload = workspace->workload;
    uint64_t needed = 0;
    *count = 0;
    for (uint32_t i = 0; i < workload->streams_count; i++) {
        const struct stream *stream = &workload->streams[i];
        uint32_t of_stream = stream_workers(stream, workload_load_max(workload));
        uint64_t extra = sizeof(struct figures) + sizeof(struct distribution) + pool_bytes_of(stream, workspace);
        extra = stream_has(stream, OPERATION_READ) ? extra : 0;
        uint64_t groups = stream_has(stream, OPERATION_COMMIT) ? workload_load_max(workload) : 0;
        needed += of_stream * (pool_bytes_of(stream, workspace) + sizeof(struct worker) + sizeof(struct figures) +
                               over_bytes(workspace->options->over_asked.count) + 2 * sizeof(struct distribution) +
                               extra + groups * sizeof(struct commit_group));
        needed += leaf_reads_bytes(stream, workload);
        *count += of_stream;
    }
    return needed;
}

bool workers_create(struct workers *workers, const struct workspace *workspace, struct failure *failure) {
    const struct workload *workload = workspace->workload;
    char text[THOUSANDS_BYTES];
    uint32_t count;
    uint64_t needed = needed_bytes(workspace, &count);
    if (!memory_is_available(needed, workload, failure)) {
        return false;
    }
    workers->workspace = workspace;
    workers->plan.own_fd_tables = workspace->descriptors <= OWN_TABLE_MAX_DESCRIPTORS;
    workers->worker = calloc(count, sizeof *workers->worker);
    workers->active = calloc(count, sizeof *workers->active);
    bool good = workers->worker != NULL && workers->active != NULL;
    good = good && create_whole(workers);
    for (uint32_t i = 0; good && i < workload->streams_count; i++) {
        workers->streams[i].stream = &workload->streams[i];
        workers->streams[i].number = (uint8_t)i;
        good = create_stream(workers, &workers->streams[i]);
    }
    if (good) {
        return start_threads(workers, failure);
    }
    workers->count = 0;                 // so far, none has a thread
    return failure_set(failure, EXIT_REFUSED, "no memory for the writers, which take %s bytes; take fewer %ss "
                       "or smaller blocks, or raise the limit on memory (ulimit -v)", format_thousands(text, needed),
                       workload->worker_title);
}

// Steps.

void workers_prepare_step(struct workers *workers, const struct result_key *key) {
    workers->plan.key = *key;
    workers->plan.begin_ns = 0;
    atomic_store(&workers->plan.stop, false);
    atomic_store(&workers->plan.finished, 0);
    workers->active_count = 0;
    for (uint32_t i = 0; i < workers->workspace->workload->streams_count; i++) {
        struct stream_step *step = &workers->streams[i];
        step->block_bytes = step->stream->block_bytes > 0 ? step->stream->block_bytes : key->block_bytes;
        step->workers = stream_workers(step->stream, key->load_point);
        step->block_bytes = stream_is_described(step->stream) ? step->stream->block_bytes : step->block_bytes;
        for (uint32_t n = 0; n < step->workers; n++) {
            struct worker *worker = &step->first_worker[n];
            worker_prepare_step(worker, workers->workspace->alignment_bytes);
            if (workers->workspace->options->acknowledge) {
                payload_start_passes(&worker->payload, worker->pass_operations);
            }
            workers->active[workers->active_count++] = worker;
        }
    }
}

// Streams of --stream with an open loop have a separate plan for every step.
static void start_arrivals(struct workers *workers) {
    uint64_t seed = workers->workspace->options->seed + workers->plan.key.step;
    for (uint32_t i = 0; i < workers->workspace->workload->streams_count; i++) {
        struct stream_step *step = &workers->streams[i];
        const struct stream_terms *terms = &step->stream->terms;
        if (terms->process != ARRIVAL_CLOSED) {
            struct schedule schedule = {
                .origin_ns = workers->plan.begin_ns,
                .rate_micro_per_s = stream_rate_micro_per_s(step->stream, workers->plan.key.load_point)};
            arrival_start(&step->arrivals, terms->process, schedule, seed ^ (uint64_t)(i + 1) << 32);
        }
    }
}

void workers_start_step(struct workers *workers) {
    start_arrivals(workers);
    for (uint32_t i = 0; i < workers->active_count; i++) {
        (void)sem_post(&workers->active[i]->start);
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
