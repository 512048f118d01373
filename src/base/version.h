// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The only place that defines the versions. The build may define the hash of the sources (sha256 over *.c and *.h in
// name order).
#pragma once

#define LOGDISK_VERSION "1.0.0"

// Version of the measuring method: raise it if, and only if, figures of the same disk are no longer comparable with
// earlier ones.
// docs/columns.md lists the changes.
#define LOGDISK_METHOD_VERSION 2

#ifndef LOGDISK_SOURCE_HASH
#define LOGDISK_SOURCE_HASH "unknown"
#endif
