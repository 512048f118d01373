// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The C library's own headers, for all files. Those of POSIX and Linux are included by the files that use them.
#pragma once

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
