// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "measure/watch.h"

#include "base/clock.h"

#define GRACE_NS UINT64_C(10000000)             // after a cut, before main passes it for a writer that is away
#define WATCH_NS UINT64_C(250000000)            // the longest wait between two looks
#define END_WATCH_NS UINT64_C(2000000)          // the same once the step is over

// Passes the recorder's next cut for a writer that has not; false where it is at home or its grace runs.
static bool pass_for(struct run *run, struct writer *writer, uint64_t now) {
    uint32_t cut = run->recorder.cut.index;
    if (atomic_load_explicit(&writer->passed, memory_order_acquire) > cut) {
        return true;
    }
    if (atomic_load_explicit(&writer->state, memory_order_relaxed) == WRITER_CLOSED) {
        writer_pass_cut(writer);
        return true;
    }
    if (now < run->recorder.cut.end_ns + GRACE_NS || !writer_take(writer)) {
        return false;
    }
    if (atomic_load_explicit(&writer->passed, memory_order_relaxed) <= cut) {
        writer_pass_cut(writer);
    }
    writer_give_back(writer);
    return true;
}

static bool is_finished(const struct writer *writer) {
    return atomic_load_explicit(&writer->passed, memory_order_acquire) == UINT32_MAX;
}

// True where the recorder's next slot has ended: all writers have passed it, and one at least went on behind it. Where
// all are finished the slot may have been cut short, and recorder_finish knows where it ended.
static bool slot_has_ended(struct run *run, uint64_t now) {
    bool one_goes_on = false;
    for (uint32_t i = 0; i < run->plan.queue_managers; i++) {
        if (!pass_for(run, &run->writers[i], now)) {
            return false;
        }
        one_goes_on |= !is_finished(&run->writers[i]);
    }
    return one_goes_on;
}

// Takes over every slot that has ended.
static void advance(struct run *run, uint64_t now) {
    while (now >= run->recorder.cut.end_ns && slot_has_ended(run, now)) {
        recorder_finalise_next(&run->recorder);
    }
}

static void show(struct run *run, uint64_t now) {
    uint64_t measured_s = now > run->plan.timeline.start_ns ? (now - run->plan.timeline.start_ns) / NS_PER_S : 0;
    screen_elapsed(&run->screen, measured_s);
    run_progress(run, now < run->plan.timeline.start_ns ? "warmup" : "measuring");
}

static void note_in_flight(struct run *run, const struct writer *writer, uint64_t now) {
    uint64_t start_ns = atomic_load(&writer->write_start_ns);
    if (start_ns == 0) {
        return;
    }
    struct stall stall = {.latency_ns = now - start_ns, .start_ns = start_ns, .in_flight = true,
                          .write = writer->writes - writer->warmup_writes + 1, .file = writer->ring.file,
                          .offset_bytes = writer->ring.offset_bytes, .queue_manager = writer->queue_manager};
    if (!run->has_in_flight || stall.latency_ns > run->in_flight.latency_ns) {
        run->in_flight = stall;
        run->has_in_flight = true;
        workspace_file_path(&run->workspace, writer->queue_manager, writer->ring.file, run->in_flight_file);
    }
    run->writers[writer->queue_manager - 1].totals.in_flight = stall;
}

// Closes the books of writers whose calls do not end. True when every writer has finished or is closed.
static bool close_hanging(struct run *run, uint64_t now) {
    bool all = true;
    for (uint32_t i = 0; i < run->plan.queue_managers; i++) {
        struct writer *writer = &run->writers[i];
        if (is_finished(writer) || atomic_load(&writer->state) == WRITER_CLOSED) {
            continue;
        }
        if (writer_close(writer)) {
            note_in_flight(run, writer, now);
            run->thread_hangs = true;
        } else {
            all = false;
        }
    }
    return all;
}

static void finish_closed(struct run *run, uint64_t now) {
    advance(run, now);
    for (uint32_t i = 0; i < run->plan.queue_managers; i++) {
        struct writer *writer = &run->writers[i];
        if (!is_finished(writer)) {
            writer_finish(writer, now);
        }
    }
}

static uint64_t next_look_ns(const struct run *run, uint64_t now) {
    if (now >= run->plan.end_ns || run->supervisor.reason != STOP_NONE || atomic_load(&run->plan.stop)) {
        return now + END_WATCH_NS;
    }
    uint64_t next_ns = now + WATCH_NS;
    uint64_t cut_ns = run->recorder.cut.end_ns + GRACE_NS;
    if (cut_ns <= now) {
        return now + END_WATCH_NS;      // a writer that was at home will have passed the cut very soon
    }
    next_ns = cut_ns < next_ns ? cut_ns : next_ns;
    return run->plan.end_ns < next_ns ? run->plan.end_ns : next_ns;
}

// No disk can be the cause of that: main makes no call between the two.
static void note_oversleep(struct run *run, uint64_t until_ns, uint64_t now) {
    if (now > until_ns && now - until_ns > run->oversleep_max_ns) {
        run->oversleep_max_ns = now - until_ns;
        run->oversleep_max_step = run->row.step;
    }
}

void watch_writers(struct run *run) {
    uint64_t shown_s = UINT64_MAX;
    while (atomic_load(&run->plan.finished) < run->plan.queue_managers) {
        uint64_t now = now_ns();
        uint64_t until_ns = next_look_ns(run, now);
        if (supervisor_wait(&run->supervisor, until_ns)) {
            atomic_store(&run->plan.stop, true);
        }
        now = now_ns();
        note_oversleep(run, until_ns, now);
        advance(run, now);
        if ((now - run->plan.begin_ns) / NS_PER_S != shown_s) {         // the step's seconds; before it, any number
            shown_s = (now - run->plan.begin_ns) / NS_PER_S;
            show(run, now);
        }
        if (supervisor_patience_over(&run->supervisor) && close_hanging(run, now)) {
            finish_closed(run, now);
        }
    }
}
