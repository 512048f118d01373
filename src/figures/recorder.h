// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Groups single operations into seconds, batches and rounds while the workers continue to write. One recorder serves
// all workers of a stream and one operation. A recorder that is all zeros (calloc) can start its first step.
//
// A step's time is cut into slots (see struct cut). Every worker counts its operations in its own slot. When an
// operation completes past the slot's end, the worker adds the slot to the pending slot that all workers share: this
// takes only atomic additions to the occupied buckets, without locks or waiting. It then publishes how many cuts it has
// passed. The main thread takes a pending slot over when every worker has passed it. So that rows also appear during a
// stall, the main thread passes a cut on behalf of a worker that is in a system call (measure/worker.h).
//
// An operation belongs to the slot in which it completes. There are RECORDER_PENDING pending slots; if the main thread
// falls that many slots behind, workers wait for it between two operations, outside the timed interval.
#pragma once

#include "base/clock.h"
#include "figures/distribution.h"

// The cuts of a step. The measured time is divided into whole seconds and into 30 equal batches, so that the time
// between two cuts (a "slot") always belongs to exactly one second and one batch. Cut 0 is the warm-up, which ends when
// the measured time begins; after the measured time, cuts are only at whole seconds, and batch 30 continues. Pure
// arithmetic; all instants are nanoseconds of CLOCK_MONOTONIC.

#define TIMELINE_BATCHES 30
#define TIMELINE_ROUNDS 5
#define TIMELINE_BATCHES_A_ROUND (TIMELINE_BATCHES / TIMELINE_ROUNDS)

struct timeline {
    uint64_t start_ns;          // start of the measured time, which is the end of the warm-up
    uint64_t duration_ns;
};

struct cut {
    uint32_t index;             // 0 is the warm-up
    uint32_t second, batch;     // from 1; 0 in the warm-up
    uint64_t end_ns;            // the first instant that no longer belongs to the slot
    bool ends_second, ends_batch;
};

static inline struct cut timeline_first(const struct timeline *timeline) {
    return (struct cut){.end_ns = timeline->start_ns};
}

static inline struct cut timeline_next(const struct timeline *timeline, const struct cut *cut) {
    struct cut next = {.index = cut->index + 1,
                       .second = cut->second + (cut->index == 0 || cut->ends_second),
                       .batch = cut->batch + (cut->index == 0 || cut->ends_batch)};
    uint64_t second_end_ns = timeline->start_ns + next.second * NS_PER_S;
    uint64_t batch_end_ns = timeline->start_ns + timeline->duration_ns * next.batch / TIMELINE_BATCHES;
    bool batch_can_end = next.batch < TIMELINE_BATCHES;
    next.end_ns = batch_can_end && batch_end_ns < second_end_ns ? batch_end_ns : second_end_ns;
    next.ends_second = next.end_ns == second_end_ns;
    next.ends_batch = batch_can_end && next.end_ns == batch_end_ns;
    return next;
}

#define RECORDER_PENDING 32

// A slot lasts at most one second, so 32-bit counts are enough for all workers together. An empty slot is all zeros.
// Therefore, the minimum is stored as UINT64_MAX minus its value.
struct pending_slot {
    _Atomic uint64_t count, bytes, response_sum_ns, sum_ns, max_ns, min_ns_below_max;
    _Atomic uint32_t buckets[DISTRIBUTION_BUCKETS];
};

// The whole seconds of a step.
struct seconds {
    uint64_t count;
    uint64_t bytes_min, bytes_max;      // in a single second
};

static inline void seconds_add(struct seconds *seconds, uint64_t bytes) {
    if (seconds->count++ == 0 || bytes < seconds->bytes_min) {
        seconds->bytes_min = bytes;
    }
    if (bytes > seconds->bytes_max) {
        seconds->bytes_max = bytes;
    }
}

// The ten longest operations of a step, longest first: when, where, how long. If there are already ten, an operation is
// kept only if it is longer than the last of them.
#define STALLS_KEPT 10

struct stall {
    uint64_t latency_ns;
    uint64_t start_ns;              // CLOCK_MONOTONIC
    uint64_t ordinal;               // number of the worker's operation in the step, from 1
    uint64_t offset_bytes;
    uint32_t file, worker;
    bool in_flight;                 // latency is the age of an operation that had not ended
};

struct stalls {
    size_t count;
    struct stall longest[STALLS_KEPT];
};

static inline void stalls_insert(struct stalls *stalls, const struct stall *stall) {
    if (stall->latency_ns <= stalls->longest[STALLS_KEPT - 1].latency_ns) {
        return;
    }
    size_t at = stalls->count < STALLS_KEPT ? stalls->count++ : STALLS_KEPT - 1;
    for (; at > 0 && stalls->longest[at - 1].latency_ns < stall->latency_ns; at--) {
        stalls->longest[at] = stalls->longest[at - 1];
    }
    stalls->longest[at] = *stall;
}

struct stream_step;

struct round_figures {
    uint64_t operations, bytes, elapsed_ns, latency_sum_ns, latency_p99_ns;
    bool has_p99;
    bool partial;                       // cut short: the last round of a step that ended early
};

// The receiver of finished rows, which only the main thread calls.
struct recorder_sink {
    void *context;
    const struct stream_step *stream;   // the stream of the recorder (measure/worker.h)
    int operation;
    void (*second)(const struct recorder_sink *sink, uint32_t second, bool partial, const struct distribution *latency);
    void (*batch)(const struct recorder_sink *sink, uint32_t batch, const struct distribution *latency);
};

struct recorder {
    struct timeline timeline;
    struct pending_slot pending[RECORDER_PENDING];
    _Atomic uint32_t finalised;         // cuts below this index have been taken over, so their slots are free
    // Used by the main thread only:
    struct recorder_sink sink;
    struct cut cut;                     // the next cut to take over
    struct distribution slot;           // the slot that was just taken over
    struct distribution second, batch, round, step;
    struct round_figures rounds[TIMELINE_ROUNDS];
    uint32_t rounds_done;
    struct seconds seconds;
};

void recorder_start_step(struct recorder *recorder, struct timeline timeline, struct recorder_sink sink);

// Returns true if the pending slot of the given cut is free.
static inline bool recorder_is_free(const struct recorder *recorder, uint32_t cut) {
    return cut < recorder->finalised + RECORDER_PENDING;
}

// Adds a worker's slot to the pending slot of the given cut. The worker's slot is not changed.
void recorder_add(struct recorder *recorder, uint32_t cut, const struct distribution *slot);

// Takes over the next cut. The caller must know that every worker has passed it.
void recorder_finalise_next(struct recorder *recorder);

// Takes over what remains of a step that ended at the given time, and outputs the last partial second, batch and round.
void recorder_finish(struct recorder *recorder, uint64_t end_ns);
