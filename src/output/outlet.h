// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A standard stream that never blocks its writer, unless it is a regular file: text that it does not accept at once is
// kept.
#pragma once

#include "base/text.h"

enum outlet_kind { OUTLET_UNKNOWN, OUTLET_FILE, OUTLET_NONBLOCKING, OUTLET_OTHER };

struct outlet {
    int fd;                     // set by the caller; drain may replace it
    enum outlet_kind kind;
    int error;                  // the first error of a write; 0 if there was none
    struct text text;           // text that is waiting
};

// Writes as much as possible without blocking, but writes nothing to a regular file while such files are held back.
void outlet_drain(struct outlet *outlet, bool holds_files);
