// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A worker: a thread that performs the operations of its stream one after the other, times each with two reads of
// CLOCK_MONOTONIC directly before and after the system call, and records all of them in its own memory. Nothing is
// allocated, locked, printed or formatted between the first and the last operation of a step.
//
// A worker owns its figures while it is WORKER_RUNNING. While it is WORKER_IN_CALL (in the system call, or sleeping
// until its next operation is due) main may borrow them (WORKER_BORROWED) and give them back. If the call returns
// meanwhile, the worker waits, outside the timed interval. WORKER_ABANDONED is final: the call hung when the run had to
// end, main has taken over the figures, and the thread must not touch them again.
#pragma once

#include "figures/recorder.h"
#include "host/disturbance.h"
#include "measure/trace.h"
#include "workload/group_commit.h"
#include "workload/test_files.h"

#include <pthread.h>
#include <semaphore.h>

// The first columns of every table except run.csv.
struct result_key {
    uint32_t step;                      // from 1
    uint64_t block_bytes;
    uint32_t load_point;
    const char *stream, *operation;
    uint32_t worker;                    // from 1; 0: all workers of the stream together
};

// The parameters of a step for all workers. They are constant while workers run, except the atomics.
struct step_plan {
    struct result_key key;              // stream, operation and worker are not set
    struct timeline timeline;           // measured time
    uint64_t start_epoch_ns;            // when the measured time begins, by the wall clock
    uint64_t begin_ns;                  // when the warm-up begins
    uint64_t end_ns;                    // no operation starts at or after this
    bool own_fd_tables;                 // whether each worker has a descriptor table of its own
    struct trace *trace;                // NULL: not requested
    atomic_bool stop;                   // end after the operation in flight
    atomic_uint finished;               // how many workers have finished
};

// The operations that completed in one of the equal parts of a step.
struct batch_sums {
    uint64_t operations, latency_sum_ns;
};

struct stream_step;

// A worker's measurements of one operation in a step. For all workers of a stream together, only the distributions and
// stalls are filled in.
struct figures {
    struct distribution slot;           // operations completed since the last cut
    struct distribution latency;        // operations of the measured time
    struct distribution *flush, *response, *sizes;      // sizes: of the writes, if they vary; NULL: not recorded
    // for RECORDER_PENDING seconds, one counter for each threshold of the stream; NULL if it has none
    struct distribution_over *over;
    // figures_clear zeroes all members from here on:
    struct stalls stalls;
    uint64_t second_bytes;              // bytes of the current second
    struct seconds seconds;
    uint64_t first_pass_operations, first_pass_sum_ns;      // 0 operations: no first pass ended in the measured time
    uint64_t not_started;               // operations due in the measured time that could not start (open loop)
    struct stall in_flight;             // the operation in flight when the worker ended, if in_flight.in_flight
    struct batch_sums batches[TIMELINE_BATCHES];
};

// stream may be NULL if the figures have no counters over thresholds.
void figures_clear(struct figures *figures, const struct stream_step *stream);

// A stream during a step.
struct stream_step {
    const struct stream *stream;
    struct step_plan *plan;
    uint8_t number;                     // from 0
    uint64_t block_bytes;
    struct arrival_plan arrivals;       // for a stream of --stream with an open loop
    _Atomic uint8_t *leaf_reads;        // for a walk: see struct pattern
    uint32_t workers;                   // number of workers at the step's load point
    struct worker *first_worker;
    struct recorder *recorders[OPERATIONS];     // NULL: the stream has no such operation
    const struct number_list *over;     // thresholds for counting the writes of single workers
    bool over_too_many;                 // true if over.csv lacks some rows of single workers
    struct figures *all[OPERATIONS];            // the figures of all workers together
};

// Returns whether single workers are counted separately. If there is only one worker, this is not necessary, because
// its operations are those of all workers.
static inline bool stream_counts_workers(const struct stream_step *stream, enum operation operation) {
    return operation == OPERATION_WRITE && !stream_is_described(stream->stream) && stream->workers > 1;
}

// Returns the counters of a worker for the operations of a second that took longer than the thresholds. The worker adds
// to them while it may add to the slots of this second. Main takes and clears them when every worker has passed these
// slots.
static inline struct distribution_over *figures_over(const struct figures *figures, const struct stream_step *stream,
                                                     uint32_t second) {
    return &figures->over[second % RECORDER_PENDING * stream->over->count];
}

// Returns the recorder of the stream's first operation.
static inline struct recorder *stream_recorder(const struct stream_step *stream) {
    return stream->recorders[stream_has(stream->stream, OPERATION_WRITE) ? OPERATION_WRITE : OPERATION_READ];
}

enum worker_state { WORKER_RUNNING, WORKER_IN_CALL, WORKER_BORROWED, WORKER_ABANDONED };

struct worker_error {
    const char *call;                   // the system call; NULL if none failed
    int error;                          // errno or FAILURE_SHORT_WRITE
    bool in_warmup;
    uint64_t ordinal;                   // number of the operation, from 1; during the warm-up, a separate count
};

struct worker {
    // Constant while a step runs:
    uint32_t number;                    // from 1 in its stream
    uint32_t place;                     // from 1
    struct stream_step *stream;
    const struct place *target;         // the worker's place (its first directory or device)
    uint32_t first_file;                // the first file of its pattern, counted from 0 in its place
    const int *fds;                     // one for each file of its pattern
    pthread_t thread;
    sem_t start;                        // posted once for each step of the worker, and once to end the thread
    bool ends;
    // Shared with the main thread:
    _Atomic int state;
    _Atomic uint64_t call_start_ns;     // when the operation in flight started; 0: none
    _Atomic uint64_t returned;          // writes that returned completely; for mq-log, including the warm-up
    _Atomic uint32_t passed;            // cuts below this index are passed; UINT32_MAX: finished
    // Owned as described at the top of this file:
    uint64_t random;                    // state of its random number generator
    struct pattern pattern;
    struct payload payload;
    void *read_block;                   // NULL: the stream does not read
    struct group_commit *commits;       // NULL: the stream has none
    struct figures *figures[OPERATIONS];        // NULL: the stream has no such operation
    // worker_prepare_step zeroes all members from here on:
    enum operation operation;           // the type of the operation in flight, or of the next one
    struct cut cut;                     // the current slot
    uint64_t operations;                // operations of the step, including the warm-up
    uint64_t warmup_operations;
    uint64_t commits_done, warmup_commits;      // commits of its applications: all, and those in the warm-up
    uint64_t moved_bytes[OPERATIONS];   // if sizes vary: bytes moved, including the warm-up
    uint32_t size_index;  // for a stream of --stream: the size of the operation in flight, or of the last one
    uint64_t size_counts[STREAM_SIZES_MAX];     // for such a stream: the measured operations of each size
    // for such a stream: when the current or next operation may start, and when the first one may start
    uint64_t due_ns, first_due_ns;
    uint64_t record_bytes;              // if sizes vary: the bytes of log records in the measured writes
    uint64_t remote_ns;                 // measured time spent waiting for remote acknowledgements
    uint64_t pass_operations;           // operations in one pass over the files; 0: the pattern has no passes
    uint64_t first_start_ns;            // when the step's first operation started, including the warm-up; 0: not yet
    uint64_t finish_ns;                 // when this worker's measured time ended
    uint64_t waits_for_recorder;
    struct worker_error error;
    struct thread_figures thread_figures;       // scheduling figures of the thread while it worked
};

static inline bool worker_sizes_vary(const struct worker *worker) {
    return worker->commits != NULL || stream_is_described(worker->stream->stream);
}

// Returns the offset of the operation in flight, or of the next, in its open descriptor.
static inline uint64_t worker_offset(const struct worker *worker) {
    const struct pattern *pattern = &worker->pattern;
    return place_offset(worker->target, worker->first_file + pattern->file, pattern->offset_bytes);
}

// The thread (worker_thread.c): waits for each step's start, works until plan->end_ns, an error or plan->stop, and
// waits again.
void *worker_main(void *worker);

// Prepares the worker for a step; main calls it while the thread waits.
void worker_prepare_step(struct worker *worker, uint64_t alignment_bytes);

// For main: borrows or abandons a worker that is in a call. Returns false if the worker is not in a call; it will then
// soon pass the cut itself.
bool worker_take(struct worker *worker, enum worker_state state);
void worker_give_back(struct worker *worker);

// Called by the owner of the figures. Ends the current slot. The recorders must have a free slot for it.
void worker_pass_cut(struct worker *worker);
// Called by the owner of the figures. Ends the step at the given time. All earlier cuts must have been passed.
void worker_finish(struct worker *worker, uint64_t end_ns);

// Returns the schedule of a worker's operations. In an open loop, the workers of a stream are staggered evenly.
struct schedule worker_schedule(const struct worker *worker);

// All workers of a run. The workers, and all memory for the largest load point, are created once, before the first
// file. The threads wait at the start of each step.
struct workers {
    const struct workspace *workspace;
    struct step_plan plan;              // of the current step
    struct stream_step streams[WORKLOAD_STREAMS_MAX];
    struct figures *whole;              // all streams of --stream together; NULL if there are none
    uint32_t count;                     // the number of waiting threads: all streams at the greatest load point
    struct worker *worker;              // workers of the first stream, then of the second, and so on
    uint32_t active_count;              // workers of the current step, of all streams
    struct worker **active;
};

// Requires a workspace whose alignment is known. Returns false if there is not enough memory, if a thread cannot be
// created, or if a processor of --cpu cannot be used; failure gives the reason.
bool workers_create(struct workers *workers, const struct workspace *workspace, struct failure *failure);

// Prepares a step. The caller then sets the times in workers->plan and starts the step.
void workers_prepare_step(struct workers *workers, const struct result_key *key);
void workers_start_step(struct workers *workers);

// Ends the threads. None of them may be abandoned.
void workers_end(struct workers *workers);
