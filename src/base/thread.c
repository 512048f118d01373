// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "base/thread.h"

bool thread_start(pthread_t *thread, void *(*work)(void *), void *argument) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) {
        return false;
    }
    bool made = pthread_attr_setstacksize(&attributes, THREAD_STACK_BYTES) == 0 &&
                pthread_create(thread, &attributes, work, argument) == 0;
    (void)pthread_attr_destroy(&attributes);
    return made;
}
