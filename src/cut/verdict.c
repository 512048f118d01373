// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "cut/verdict.h"

__extension__ typedef unsigned __int128 wide;

const char *const finding_names[FINDINGS] = {
    [FINDING_NONE] = "", [FINDING_LOST_TAIL] = "lost tail", [FINDING_LOST_OUT_OF_ORDER] = "lost out of order",
    [FINDING_TORN] = "torn", [FINDING_MISDIRECTED] = "misdirected", [FINDING_UNREADABLE] = "unreadable",
    [FINDING_ZEROED] = "zeroed", [FINDING_CORRUPT] = "corrupt", [FINDING_METADATA_LOST] = "metadata lost"};
const char *const in_flight_names[IN_FLIGHTS] = {"none", "new", "old", "torn", "damaged"};

// Collecting.

void ring_start(struct ring *ring, const struct geometry *geometry, uint32_t worker) {
    *ring = (struct ring){.geometry = geometry, .worker = worker, .stretches = ring->stretches, .room = ring->room};
}

void ring_free(struct ring *ring) {
    free(ring->stretches);
    *ring = (struct ring){0};
}

static bool has_room(struct ring *ring) {
    if (ring->count == ring->room) {
        size_t room = 2 * ring->room + 64;
        struct stretch *more = realloc(ring->stretches, room * sizeof *more);
        ring->incomplete |= more == NULL;
        ring->stretches = more != NULL ? more : ring->stretches;
        ring->room = more != NULL ? room : ring->room;
    }
    return ring->count < ring->room;
}

static void add(struct ring *ring, uint64_t count, enum content content, uint64_t pass) {
    const struct stretch *last = ring->count > 0 ? &ring->stretches[ring->count - 1] : NULL;
    bool alike = last != NULL && last->content == content && last->pass == pass;
    if (!alike && has_room(ring)) {
        ring->stretches[ring->count++] = (struct stretch){ring->positions, pass, content};
    }
    ring->positions += count;
}

static uint64_t pass_of(const struct ring *ring, uint64_t write) {
    return write == 0 ? 0 : (write - 1) / ring->geometry->positions + 1;
}

static bool is_of_another(const struct stray *stray) {
    return stray->from.worker != stray->at.worker && stray->from.file == stray->at.file &&
           stray->from.offset_bytes == stray->at.offset_bytes;
}

void ring_add(struct ring *ring, const struct position *position) {
    enum content content = position_content(position);
    ring->of_another += content == CONTENT_MISDIRECTED && is_of_another(&position->stray);
    bool placed = content == CONTENT_WHOLE || content == CONTENT_TORN;
    ring->newest = position->newest > ring->newest ? position->newest : ring->newest;
    if (content == CONTENT_MISDIRECTED && ring->strays_count < 2) {
        ring->strays[ring->strays_count++] = position->stray;
    }
    add(ring, 1, content, placed ? pass_of(ring, position->oldest) : 0);
}

void ring_add_missing(struct ring *ring, uint64_t count) {
    add(ring, count, CONTENT_MISSING, 0);
}

// A faulty disk does not swap most of the blocks of two queue managers. A wrong order of directories does.
uint32_t ring_owner(const struct ring *ring) {
    return ring->of_another > ring->positions / 2 ? ring->strays[0].from.worker : 0;
}

// Judging.

struct judgement {
    const struct ring *ring;
    uint64_t returned;                  // number of the last write known to have returned
    uint64_t in_flight_position;        // position of write returned + 1
    struct durability *durability;
};

// Returns the number of the write that belongs at a position in the given pass.
static uint64_t write_of(const struct ring *ring, uint64_t position, uint64_t pass) {
    return pass == 0 ? 0 : (pass - 1) * ring->geometry->positions + position + 1;
}

// Returns the last of the writes 1 to count that belongs at a position; 0 if there is none.
static uint64_t due(const struct ring *ring, uint64_t position, uint64_t count) {
    return position < count ? write_of(ring, position, (count - 1 - position) / ring->geometry->positions + 1) : 0;
}

static const struct stretch *stretch_at(const struct ring *ring, uint64_t position) {
    const struct stretch *stretch = ring->stretches;
    while (stretch + 1 < ring->stretches + ring->count && stretch[1].position <= position) {
        stretch++;
    }
    return stretch;
}

static bool is_whole(const struct ring *ring, const struct stretch *stretch, uint64_t position, uint64_t write) {
    return stretch->content == CONTENT_WHOLE && write_of(ring, position, stretch->pass) == write;
}

static uint64_t position_of(const struct ring *ring, uint64_t write) {
    return (write - 1) % ring->geometry->positions;
}

static void prove_returned(struct judgement *judgement, uint64_t acknowledged) {
    const struct ring *ring = judgement->ring;
    uint64_t newest = ring->newest;
    judgement->returned = acknowledged;
    if (newest > acknowledged) {
        uint64_t position = position_of(ring, newest);
        bool whole = is_whole(ring, stretch_at(ring, position), position, newest);
        judgement->returned = whole ? newest : newest - 1;
    }
    judgement->in_flight_position = position_of(ring, judgement->returned + 1);
}

static enum in_flight judge_in_flight(const struct judgement *judgement, uint64_t acknowledged) {
    const struct ring *ring = judgement->ring;
    uint64_t position = judgement->in_flight_position, before = due(ring, position, judgement->returned);
    const struct stretch *stretch = stretch_at(ring, position);
    if (is_whole(ring, stretch, position, before)) {
        return judgement->returned > acknowledged ? IN_FLIGHT_NEW : IN_FLIGHT_OLD;
    }
    if (stretch->content == CONTENT_MISSING) {
        return IN_FLIGHT_NONE;
    }
    // The position holds sectors of the write in flight (the newest write) and of the write before it at this position,
    // but no older ones.
    bool torn = stretch->content == CONTENT_TORN && write_of(ring, position, stretch->pass) == before;
    return torn ? IN_FLIGHT_TORN : IN_FLIGHT_DAMAGED;
}

static void note(const struct judgement *judgement, enum finding finding, uint64_t position, uint64_t expected,
                 const uint64_t *found) {
    const struct ring *ring = judgement->ring;
    struct evidence *first = &judgement->durability->first;
    if (first->finding != FINDING_NONE) {
        return;
    }
    *first = (struct evidence){.finding = finding, .at = geometry_spot(ring->geometry, ring->worker, position),
                               .damaged = stretch_at(ring, position)->content == CONTENT_DAMAGED, .write_known = true,
                               .expected = expected};
    if (found != NULL) {
        first->found_known = true;
        first->found = *found;
    }
    for (uint32_t i = 0; i < ring->strays_count && finding == FINDING_MISDIRECTED && !first->stray; i++) {
        const struct stray *stray = &ring->strays[i];
        uint64_t at =
            stray->at.file * ring->geometry->blocks_a_file + stray->at.offset_bytes / ring->geometry->block_bytes;
        if (at == position) {
            first->at = stray->at;
            first->stray = first->found_known = true;
            first->found = stray->write;
            first->from = stray->from;
        }
    }
}

// A write that had returned is missing: its position holds an older write.
static void judge_lost(const struct judgement *judgement, uint64_t position, uint64_t expected, uint64_t found) {
    const struct ring *ring = judgement->ring;
    bool tail = expected > ring->newest;        // nothing after it survived
    enum finding finding = tail ? FINDING_LOST_TAIL : FINDING_LOST_OUT_OF_ORDER;
    // For a tail, the writes of earlier passes count as well, because they were not found either.
    judgement->durability->counts[finding] += tail ? (expected - ring->newest - 1) / ring->geometry->positions + 1 : 1;
    note(judgement, finding, position, expected, &found);
}

static void judge_position(const struct judgement *judgement, uint64_t position, const struct stretch *stretch) {
    static const enum finding findings[CONTENTS] = {
        [CONTENT_TORN] = FINDING_TORN, [CONTENT_MISDIRECTED] = FINDING_MISDIRECTED, [CONTENT_ZEROED] = FINDING_ZEROED,
        [CONTENT_UNREADABLE] = FINDING_UNREADABLE, [CONTENT_DAMAGED] = FINDING_CORRUPT,
        [CONTENT_FOREIGN] = FINDING_CORRUPT};
    const struct ring *ring = judgement->ring;
    uint64_t expected = due(ring, position, judgement->returned), found = write_of(ring, position, stretch->pass);
    if (is_whole(ring, stretch, position, expected)) {
        judgement->durability->kept++;
    } else if (position == judgement->in_flight_position || stretch->content == CONTENT_MISSING) {
        return;                                 // positions are missing only if the metadata of their file is lost
    } else if (stretch->content == CONTENT_WHOLE) {
        judge_lost(judgement, position, expected, found);
    } else {
        enum finding finding = findings[stretch->content];
        judgement->durability->counts[finding]++;
        note(judgement, finding, position, expected, finding == FINDING_TORN ? &found : NULL);
    }
}

void ring_judge(const struct ring *ring, uint64_t acknowledged, uint64_t writing_ns, struct durability *durability) {
    struct judgement judgement = {.ring = ring, .durability = durability};
    durability->worker = ring->worker;
    durability->acknowledged = acknowledged;
    durability->found = ring->newest;
    prove_returned(&judgement, acknowledged);
    durability->in_flight = judge_in_flight(&judgement, acknowledged);
    for (size_t i = 0; i < ring->count; i++) {
        uint64_t end = i + 1 < ring->count ? ring->stretches[i + 1].position : ring->positions;
        for (uint64_t position = ring->stretches[i].position; position < end; position++) {
            judge_position(&judgement, position, &ring->stretches[i]);
        }
    }
    uint64_t lost = durability->counts[FINDING_LOST_TAIL];
    durability->lost_tail_bytes = lost * ring->geometry->block_bytes;
    durability->lost_tail_ns_known = writing_ns > 0 && acknowledged > 0;
    durability->lost_tail_ns = durability->lost_tail_ns_known ? (uint64_t)((wide)lost * writing_ns / acknowledged) : 0;
}

void durability_lose_metadata(struct durability *durability, uint32_t worker, uint64_t file) {
    if (durability->counts[FINDING_METADATA_LOST] == 0) {
        durability->counts[FINDING_METADATA_LOST] = 1;
        durability->first = (struct evidence){.finding = FINDING_METADATA_LOST, .at = {.worker = worker, .file = file}};
    }
}

void durability_add(struct durability *all, const struct durability *one) {
    bool first = one->worker == 1;
    all->acknowledged += one->acknowledged;
    all->found += one->found;
    all->kept += one->kept;
    for (int i = 0; i < FINDINGS; i++) {
        all->counts[i] += one->counts[i];
    }
    all->lost_tail_bytes += one->lost_tail_bytes;
    all->lost_tail_ns = one->lost_tail_ns > all->lost_tail_ns ? one->lost_tail_ns : all->lost_tail_ns;
    // If the length of a tail is unknown, it may be the longest one.
    bool known = one->lost_tail_ns_known || one->counts[FINDING_LOST_TAIL] == 0;
    all->lost_tail_ns_known = first ? known : all->lost_tail_ns_known && known;
    all->in_flight = one->in_flight > all->in_flight ? one->in_flight : all->in_flight;
    all->first = all->first.finding == FINDING_NONE ? one->first : all->first;
}
