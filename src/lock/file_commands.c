// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "lock/file_commands.h"

#include "lock/folder.h"

#include <unistd.h>

void file_command_create(struct locker *locker, const struct command *command) {
    locker_answer_done(locker, command,
                       folder_create_full(locker->dir_fd, locker->shared, command->file, command->values[0]));
}

// A locker opens each file only once, because closing a second descriptor would release the lock.
void file_command_open(struct locker *locker, const struct command *command) {
    struct opened_file *file = locker_file(locker, "");
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

void file_command_close(struct locker *locker, const struct command *command) {
    struct opened_file *file = locker_file(locker, command->file);
    int error = file == NULL ? EBADF : is_used(locker, file) ? EBUSY : 0;
    if (error == 0) {
        file->name[0] = '\0';
        error = close(file->fd) != 0 ? errno : 0;
    }
    locker_answer_done(locker, command, error);
}

void file_command_remove(struct locker *locker, const struct command *command) {
    struct answer answer = locker_answer_to(locker, command);
    uint64_t removed, left;
    folder_remove(locker->dir_fd, locker->shared, &removed, &left);
    answer_add(&answer, FIGURE_REMOVED, removed);
    answer_add(&answer, FIGURE_LEFT, left);
    locker_answer(locker, &answer);
}
