// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "cut/durability_csv.h"

static void put_evidence(struct csv *csv, const struct durability_row *row) {
    const struct evidence *first = &row->durability->first;
    bool found = first->finding != FINDING_NONE;
    csv_text(csv, "finding", "text", finding_names[first->finding]);
    csv_integer_if(csv, "finding_worker", "number", found, first->at.worker);
    csv_text(csv, "finding_file", "text", row->file);
    csv_integer_if(csv, "finding_offset_bytes", "bytes", first->write_known, first->at.offset_bytes);
    csv_integer_if(csv, "finding_expected_write", "number", first->write_known, first->expected);
    csv_integer_if(csv, "finding_found_write", "number", first->found_known, first->found);
    csv_integer_if(csv, "finding_from_worker", "number", first->stray, first->from.worker);
    csv_text(csv, "finding_from_file", "text", row->from_file);
    csv_integer_if(csv, "finding_from_offset_bytes", "bytes", first->stray, first->from.offset_bytes);
}

static void put_columns(struct csv *csv, const struct durability_row *row) {
    const struct durability *durability = row->durability;
    const uint64_t *counts = durability->counts;
    csv_worker(csv, durability->worker);
    csv_integer(csv, "acknowledged_writes", "count", durability->acknowledged);
    csv_integer(csv, "found_writes", "count", durability->found);
    csv_integer(csv, "kept_positions", "count", durability->kept);
    csv_integer(csv, "lost_tail_writes", "count", counts[FINDING_LOST_TAIL]);
    csv_integer(csv, "lost_tail_bytes", "bytes", durability->lost_tail_bytes);
    csv_integer_if(csv, "lost_tail_ns", "ns", durability->lost_tail_ns_known, durability->lost_tail_ns);
    csv_integer(csv, "lost_out_of_order_writes", "count", counts[FINDING_LOST_OUT_OF_ORDER]);
    csv_integer(csv, "torn_positions", "count", counts[FINDING_TORN]);
    csv_integer(csv, "misdirected_positions", "count", counts[FINDING_MISDIRECTED]);
    csv_integer(csv, "unreadable_positions", "count", counts[FINDING_UNREADABLE]);
    csv_integer(csv, "zeroed_positions", "count", counts[FINDING_ZEROED]);
    csv_integer(csv, "corrupt_positions", "count", counts[FINDING_CORRUPT]);
    csv_integer(csv, "metadata_lost", "0/1", counts[FINDING_METADATA_LOST] > 0);
    csv_text(csv, "in_flight", "text", in_flight_names[durability->in_flight]);
    csv_text(csv, "outcome", "text", durability->first.finding != FINDING_NONE ? "lost" : "kept");
    put_evidence(csv, row);
}

void durability_csv_put(struct csv *csv, const struct durability_row *row) {
    static const struct durability nothing;
    csv->table = "durability.csv";
    put_columns(csv, row != NULL ? row : &(struct durability_row){.durability = &nothing});
    if (csv->form != CSV_LIST) {
        csv_end_row(csv);
    }
}
