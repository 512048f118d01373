// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "lock/record.h"

#include "base/clock.h"
#include "lock/locks.h"
#include "workload/payload.h"

#define WORDS (PROTOCOL_PAGE_BYTES / sizeof(uint64_t))

void record_fill(unsigned char page[PROTOCOL_PAGE_BYTES], uint64_t number) {
    uint64_t *words = (uint64_t *)(void *)page, state = number;
    words[0] = words[WORDS - 1] = number;
    for (size_t i = 1; i < WORDS - 1; i++) {
        words[i] = splitmix64(&state);
    }
}

bool record_is_whole(const unsigned char page[PROTOCOL_PAGE_BYTES], uint64_t *number) {
    static _Alignas(PROTOCOL_PAGE_BYTES) unsigned char wanted[PROTOCOL_PAGE_BYTES];
    memcpy(number, page, sizeof *number);
    record_fill(wanted, *number);
    return memcmp(page, wanted, sizeof wanted) == 0;
}

struct addition {
    uint64_t first, last;               // the number that was found first, and the last number that was written
    uint64_t torn;
};

// Reads the record, and replaces it with the next record if `adds` is true. Returns 0 or an error.
static int add_locked(struct addition *addition, int fd, bool is_first, bool adds) {
    static _Alignas(PROTOCOL_PAGE_BYTES) unsigned char page[PROTOCOL_PAGE_BYTES];
    uint64_t number;
    int error = locker_read_page(fd, page);
    if (error != 0) {
        return error;
    }
    addition->torn += !record_is_whole(page, &number);
    addition->first = is_first ? number : addition->first;
    record_fill(page, number + adds);
    error = adds ? locker_write_page(fd, page) : 0;
    addition->last = error == 0 ? number + adds : addition->last;
    return error;
}

static int add_once(struct addition *addition, int fd, bool is_first, bool adds) {
    int error = lock_wait(fd);
    if (error != 0) {
        return error;
    }
    error = add_locked(addition, fd, is_first, adds);
    int unlocked = lock_release(fd);
    return error != 0 ? error : unlocked;
}

void record_add(struct locker *locker, const struct command *command) {
    struct addition addition = {0};
    struct answer answer = locker_answer_to(locker, command);
    const struct opened_file *file = locker_file(locker, command->file);
    uint64_t start_ns = now_ns(), updates = command->values[0];
    answer.error = file == NULL ? EBADF : 0;
    for (uint64_t i = 0; answer.error == 0 && i < (updates > 0 ? updates : 1); i++) {
        answer.error = add_once(&addition, file->fd, i == 0, updates > 0);
    }
    answer.outcome = answer.error != 0 ? ANSWER_FAILED : ANSWER_DONE;
    answer_add(&answer, FIGURE_FIRST, addition.first);
    answer_add(&answer, FIGURE_LAST, addition.last);
    answer_add(&answer, FIGURE_TORN, addition.torn);
    answer_add(&answer, FIGURE_AFTER_NS, now_ns() - start_ns);
    locker_answer(locker, &answer);
}
