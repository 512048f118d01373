// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The protocol of --lock: one command per line, and the answers to it.
//
//   NUMBER VERB [ARGUMENT ...]                  a command; NUMBER (1 to 64) names a locker
//   NUMBER VERB OUTCOME [KEY=VALUE ...]         an answer
//   NUMBER error usage MESSAGE                  the answer to a line that is not a command, or not possible now; NUMBER
//                                               is 0 if the line does not begin with one
//
// Words are separated by one blank. Durations are in nanoseconds of this host's CLOCK_MONOTONIC.
#pragma once

#include "base/text.h"

#define PROTOCOL_LOCKERS_MAX 64
#define PROTOCOL_LINE_BYTES 512                 // a line of a command, with its NUL
#define PROTOCOL_FILE_MAX 64
#define PROTOCOL_HEX_MAX 256
#define PROTOCOL_MANY_MAX 10000
#define PROTOCOL_MESSAGE_BYTES 256
#define PROTOCOL_VALUES_MAX 5                   // numbers in a form
#define PROTOCOL_PAGE_BYTES 4096                // files consist of whole pages

// The commands that a locker obeys. protocol.c defines the form of each.
enum action {
    ACTION_START,
    ACTION_CREATE,
    ACTION_OPEN,
    ACTION_LOCK_TRY,
    ACTION_LOCK_WAIT,
    ACTION_LOCK_POLL,
    ACTION_TEST,
    ACTION_UNLOCK,
    ACTION_CLOSE,
    ACTION_EXIT,
    ACTION_KILL,
    ACTION_STOP_LOCK,
    ACTION_STOP_VERIFY,
    ACTION_STOP_WRITE,
    ACTION_ADD,
    ACTION_VERIFY,
    ACTION_WRITE,
    ACTION_SCAN,
    ACTION_NONCE_WRITE,
    ACTION_NONCE_READ,
    ACTION_MANY,
    ACTIONS_OF_USERS,
    ACTION_REMOVE = ACTIONS_OF_USERS,           // only for the keeper: see agent.c
    ACTIONS
};

struct command {
    uint32_t number;                            // 0: the line does not name a locker
    enum action action;
    char file[PROTOCOL_FILE_MAX + 1];           // [a-z0-9_-], never empty if the form has FILE or PREFIX
    uint64_t values[PROTOCOL_VALUES_MAX];       // the numbers of the form, in order
    char hex[PROTOCOL_HEX_MAX + 1];             // an even number of [0-9a-f]
};

// Parses a line without its line feed. If the line is wrong, returns false, sets command->number, and writes a message
// for the sender, which does not quote the line.
bool command_parse(struct command *command, const char *line, char message[PROTOCOL_MESSAGE_BYTES]);

enum answer_outcome {
    ANSWER_DONE,
    ANSWER_HELD,
    ANSWER_REFUSED,                       // somebody else holds the lock
    ANSWER_FREE,
    ANSWER_LOCKED,
    ANSWER_FAILED,
    ANSWER_ENDED,
    ANSWER_EACH,                          // a report; the answer is still to come
};

enum figure {
    FIGURE_PID,
    FIGURE_TRIES,
    FIGURE_AFTER_NS,
    FIGURE_NS,
    FIGURE_COUNT,
    FIGURE_MAX_NS,
    FIGURE_PAUSE_MAX_NS,
    FIGURE_PASS,
    FIGURE_FIRST,
    FIGURE_LAST,
    FIGURE_TORN,
    FIGURE_A_SECTORS,
    FIGURE_B_SECTORS,
    FIGURE_OTHER_SECTORS,
    FIGURE_A_WRITE_MAX,
    FIGURE_B_WRITE_MAX,
    FIGURE_LATE_SECTORS,
    FIGURE_LATE_WRITES,
    FIGURE_LOST,
    FIGURE_HELD,
    FIGURE_STATUS,
    FIGURE_REMOVED,
    FIGURE_LEFT,
};

#define ANSWER_FIGURES_MAX 8

struct answer {
    uint32_t number;
    enum action action;
    enum answer_outcome outcome;
    int error;                                  // 0: none
    int signal;                                 // the signal that ended the locker; 0: none
    unsigned count;
    struct {
        enum figure figure;
        uint64_t value;
    } figures[ANSWER_FIGURES_MAX];
    char hex[PROTOCOL_HEX_MAX + 1];
};

// Lockers and their supervisor exchange both structures in binary form. A pipe transfers each as a whole.
_Static_assert(sizeof(struct command) <= PIPE_BUF && sizeof(struct answer) <= PIPE_BUF, "one write to a pipe");

void answer_add(struct answer *answer, enum figure figure, uint64_t value);

// Appends the answer as a line of text.
void answer_put(struct text *text, const struct answer *answer);
void answer_put_usage(struct text *text, uint32_t number, const char *message);

// The actions that may continue until a command stops them. TASKS: any other action.
enum task { TASK_LOCK, TASK_VERIFY, TASK_WRITE, TASKS };
enum task task_of(enum action action);
// Returns the task that the action stops.
enum task task_stopped_by(enum action action);
