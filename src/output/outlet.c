// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/platform.h"

#include "output/outlet.h"

#include "base/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Takes what waits and delivers it without the lock.
static void deliver(struct outlet *outlet) {
    char *text = outlet->text;
    size_t length = outlet->length;
    outlet->text = NULL;
    outlet->length = outlet->room = 0;
    outlet->released = false;
    outlet->busy = true;
    (void)pthread_mutex_unlock(&outlet->lock);
    int error = length > 0 ? outlet->deliver(outlet->argument, text, length) : 0;
    free(text);
    (void)pthread_mutex_lock(&outlet->lock);
    outlet->busy = false;
    if (outlet->error == 0) {
        outlet->error = error;
    }
}

static void *outlet_main(void *argument) {
    struct outlet *outlet = argument;
    (void)pthread_mutex_lock(&outlet->lock);
    while (outlet->released || !outlet->ending) {
        if (outlet->released) {
            deliver(outlet);
        } else {
            (void)pthread_cond_wait(&outlet->changed, &outlet->lock);
        }
    }
    (void)pthread_mutex_unlock(&outlet->lock);
    return NULL;
}

bool outlet_start(struct outlet *outlet) {
    outlet->started = pthread_mutex_init(&outlet->lock, NULL) == 0 && pthread_cond_init(&outlet->changed, NULL) == 0 &&
                      thread_start(&outlet->thread, outlet_main, outlet);
    return outlet->started;
}

static bool make_room(struct outlet *outlet, size_t length) {
    if (outlet->length + length > outlet->room) {
        size_t room = 2 * (outlet->length + length);
        char *text = realloc(outlet->text, room);
        if (text == NULL) {
            return false;
        }
        outlet->text = text;
        outlet->room = room;
    }
    return true;
}

void outlet_put(struct outlet *outlet, const char *text, size_t length) {
    if (!outlet->started) {
        return;
    }
    (void)pthread_mutex_lock(&outlet->lock);
    if (outlet->latest_only) {
        outlet->length = 0;
    }
    if (make_room(outlet, length)) {
        memcpy(outlet->text + outlet->length, text, length);
        outlet->length += length;
    } else if (outlet->error == 0) {
        outlet->error = ENOMEM;
    }
    (void)pthread_mutex_unlock(&outlet->lock);
}

void outlet_release(struct outlet *outlet) {
    if (outlet->started) {
        (void)pthread_mutex_lock(&outlet->lock);
        outlet->released = true;
        (void)pthread_cond_signal(&outlet->changed);
        (void)pthread_mutex_unlock(&outlet->lock);
    }
}

size_t outlet_waiting(struct outlet *outlet) {
    if (!outlet->started) {
        return 0;
    }
    (void)pthread_mutex_lock(&outlet->lock);
    size_t length = outlet->length;
    (void)pthread_mutex_unlock(&outlet->lock);
    return length;
}

bool outlet_idle(struct outlet *outlet) {
    if (!outlet->started) {
        return true;
    }
    (void)pthread_mutex_lock(&outlet->lock);
    bool idle = !outlet->released && !outlet->busy;
    (void)pthread_mutex_unlock(&outlet->lock);
    return idle;
}

int outlet_error(struct outlet *outlet) {
    if (!outlet->started) {
        return 0;
    }
    (void)pthread_mutex_lock(&outlet->lock);
    int error = outlet->error;
    (void)pthread_mutex_unlock(&outlet->lock);
    return error;
}

void outlet_end(struct outlet *outlet) {
    if (outlet->started) {
        (void)pthread_mutex_lock(&outlet->lock);
        outlet->ending = true;
        (void)pthread_cond_signal(&outlet->changed);
        (void)pthread_mutex_unlock(&outlet->lock);
        (void)pthread_join(outlet->thread, NULL);
        outlet->started = false;
        free(outlet->text);
    }
}
