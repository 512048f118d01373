// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Entry point of --checkAcknowledged: reads the files of a run that was cut off, and reports what it finds. It writes
// only the tables.
#pragma once

#include "cut/reader.h"
#include "cut/witness.h"
#include "host/device.h"
#include "output/tables.h"

struct check {
    struct options *options;            // with the options of the interrupted run, once they are read
    const atomic_bool *stop;
    struct tables *tables;
    atomic_bool *tables_opened;
    struct identity *identity;          // the identity of the storage below the first directory
    struct witness witness;
    struct reader reader;               // a failure of the reader is the failure of the check
};

// Opens the tables, reads the acknowledgements, and then the files. It runs in a thread of its own, because disks may
// hang.
void check_read(void *check);

// Reports the findings in the tables and on the screen. If acknowledged writes were lost, the run fails for that
// reason.
void check_report(struct check *check, struct failure *failure);

// Writes the keys of run.csv that describe the check: which run was checked, and whether the host has booted since
// then.
void check_put(struct csv *csv, const struct check *check);
