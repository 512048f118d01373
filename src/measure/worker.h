// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// One queue manager's logger: a thread that makes one write after another as MQ does, clocks each with two reads of
// CLOCK_MONOTONIC right around the system call, and records every one in memory of its own. Nothing is allocated,
// locked, printed or formatted between the first and the last write of a step.
//
// Who owns the writer's figures: the writer while it is WRITER_OWNED; whoever asks first while it is WRITER_AWAY (in
// the system call, or sleeping for its next turn). Main may take them then (WRITER_TAKEN) and give them back, and a
// writer that comes home in that moment waits, outside the timed interval. WRITER_CLOSED is for good: main has closed
// the books while the write hung, and the thread must not touch them any more.
#ifndef LOGDISK_WORKER_H
#define LOGDISK_WORKER_H

#include "workload/payload.h"
#include "host/disturbance.h"
#include "base/options.h"
#include "figures/recorder.h"
#include "workload/pattern.h"
#include "workload/arrival.h"
#include "figures/stalls.h"
#include "figures/tally.h"
#include "figures/timeline.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// What a step asks of all its writers; constant while they run, but for the atomics.
struct step_plan {
    struct timeline timeline;           // measured time
    uint64_t begin_ns;                  // where writing begins: the warm-up
    uint64_t end_ns;                    // no write starts at or after this
    uint64_t block_bytes;
    uint32_t queue_managers;
    enum sync_mode sync;
    uint64_t delay_ns;
    uint64_t rate_micro_per_s;          // 0: closed loop
    bool through_libc;                  // see call_pwritev
    atomic_bool stop;                   // end after the write in flight
    atomic_uint waiting;                // writers that are ready for the start
    atomic_uint finished;
    pthread_mutex_t start_lock;         // for the next two
    pthread_cond_t start_signal;
    bool go;                            // the instants above are set
    bool called_off;                    // or the step will not start
    struct recorder *recorder;
};

enum writer_state { WRITER_OWNED, WRITER_AWAY, WRITER_TAKEN, WRITER_CLOSED };

struct writer_totals {
    struct tally latency;
    struct stalls stalls;
    uint64_t second_writes;             // of the second that runs
    uint64_t second_writes_min, second_writes_max;      // of whole seconds
    uint32_t whole_seconds;
    uint64_t first_pass_writes, first_pass_sum_ns;      // measured writes of the first pass over the ring in this step
    bool first_pass_ended;
    uint64_t first_start_ns;            // of the step's first write, warm-up included; 0: none
    uint64_t end_ns;                    // where this writer's measured time ended
    uint64_t first_not_started, not_started;            // writes that were due in the measured time (open loop)
    struct stall in_flight;             // what was when main closed the books; in_flight is false where nothing was
    uint64_t waits_for_recorder;
    struct thread_figures thread;       // of the thread while it wrote
};

struct writer_error {
    bool occurred, in_flush;
    int error;                          // errno or FAILURE_SHORT_WRITE
    bool in_warmup;
    uint64_t write;                     // which it was, from 1; in the warm-up from its beginning
    uint64_t at_ns;
};

struct writer {
    // Constant while a step runs:
    uint32_t queue_manager;             // from 1
    struct step_plan *plan;
    int *fds;                           // one for each file of the ring
    int cpu;                            // to pin to; -1: none
    int pin_error;                      // 0: pinned to it; of the step
    bool own_fd_table;                  // see writer_main
    pthread_t thread;
    // Shared with main:
    _Atomic int state;
    _Atomic uint64_t write_start_ns;    // of the write in flight; 0: none
    _Atomic uint32_t passed;            // cuts below this index are passed
    // Owned as described above:
    struct ring ring;
    uint32_t first_file;                // of the step
    struct content content;
    struct cut cut;                     // the slot that is running
    uint64_t writes;                    // of the step, warm-up included
    uint64_t warmup_writes;
    uint64_t pass_writes;               // in one pass over the ring
    struct writer_error error;
    struct tally slot;                  // what completed since the last cut
    struct writer_totals totals;
    struct tally *flush, *response;    // NULL where there is none
};

// Prepares the writer for a step; main calls it before the thread starts.
void writer_start_step(struct writer *writer, struct step_plan *plan);

// Once before the first step. 0 or an error number.
int step_plan_init(struct step_plan *plan);
// Lets waiting writers go; or sends them home.
void step_plan_release(struct step_plan *plan, bool go);

// The thread: waits for the release, writes until plan->end_ns, an error or plan->stop, and ends.
void *writer_main(void *writer);

// For main. Takes the figures of a writer that is away; false where it is at home (it will pass by itself soon).
bool writer_take(struct writer *writer);
void writer_give_back(struct writer *writer);
// Closes a writer for good that is away; false where it is at home.
bool writer_close(struct writer *writer);

// For the owner: ends the current slot; the recorder must have room for it.
void writer_pass_cut(struct writer *writer);
// When its writes are due; in an open loop only.
struct schedule writer_schedule(const struct writer *writer);

// For the owner: ends the step at that instant, of which every cut before is passed.
void writer_finish(struct writer *writer, uint64_t end_ns);

#endif
