// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "cut/acknowledge.h"

#include "base/clock.h"
#include "output/console.h"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define TICK_NS UINT64_C(1000000)
#define SILENCE_NS UINT64_C(100000000)          // the longest time between two `tick` lines

bool acknowledge_look(struct failure *failure) {
    struct stat out, err;
    if (isatty(STDOUT_FILENO) == 1) {
        return failure_set(failure, EXIT_REFUSED,
                           "--acknowledge: standard output is a terminal, but the acknowledgements must be "
                           "stored on another machine; run it there as ssh HOST logdisk ... > FILE");
    }
    bool known = fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0;
    return !known || S_ISCHR(out.st_mode) || out.st_dev != err.st_dev || out.st_ino != err.st_ino ||
           failure_set(failure, EXIT_REFUSED,
                       "--acknowledge: standard output and standard error are the same file, so messages could split "
                       "the lines; send standard error elsewhere, as with 2>messages");
}

// Only the thread uses the members below, except `end` and `drained`.

static void put_counts(struct acknowledge *acknowledge) {
    struct text *text = &acknowledge->outlet.text;
    uint64_t now = now_ns();            // the time before the counts are read: see `tick`
    for (uint32_t i = 0; i < acknowledge->count; i++) {
        uint64_t count = atomic_load_explicit(&acknowledge->workers[i].returned, memory_order_acquire);
        if (count != acknowledge->sent[i]) {
            text_printf(text, "ack %" PRIu32 " %" PRIu64 "\n", i + 1, count);
            acknowledge->sent[i] = count;
        }
    }
    if (now - acknowledge->ticked_ns >= SILENCE_NS - TICK_NS) {
        text_printf(text, "tick %" PRIu64 "\n", now);
        acknowledge->ticked_ns = now;
    }
}

// Returns false if standard output accepts no more text.
static bool send(struct acknowledge *acknowledge) {
    struct outlet *outlet = &acknowledge->outlet;
    outlet->error = outlet->text.incomplete ? ENOMEM : outlet->error;
    outlet_drain(outlet, false);
    return outlet->error == 0;
}

// Text that a slow reader has not yet accepted is sent first. Then only the latest counts are sent, even if several
// ticks have passed.
static bool tick(struct acknowledge *acknowledge, bool *ended) {
    const char *end = atomic_load_explicit(&acknowledge->end, memory_order_acquire);        // before the last counts
    if (acknowledge->outlet.text.length == 0) {
        put_counts(acknowledge);
        if (end != NULL && !*ended) {
            text_printf(&acknowledge->outlet.text, "end %s\n", end);
            *ended = true;
        }
    }
    return send(acknowledge);
}

static void *work(void *argument) {
    struct acknowledge *acknowledge = argument;
    bool ended = false, taken = true;
    (void)prctl(PR_SET_TIMERSLACK, 1L, 0L, 0L, 0L);
    for (uint64_t next_ns = now_ns(); taken && !(ended && acknowledge->outlet.text.length == 0);) {
        taken = tick(acknowledge, &ended);
        uint64_t now = now_ns();
        next_ns = next_ns + TICK_NS > now ? next_ns + TICK_NS : now + TICK_NS;
        sleep_until_ns(next_ns);
    }
    acknowledge->gone = !taken;
    // If nobody reads standard output any more, the run ends, unless it has already ended.
    if (!taken && atomic_load(&acknowledge->end) == NULL) {
        (void)kill(getpid(), SIGTERM);
    }
    atomic_store_explicit(&acknowledge->drained, true, memory_order_release);
    return NULL;
}

void acknowledge_prepare(struct acknowledge *acknowledge, struct workspace *workspace) {
    marked_files_open(&acknowledge->marked_files, &acknowledge->mark, workspace->options);
    workspace->marked_files = &acknowledge->marked_files;
}

bool acknowledge_start(struct acknowledge *acknowledge, const struct workers *workers) {
    char ready[MARK_LINE_BYTES];
    mark_format(&acknowledge->mark, ready);
    acknowledge->workers = workers->worker;
    acknowledge->count = workers->count;
    acknowledge->sent = calloc(workers->count, sizeof *acknowledge->sent);
    acknowledge->outlet.fd = STDOUT_FILENO;
    text_printf(&acknowledge->outlet.text, "%s", ready);
    return acknowledge->sent != NULL && thread_start(&acknowledge->thread, work, acknowledge) &&
           pthread_detach(acknowledge->thread) == 0;
}

void acknowledge_end(struct acknowledge *acknowledge, const char *how) {
    atomic_store_explicit(&acknowledge->end, how, memory_order_release);
}

bool acknowledge_is_drained(void *argument) {
    const struct acknowledge *acknowledge = argument;
    return atomic_load_explicit(&acknowledge->drained, memory_order_acquire);
}

bool acknowledge_close(struct acknowledge *acknowledge, struct supervisor *supervisor, uint64_t patience_ns) {
    bool started = atomic_load(&acknowledge->end) != NULL;
    bool drained = !started || supervisor_await(supervisor, acknowledge_is_drained, acknowledge, patience_ns);
    bool good = drained && !(started && acknowledge->gone);
    if (!good) {
        console_complain("--acknowledge: the end of the acknowledgements could not be written: %s",
                         drained ? strerror(acknowledge->outlet.error) : "nothing takes it");
    }
    return good;
}
