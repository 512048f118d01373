// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Threads with small stacks: there may be a thousand of them, and --mlock would keep all of a default stack in memory.
#ifndef LOGDISK_THREAD_H
#define LOGDISK_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define THREAD_STACK_BYTES ((size_t)256 << 10)

// False if the kernel gives no more threads, or no memory for the stack.
static inline bool thread_start(pthread_t *thread, void *(*work)(void *), void *argument) {
    pthread_attr_t attributes;
    return pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, THREAD_STACK_BYTES) == 0 &&
           pthread_create(thread, &attributes, work, argument) == 0 && pthread_attr_destroy(&attributes) == 0;
}

#endif
