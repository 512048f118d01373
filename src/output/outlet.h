// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A standard stream that never blocks its writer, unless it is a regular file: text that it does not accept at once is
// kept.
#pragma once

#include "base/text.h"

enum outlet_kind { OUTLET_UNKNOWN, OUTLET_FILE, OUTLET_NONBLOCKING, OUTLET_OTHER };

struct outlet {
    int fd;                     // given; drain replaces it
    enum outlet_kind kind;
    int error;                  // why a text could not be written: the first error
    struct text text;           // text that is waiting
};

// Writes as much as possible without blocking, and nothing to a regular file while regular files are held.
void outlet_drain(struct outlet *outlet, bool holds_files);
