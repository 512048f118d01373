// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/console.h"

#include "output/outlet.h"

#include <unistd.h>

#define BEHIND_BYTES 65536

static struct outlet screen = {.fd = STDOUT_FILENO}, results = {.fd = STDOUT_FILENO};
static struct outlet complaints = {.fd = STDERR_FILENO};
static const struct outlet *standard_output = &screen;
static bool held, quiet;

void console_use_standard_error(void) {
    screen.fd = STDERR_FILENO;
    standard_output = &results;
}

void console_be_quiet(void) {
    quiet = true;
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
    if (!quiet) {
        text_vprintf(&screen.text, format, arguments);
    }
    va_end(arguments);
}

void console_vescape(const char *format, va_list arguments) {
    if (!quiet) {
        text_vescape(&screen.text, format, arguments);
    }
}

void console_result(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&results.text, format, arguments);
    va_end(arguments);
}

void console_flush(void) {
    outlet_drain(&screen, held);
    outlet_drain(&results, held);
    outlet_drain(&complaints, held);
}

bool console_is_behind(void) {
    return screen.text.length + results.text.length > BEHIND_BYTES;
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
    return complaints_are_drained(unused) && screen.text.length == 0 && results.text.length == 0;
}

int console_error(void) {
    return standard_output->error == 0 && standard_output->text.incomplete ? ENOMEM : standard_output->error;
}
