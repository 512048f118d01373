// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The memory that the supervisor of --lock shares with its children. From it, the supervisor knows the progress
// of a writer and which files exist, even if a child hangs in a call or was killed.
#pragma once

#include "lock/protocol.h"

#include <sys/types.h>

#define SHARED_FILES_MAX 20000

// The state of a locker. It has cache lines of its own, because the writer stores to it after each write.
struct locker_state {
    _Alignas(128) _Atomic uint64_t writes;      // writes that have returned since the writer started
    _Atomic uint64_t last_return_ns;            // or the time of the writer's start; 0: it has not started
    _Atomic uint64_t pause_max_ns;              // the longest time between two returns
    _Atomic uint64_t positions;                 // of the ring
    atomic_bool stop[TASKS];
};

// A file that a child created. The other members are valid once `exists` is true.
struct created_file {
    atomic_bool exists;
    char name[PROTOCOL_FILE_MAX + 1];
    dev_t device;
    ino_t inode;
};

struct shared {
    struct locker_state lockers[PROTOCOL_LOCKERS_MAX + 1];      // by number; 0 is the keeper
    _Atomic uint32_t files_used;                // may exceed SHARED_FILES_MAX
    struct created_file files[SHARED_FILES_MAX];
};

// Returns NULL if there is not enough memory.
struct shared *shared_make(void);

// Takes an unused entry. Returns NULL if none is left.
struct created_file *shared_new_file(struct shared *shared);
uint32_t shared_files(const struct shared *shared);     // how many entries are in use

// Sleeps until the given time. Returns false early if the task is told to stop.
bool shared_sleep(struct locker_state *state, enum task task, uint64_t instant_ns);
