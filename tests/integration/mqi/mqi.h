// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The entry points of the MQI in the library that is used instead of libmqm_r.so. The calling thread determines what a
// call does.
#pragma once

struct behaviour {
    long ns;            // how long a call takes
    int depth;          // how often it calls itself first
    void (*last)(void); // what it does at the end; it does not have to return
};

extern _Thread_local struct behaviour behaviour;

void MQPUT(int connection, int object, void *descriptor, void *options, int length, void *buffer, int *completion,
           int *reason);
void MQCMIT(int connection, int *completion, int *reason);
