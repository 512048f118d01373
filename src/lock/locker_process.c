// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "lock/locker_process.h"

#include "base/failure.h"
#include "lock/file_commands.h"
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

static void __attribute__((noreturn)) leave(struct locker *locker, const struct command *command) {
    _exit(EXIT_MEASURED);
}

static void obey(struct locker *locker, const struct command *command) {
    switch (command->action) {
    case ACTION_CREATE: file_command_create(locker, command); break;
    case ACTION_OPEN: file_command_open(locker, command); break;
    case ACTION_LOCK_TRY: lock_command_try(locker, command); break;
    case ACTION_LOCK_WAIT: lock_command_wait(locker, command); break;
    case ACTION_LOCK_POLL: lock_command_poll(locker, command); break;
    case ACTION_TEST: lock_command_test(locker, command); break;
    case ACTION_UNLOCK: lock_command_unlock(locker, command); break;
    case ACTION_CLOSE: file_command_close(locker, command); break;
    case ACTION_ADD: record_add(locker, command); break;
    case ACTION_VERIFY: verification_start(locker, command); break;
    case ACTION_WRITE: ring_writer_start(locker, command); break;
    case ACTION_SCAN: scan_ring(locker, command); break;
    case ACTION_NONCE_WRITE: nonce_write(locker, command); break;
    case ACTION_NONCE_READ: nonce_read(locker, command); break;
    case ACTION_MANY: many_lock(locker, command); break;
    case ACTION_REMOVE: file_command_remove(locker, command); break;
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
