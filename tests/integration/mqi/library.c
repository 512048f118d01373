// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A library that is used instead of libmqm_r.so.
#include "mqi.h"

#include <stddef.h>
#include <time.h>

_Thread_local struct behaviour behaviour;

static void behave(void) {
    if (behaviour.ns > 0) {
        struct timespec left = {behaviour.ns / 1000000000, behaviour.ns % 1000000000};
        while (nanosleep(&left, &left) != 0) {
        }
    }
    if (behaviour.last != NULL) {
        behaviour.last();
    }
}

void MQPUT(int connection, int object, void *descriptor, void *options, int length, void *buffer, int *completion,
           int *reason) {
    if (behaviour.depth > 0) {
        behaviour.depth--;
        MQPUT(connection, object, descriptor, options, length, buffer, completion, reason);
    } else {
        behave();
    }
    *completion = *reason = 0;
}

void MQCMIT(int connection, int *completion, int *reason) {
    behave();
    *completion = *reason = 0;
}
