// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// First include of every source file: Linux's own interfaces (O_DIRECT, statx, affinity) and 64-bit file offsets.
#ifndef LOGDISK_PLATFORM_H
#define LOGDISK_PLATFORM_H

#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#endif
