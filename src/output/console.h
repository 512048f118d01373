// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Text for standard output and standard error, used by the main thread only. Output that is not accepted at once waits
// in a growing buffer, so a full pipe, a stopped terminal or a reader that has disappeared never blocks the tester.
// Only a regular file can block, so if one is on a file system under test, its text is held until the tables are in
// place.
#pragma once

#include "base/standard.h"

// Redirects text for standard output to standard error. Call it before any output.
void console_use_standard_error(void);
// Leaves out the text of console_print and console_vescape.
void console_be_quiet(void);

// Holds text for regular files until console_release, because they may be on a file system under test.
void console_hold(void);
void console_release(void);

// Both functions add text that console_flush will write. Names have to be escaped; see text_escape.
void console_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void console_vescape(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));
// Adds results that a program reads; these are always for standard output.
void console_result(const char *format, ...) __attribute__((format(printf, 1, 2)));
// Writes as much as possible without blocking.
void console_flush(void);
// Returns true if so much text is waiting for standard output that short-lived text should be left out.
bool console_is_behind(void);

// Prints a line on standard error, after "logdisk: ", with control sequences escaped.
void console_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

// For supervisor_await: tries to write, and returns true if no more text is waiting.
bool console_is_drained(void *unused);
bool complaints_are_drained(void *unused);      // checks standard error only
// Returns the error that prevented writing to standard output; 0 if there was none.
int console_error(void);
