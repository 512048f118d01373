// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// An application that calls the MQI and records its own timing:
//
//   application FILE [THREADS:CALL:PATTERN:COUNT:NS ...] [kill] [exit=STATUS] [wait]
//
// Each group makes COUNT calls in each of its threads, after the previous group has ended. PATTERN is constant, bursty
// (every tenth call takes ten times as long), growing (the n-th call takes n times as long), deep (each call makes
// three more calls within it, and only the outermost call is recorded), left (each call is left by a jump, and is not
// recorded) or stuck (the call never returns). When all groups are done, a line "CALL NS" for each recorded call is
// written to FILE. Then the application kills itself, exits with a status, or waits until it is ended.
#include "mqi.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CALLS_MAX 1000000

struct group {
    char call[16], pattern[16];
    int threads, count;
    long ns;
};

struct account {
    const char *call;
    long ns;
};

static struct group groups[16];
static struct account accounts[CALLS_MAX];
static int accounted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local jmp_buf away;

static void leave(void) {
    longjmp(away, 1);
}

static void stay(void) {
    for (;;) {
        pause();
    }
}

static long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

static void keep(const char *name, long ns) {
    pthread_mutex_lock(&lock);
    if (accounted < CALLS_MAX) {
        accounts[accounted++] = (struct account){name, ns};
    }
    pthread_mutex_unlock(&lock);
}

static void call_once(const struct group *group) {
    int completion, reason;
    long begin = now_ns();
    if (strcmp(group->call, "MQPUT") == 0) {
        MQPUT(1, 1, NULL, NULL, 0, NULL, &completion, &reason);
    } else {
        MQCMIT(1, &completion, &reason);
    }
    keep(group->call, now_ns() - begin);
}

static int is(const struct group *group, const char *pattern) {
    return strcmp(group->pattern, pattern) == 0;
}

static void *work(void *argument) {
    const struct group *group = argument;
    for (volatile int n = 1; n <= group->count; n++) {
        long times = is(group, "growing") ? n : is(group, "bursty") && n % 10 == 0 ? 10 : 1;
        behaviour = (struct behaviour){
            group->ns * times, is(group, "deep") ? 3 : 0,
            is(group, "left")    ? leave
            : is(group, "stuck") ? stay
                                 : NULL};
        if (setjmp(away) == 0) {
            call_once(group);
        }
    }
    return NULL;
}

static void run(struct group *group) {
    pthread_t threads[64];
    for (int n = 0; n < group->threads && n < 64; n++) {
        if (pthread_create(&threads[n], NULL, work, group) != 0) {
            abort();
        }
    }
    for (int n = 0; n < group->threads && n < 64 && !is(group, "stuck"); n++) {
        pthread_join(threads[n], NULL);
    }
}

static void report(const char *path) {
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        abort();
    }
    for (int n = 0; n < accounted; n++) {
        fprintf(file, "%s %ld\n", accounts[n].call, accounts[n].ns);
    }
    fclose(file);
}

int main(int count, char **words) {
    int status = 0, last = 0, read = 0;
    for (int n = 2; n < count; n++) {
        struct group *group = &groups[read];
        if (sscanf(words[n], "%d:%15[^:]:%15[^:]:%d:%ld", &group->threads, group->call, group->pattern, &group->count,
                   &group->ns) == 5 &&
            read < 15) {
            read++;
        } else if (sscanf(words[n], "exit=%d", &status) != 1) {
            last = words[n][0];
        }
    }
    for (int n = 0; n < read; n++) {
        run(&groups[n]);
    }
    report(words[1]);
    if (last == 'k') {
        raise(SIGKILL);
    }
    while (last == 'w') {
        pause();
    }
    return status;
}
