// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "measure/worker.h"

#include "base/clock.h"
#include "base/failure.h"

#include <errno.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define STOP_CHECK_NS UINT64_C(50000000)        // the longest sleep without a look at plan->stop
#define RECORDER_WAIT_NS 200000
#define RETURN_WAIT_NS 20000

void writer_start_step(struct writer *writer, struct step_plan *plan) {
    writer->plan = plan;
    ring_start_step(&writer->ring, plan->block_bytes);
    writer->first_file = writer->ring.file;
    writer->pass_writes = ring_pass_writes(&writer->ring);
    writer->writes = 0;
    writer->warmup_writes = 0;
    writer->error = (struct writer_error){0};
    tally_clear(&writer->slot);
    tally_clear(&writer->totals.latency);
    writer->totals.stalls = (struct stalls){0};
    writer->totals.second_writes = 0;
    writer->totals.second_writes_min = UINT64_MAX;
    writer->totals.second_writes_max = 0;
    writer->totals.whole_seconds = 0;
    writer->totals.first_pass_writes = 0;
    writer->totals.first_pass_sum_ns = 0;
    writer->totals.first_pass_ended = false;
    writer->totals.first_start_ns = 0;
    writer->totals.end_ns = 0;
    writer->totals.first_not_started = 0;
    writer->totals.not_started = 0;
    writer->totals.in_flight = (struct stall){0};
    writer->totals.waits_for_recorder = 0;
    writer->totals.thread = (struct thread_figures){0};
    if (writer->flush != NULL) {
        tally_clear(writer->flush);
    }
    if (writer->response != NULL) {
        tally_clear(writer->response);
    }
    atomic_store(&writer->passed, 0);
    atomic_store(&writer->write_start_ns, 0);
    atomic_store(&writer->state, WRITER_OWNED);
}

bool writer_take(struct writer *writer) {
    int away = WRITER_AWAY;
    return atomic_compare_exchange_strong_explicit(&writer->state, &away, WRITER_TAKEN, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

void writer_give_back(struct writer *writer) {
    atomic_store_explicit(&writer->state, WRITER_AWAY, memory_order_release);
}

bool writer_close(struct writer *writer) {
    int away = WRITER_AWAY;
    return atomic_compare_exchange_strong_explicit(&writer->state, &away, WRITER_CLOSED, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

static void leave(struct writer *writer) {
    atomic_store_explicit(&writer->write_start_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&writer->state, WRITER_AWAY, memory_order_release);
}

// Back home; false where main has closed the books.
static inline bool come_home(struct writer *writer) {
    for (;;) {
        int away = WRITER_AWAY;
        if (__builtin_expect(atomic_compare_exchange_strong_explicit(&writer->state, &away, WRITER_OWNED,
                                                                     memory_order_acquire, memory_order_relaxed), 1)) {
            return true;
        }
        if (away == WRITER_CLOSED) {
            return false;
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = RETURN_WAIT_NS}, NULL);
    }
}

static void count_second(struct writer_totals *totals) {
    totals->whole_seconds++;
    if (totals->second_writes < totals->second_writes_min) {
        totals->second_writes_min = totals->second_writes;
    }
    if (totals->second_writes > totals->second_writes_max) {
        totals->second_writes_max = totals->second_writes;
    }
    totals->second_writes = 0;
}

// Adds the slot to the step, or drops it where it was the warm-up.
static void empty_slot(struct writer *writer) {
    if (writer->cut.index > 0) {
        recorder_add(writer->plan->recorder, writer->cut.index, &writer->slot);
        tally_merge(&writer->totals.latency, &writer->slot);
        writer->totals.second_writes += writer->slot.statistics.count;
    } else {
        writer->totals.stalls = (struct stalls){0};
        writer->warmup_writes = writer->writes;
    }
    tally_clear(&writer->slot);
}

void writer_pass_cut(struct writer *writer) {
    bool ends_second = writer->cut.ends_second;
    empty_slot(writer);
    if (ends_second) {
        count_second(&writer->totals);
    }
    writer->cut = timeline_next(&writer->plan->timeline, &writer->cut);
    atomic_store_explicit(&writer->passed, writer->cut.index, memory_order_release);
}

// Before the writer's own way over a cut: waits where main is far behind.
static void wait_for_room(struct writer *writer) {
    if (!recorder_has_room(writer->plan->recorder, writer->cut.index)) {
        writer->totals.waits_for_recorder++;
        do {
            (void)nanosleep(&(struct timespec){.tv_nsec = RECORDER_WAIT_NS}, NULL);
        } while (!recorder_has_room(writer->plan->recorder, writer->cut.index));
    }
}

struct schedule writer_schedule(const struct writer *writer) {
    const struct step_plan *plan = writer->plan;
    uint64_t shift_ns = schedule_shift_ns(plan->rate_micro_per_s, plan->queue_managers, writer->queue_manager);
    return (struct schedule){.origin_ns = plan->begin_ns + shift_ns, .rate_micro_per_s = plan->rate_micro_per_s};
}

// In an open loop, where a stall or a slow disk lasts to the end, writes are left that were due and could not start.
// Without them the figures would show none of the waiting that the stall caused.
static void count_not_started(struct writer *writer, uint64_t end_ns) {
    const struct step_plan *plan = writer->plan;
    struct writer_totals *totals = &writer->totals;
    if (plan->rate_micro_per_s == 0) {
        return;
    }
    struct schedule schedule = writer_schedule(writer);
    uint64_t started = writer->writes + (writer->error.occurred || totals->in_flight.in_flight);
    uint64_t before = schedule_due_before(&schedule, plan->timeline.start_ns);
    uint64_t due = schedule_due_before(&schedule, end_ns < plan->end_ns ? end_ns : plan->end_ns);
    totals->first_not_started = started > before ? started : before;
    totals->not_started = due > totals->first_not_started ? due - totals->first_not_started : 0;
}

void writer_finish(struct writer *writer, uint64_t end_ns) {
    empty_slot(writer);
    count_not_started(writer, end_ns);
    if (writer->totals.in_flight.in_flight) {
        writer->totals.in_flight.write = writer->writes - writer->warmup_writes + 1;
        stalls_insert(&writer->totals.stalls, &writer->totals.in_flight);
    }
    writer->totals.end_ns = end_ns;
    atomic_store_explicit(&writer->passed, UINT32_MAX, memory_order_release);
    (void)atomic_fetch_add(&writer->plan->finished, 1);
}

static void pass_cuts_until(struct writer *writer, uint64_t instant_ns) {
    while (__builtin_expect(instant_ns >= writer->cut.end_ns, 0)) {
        wait_for_room(writer);
        writer_pass_cut(writer);
    }
}

static void finish_at(struct writer *writer, uint64_t end_ns) {
    pass_cuts_until(writer, end_ns);
    wait_for_room(writer);
    writer_finish(writer, end_ns);
}

// Sleeps until that instant, but wakes for plan->stop.
static void sleep_for_turn(const struct step_plan *plan, uint64_t instant_ns) {
    uint64_t now = now_ns();
    while (now < instant_ns && !atomic_load_explicit(&plan->stop, memory_order_relaxed)) {
        uint64_t step_ns = now + STOP_CHECK_NS;
        sleep_until_ns(step_ns < instant_ns ? step_ns : instant_ns);
        now = now_ns();
    }
}

// libc's pwritev is a cancellation point, and pays for that twice a write with an atomic operation inside the timed
// interval; so the kernel is called directly. The offset goes as two longs, of which the kernel takes what it needs.
// Where libraries are preloaded, libc is called, so that one that watches, delays or fails writes is not passed by.
static inline ssize_t call_pwritev(const struct step_plan *plan, int fd, const struct iovec *vector,
                                   uint64_t offset_bytes) {
    if (__builtin_expect(plan->through_libc, 0)) {
        return pwritev(fd, vector, 1, (off_t)offset_bytes);
    }
    return syscall(SYS_pwritev, fd, vector, 1L, (long)offset_bytes, (long)(offset_bytes >> 32));
}

static inline ssize_t write_block(const struct step_plan *plan, int fd, void *block, uint64_t offset_bytes) {
    struct iovec vector = {.iov_base = block, .iov_len = plan->block_bytes};
    ssize_t written;
    do {
        written = call_pwritev(plan, fd, &vector, offset_bytes);
    } while (__builtin_expect(written < 0 && errno == EINTR, 0));
    return written;
}

static int flush(int fd, enum sync_mode sync) {
    int result;
    do {
        result = sync == SYNC_FSYNC ? fsync(fd) : fdatasync(fd);
    } while (result < 0 && errno == EINTR);
    return result;
}

// When the next write is due: in an open loop the intended starts lie 1/rate apart, and the queue managers' evenly
// shifted against each other; in a closed loop with think time, that long after the last write.
struct pace {
    uint64_t due_ns;                    // 0: at once
    uint64_t interval_ns, interval_rest, rest;          // the rest in 1/rate_micro_per_s of a nanosecond
};

static struct pace pace_start(const struct writer *writer) {
    const struct step_plan *plan = writer->plan;
    struct pace pace = {0};
    if (plan->rate_micro_per_s > 0) {
        pace.interval_ns = NS_A_SECOND_IN_MICRO / plan->rate_micro_per_s;
        pace.interval_rest = NS_A_SECOND_IN_MICRO % plan->rate_micro_per_s;
        pace.due_ns = writer_schedule(writer).origin_ns;
    }
    return pace;
}

static inline void pace_advance(struct pace *pace, const struct step_plan *plan, uint64_t write_end_ns) {
    if (plan->rate_micro_per_s > 0) {
        pace->due_ns += pace->interval_ns;
        pace->rest += pace->interval_rest;
        if (pace->rest >= plan->rate_micro_per_s) {
            pace->rest -= plan->rate_micro_per_s;
            pace->due_ns++;
        }
    } else if (plan->delay_ns > 0) {
        pace->due_ns = write_end_ns + plan->delay_ns;
    }
}

static void note_first_pass(struct writer *writer) {
    struct writer_totals *totals = &writer->totals;
    if (writer->cut.index > 0) {
        totals->first_pass_writes = totals->latency.statistics.count + writer->slot.statistics.count;
        totals->first_pass_sum_ns = totals->latency.statistics.sum_ns + writer->slot.statistics.sum_ns;
    }
    totals->first_pass_ended = true;
}

static inline void record(struct writer *writer, uint64_t start_ns, uint64_t end_ns) {
    uint64_t latency_ns = end_ns - start_ns;
    uint64_t ordinal = ++writer->writes - writer->warmup_writes;
    tally_add(&writer->slot, latency_ns, ordinal);
    if (__builtin_expect(latency_ns > writer->totals.stalls.threshold_ns, 0)) {
        struct stall stall = {.latency_ns = latency_ns, .start_ns = start_ns, .write = ordinal,
                              .offset_bytes = writer->ring.offset_bytes, .file = writer->ring.file,
                              .queue_manager = writer->queue_manager};
        stalls_insert(&writer->totals.stalls, &stall);
    }
    if (__builtin_expect(writer->writes == writer->pass_writes, 0)) {
        note_first_pass(writer);
    }
}

static void record_extra(struct writer *writer, uint64_t flush_ns, uint64_t response_ns) {
    if (writer->cut.index > 0) {
        uint64_t ordinal = writer->writes - writer->warmup_writes;
        if (writer->flush != NULL) {
            tally_add(writer->flush, flush_ns, ordinal);
        }
        if (writer->response != NULL) {
            tally_add(writer->response, response_ns, ordinal);
        }
    }
}

static void fail(struct writer *writer, ssize_t written, bool in_flush, int error, uint64_t end_ns) {
    bool in_warmup = writer->cut.index == 0 && end_ns < writer->cut.end_ns;
    uint64_t before = in_warmup ? 0 : writer->cut.index == 0 ? writer->writes : writer->warmup_writes;
    writer->error = (struct writer_error){.occurred = true, .in_flush = in_flush, .at_ns = end_ns,
                                          .in_warmup = in_warmup, .write = writer->writes - before + 1,
                                          .error = written < 0 || in_flush ? error : FAILURE_SHORT_WRITE};
    atomic_store_explicit(&writer->plan->stop, true, memory_order_relaxed);
}

// The measuring loop. False where main has closed the books: nothing of the writer may be touched any more.
static bool write_until_end(struct writer *writer) {
    struct step_plan *plan = writer->plan;
    const bool flushes = plan->sync == SYNC_FDATASYNC || plan->sync == SYNC_FSYNC;
    const bool extra = flushes || plan->rate_micro_per_s > 0;
    struct pace pace = pace_start(writer);
    uint64_t end_ns = 0;
    for (;;) {
        unsigned char *block = content_next(&writer->content);
        int fd = writer->fds[writer->ring.file];
        leave(writer);
        if (pace.due_ns > 0) {
            sleep_for_turn(plan, pace.due_ns < plan->end_ns ? pace.due_ns : plan->end_ns);
        }
        uint64_t start_ns = now_ns();
        if (start_ns >= plan->end_ns || atomic_load_explicit(&plan->stop, memory_order_relaxed)) {
            if (!come_home(writer)) {
                return false;
            }
            uint64_t planned_ns = start_ns < plan->end_ns ? start_ns : plan->end_ns;
            finish_at(writer, end_ns > planned_ns ? end_ns : planned_ns);
            return true;
        }
        atomic_store_explicit(&writer->write_start_ns, start_ns, memory_order_relaxed);
        ssize_t written = write_block(plan, fd, block, writer->ring.offset_bytes);
        int error = __builtin_expect(written < 0, 0) ? errno : 0;
        bool flush_failed = false;
        uint64_t written_ns = 0;
        if (flushes && written == (ssize_t)plan->block_bytes) {
            written_ns = now_ns();
            flush_failed = flush(fd, plan->sync) != 0;
            error = errno;
        }
        end_ns = now_ns();
        if (!come_home(writer)) {
            return false;
        }
        if (__builtin_expect(written != (ssize_t)plan->block_bytes || flush_failed, 0)) {
            fail(writer, written, flush_failed, error, end_ns);
            finish_at(writer, end_ns);
            return true;
        }
        if (writer->totals.first_start_ns == 0) {
            writer->totals.first_start_ns = start_ns;
        }
        pass_cuts_until(writer, end_ns);
        record(writer, start_ns, end_ns);
        if (extra) {
            record_extra(writer, end_ns - written_ns, end_ns - pace.due_ns);
        }
        ring_advance(&writer->ring);
        pace_advance(&pace, plan, end_ns);
    }
}

int step_plan_init(struct step_plan *plan) {
    int error = pthread_mutex_init(&plan->start_lock, NULL);
    return error != 0 ? error : pthread_cond_init(&plan->start_signal, NULL);
}

void step_plan_release(struct step_plan *plan, bool go) {
    (void)pthread_mutex_lock(&plan->start_lock);
    plan->go = go;
    plan->called_off = !go;
    (void)pthread_cond_broadcast(&plan->start_signal);
    (void)pthread_mutex_unlock(&plan->start_lock);
}

// False where the step was called off.
static bool wait_for_start(struct step_plan *plan) {
    (void)pthread_mutex_lock(&plan->start_lock);
    (void)atomic_fetch_add(&plan->waiting, 1);
    while (!plan->go && !plan->called_off) {
        (void)pthread_cond_wait(&plan->start_signal, &plan->start_lock);
    }
    bool go = plan->go;
    (void)pthread_mutex_unlock(&plan->start_lock);
    return go;
}

static int pin_to_cpu(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    return pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

void *writer_main(void *argument) {
    struct writer *writer = argument;
    struct step_plan *plan = writer->plan;
    // A descriptor table of its own saves the kernel two atomic operations a write, as in a single-threaded process.
    // Where it is not allowed the writes only cost a few nanoseconds more.
    if (writer->own_fd_table) {
        (void)unshare(CLONE_FILES);
    }
    (void)prctl(PR_SET_TIMERSLACK, 1L, 0L, 0L, 0L);
    writer->pin_error = writer->cpu >= 0 ? pin_to_cpu(writer->cpu) : 0;
    if (!wait_for_start(plan)) {
        atomic_store(&writer->passed, UINT32_MAX);
        return NULL;
    }
    struct thread_figures before = thread_figures_now();
    sleep_for_turn(plan, plan->begin_ns);
    writer->cut = timeline_first(&plan->timeline);
    if (write_until_end(writer)) {
        struct thread_figures after = thread_figures_now();
        writer->totals.thread = (struct thread_figures){
            .known = before.known && after.known,
            .run_queue_wait_ns = after.run_queue_wait_ns - before.run_queue_wait_ns,
            .involuntary_switches = after.involuntary_switches - before.involuntary_switches,
        };
    }
    return NULL;
}
