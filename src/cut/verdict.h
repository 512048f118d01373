// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Judges a queue manager's ring after a power cut, given how many of its writes were acknowledged. Does no I/O.
//
// A queue manager has one write outstanding. So, if A acknowledgements arrived, writes 1 to A had returned. If a write
// W is found, all writes before W had returned too, because W was issued only after them. On honest storage all of
// these are present, unless a later write replaced them. The position of the single write in flight may hold anything.
// If W, the last write found, is after A and not whole, it is the write in flight. Otherwise, the write in flight is
// the one after W or A, whichever is greater. Every other deviation is a loss, because honest storage cannot be in such
// a state.
#pragma once

#include "cut/position.h"

enum finding { FINDING_NONE, FINDING_LOST_TAIL, FINDING_LOST_OUT_OF_ORDER, FINDING_TORN, FINDING_MISDIRECTED,
               FINDING_UNREADABLE, FINDING_ZEROED, FINDING_CORRUPT, FINDING_METADATA_LOST, FINDINGS };
extern const char *const finding_names[FINDINGS];       // "" for FINDING_NONE

// The outcome of the write in flight. New: the last write found is whole and was not acknowledged. Old: no write after
// the acknowledged ones was found. Torn: its sectors are mixed with older ones of the same position. Damaged: its
// position contains something else. None: its file is missing. The order is from harmless to harmful.
enum in_flight { IN_FLIGHT_NONE, IN_FLIGHT_NEW, IN_FLIGHT_OLD, IN_FLIGHT_TORN, IN_FLIGHT_DAMAGED, IN_FLIGHTS };
extern const char *const in_flight_names[IN_FLIGHTS];

struct evidence {                       // the first finding
    enum finding finding;
    struct spot at;
    bool damaged;                       // for FINDING_CORRUPT: the content is damaged, not foreign
    bool write_known;                   // false if the file is missing
    uint64_t expected;                  // number of the write that should be there
    bool found_known;                   // the position holds one write of this run, in whole or in part
    uint64_t found;
    bool stray;                         // true if the content belongs to the spot `from`
    struct spot from;
};

// A row of durability.csv.
struct durability {
    uint32_t worker;                    // 0: all
    uint64_t acknowledged, found;       // acknowledged: number of writes; found: newest write found
    uint64_t kept;                      // number of positions
    // number of writes (lost tail, lost out of order) or positions (all others)
    uint64_t counts[FINDINGS];
    uint64_t lost_tail_bytes, lost_tail_ns;
    bool lost_tail_ns_known;
    enum in_flight in_flight;
    struct evidence first;              // the first finding; FINDING_NONE: nothing was lost
};

// The content read for one queue manager, position by position. Equal neighbours are stored once: a ring of honest
// storage has at most five stretches.
struct stretch {
    uint64_t position;                  // its first position
    uint64_t pass;  // whole: the pass of its writes, from 1 (0: the preformat); torn: that of the oldest
    enum content content;
};

struct ring {
    const struct geometry *geometry;
    uint32_t worker;
    uint64_t positions;                 // read so far
    uint64_t newest;                    // the newest write found
    struct stretch *stretches;
    size_t count, room;
    // the first two misdirected positions; one of them may belong to the write in flight
    struct stray strays[2];
    uint32_t strays_count;
    uint64_t of_another;                // positions whose content belongs to another queue manager's files
    bool incomplete;                    // true if memory ran out
};

// The ring must be all zeros, or one that was used before, whose memory is then reused.
void ring_start(struct ring *ring, const struct geometry *geometry, uint32_t worker);
void ring_add(struct ring *ring, const struct position *position);
void ring_add_missing(struct ring *ring, uint64_t count);       // positions that lie beyond the end of the file
void ring_free(struct ring *ring);

// Returns the queue manager that these files seem to belong to, if it is a different one; otherwise 0.
uint32_t ring_owner(const struct ring *ring);

// Call it when all positions have been added. writing_ns: how long the run wrote; 0: unknown.
void ring_judge(const struct ring *ring, uint64_t acknowledged, uint64_t writing_ns, struct durability *durability);

// Records that marks or files are missing or too short. file: the number of the first such file.
void durability_lose_metadata(struct durability *durability, uint32_t worker, uint64_t file);

// Adds the row of a queue manager to the row of all queue managers.
void durability_add(struct durability *all, const struct durability *one);
