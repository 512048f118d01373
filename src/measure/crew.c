// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "measure/crew.h"

#include "base/thread.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>

// thread_start has one answer for both, so the stack is tried for itself.
static bool has_memory_for_stack(void) {
    void *stack = mmap(NULL, THREAD_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    return stack != MAP_FAILED && munmap(stack, THREAD_STACK_BYTES) == 0;
}

bool crew_refuse(struct failure *failure, enum exit_status status, uint32_t queue_manager) {
    if (!has_memory_for_stack()) {
        return failure_set(failure, status, "--qm: no memory for the thread of queue manager %" PRIu32 "; raise the limit "
                           "on memory (ulimit -v), or take fewer queue managers", queue_manager);
    }
    return failure_set(failure, status, "--qm: cannot make a thread for queue manager %" PRIu32 "; raise the limit on "
                       "processes (ulimit -u), or take fewer", queue_manager);
}

// What the tried threads wait for.
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t signal;
    bool open;
};

static void *wait_at(void *argument) {
    struct gate *gate = argument;
    (void)pthread_mutex_lock(&gate->lock);
    while (!gate->open) {
        (void)pthread_cond_wait(&gate->signal, &gate->lock);
    }
    (void)pthread_mutex_unlock(&gate->lock);
    return NULL;
}

static void open_gate(struct gate *gate) {
    (void)pthread_mutex_lock(&gate->lock);
    gate->open = true;
    (void)pthread_cond_broadcast(&gate->signal);
    (void)pthread_mutex_unlock(&gate->lock);
}

bool crew_try(uint32_t count, struct failure *failure) {
    struct gate gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .signal = PTHREAD_COND_INITIALIZER};
    uint32_t made = 0;
    pthread_t *threads = calloc(count, sizeof *threads);
    if (threads == NULL) {
        return failure_set(failure, EXIT_REFUSED, "no memory");
    }
    while (made < count && thread_start(&threads[made], wait_at, &gate)) {
        made++;
    }
    bool good = made == count || crew_refuse(failure, EXIT_REFUSED, made + 1);
    open_gate(&gate);
    for (uint32_t i = 0; i < made; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    free(threads);
    return good;
}
