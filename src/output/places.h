// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Where our own files lie: what is on a file system under test hangs with it, and writes to it while it is measured.
#ifndef LOGDISK_PLACES_H
#define LOGDISK_PLACES_H

#include "base/options.h"
#include "tables.h"
#include "workload/test_files.h"

#define PLACES_BYTES 128

// Names, for people, what of --tables, --csvFile, --progress, standard output and standard error is on a file system
// under test; empty where nothing is. Memory (tmpfs) does not count: it does not hang. May itself hang where a disk does.
void places_shared(const struct options *options, const struct tables *tables, int csv_fd,
                   const struct workspace *workspace, char names[PLACES_BYTES]);

#endif
