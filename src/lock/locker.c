// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "lock/locker.h"

#include "base/failure.h"
#include "base/supervisor.h"

#include <unistd.h>

struct answer locker_answer_to(const struct locker *locker, const struct command *command) {
    return (struct answer){.number = locker->number, .action = command->action};
}

void locker_answer(const struct locker *locker, const struct answer *answer) {
    ssize_t written;
    while ((written = write(locker->answers_fd, answer, sizeof *answer)) < 0 && errno == EINTR) {
    }
    if (written != (ssize_t)sizeof *answer) {
        _exit(EXIT_REFUSED);            // there is no supervisor any more
    }
}

void locker_answer_done(const struct locker *locker, const struct command *command, int error) {
    struct answer answer = locker_answer_to(locker, command);
    answer.outcome = error != 0 ? ANSWER_FAILED : ANSWER_DONE;
    answer.error = error;
    locker_answer(locker, &answer);
}

// Files.

struct opened_file *locker_file(struct locker *locker, const char *name) {
    size_t i = 0;
    while (i < LOCKER_FILES_MAX && strcmp(locker->files[i].name, name) != 0) {
        i++;
    }
    return i < LOCKER_FILES_MAX ? &locker->files[i] : NULL;
}

static int transfer_error(ssize_t done) {
    return done < 0 ? errno : done != PROTOCOL_PAGE_BYTES ? EIO : 0;
}

int locker_read_page(int fd, unsigned char page[PROTOCOL_PAGE_BYTES]) {
    return transfer_error(pread(fd, page, PROTOCOL_PAGE_BYTES, 0));
}

int locker_write_page(int fd, const unsigned char page[PROTOCOL_PAGE_BYTES]) {
    return transfer_error(pwrite(fd, page, PROTOCOL_PAGE_BYTES, 0));
}

// Threads.

int locker_start_task(struct locker *locker, enum task task, const struct opened_file *file,
                      void *(*work)(void *), void *argument) {
    pthread_t thread;
    atomic_store(&locker->used[task], file);
    if (!thread_start(&thread, work, argument)) {
        atomic_store(&locker->used[task], NULL);
        return EAGAIN;
    }
    return pthread_detach(thread);
}

void locker_end_task(struct locker *locker, enum task task) {
    atomic_store(&locker->used[task], NULL);
}
