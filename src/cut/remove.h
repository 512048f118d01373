// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Entry point of --removeAcknowledged: removes the files that a run with --acknowledge left, and nothing else.
#pragma once

#include "base/options.h"

// Removes the marked files from all directories of the options, and prints how many were removed, or why none were
// removed.
enum exit_status remove_acknowledged(struct options *options);
