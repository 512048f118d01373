// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "workload/geometry.h"

#include "workload/test_files.h"

#define MEMORY_ALIGNMENT_BYTES 4096     // the alignment of the memory from which such runs write

void geometry_complete(struct geometry *geometry) {
    geometry->blocks_a_file = geometry->file_bytes / geometry->block_bytes;
    geometry->positions = geometry->blocks_a_file * geometry->files;
    geometry->writes.pool_bytes = payload_pool_bytes(geometry->block_bytes, MEMORY_ALIGNMENT_BYTES);
    payload_start_step(&geometry->writes, geometry->block_bytes, MEMORY_ALIGNMENT_BYTES);
    geometry->preformat.pool_bytes = FORMAT_PART_BYTES;
    payload_start_step(&geometry->preformat, FORMAT_PART_BYTES, FORMAT_PART_BYTES);
}

struct spot geometry_spot(const struct geometry *geometry, uint32_t worker, uint64_t position) {
    return (struct spot){.worker = worker, .file = position / geometry->blocks_a_file,
                         .offset_bytes = position % geometry->blocks_a_file * geometry->block_bytes};
}

uint64_t geometry_writes_max(const struct geometry *geometry) {
    return ((UINT64_C(1) << PAYLOAD_WORKER_SHIFT) - 1) / geometry->writes.stamps_a_block - 1;
}

// The parts of all files of all queue managers were written one after the other.
static bool trace_preformat(const struct geometry *geometry, uint64_t part, uint64_t in_part_bytes, struct spot *spot) {
    uint64_t parts_a_file = (geometry->file_bytes + FORMAT_PART_BYTES - 1) / FORMAT_PART_BYTES;
    uint64_t file = part / parts_a_file;
    spot->worker = (uint32_t)(file / geometry->files) + 1;
    spot->file = file % geometry->files;
    spot->offset_bytes = part % parts_a_file * FORMAT_PART_BYTES + in_part_bytes;
    return file / geometry->files < geometry->queue_managers && spot->offset_bytes < geometry->file_bytes;
}

static size_t in_pool_bytes(const struct payload *payload, uint64_t block, uint64_t in_block_bytes) {
    return (size_t)(block % payload->windows * payload->stride_bytes + in_block_bytes);
}

bool geometry_trace(const struct geometry *geometry, const unsigned char *sector, uint64_t *write, struct spot *spot) {
    uint32_t worker;
    uint64_t number;
    if (!payload_stamp_of(sector, &worker, &number) || worker > geometry->queue_managers) {
        return false;
    }
    const struct payload *payload = worker == 0 ? &geometry->preformat : &geometry->writes;
    uint64_t n = number / payload->stamps_a_block;
    uint64_t in_block_bytes = number % payload->stamps_a_block * PAYLOAD_SECTOR_BYTES;
    uint64_t in_pass = worker == 0 ? n : n % geometry->positions, pass = worker == 0 ? 0 : n / geometry->positions;
    if (!payload_is_of_pool(sector, geometry->seed, worker, in_pool_bytes(payload, in_pass, in_block_bytes), pass)) {
        return false;
    }
    if (worker == 0) {
        *write = 0;
        return trace_preformat(geometry, n, in_block_bytes, spot);
    }
    *write = n + 1;
    *spot = geometry_spot(geometry, worker, n % geometry->positions);
    spot->offset_bytes += in_block_bytes;
    return true;
}

bool geometry_is_damaged(const struct geometry *geometry, const unsigned char *sector, const struct spot *at) {
    uint64_t position = at->file * geometry->blocks_a_file + at->offset_bytes / geometry->block_bytes;
    size_t of_write = in_pool_bytes(&geometry->writes, position, at->offset_bytes % geometry->block_bytes);
    size_t of_preformat = (size_t)(at->offset_bytes % FORMAT_PART_BYTES);
    return payload_has_words_of_pool(sector, geometry->seed, at->worker, of_write) ||
           payload_has_words_of_pool(sector, geometry->seed, 0, of_preformat);
}
