// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "host/cpu_load.h"

#include <pthread.h>

static void *keep_busy(void *unused) {
    (void)unused;
    for (volatile uint64_t count = 0;;) {
        count = count + 1;
    }
    return NULL;
}

bool background_start(uint64_t threads) {
    for (uint64_t i = 0; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, keep_busy, NULL) != 0) {
            return false;
        }
        (void)pthread_detach(thread);
    }
    return true;
}
