// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The conclusions of --checkAcknowledged, on images in memory that are made by the writer's own code.
#include "cut/reader.h"
#include "cut/witness.h"
#include "workload/pattern.h"
#include "workload/test_files.h"
#include "check.h"

#define SEED 99

static uint64_t random_state = 1;

static uint64_t below(uint64_t end) {
    return splitmix64(&random_state) % end;
}

static struct mark mark_with(uint64_t block_bytes, uint64_t file_bytes, uint64_t files, uint64_t queue_managers) {
    return (struct mark){
        .run_id = "r",
        .boot_id = "b",
        .seed = SEED,
        .block_bytes = block_bytes,
        .file_bytes = file_bytes,
        .files = files,
        .queue_managers = queue_managers,
        .layout = MARK_LAYOUT,
        .file_prefix = "p"};
}

// The block that the writer makes in a ring with the given number of positions; valid until the next call.
static const unsigned char *
block_in(uint64_t positions, uint64_t seed, uint32_t worker, uint64_t block_bytes, uint64_t n) {
    static _Alignas(4096) unsigned char pool[4 << 20];
    static struct payload payload;
    static uint64_t opened[4];
    size_t pool_bytes = payload_pool_bytes(block_bytes, 4096);
    if (opened[0] != seed || opened[1] != worker || opened[2] != block_bytes || opened[3] != positions) {
        payload_open(&payload, pool, pool_bytes, seed, worker);
        payload_start_step(&payload, block_bytes, 4096);
        payload_start_passes(&payload, positions);
        opened[0] = seed, opened[1] = worker, opened[2] = block_bytes, opened[3] = positions;
    }
    return payload_expect(&payload, n);
}

void test_stamps(void) {
    static const unsigned char zeros[PAYLOAD_SECTOR_BYTES];
    uint32_t nobody;
    uint64_t none;
    CHECK(PAYLOAD_STAMP_STEP * PAYLOAD_STAMP_STEP_INVERSE == 1 && !payload_stamp_of(zeros, &nobody, &none));
    static const uint64_t sizes[] = {4096, 8192, 20480, 131072, 1 << 20};
    for (int round = 0; round < 300; round++) {
        struct mark mark = mark_with(sizes[below(5)], (1 << 20) + 4096 * below(64), 1 + below(5), 1 + below(1000));
        struct geometry geometry;
        mark.seed = splitmix64(&random_state);
        geometry_of_mark(&geometry, &mark);
        uint32_t worker = 1 + (uint32_t)below(mark.queue_managers);
        uint64_t n = round % 3 == 0 ? geometry_writes_max(&geometry) - 1 - below(9)
                                    : below(round % 3 == 1 ? 100 : UINT64_C(1) << 30);
        unsigned char sector[PAYLOAD_SECTOR_BYTES];
        uint64_t in_block = below(mark.block_bytes / sizeof sector) * sizeof sector, write;
        memcpy(sector, block_in(geometry.positions, mark.seed, worker, mark.block_bytes, n) + in_block, sizeof sector);
        struct pattern pattern = {.kind = PATTERN_RING, .files = (uint32_t)mark.files, .file_bytes = mark.file_bytes,
                                  .block_bytes = mark.block_bytes};
        struct spot spot;
        uint32_t file;
        uint64_t offset_bytes;
        pattern_position(&pattern, n, &file, &offset_bytes);
        CHECK(geometry_trace(&geometry, sector, &write, &spot));
        CHECK(write == n + 1 && spot.worker == worker && spot.file == file &&
              spot.offset_bytes == offset_bytes + in_block);
        const struct spot spot_there = spot;
        size_t at = below(sizeof sector);
        sector[at] ^= (unsigned char)(1 << below(8));
        CHECK(!geometry_trace(&geometry, sector, &write, &spot) && geometry_is_damaged(&geometry, sector, &spot_there));
        sector[at] = block_in(geometry.positions, mark.seed, worker, mark.block_bytes, n)[in_block + at];
        geometry.seed++;
        CHECK(!geometry_trace(&geometry, sector, &write, &spot) &&
              !geometry_is_damaged(&geometry, sector, &spot_there));
    }
}

// Every write can be reproduced. At each position, only the bytes of the stamps may be equal to those of another pass.
void test_content_of_passes(void) {
    enum { POSITIONS = 12, PASSES = 256, BYTES = 4096 };
    static _Alignas(4096) unsigned char pool[32768], written[POSITIONS * PASSES][BYTES];
    struct payload payload;
    payload_open(&payload, pool, sizeof pool, SEED, 1);
    payload_start_step(&payload, BYTES, 4096);
    payload_start_passes(&payload, POSITIONS);
    for (size_t n = 0; n < POSITIONS * PASSES; n++) {
        memcpy(written[n], payload_next(&payload), BYTES);
        CHECK(memcmp(written[n], block_in(POSITIONS, SEED, 1, BYTES, n), BYTES) == 0);
    }
    // pass 256 is the same as pass 0
    CHECK(memcmp(payload_next(&payload) + 8, written[0] + 8, PAYLOAD_SECTOR_BYTES - 8) == 0);
    for (int round = 0; round < 2000; round++) {
        size_t position = below(POSITIONS), one = below(PASSES), other = below(PASSES), same = 0;
        for (size_t at = 0; one != other && at < BYTES; at++) {
            bool of_stamp = at % PAYLOAD_SECTOR_BYTES < 8;
            same += !of_stamp && written[one * POSITIONS + position][at] == written[other * POSITIONS + position][at];
        }
        CHECK(same == 0);
    }
}

// Checks the example in src/cut/README.md, which enables other programs to produce the same sectors.
void test_documented_layout(void) {
    static const struct { uint32_t worker; uint64_t n, sector; unsigned char begins[24]; } examples[] = {
        {1, 0, 0, {0x15, 0x7c, 0x4a, 0x7f, 0xb9, 0x79, 0x4c, 0x1a, 0x78, 0x04, 0xcb, 0x3d,
                   0x85, 0x99, 0xba, 0x9d, 0x7a, 0x70, 0x71, 0x23, 0x57, 0x4e, 0x10, 0x92}},
        {1, 1024, 0, {0x15, 0x1c, 0xcd, 0xce, 0xa2, 0xa9, 0x83, 0x09, 0x79, 0x05, 0xca, 0x3c,
                      0x84, 0x98, 0xbb, 0x9c, 0x7b, 0x71, 0x70, 0x22, 0x56, 0x4f, 0x11, 0x93}},
        {2, 1500, 7, {0x08, 0x39, 0xcc, 0xbd, 0xfa, 0xa4, 0x4f, 0x52, 0x08, 0x83, 0x35, 0x8f,
                      0xec, 0x11, 0x14, 0x59, 0x98, 0xa2, 0x0e, 0x25, 0xa3, 0x54, 0x3a, 0xd7}},
        {0, 4, 3, {0x54, 0x90, 0xac, 0x4c, 0xcf, 0x16, 0x15, 0x68, 0x59, 0x84, 0x36, 0xed,
                   0xe1, 0xf0, 0xce, 0xc2, 0xeb, 0x3b, 0xe0, 0xb3, 0x21, 0x0a, 0xc7, 0xb2}}};
    static _Alignas(4096) unsigned char pool[FORMAT_PART_BYTES];
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        const unsigned char *block =
            examples[i].worker > 0 ? block_in(1024, 7, examples[i].worker, 4096, examples[i].n) : pool;
        if (examples[i].worker == 0) {
            struct payload payload;
            payload_open(&payload, pool, sizeof pool, 7, 0);
            payload_start_step(&payload, FORMAT_PART_BYTES, FORMAT_PART_BYTES);
            (void)payload_expect(&payload, examples[i].n);
        }
        bool little = *(const unsigned char *)&(const uint64_t){1} == 1;
        CHECK(!little || memcmp(block + examples[i].sector * PAYLOAD_SECTOR_BYTES, examples[i].begins, 24) == 0);
    }
}

// Preformats all files of all queue managers, one part after the other, as format_files does.
void test_preformat_stamps(void) {
    static _Alignas(4096) unsigned char pool[FORMAT_PART_BYTES];
    struct mark mark = mark_with(4096, 2 * FORMAT_PART_BYTES + 8192, 2, 3);
    struct geometry geometry;
    struct payload payload;
    geometry_of_mark(&geometry, &mark);
    payload_open(&payload, pool, sizeof pool, SEED, 0);
    payload_start_step(&payload, FORMAT_PART_BYTES, FORMAT_PART_BYTES);
    for (uint32_t file = 0; file < 6; file++) {
        for (uint64_t offset = 0; offset < mark.file_bytes; offset += FORMAT_PART_BYTES) {
            const unsigned char *part = payload_next(&payload);
            for (uint64_t at = 0; at < FORMAT_PART_BYTES; at += PAYLOAD_SECTOR_BYTES) {
                struct spot spot;
                uint64_t write = 1;
                bool written = offset + at < mark.file_bytes;
                CHECK(geometry_trace(&geometry, part + at, &write, &spot) == written);
                CHECK(!written || (write == 0 && spot.worker == file / 2 + 1 && spot.file == file % 2 &&
                                   spot.offset_bytes == offset + at));
            }
        }
    }
}

// An image of two queue managers with three files each. A file holds two blocks and a part of a third.

enum { QMS = 2, FILES = 3, BLOCK = 8192, FILE_BYTES = 20480, RING = 6, SECTORS = BLOCK / PAYLOAD_SECTOR_BYTES };

static unsigned char image[QMS][FILES][FILE_BYTES];
static bool bad[QMS][FILES][FILE_BYTES / PAYLOAD_SECTOR_BYTES];
static struct geometry shape;
static struct ring ring;

static void preformat(void) {
    static _Alignas(4096) unsigned char pool[FORMAT_PART_BYTES];
    struct mark mark = mark_with(BLOCK, FILE_BYTES, FILES, QMS);
    struct payload payload;
    geometry_of_mark(&shape, &mark);
    payload_open(&payload, pool, sizeof pool, SEED, 0);
    payload_start_step(&payload, FORMAT_PART_BYTES, FORMAT_PART_BYTES);
    for (int file = 0; file < QMS * FILES; file++) {
        memcpy(image[file / FILES][file % FILES], payload_next(&payload), FILE_BYTES);
    }
    memset(bad, 0, sizeof bad);
}

static unsigned char *place_of(uint32_t worker, uint64_t write) {
    struct pattern pattern = {.kind = PATTERN_RING, .files = FILES, .file_bytes = FILE_BYTES, .block_bytes = BLOCK};
    uint32_t file;
    uint64_t offset_bytes;
    pattern_position(&pattern, write - 1, &file, &offset_bytes);
    return &image[worker - 1][file][offset_bytes];
}

static const unsigned char *block_of(uint64_t seed, uint32_t worker, uint64_t block_bytes, uint64_t n) {
    return block_in(RING, seed, worker, block_bytes, n);
}

static void put(uint32_t worker, uint64_t write, size_t first_sector, size_t end_sector) {
    const unsigned char *block = block_of(SEED, worker, BLOCK, write - 1);
    memcpy(place_of(worker, write) + first_sector * PAYLOAD_SECTOR_BYTES, block + first_sector * PAYLOAD_SECTOR_BYTES,
           (end_sector - first_sector) * PAYLOAD_SECTOR_BYTES);
}

static void put_all(uint32_t worker, uint64_t first, uint64_t last) {
    for (uint64_t write = first; write <= last; write++) {
        put(worker, write, 0, SECTORS);
    }
}

static void make_unreadable(uint32_t worker, uint64_t write, size_t sector) {
    size_t at = (size_t)(place_of(worker, write) - &image[worker - 1][0][0]) / PAYLOAD_SECTOR_BYTES + sector;
    (&bad[worker - 1][0][0])[at] = true;
}

static void fill(uint32_t worker, uint64_t write, int byte, size_t first_sector, size_t end_sector) {
    memset(place_of(worker, write) + first_sector * PAYLOAD_SECTOR_BYTES, byte,
           (end_sector - first_sector) * PAYLOAD_SECTOR_BYTES);
}

static struct durability judge(uint32_t worker, uint64_t acknowledged) {
    struct durability durability = {0};
    ring_start(&ring, &shape, worker);
    for (uint64_t index = 0; index < shape.positions; index++) {
        struct spot at = geometry_spot(&shape, worker, index);
        struct position position = {0};
        for (int i = 0; i < SECTORS; i++, at.offset_bytes += PAYLOAD_SECTOR_BYTES) {
            bool unreadable = bad[worker - 1][at.file][at.offset_bytes / PAYLOAD_SECTOR_BYTES];
            position_add(&position, &shape, &at, unreadable ? NULL : &image[worker - 1][at.file][at.offset_bytes]);
        }
        ring_add(&ring, &position);
    }
    CHECK(ring.positions == RING && !ring.incomplete);
    ring_judge(&ring, acknowledged, 1000, &durability);
    return durability;
}

// Returns whether `finding` is the only finding, and occurs `count` times.
static bool finds(const struct durability *durability, enum finding finding, uint64_t count) {
    bool good = durability->first.finding == finding;
    for (int i = 1; i < FINDINGS; i++) {
        good = good && durability->counts[i] == (i == (int)finding ? count : 0);
    }
    return good;
}

void test_damage(void) {
    struct durability found;
    unsigned char before[PAYLOAD_SECTOR_BYTES];
    preformat();                                        // nothing was ever written
    memcpy(before, place_of(1, 18), sizeof before);
    found = judge(1, 0);
    CHECK(finds(&found, FINDING_NONE, 0) && found.kept == RING && found.found == 0 && found.in_flight == IN_FLIGHT_OLD);
    put_all(1, 1, 20);                                  // three passes and two writes
    found = judge(1, 20);
    CHECK(finds(&found, FINDING_NONE, 0) && found.kept == RING && found.found == 20 &&
          found.in_flight == IN_FLIGHT_OLD);
    CHECK(ring.count == 2);
    found = judge(1, 17);                               // 18 to 20 were never acknowledged
    CHECK(finds(&found, FINDING_NONE, 0) && found.found == 20 && found.in_flight == IN_FLIGHT_NEW);

    found = judge(1, 22);                               // 21 and 22 are lost; the place of 22 holds 16
    CHECK(finds(&found, FINDING_LOST_TAIL, 2) && found.lost_tail_bytes == 2 * BLOCK && found.lost_tail_ns == 90);
    CHECK(found.first.expected == 21 && found.first.found == 15 && found.first.at.file == 1 &&
          found.first.at.offset_bytes == 0);
    found = judge(1, 33);                               // 22 to 33: over a pass; 34 in flight hides 28
    CHECK(found.counts[FINDING_LOST_TAIL] == 33 - 20 - 2 && found.kept == 0);

    put(1, 20, 0, SECTORS);
    put(1, 14, 0, SECTORS);                             // the last write is lost, although it was acknowledged
    found = judge(1, 20);
    CHECK(finds(&found, FINDING_LOST_TAIL, 1) && found.found == 19 && found.first.expected == 20 &&
          found.first.found == 14);
    put(1, 20, 0, SECTORS);
    put(1, 13, 0, SECTORS);                             // 19 is lost although 20 survived: no witness needed
    found = judge(1, 0);
    CHECK(finds(&found, FINDING_LOST_OUT_OF_ORDER, 1) && found.first.expected == 19 && found.first.found == 13);
    put(1, 19, 0, SECTORS);

    // 21 is in flight, so it may be lost; it is torn only if it is mixed with the previous write
    put(1, 21, 0, 9);
    found = judge(1, 20);
    CHECK(finds(&found, FINDING_NONE, 0) && found.found == 21 && found.in_flight == IN_FLIGHT_TORN &&
          found.kept == RING - 1);
    put(1, 9, 9, SECTORS);
    found = judge(1, 20);
    CHECK(finds(&found, FINDING_NONE, 0) && found.found == 21 && found.in_flight == IN_FLIGHT_DAMAGED);
    put(1, 15, 0, 9);                                   // no write 21: honest storage cannot show this
    found = judge(1, 20);
    CHECK(finds(&found, FINDING_NONE, 0) && found.found == 20 && found.in_flight == IN_FLIGHT_DAMAGED);
    put(1, 15, 0, SECTORS);

    put(1, 12, 3, 4);                                   // one sector of 18 is from the previous pass
    found = judge(1, 0);
    CHECK(finds(&found, FINDING_TORN, 1) && found.first.expected == 18 && found.first.found == 12 &&
          found.kept == RING - 1);
    put(1, 18, 0, SECTORS);

    memcpy(place_of(1, 18) + PAYLOAD_SECTOR_BYTES, place_of(1, 17), PAYLOAD_SECTOR_BYTES);
    found = judge(1, 20);
    CHECK(finds(&found, FINDING_MISDIRECTED, 1) && found.first.expected == 18 && found.first.stray &&
          found.first.found == 17);
    CHECK(found.first.at.offset_bytes == BLOCK + PAYLOAD_SECTOR_BYTES && found.first.at.file == 2);
    CHECK(found.first.from.worker == 1 && found.first.from.file == 2 && found.first.from.offset_bytes == 0);
    memcpy(place_of(1, 18), block_of(SEED, 2, BLOCK, 17), BLOCK);       // the same write of another queue manager
    found = judge(1, 20);
    CHECK(finds(&found, FINDING_MISDIRECTED, 1) && found.first.from.worker == 2 && found.first.found == 18);
    memcpy(place_of(1, 18), &image[1][2][0], BLOCK);                    // another queue manager's preformat
    found = judge(1, 20);
    CHECK(finds(&found, FINDING_MISDIRECTED, 1) && found.first.from.worker == 2 && found.first.found == 0);
    memcpy(place_of(1, 18), place_of(1, 17), BLOCK);    // a second misdirected write; the first is in flight
    memcpy(place_of(1, 15), place_of(1, 17), BLOCK);
    found = judge(1, 20);
    CHECK(finds(&found, FINDING_MISDIRECTED, 1) && found.first.expected == 18 && found.first.found == 17);
    CHECK(found.in_flight == IN_FLIGHT_DAMAGED);
    put(1, 18, 0, SECTORS);
    put(1, 15, 0, SECTORS);

    make_unreadable(1, 18, 5);
    found = judge(1, 20);
    CHECK(finds(&found, FINDING_UNREADABLE, 1));
    memset(bad, 0, sizeof bad);
    fill(1, 18, 0, 0, SECTORS);
    found = judge(1, 20);
    CHECK(finds(&found, FINDING_ZEROED, 1));
    fill(1, 18, 0xA5, 7, 8);
    found = judge(1, 20);
    CHECK(finds(&found, FINDING_CORRUPT, 1) && !found.first.found_known);
    put(1, 18, 0, SECTORS);
    CHECK(!found.first.damaged);
    for (size_t at = 0; at < BLOCK; at += BLOCK - 1) {  // a byte of the stamp, and then a byte of the data
        place_of(1, 18)[at] ^= 1;
        found = judge(1, 20);
        CHECK(finds(&found, FINDING_CORRUPT, 1) && found.first.damaged);
        put(1, 18, 0, SECTORS);
    }
    for (uint64_t write = 0; write < 18; write += 6) {  // half a sector from each previous pass and from the preformat
        unsigned char *sector = place_of(1, 18);
        memcpy(sector + 256, write == 0 ? before + 256 : block_of(SEED, 1, BLOCK, write - 1) + 256, 256);
        found = judge(1, 20);
        CHECK(finds(&found, FINDING_CORRUPT, 1) && found.first.damaged && found.first.expected == 18);
        put(1, 18, 0, SECTORS);
    }

    struct durability all = {0}, second = judge(2, 0);
    found = judge(1, 22);
    durability_lose_metadata(&found, 1, 2);
    durability_add(&all, &found);
    durability_add(&all, &second);
    CHECK(all.acknowledged == 22 && all.found == 20 && all.counts[FINDING_LOST_TAIL] == 2 && all.kept == RING + 4);
    CHECK(all.lost_tail_ns_known && all.lost_tail_ns == 90 && all.first.finding == FINDING_METADATA_LOST &&
          all.first.at.file == 2);

    ring_start(&ring, &shape, 1);                       // missing files
    ring_add_missing(&ring, RING);
    found = (struct durability){0};
    ring_judge(&ring, 20, 0, &found);
    CHECK(finds(&found, FINDING_NONE, 0) && found.kept == 0 && found.in_flight == IN_FLIGHT_NONE &&
          !found.lost_tail_ns_known);
    CHECK(found.counts[FINDING_NONE] == 0 && !found.first.write_known);

    struct durability unknown = {.worker = 1, .counts = {[FINDING_LOST_TAIL] = 1}},
                      known = {.worker = 2, .lost_tail_ns_known = true};
    all = (struct durability){0};
    durability_add(&all, &unknown);
    durability_add(&all, &known);
    CHECK(!all.lost_tail_ns_known);
    ring_free(&ring);
}

void test_smallest_ring(void) {
    struct mark mark = mark_with(4096, 4096, 1, 1);
    struct geometry one;
    geometry_of_mark(&one, &mark);
    for (uint64_t write = 0; write < 5; write++) {      // anything that is found may be the write in flight
        struct position position = {.sectors = {[CONTENT_WHOLE] = 8}, .oldest = write, .newest = write};
        struct durability found = {0};
        ring_start(&ring, &one, 1);
        ring_add(&ring, &position);
        ring_judge(&ring, 3, 0, &found);
        CHECK(found.first.finding == FINDING_NONE && found.found == write);
    }
    ring_free(&ring);
}

// The write in flight may leave nothing, all of its data, or anything else in its place.
static void put_in_flight(uint64_t write, uint64_t kind) {
    switch (kind) {
    case 0: break;
    case 1: put(1, write, 0, SECTORS); break;
    case 2: put(1, write, 0, 1 + below(SECTORS - 1)); break;
    case 3: put(1, write, 1 + below(SECTORS - 1), SECTORS); break;
    case 4: fill(1, write, 0, below(SECTORS), SECTORS); break;
    case 5: fill(1, write, 0xE5, 0, 1 + below(SECTORS)); break;
    default: make_unreadable(1, write, below(SECTORS)); break;
    }
}

// Judges an image in which one position has wrong content. Returns the name of the finding.
static enum finding put_fault(uint64_t write, uint64_t newest_other) {
    switch (below(5)) {
    case 0:
        if (write > RING) {
            put(1, write - RING, 0, SECTORS);
            return write > newest_other ? FINDING_LOST_TAIL : FINDING_LOST_OUT_OF_ORDER;
        }
        fill(1, write, 0, 0, SECTORS);
        return FINDING_ZEROED;
    case 1: memcpy(place_of(1, write), block_of(SEED, 1, BLOCK, write), BLOCK); return FINDING_MISDIRECTED;
    case 2: fill(1, write, 0, below(SECTORS), SECTORS); return FINDING_ZEROED;
    case 3: make_unreadable(1, write, below(SECTORS)); return FINDING_UNREADABLE;
    default: place_of(1, write)[below(BLOCK)] ^= 0x40; return FINDING_CORRUPT;
    }
}

void test_honest_images(void) {
    for (int round = 0; round < 600; round++) {
        uint64_t returned = below(4 * RING), kind = below(7), lag = below(4);
        uint64_t acknowledged = lag < returned ? returned - lag : 0;
        preformat();
        put_all(1, returned > 2 * RING ? returned - 2 * RING : 1, returned);
        put_in_flight(returned + 1, kind);
        struct durability found = judge(1, acknowledged);
        CHECK(found.first.finding == FINDING_NONE);
        CHECK(kind != 2 || found.in_flight == IN_FLIGHT_TORN);
        CHECK(kind > 0 || found.in_flight == (lag > 0 && returned > 0 ? IN_FLIGHT_NEW : IN_FLIGHT_OLD));
        // A fault in the last pass, proven by acknowledgements or by a later write.
        bool visible = kind >= 1 && kind <= 3;
        uint64_t provable = visible ? returned : acknowledged;
        // a complete write may have returned, so the next write may be in flight
        uint64_t next = returned + 1 + (kind == 1);
        uint64_t first = next + 1 > RING ? next + 1 - RING : 1;
        if (first <= provable) {
            uint64_t write = first + below(provable - first + 1);
            uint64_t newest = visible ? returned + 1 : write == returned ? returned - 1 : returned;
            enum finding finding = put_fault(write, newest);
            found = judge(1, acknowledged);
            CHECK(finds(&found, finding, 1) && found.first.expected == write);
        }
    }
    ring_free(&ring);
}

// Compares the verdict with the definition for every possible state of small rings on honest storage, and for many
// impossible ones. The verdict must be "kept" exactly if the state can be explained by some number of returned writes,
// including all acknowledged ones, and one more write in flight.

static uint64_t last_at(uint64_t positions, uint64_t position, uint64_t count) {
    uint64_t last = 0;
    for (uint64_t write = 1; write <= count; write++) {
        last = (write - 1) % positions == position ? write : last;
    }
    return last;
}

static bool explains(const struct position *state, uint64_t positions, uint64_t count) {
    for (uint64_t i = 0; i < positions; i++) {
        uint64_t last = last_at(positions, i, count);
        bool whole = position_content(&state[i]) == CONTENT_WHOLE && state[i].newest == last;
        bool in_flight = count % positions == i && state[i].newest <= count + 1;
        if (!whole && !in_flight) {
            return false;
        }
    }
    return true;
}

static uint64_t random_write(uint64_t positions, uint64_t position, uint64_t count) {
    return last_at(positions, position, below(count + positions + 1));
}

static void disturb(struct position *position, uint64_t positions, uint64_t index, uint64_t count) {
    uint64_t one = random_write(positions, index, count), other = random_write(positions, index, count);
    *position = (struct position){.sectors = {[CONTENT_WHOLE] = 8}, .oldest = one, .newest = one};
    switch (below(4)) {
    case 0: break;
    case 1: *position = (struct position){.sectors = {[CONTENT_WHOLE] = 8}, .oldest = one < other ? one : other,
                                          .newest = one < other ? other : one}; break;
    case 2: position->sectors[CONTENT_FOREIGN] = 1; break;
    default: *position = (struct position){.sectors = {[CONTENT_ZEROED] = 8}}; break;
    }
}

void test_explanations(void) {
    uint64_t kept = 0, lost = 0;
    for (int round = 0; round < 200000; round++) {
        struct position state[5] = {{{0}, 0, 0, {0}}};
        uint64_t positions = 1 + below(5), count = below(3 * positions + 2), acknowledged = below(count + 3);
        struct mark mark = mark_with(4096, 4096, positions, 1);
        struct geometry geometry;
        struct durability found = {0};
        geometry_of_mark(&geometry, &mark);
        for (uint64_t i = 0; i < positions; i++) {
            uint64_t last = last_at(positions, i, count);
            state[i] = (struct position){.sectors = {[CONTENT_WHOLE] = 8}, .oldest = last, .newest = last};
        }
        for (uint64_t faults = below(3); faults > 0; faults--) {
            uint64_t i = below(positions);
            disturb(&state[i], positions, i, count);
        }
        ring_start(&ring, &geometry, 1);
        for (uint64_t i = 0; i < positions; i++) {
            ring_add(&ring, &state[i]);
        }
        ring_judge(&ring, acknowledged, 0, &found);
        bool explained = false;
        for (uint64_t returned = acknowledged; returned <= 6 * positions + 8; returned++) {
            explained = explained || explains(state, positions, returned);
        }
        CHECK((found.first.finding == FINDING_NONE) == explained);
        kept += explained;
        lost += !explained;
    }
    CHECK(kept > 50000 && lost > 50000);
    ring_free(&ring);
}

// The lines that a witness stored.

#define UNNAMED_LAYOUT "ready r1 b-1 seed=7 bsize=4096 file_size=8192 files=2 qm=2 prefix=p"
#define READY UNNAMED_LAYOUT " layout=2\n"

static bool read_witness(struct witness *witness, const char *text, struct failure *failure) {
    FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    *witness = (struct witness){0};
    bool good = file != NULL && witness_read(witness, file, failure);
    if (file != NULL) {
        (void)fclose(file);
    }
    return good;
}

void test_witness(void) {
    static struct witness witness;
    static struct failure failure;
    static const struct { const char *text, *says; } refused[] = {
        {"\n", "before the line 'ready'"},
        {"ack 1 1\n" READY, "before the line 'ready'"},
        {UNNAMED_LAYOUT " layout=2", "there is no line 'ready'"},
        {UNNAMED_LAYOUT "\n", "does not say what the run wrote"},
        {UNNAMED_LAYOUT " layout=1\n", "another version of logdisk (layout 1 "},
        {UNNAMED_LAYOUT " layout=3\n", "another version of logdisk (layout 3 "},
        {"ready r1 b-1 seed=7 bsize=5000 file_size=8192 files=2 qm=2 prefix=p\n", "does not say what the run wrote"},
        {READY READY, "line 2, 'ready r1"},
        {READY "ack 3 1\n", "a queue manager that the run does not have"},
        {READY "ack 0 1\n", "a queue manager that the run does not have"},
        {READY "ack 1\n", "is not 'ack QUEUE_MANAGER COUNT'"},
        {READY "ack 1 2 3\n", "is not 'ack QUEUE_MANAGER COUNT'"},
        {READY "ack 1 -2\n", "is not 'ack QUEUE_MANAGER COUNT'"},
        {READY "ack  1 2\n", "is not 'ack QUEUE_MANAGER COUNT'"},
        {READY "ack 1 35184372088832\n", "more writes than can be told apart"},
        {READY "tick\n", "is unknown"},
        {READY "tick x\n", "is not 'tick NANOSECONDS'"},
        {READY "end \n", "is not 'end REASON'"},
        {READY "end time\nend time\n", "ends the run a second time"},
        {READY "end \033[2J\n", "is not 'end REASON'"},
        {READY "ack 1 5\nend signal\n", "an orderly shutdown"},
        {READY "sync\n", "line 2, 'sync', is unknown"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        failure = (struct failure){0};
        CHECK_CASE(!read_witness(&witness, refused[i].text, &failure), refused[i].text);
        CHECK_CASE(failure.status == EXIT_REFUSED && strstr(failure.message, refused[i].says) != NULL, failure.message);
    }
    failure = (struct failure){0};
    CHECK(read_witness(
        &witness, READY "end EIO\ntick 500\nack 2 7\nack 1 9\nack 2 3\ntick 700\ntick 1500\nack 1 12", &failure));
    CHECK(failure.status == EXIT_MEASURED && witness.counts[1] == 9 && witness.counts[2] == 7);
    CHECK(strcmp(witness.reason, "EIO") == 0 && witness_writing_ns(&witness) == 1000 && witness.mark.seed == 7);
    CHECK(read_witness(&witness, READY, &failure) && witness.counts[1] == 0 && witness_writing_ns(&witness) == 0);
    static char text[4096] = READY "ack 1 ";
    memset(text + strlen(text), '1', 2000);
    CHECK(!read_witness(&witness, text, &failure) && strstr(failure.message, "is too long") != NULL);
}
