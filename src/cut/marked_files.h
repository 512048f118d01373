// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// What --acknowledge adds to the test files: a mark in each directory (cut/mark.h), and names that are on the disk
// before the run is ready.
#pragma once

#include "cut/mark.h"
#include "workload/test_files.h"

// Creates the mark, and arranges for it to be used when the files are prepared.
void marked_files_open(struct marked_files *marked_files, struct mark *mark, const struct options *options);

// A job of a thread, because disks may hang: notes in all marks that the run was told to end. If the
// mark cannot be changed, the line `end` may have been sent nevertheless.
void marked_files_note_end(void *workload);
