// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/outlet.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

// O_NONBLOCK would apply to the open file, which other processes share, so pipes and terminals are opened again. If
// that is not permitted, poll(2) and small writes are used instead.
static void look_at(struct outlet *outlet) {
    struct stat status;
    char path[32];
    int fd = -1;
    int flags = fcntl(outlet->fd, F_GETFL);
    bool known = fstat(outlet->fd, &status) == 0 && flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
    if (known && (S_ISFIFO(status.st_mode) || isatty(outlet->fd))) {
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", outlet->fd);
        fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    }
    outlet->kind = fd >= 0 ? OUTLET_NONBLOCKING : known && S_ISREG(status.st_mode) ? OUTLET_FILE : OUTLET_OTHER;
    outlet->fd = fd >= 0 ? fd : outlet->fd;
}

static ssize_t write_some(const struct outlet *outlet, const char *bytes, size_t length) {
    struct pollfd writable = {.fd = outlet->fd, .events = POLLOUT};
    if (outlet->kind == OUTLET_OTHER && poll(&writable, 1, 0) == 0) {
        errno = EAGAIN;
        return -1;
    }
    return write(outlet->fd, bytes, outlet->kind == OUTLET_OTHER && length > PIPE_BUF ? PIPE_BUF : length);
}

void outlet_drain(struct outlet *outlet, bool holds_files) {
    size_t done = 0;
    if (outlet->kind == OUTLET_UNKNOWN) {
        look_at(outlet);
    }
    while (done < outlet->text.length && !(holds_files && outlet->kind == OUTLET_FILE)) {
        ssize_t written = write_some(outlet, outlet->text.bytes + done, outlet->text.length - done);
        if (written > 0) {
            done += (size_t)written;
        } else if (written == 0 || errno == EAGAIN) {
            break;
        } else if (errno != EINTR) {
            outlet->error = outlet->error == 0 ? errno : outlet->error;
            done = outlet->text.length;
        }
    }
    if (done > 0) {
        memmove(outlet->text.bytes, outlet->text.bytes + done, outlet->text.length - done);
        text_cut(&outlet->text, outlet->text.length - done);
    }
}
