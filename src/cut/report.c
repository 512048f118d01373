// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "cut/report.h"

#include "base/units.h"

static void put_count(struct text *text, uint64_t value, const char *one, const char *many) {
    char digits[THOUSANDS_BYTES];
    text_printf(text, "%s %s", format_thousands(digits, value), value == 1 ? one : many);
}

static void put_spot(struct text *text, const struct reader *reader, const struct spot *spot) {
    char path[PATH_MAX];
    reader_path(reader, spot, path);
    text_printf(text, "offset %" PRIu64 " of ", spot->offset_bytes);
    text_escape(text, path, '\0');
}

static void put_write(struct text *text, uint64_t write) {
    if (write == 0) {
        text_printf(text, "what it contained before the first write");
    } else {
        text_printf(text, "write %" PRIu64, write);
    }
}

static void put_found(struct text *text, const struct evidence *first) {
    switch (first->finding) {
    case FINDING_LOST_TAIL: case FINDING_LOST_OUT_OF_ORDER: put_write(text, first->found); break;
    case FINDING_TORN:
        text_printf(text, "only a part of that write, and a part of ");
        put_write(text, first->found);
        break;
    case FINDING_UNREADABLE: text_printf(text, "what cannot be read"); break;
    case FINDING_ZEROED: text_printf(text, "zeros"); break;
    default:
        text_printf(text, first->damaged
                              ? "damaged data: some of its bytes are what the run wrote there, and others are not"
                              : "nothing that the run wrote");
        break;
    }
}

void report_finding(struct text *text, const struct reader *reader, const struct evidence *first) {
    if (first->finding == FINDING_METADATA_LOST) {
        char path[PATH_MAX];
        reader_path(reader, &first->at, path);
        text_escape(text, path, '\0');
        text_printf(text, " is missing, too short or unreadable, although it was complete and synced before the first "
                          "write; if its file system is not mounted here, mount it and check again");
        return;
    }
    put_spot(text, reader, &first->at);
    text_printf(text, " should hold ");
    put_write(text, first->expected);
    if (!first->stray) {
        text_printf(text, ", and holds ");
        put_found(text, first);
        return;
    }
    text_printf(text, ", and holds a part of ");
    put_write(text, first->found);
    text_printf(text, " of queue manager %" PRIu32 ", which belongs to ", first->from.worker);
    put_spot(text, reader, &first->from);
}

static void put_lost_tail(struct text *text, const struct durability *row) {
    uint64_t writes = row->counts[FINDING_LOST_TAIL];
    if (writes == 0) {
        return;
    }
    text_printf(text, "  lost: the last ");
    put_count(text, writes, "write", "writes");
    text_printf(text, ", ");
    put_count(text, row->lost_tail_bytes, "byte", "bytes");
    if (row->lost_tail_ns_known) {
        text_printf(text, ", which took %.3f ms", (double)row->lost_tail_ns / 1e6);
    }
    text_printf(text, "\n");
}

static void put_row(struct text *text, const struct durability *row) {
    static const char *const in_flight[IN_FLIGHTS] = {"unknown", "complete", "not there", "torn", "damaged"};
    text_printf(text, "Queue manager %" PRIu32 ": ", row->worker);
    put_count(text, row->acknowledged, "write", "writes");
    text_printf(text, " acknowledged; the last one found is write %" PRIu64 "; ", row->found);
    put_count(text, row->kept, "position", "positions");
    text_printf(text, " as expected; the write in flight: %s\n", in_flight[row->in_flight]);
    put_lost_tail(text, row);
    if (row->counts[FINDING_LOST_OUT_OF_ORDER] > 0) {
        text_printf(text, "  lost, although later ones survived: ");
        put_count(text, row->counts[FINDING_LOST_OUT_OF_ORDER], "write", "writes");
        text_printf(text, "\n");
    }
    for (int finding = FINDING_TORN; finding <= FINDING_CORRUPT; finding++) {
        if (row->counts[finding] > 0) {
            text_printf(text, "  %s: ", finding_names[finding]);
            put_count(text, row->counts[finding], "position", "positions");
            text_printf(text, "\n");
        }
    }
    if (row->counts[FINDING_METADATA_LOST] > 0) {
        text_printf(text, "  files or their marks are missing or too short\n");
    }
}

void report_text(struct text *text, const struct reader *reader) {
    const struct durability *all = &reader->rows[0];
    uint32_t count = reader->geometry.queue_managers, silent = 0;
    for (uint32_t worker = 1; worker <= count; worker++) {
        const struct durability *row = &reader->rows[worker];
        bool lost = row->first.finding != FINDING_NONE;
        if (lost || count == 1) {
            put_row(text, row);
        }
        silent += !lost && count > 1;
    }
    if (silent > 0) {
        put_count(text, silent, "queue manager", "queue managers");
        text_printf(text, " kept every write\n");
    }
    if (reader->is_buffered) {
        text_printf(text, "The file system refuses O_DIRECT, so the files were read through the page cache.\n");
    }
    put_count(text, all->acknowledged, "write was", "writes were");
    text_printf(text, " acknowledged. Verdict: %s\n", all->first.finding == FINDING_NONE ? "kept" : "LOST");
}
