// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "lock/locks.h"

#include "base/clock.h"

#include <fcntl.h>

#define NS_PER_MS UINT64_C(1000000)

static int control(int fd, int operation, struct flock *lock) {
    return fcntl(fd, operation, lock) == 0 ? 0 : errno;
}

static struct flock whole_file(short type) {
    return (struct flock){.l_type = type, .l_whence = SEEK_SET};
}

int lock_try(int fd) {
    struct flock lock = whole_file(F_WRLCK);
    return control(fd, F_SETLK, &lock);
}

int lock_wait(int fd) {
    struct flock lock = whole_file(F_WRLCK);
    return control(fd, F_SETLKW, &lock);
}

int lock_release(int fd) {
    struct flock lock = whole_file(F_UNLCK);
    return control(fd, F_SETLK, &lock);
}

int lock_look(int fd, bool *is_locked) {
    struct flock lock = whole_file(F_WRLCK);
    int error = control(fd, F_GETLK, &lock);
    *is_locked = error == 0 && lock.l_type != F_UNLCK;
    return error;
}

bool lock_is_refused(int error) {
    return error == EAGAIN || error == EACCES;
}

static void answer_tries(struct locker *locker, const struct command *command, int error, uint64_t tries,
                         uint64_t start_ns) {
    struct answer answer = locker_answer_to(locker, command);
    answer.outcome = error == 0 ? ANSWER_HELD : lock_is_refused(error) ? ANSWER_REFUSED : ANSWER_FAILED;
    answer.error = error;
    if (tries > 0) {
        answer_add(&answer, FIGURE_TRIES, tries);
    }
    answer_add(&answer, FIGURE_AFTER_NS, now_ns() - start_ns);
    locker_answer(locker, &answer);
}

void lock_command_try(struct locker *locker, const struct command *command) {
    const struct opened_file *file = locker_file(locker, command->file);
    uint64_t start_ns = now_ns(), tries = 0;
    int error = file == NULL ? EBADF : EAGAIN;
    while (lock_is_refused(error) && tries < command->values[0]) {
        tries++;
        error = lock_try(file->fd);
    }
    answer_tries(locker, command, error, tries, start_ns);
}

void lock_command_wait(struct locker *locker, const struct command *command) {
    const struct opened_file *file = locker_file(locker, command->file);
    uint64_t start_ns = now_ns();
    answer_tries(locker, command, file == NULL ? EBADF : lock_wait(file->fd), 0, start_ns);
}

void lock_command_poll(struct locker *locker, const struct command *command) {
    const struct opened_file *file = locker_file(locker, command->file);
    uint64_t start_ns = now_ns(), next_ns = start_ns, tries = 0;
    int error = file == NULL ? EBADF : EAGAIN;
    while (lock_is_refused(error) && shared_sleep(locker->state, TASK_LOCK, next_ns)) {
        tries++;
        error = lock_try(file->fd);
        next_ns = now_ns() + command->values[0] * NS_PER_MS;
    }
    answer_tries(locker, command, error, tries, start_ns);
}

void lock_command_test(struct locker *locker, const struct command *command) {
    struct answer answer = locker_answer_to(locker, command);
    const struct opened_file *file = locker_file(locker, command->file);
    bool is_locked = false;
    answer.error = file == NULL ? EBADF : lock_look(file->fd, &is_locked);
    answer.outcome = answer.error != 0 ? ANSWER_FAILED : is_locked ? ANSWER_LOCKED : ANSWER_FREE;
    locker_answer(locker, &answer);
}

void lock_command_unlock(struct locker *locker, const struct command *command) {
    const struct opened_file *file = locker_file(locker, command->file);
    locker_answer_done(locker, command, file == NULL ? EBADF : lock_release(file->fd));
}
