// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "lock/verification.h"

#include "base/clock.h"
#include "lock/locks.h"
#include "lock/record.h"

#include <unistd.h>

#define NS_PER_MS UINT64_C(1000000)

static struct verification {
    struct locker *locker;
    const struct opened_file *file;
    struct command command;
    uint64_t count, max_ns;
} verification;                         // a locker has one at a time

// If another process holds the lock, sets *is_locked. This is not an error.
static int verify_once(const struct verification *current, bool *is_locked) {
    static _Alignas(PROTOCOL_PAGE_BYTES) unsigned char page[PROTOCOL_PAGE_BYTES];
    int fd = current->file->fd;
    int error = lock_look(fd, is_locked);
    if (error == 0 && !*is_locked) {
        record_fill(page, current->count);
        error = locker_write_page(fd, page);
        error = error == 0 && fsync(fd) != 0 ? errno : error;
    }
    return error;
}

static void report_each(const struct verification *current, uint64_t duration_ns) {
    struct answer answer = locker_answer_to(current->locker, &current->command);
    answer.outcome = ANSWER_EACH;
    answer_add(&answer, FIGURE_NS, duration_ns);
    locker_answer(current->locker, &answer);
}

static void finish(const struct verification *current, int error, bool is_locked) {
    struct answer answer = locker_answer_to(current->locker, &current->command);
    answer.outcome = error != 0 ? ANSWER_FAILED : is_locked ? ANSWER_LOCKED : ANSWER_DONE;
    answer.error = error;
    answer_add(&answer, FIGURE_COUNT, current->count);
    answer_add(&answer, FIGURE_MAX_NS, current->max_ns);
    locker_end_task(current->locker, TASK_VERIFY);
    locker_answer(current->locker, &answer);
}

static void *work(void *argument) {
    struct verification *current = argument;
    uint64_t next_ns = now_ns();
    bool is_locked = false;
    int error = 0;
    while (error == 0 && !is_locked && shared_sleep(current->locker->state, TASK_VERIFY, next_ns)) {
        uint64_t start_ns = now_ns();
        error = verify_once(current, &is_locked);
        uint64_t duration_ns = now_ns() - start_ns;
        current->max_ns = duration_ns > current->max_ns ? duration_ns : current->max_ns;
        if (error == 0 && !is_locked) {
            current->count++;
            report_each(current, duration_ns);
        }
        next_ns = start_ns + current->command.values[0] * NS_PER_MS;
    }
    finish(current, error, is_locked);
    return NULL;
}

void verification_start(struct locker *locker, const struct command *command) {
    const struct opened_file *file = locker_file(locker, command->file);
    verification = (struct verification){.locker = locker, .file = file, .command = *command};
    int error = file == NULL ? EBADF : locker_start_task(locker, TASK_VERIFY, file, work, &verification);
    if (error != 0) {
        locker_answer_done(locker, command, error);
    }
}
