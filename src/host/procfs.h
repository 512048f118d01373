// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Small files of /proc and /sys. Whatever text they contain, the parser only fails.
#pragma once

#include "base/standard.h"

// The file's first size-1 bytes, without trailing white space. If it cannot be read: false, and an empty text.
bool read_text(const char *path, char *text, size_t size);

// The sum of some of the blank-separated numbers behind the word that begins a line (an empty word: the first line). Bit
// n of fields selects number n, from 0; a "name=" before a number is skipped. False if one of them does not exist.
bool parse_figures(const char *text, const char *word, unsigned fields, uint64_t *sum);
