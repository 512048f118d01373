// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Text for standard output and standard error. Both may lie on the disk under test, or be pipes that nobody reads, so
// threads of their own write there, and the main thread stays able to take signals and to keep the deadline.
#ifndef LOGDISK_CONSOLE_H
#define LOGDISK_CONSOLE_H

#include <stdbool.h>

// False where a thread cannot be made. Before it, text is written at once.
bool output_start(void);

// Waits for output_flush. Names go through printable() before.
void output_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void output_flush(void);
// True where so much waits for standard output that what is out of date by the next second had better be left out.
bool output_is_behind(void);

// A line on standard error, after "logdisk: "; what a terminal would take for a command is escaped.
void output_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

// For supervisor_await: all of standard output, or of standard error, is written.
bool output_screen_idle(void *unused);
bool output_complaints_idle(void *unused);
// Why standard output could not be written; 0: it could.
int output_error(void);
// Ends the threads, which must be idle.
void output_end(void);

#endif
