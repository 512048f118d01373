// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/console.h"

#include "base/text.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#define BEHIND_BYTES 65536

enum kind { KIND_UNKNOWN, KIND_FILE, KIND_NONBLOCKING, KIND_OTHER };

struct stream {
    int fd;
    enum kind kind;
    int error;                  // of the first text that could not be written
    struct text text;           // waiting
};

static struct stream screen = {.fd = STDOUT_FILENO}, complaints = {.fd = STDERR_FILENO};
static bool held;

// O_NONBLOCK belongs to the open file, which we share with others, so pipes and terminals are opened anew. If that is
// not permitted, poll(2) and small pieces have to do.
static void look_at(struct stream *stream) {
    struct stat status;
    char path[32];
    int fd = -1;
    int flags = fcntl(stream->fd, F_GETFL);
    bool known = fstat(stream->fd, &status) == 0 && flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
    if (known && (S_ISFIFO(status.st_mode) || isatty(stream->fd))) {
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", stream->fd);
        fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    }
    stream->kind = fd >= 0 ? KIND_NONBLOCKING : known && S_ISREG(status.st_mode) ? KIND_FILE : KIND_OTHER;
    stream->fd = fd >= 0 ? fd : stream->fd;
}

static ssize_t write_some(const struct stream *stream, const char *bytes, size_t length) {
    struct pollfd writable = {.fd = stream->fd, .events = POLLOUT};
    if (stream->kind == KIND_OTHER && poll(&writable, 1, 0) == 0) {
        errno = EAGAIN;
        return -1;
    }
    return write(stream->fd, bytes, stream->kind == KIND_OTHER && length > PIPE_BUF ? PIPE_BUF : length);
}

static void drain(struct stream *stream) {
    size_t done = 0;
    if (stream->kind == KIND_UNKNOWN) {
        look_at(stream);
    }
    while (done < stream->text.length && !(held && stream->kind == KIND_FILE)) {
        ssize_t written = write_some(stream, stream->text.bytes + done, stream->text.length - done);
        if (written > 0) {
            done += (size_t)written;
        } else if (written == 0 || errno == EAGAIN) {
            break;
        } else if (errno != EINTR) {
            stream->error = stream->error == 0 ? errno : stream->error;
            done = stream->text.length;
        }
    }
    if (done > 0) {
        memmove(stream->text.bytes, stream->text.bytes + done, stream->text.length - done);
        text_cut(&stream->text, stream->text.length - done);
    }
}

void console_hold(void) {
    held = true;
}

void console_release(void) {
    held = false;
    console_flush();
}

void console_print(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&screen.text, format, arguments);
    va_end(arguments);
}

void console_vescape(const char *format, va_list arguments) {
    text_vescape(&screen.text, format, arguments);
}

void console_flush(void) {
    drain(&screen);
    drain(&complaints);
}

bool console_is_behind(void) {
    return screen.text.length > BEHIND_BYTES;
}

void console_complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_printf(&complaints.text, "logdisk: ");
    text_vescape(&complaints.text, format, arguments);
    text_add(&complaints.text, "\n", 1);
    va_end(arguments);
    console_flush();
}

bool complaints_are_drained(void *unused) {
    console_flush();
    return complaints.text.length == 0;
}

bool console_is_drained(void *unused) {
    return complaints_are_drained(unused) && screen.text.length == 0;
}

int console_error(void) {
    return screen.error == 0 && screen.text.incomplete ? ENOMEM : screen.error;
}
