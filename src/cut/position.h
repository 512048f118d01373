// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Classifies the content of a position in a ring by its sectors.
#pragma once

#include "workload/geometry.h"

enum content {
    CONTENT_WHOLE,              // all sectors of one write, or of the preformat, in place
    CONTENT_TORN,               // sectors of several writes of this position
    CONTENT_MISDIRECTED,        // some sectors belong to another place
    CONTENT_UNREADABLE,
    CONTENT_ZEROED,
    CONTENT_DAMAGED,            // some bytes are data that the run wrote there
    CONTENT_FOREIGN,            // it does not come from this run
    CONTENT_MISSING,            // the file ends before this position
    CONTENTS,
};

// A sector that belongs elsewhere.
struct stray {
    uint64_t write;
    struct spot at, from;
};

struct position {
    uint64_t sectors[CONTENTS];         // number of sectors with each content; whole: in their place
    // The oldest and newest writes of which a sector is in its place. If newest is 0, there are only sectors of the
    // preformat, or none.
    uint64_t oldest, newest;
    struct stray stray;                 // the first one found
};

// Adds a sector that was read from the given spot. The sector is NULL if it could not be read.
void position_add(struct position *position, const struct geometry *geometry, const struct spot *at,
                  const unsigned char *sector);

// Returns one kind of content for the whole position. If several kinds apply, returns the first one in this order:
// misdirected, unreadable, foreign, damaged, zeroed, torn.
enum content position_content(const struct position *position);
