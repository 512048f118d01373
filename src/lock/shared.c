// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "lock/shared.h"

#include "base/clock.h"

#include <sys/mman.h>

#define LOOK_NS UINT64_C(10000000)      // the interval at which a sleeping task checks whether it must stop

struct shared *shared_make(void) {
    void *memory = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

struct created_file *shared_new_file(struct shared *shared) {
    uint32_t index = shared_files(shared) < SHARED_FILES_MAX ? atomic_fetch_add(&shared->files_used, 1)
                                                             : SHARED_FILES_MAX;
    return index < SHARED_FILES_MAX ? &shared->files[index] : NULL;
}

uint32_t shared_files(const struct shared *shared) {
    uint32_t used = atomic_load(&shared->files_used);
    return used < SHARED_FILES_MAX ? used : SHARED_FILES_MAX;
}

bool shared_sleep(struct locker_state *state, enum task task, uint64_t instant_ns) {
    while (!atomic_load(&state->stop[task])) {
        uint64_t now = now_ns();
        if (now >= instant_ns) {
            return true;
        }
        sleep_until_ns(now + LOOK_NS < instant_ns ? now + LOOK_NS : instant_ns);
    }
    return false;
}
