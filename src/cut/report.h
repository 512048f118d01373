// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Prints the findings of a check.
#pragma once

#include "cut/reader.h"

// Prints every row that is not "kept", or the only row, and the verdict.
void report_text(struct text *text, const struct reader *reader);

// Describes the first finding in a sentence.
void report_finding(struct text *text, const struct reader *reader, const struct evidence *first);
