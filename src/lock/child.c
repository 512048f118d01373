// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "lock/child.h"

#include "base/failure.h"
#include "lock/locker_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct pipes {
    int commands[2], answers[2];        // each with the end to read from and the end to write to
};

static void close_pipe(int ends[2]) {
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static int open_pipes(struct pipes *pipes) {
    if (pipe2(pipes->commands, O_CLOEXEC) != 0) {
        return errno;
    }
    if (pipe2(pipes->answers, O_CLOEXEC) != 0) {
        int error = errno;
        close_pipe(pipes->commands);
        return error;
    }
    bool good = fcntl(pipes->commands[1], F_SETFL, O_NONBLOCK) == 0 &&
                fcntl(pipes->answers[0], F_SETFL, O_NONBLOCK) == 0;
    int error = errno;
    if (!good) {
        close_pipe(pipes->commands);
        close_pipe(pipes->answers);
    }
    return good ? 0 : error;
}

// A process that hangs in the kernel outlives its supervisor. Therefore, a child closes every descriptor on which
// another process may wait for an end of file: those of its siblings, and the standard streams.
static bool leave_descriptors(const struct family *family, const struct pipes *pipes) {
    bool good = true;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        good = good && dup2(family->null_fd, fd) == fd;
    }
    for (size_t i = 0; i < sizeof family->others / sizeof family->others[0]; i++) {
        good = good && (family->others[i] <= STDERR_FILENO || close(family->others[i]) == 0);
    }
    for (uint32_t number = 0; number <= PROTOCOL_LOCKERS_MAX; number++) {
        const struct child *sibling = &family->children[number];
        good = good && (sibling->pid == 0 || (close(sibling->commands_fd) == 0 && close(sibling->answers_fd) == 0));
    }
    return good && close(pipes->commands[1]) == 0 && close(pipes->answers[0]) == 0;
}

static void __attribute__((noreturn))
become_locker(struct family *family, const struct command *start, const struct pipes *pipes, pid_t supervisor) {
    static struct locker locker;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != supervisor || !leave_descriptors(family, pipes)) {
        _exit(EXIT_REFUSED);
    }
    locker.number = start->number;
    locker.path = family->path;
    locker.commands_fd = pipes->commands[0];
    locker.answers_fd = pipes->answers[1];
    locker.shared = family->shared;
    locker.state = &family->shared->lockers[start->number];
    locker_run(&locker, start);
}

int child_start(struct family *family, const struct command *start) {
    struct child *child = &family->children[start->number];
    struct pipes pipes;
    pid_t supervisor = getpid();
    int error = open_pipes(&pipes);
    if (error != 0) {
        return error;
    }
    pid_t pid = fork();
    if (pid == 0) {
        become_locker(family, start, &pipes, supervisor);
    }
    error = pid < 0 ? errno : 0;
    (void)close(pipes.commands[0]);
    (void)close(pipes.answers[1]);
    if (error != 0) {
        (void)close(pipes.commands[1]);
        (void)close(pipes.answers[0]);
        return error;
    }
    *child = (struct child){.pid = pid, .commands_fd = pipes.commands[1], .answers_fd = pipes.answers[0]};
    return 0;
}

int child_tell(struct child *child, const struct command *command) {
    return write(child->commands_fd, command, sizeof *command) == (ssize_t)sizeof *command ? 0 : errno;
}

bool child_take(struct child *child, struct answer *answer) {
    return read(child->answers_fd, answer, sizeof *answer) == (ssize_t)sizeof *answer;
}

void child_kill(struct child *child) {
    child->was_killed = kill(child->pid, SIGKILL) == 0;
}

bool child_has_ended(const struct child *child, int *status) {
    return waitpid(child->pid, status, WNOHANG) == child->pid;
}

void child_forget(struct child *child) {
    (void)close(child->commands_fd);
    (void)close(child->answers_fd);
    *child = (struct child){0};
}
