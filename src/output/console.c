// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "output/console.h"

#include "base/clock.h"
#include "output/outlet.h"
#include "base/printable.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BEHIND_BYTES 65536
#define AFTER_SCREEN_NS UINT64_C(200000000)     // what went to the screen before a complaint shall stand before it
#define AFTER_SCREEN_POLL_NS UINT64_C(1000000)

static int deliver_screen(const void *unused, const char *text, size_t length);
static int deliver_complaints(const void *unused, const char *text, size_t length);

static struct outlet screen = {.deliver = deliver_screen};
static struct outlet complaints = {.deliver = deliver_complaints};

static int write_all(int fd, const char *text, size_t length) {
    while (length > 0) {
        ssize_t done = write(fd, text, length);
        if (done > 0) {
            text += done;
            length -= (size_t)done;
        } else if (done < 0 && errno == EAGAIN) {           // somebody set O_NONBLOCK on what we share
            struct pollfd writable = {.fd = fd, .events = POLLOUT};
            (void)poll(&writable, 1, -1);
        } else if (done < 0 && errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

static int deliver_screen(const void *unused, const char *text, size_t length) {
    (void)unused;
    return write_all(STDOUT_FILENO, text, length);
}

static int deliver_complaints(const void *unused, const char *text, size_t length) {
    (void)unused;
    for (uint64_t begin = now_ns(); !outlet_idle(&screen) && now_ns() < begin + AFTER_SCREEN_NS;) {
        sleep_until_ns(now_ns() + AFTER_SCREEN_POLL_NS);
    }
    return write_all(STDERR_FILENO, text, length);
}

bool output_start(void) {
    (void)fflush(stdout);
    return outlet_start(&screen) && outlet_start(&complaints);
}

static void put(struct outlet *outlet, FILE *direct, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

static void put(struct outlet *outlet, FILE *direct, const char *format, va_list arguments) {
    char *text = NULL;
    int length = vasprintf(&text, format, arguments);
    if (length < 0) {
        return;
    }
    if (outlet->started) {
        outlet_put(outlet, text, (size_t)length);
    } else {
        (void)fputs(text, direct);
    }
    free(text);
}

void output_print(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    put(&screen, stdout, format, arguments);
    va_end(arguments);
}

void output_flush(void) {
    if (screen.started) {
        outlet_release(&screen);
    } else {
        (void)fflush(stdout);
    }
}

bool output_is_behind(void) {
    return outlet_waiting(&screen) > BEHIND_BYTES;
}

static void put_complaint(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void put_complaint(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    put(&complaints, stderr, format, arguments);
    va_end(arguments);
}

void output_complain(const char *format, ...) {
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    char *harmless = length >= 0 ? printable(text) : NULL;
    if (harmless != NULL) {
        put_complaint("logdisk: %s\n", harmless);
    }
    free(harmless);
    if (length >= 0) {
        free(text);
    }
    outlet_release(&complaints);
}

bool output_screen_idle(void *unused) {
    (void)unused;
    return outlet_idle(&screen);
}

bool output_complaints_idle(void *unused) {
    (void)unused;
    return outlet_idle(&complaints);
}

int output_error(void) {
    return outlet_error(&screen);
}

void output_end(void) {
    outlet_end(&complaints);
    outlet_end(&screen);
}
