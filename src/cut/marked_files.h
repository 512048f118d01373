// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What --acknowledge adds to the test files: a mark in each directory (cut/mark.h), and names that are synced before
// the run is ready.
#pragma once

#include "cut/mark.h"
#include "workload/test_files.h"

// Creates the mark, and arranges for it to be used when the files are prepared.
void marked_files_open(struct marked_files *marked_files, struct mark *mark, const struct options *options);

// Notes in all marks that the run was ended by a signal. It runs in a thread of its own, because disks may hang. If a
// mark cannot be changed, the line `end` may nevertheless have been sent.
void marked_files_note_end(void *workload);
