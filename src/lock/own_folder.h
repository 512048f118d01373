// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Makes the directory for --lock with --createDirs, for containers in which nothing else could make it.
#pragma once

// Makes the directory with its mark, unless there is one with this name. Several machines may do this at once, so the
// directory gets its name only when it has its mark. Returns 0 or an error.
int own_folder_make(const char *path);
