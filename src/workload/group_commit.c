// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/group_commit.h"

bool group_commit_open(struct group_commit *commits, const struct commit_terms *terms, uint64_t applications) {
    *commits = (struct group_commit){.terms = *terms, .room = (uint32_t)applications};
    commits->groups = calloc(applications, sizeof *commits->groups);
    return commits->groups != NULL;
}

// place: counted from the front of the ring.
static struct commit_group *group_at(const struct group_commit *commits, uint32_t place) {
    uint32_t index = commits->first + place;
    return &commits->groups[index < commits->room ? index : index - commits->room];
}

static void push(struct group_commit *commits, uint64_t count, uint64_t since_ns) {
    if (count > 0) {
        *group_at(commits, commits->used++) = (struct commit_group){.since_ns = since_ns, .count = count};
    }
}

void group_commit_start(struct group_commit *commits, uint64_t applications, uint64_t message_bytes,
                        uint64_t begin_ns) {
    commits->message_bytes = commits->terms.puts * message_bytes;
    commits->record_bytes = commits->terms.puts * (message_bytes + MESSAGE_OVERHEAD_BYTES);
    commits->first = commits->used = 0;
    commits->front_bytes = commits->tail_bytes = commits->taken_bytes = 0;
    push(commits, applications - applications / 2, begin_ns);
    push(commits, applications / 2, begin_ns + 1);
}

uint64_t group_commit_gather(struct group_commit *commits, uint64_t free_ns) {
    uint64_t oldest_ns = group_commit_oldest_ns(commits),
             room_bytes = commits->terms.buffer_bytes - commits->tail_bytes;
    uint64_t wanted_bytes = room_bytes + commits->front_bytes, waiting_bytes = 0;
    bool some_wait = oldest_ns < free_ns;
    for (uint32_t i = 0; i < commits->used && waiting_bytes < wanted_bytes; i++) {
        const struct commit_group *group = group_at(commits, i);
        if (some_wait ? group->since_ns >= free_ns : group->since_ns > oldest_ns) {
            break;
        }
        waiting_bytes += group->count * commits->record_bytes;
    }
    waiting_bytes = waiting_bytes < wanted_bytes ? waiting_bytes : wanted_bytes;
    commits->taken_bytes = waiting_bytes - commits->front_bytes;
    return some_wait ? free_ns : oldest_ns;
}

uint64_t group_commit_write_bytes(const struct group_commit *commits) {
    return (commits->tail_bytes + commits->taken_bytes + LOG_PAGE_BYTES - 1) / LOG_PAGE_BYTES * LOG_PAGE_BYTES;
}

void group_commit_next_file(struct group_commit *commits) {
    commits->tail_bytes = 0;
}

uint64_t group_commit_advance(struct group_commit *commits) {
    if (!commits->terms.rewrites_page) {
        return group_commit_write_bytes(commits);
    }
    uint64_t bytes = commits->tail_bytes + commits->taken_bytes;
    commits->tail_bytes = bytes % LOG_PAGE_BYTES;
    return bytes - commits->tail_bytes;
}

uint64_t group_commit_done(struct group_commit *commits) {
    uint64_t bytes = commits->front_bytes + commits->taken_bytes;
    commits->front_bytes = bytes % commits->record_bytes;
    return bytes / commits->record_bytes;
}

struct commit_group group_commit_take(struct group_commit *commits, uint64_t most) {
    struct commit_group *front = group_at(commits, 0);
    struct commit_group taken = {.since_ns = front->since_ns, .count = front->count < most ? front->count : most};
    front->count -= taken.count;
    if (front->count == 0) {
        commits->first = commits->first + 1 < commits->room ? commits->first + 1 : 0;
        commits->used--;
    }
    return taken;
}

void group_commit_return(struct group_commit *commits, uint64_t count, uint64_t released_ns) {
    push(commits, count, released_ns + commits->terms.think_ns);
}

uint64_t group_commit_oldest_ns(const struct group_commit *commits) {
    return group_at(commits, 0)->since_ns;
}
