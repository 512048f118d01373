// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Memory that measured operations write from and read into. The kernel splits a large direct write into requests, each
// of which takes a limited number of physically contiguous pieces (max_segments). Ordinary memory is partly
// contiguous, differently in each process, and the latency of large writes varies with that. In this memory no page
// follows another one physically, except by chance, so the same write makes the same requests in every process. A queue
// manager's log buffer, shared memory in ordinary pages, comes near that on a host that has been running for a long
// time. No other layout needs more requests.
#pragma once

#include "base/standard.h"

// Sets *memory to that many bytes, aligned; free() gives them back. locked: the pages of the process are locked in
// memory. False if there is no memory.
bool io_memory_open(void **memory, size_t bytes, size_t alignment_bytes, bool locked);
