// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Entry point of --lock: runs on each of the two hosts that test the locks of a shared file system. It obeys commands
// from standard input, and answers on standard output (protocol.h). The first line of the output is
//
//   ready RUN_ID BOOT_ID version=V uid=N gid=N age_ns=N
//
// with the age of the system, which is the time since its first process started.
//
// This process is the supervisor: it never touches the file system under test, so it can always react. Its children,
// the lockers, access the files. Another child, the keeper, keeps the directory open and removes the files at the end.
// The program ends when standard input ends, at a signal, or at the deadline. It then kills the lockers, which releases
// their locks.
#pragma once

#include "base/options.h"

enum exit_status lock_agent(const struct options *options);
