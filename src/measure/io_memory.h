// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Memory that measured operations write from and read into. The kernel splits a large direct write into requests, each
// of which takes a limited number of physically contiguous pieces (max_segments). Ordinary memory is partly contiguous,
// to a different extent in each process, so the latency of large writes varies from process to process. In this memory,
// pages are physically adjacent only by chance, so that the same write makes the same requests in every process. This
// is similar to a queue manager's log buffer, which is shared memory in ordinary pages, on a host that has been running
// for a long time. No other layout needs more requests.
#pragma once

#include "base/standard.h"

// Allocates aligned memory; free() releases it. locked: whether the pages of the process are locked in memory. Returns
// false if there is not enough memory.
bool io_memory_open(void **memory, size_t bytes, size_t alignment_bytes, bool locked);
