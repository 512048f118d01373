// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "lock/many.h"

#include "lock/folder.h"
#include "lock/locks.h"

static int lock_one(struct locker *locker, const char *name) {
    int fd;
    uint64_t bytes;
    int error = folder_create(locker->dir_fd, locker->shared, name, &fd);
    error = error == EEXIST ? folder_open_file(locker->dir_fd, name, &fd, &bytes) : error;
    return error != 0 ? error : lock_try(fd);
}

// A process may do this only once, because opening the same files again and closing them would release their locks.
void many_lock(struct locker *locker, const struct command *command) {
    struct answer answer = locker_answer_to(locker, command);
    uint64_t held = 0;
    answer.error = locker->has_many ? EBUSY : 0;
    answer.outcome = answer.error != 0 ? ANSWER_FAILED : ANSWER_DONE;
    locker->has_many = true;
    while (answer.error == 0 && held < command->values[0]) {
        char name[PROTOCOL_FILE_MAX + 1];
        (void)snprintf(name, sizeof name, "%.*s-%04" PRIu64, PROTOCOL_FILE_MAX - 5, command->file,
                       held % PROTOCOL_MANY_MAX);
        answer.error = lock_one(locker, name);
        held += answer.error == 0;
    }
    answer_add(&answer, FIGURE_HELD, held);
    locker_answer(locker, &answer);
}
