// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The entry of --lock: one of two hosts in a test of the locks of a shared file system. It obeys the commands that it
// reads from standard input, and answers on standard output (protocol.h). The first line is
//
//   ready RUN_ID BOOT_ID version=V uid=N gid=N
//
// This process is the supervisor: it never touches the file system under test, so it always reacts. Lockers do, which
// are its children. Another child, the keeper, holds the directory and removes the files at the end. The end comes with
// the end of standard input, a signal or the deadline: then the lockers are killed, and with them go their locks.
#pragma once

#include "base/options.h"

enum exit_status lock_agent(const struct options *options);
