// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "cut/position.h"

static bool is_zeroed(const unsigned char *sector) {
    return sector[0] == 0 && memcmp(sector, sector + 1, PAYLOAD_SECTOR_BYTES - 1) == 0;
}

static bool is_same(const struct spot *left, const struct spot *right) {
    return left->worker == right->worker && left->file == right->file && left->offset_bytes == right->offset_bytes;
}

static void add_in_place(struct position *position, uint64_t write) {
    bool first = position->sectors[CONTENT_WHOLE] == 0;
    position->oldest = first || write < position->oldest ? write : position->oldest;
    position->newest = first || write > position->newest ? write : position->newest;
}

static enum content content_of(struct position *position, const struct geometry *geometry, const struct spot *at,
                               const unsigned char *sector) {
    struct stray stray = {.at = *at};
    if (sector == NULL) {
        return CONTENT_UNREADABLE;
    }
    if (!geometry_trace(geometry, sector, &stray.write, &stray.from)) {
        return is_zeroed(sector)                              ? CONTENT_ZEROED
               : geometry_is_damaged(geometry, sector, at) ? CONTENT_DAMAGED
                                                           : CONTENT_FOREIGN;
    }
    if (is_same(&stray.from, at)) {
        add_in_place(position, stray.write);
        return CONTENT_WHOLE;
    }
    if (position->sectors[CONTENT_MISDIRECTED] == 0) {
        position->stray = stray;
    }
    return CONTENT_MISDIRECTED;
}

void position_add(struct position *position, const struct geometry *geometry, const struct spot *at,
                  const unsigned char *sector) {
    position->sectors[content_of(position, geometry, at, sector)]++;
}

enum content position_content(const struct position *position) {
    static const enum content order[] = {CONTENT_MISDIRECTED, CONTENT_UNREADABLE, CONTENT_FOREIGN, CONTENT_DAMAGED,
                                         CONTENT_ZEROED};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        if (position->sectors[order[i]] > 0) {
            return order[i];
        }
    }
    return position->oldest == position->newest ? CONTENT_WHOLE : CONTENT_TORN;
}
