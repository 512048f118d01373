// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "lock/locker.h"

#include "base/failure.h"
#include "base/supervisor.h"
#include "lock/folder.h"
#include "lock/locks.h"
#include "lock/many.h"
#include "lock/nonce.h"
#include "lock/record.h"
#include "lock/ring_writer.h"
#include "lock/scan.h"
#include "lock/verification.h"

#include <sys/resource.h>
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

static struct opened_file *find(struct locker *locker, const char *name) {
    size_t i = 0;
    while (i < LOCKER_FILES_MAX && strcmp(locker->files[i].name, name) != 0) {
        i++;
    }
    return i < LOCKER_FILES_MAX ? &locker->files[i] : NULL;
}

const struct opened_file *locker_file(struct locker *locker, const char *name) {
    return find(locker, name);
}

static void create(struct locker *locker, const struct command *command) {
    locker_answer_done(locker, command,
                       folder_create_full(locker->dir_fd, locker->shared, command->file, command->values[0]));
}

// A file is open only once, because closing a second descriptor would give up its lock.
static void open_file(struct locker *locker, const struct command *command) {
    struct opened_file *file = find(locker, "");
    int error = locker_file(locker, command->file) != NULL ? EBUSY : file == NULL ? EMFILE : 0;
    error = error != 0 ? error : folder_open_file(locker->dir_fd, command->file, &file->fd, &file->bytes);
    if (error == 0) {
        (void)snprintf(file->name, sizeof file->name, "%s", command->file);
    }
    locker_answer_done(locker, command, error);
}

static bool is_used(struct locker *locker, const struct opened_file *file) {
    bool used = false;
    for (int task = 0; task < TASKS; task++) {
        used |= atomic_load(&locker->used[task]) == file;
    }
    return used;
}

static void close_file(struct locker *locker, const struct command *command) {
    struct opened_file *file = find(locker, command->file);
    int error = file == NULL ? EBADF : is_used(locker, file) ? EBUSY : 0;
    if (error == 0) {
        file->name[0] = '\0';
        error = close(file->fd) != 0 ? errno : 0;
    }
    locker_answer_done(locker, command, error);
}

static void remove_files(struct locker *locker, const struct command *command) {
    struct answer answer = locker_answer_to(locker, command);
    uint64_t removed, left;
    folder_remove(locker->dir_fd, locker->shared, &removed, &left);
    answer_add(&answer, FIGURE_REMOVED, removed);
    answer_add(&answer, FIGURE_LEFT, left);
    locker_answer(locker, &answer);
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

// The process.

static void __attribute__((noreturn)) leave(struct locker *locker, const struct command *command) {
    _exit(EXIT_MEASURED);
}

static void obey(struct locker *locker, const struct command *command) {
    switch (command->action) {
    case ACTION_CREATE: create(locker, command); break;
    case ACTION_OPEN: open_file(locker, command); break;
    case ACTION_LOCK_TRY: lock_command_try(locker, command); break;
    case ACTION_LOCK_WAIT: lock_command_wait(locker, command); break;
    case ACTION_LOCK_POLL: lock_command_poll(locker, command); break;
    case ACTION_TEST: lock_command_test(locker, command); break;
    case ACTION_UNLOCK: lock_command_unlock(locker, command); break;
    case ACTION_CLOSE: close_file(locker, command); break;
    case ACTION_ADD: record_add(locker, command); break;
    case ACTION_VERIFY: verification_start(locker, command); break;
    case ACTION_WRITE: ring_writer_start(locker, command); break;
    case ACTION_SCAN: scan_ring(locker, command); break;
    case ACTION_NONCE_WRITE: nonce_write(locker, command); break;
    case ACTION_NONCE_READ: nonce_read(locker, command); break;
    case ACTION_MANY: many_lock(locker, command); break;
    case ACTION_REMOVE: remove_files(locker, command); break;
    default: leave(locker, command);
    }
}

static void allow_many_files(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

void locker_run(struct locker *locker, const struct command *start) {
    struct command command;
    struct answer answer = locker_answer_to(locker, start);
    allow_many_files();
    answer.error = folder_open(locker->path, &locker->dir_fd);
    answer.outcome = answer.error != 0 ? ANSWER_FAILED : ANSWER_DONE;
    answer_add(&answer, FIGURE_PID, (uint64_t)getpid());
    locker_answer(locker, &answer);
    while (answer.error == 0 && read(locker->commands_fd, &command, sizeof command) == (ssize_t)sizeof command) {
        obey(locker, &command);
    }
    _exit(answer.error == 0 ? EXIT_MEASURED : EXIT_REFUSED);
}
