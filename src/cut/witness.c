// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "cut/witness.h"

#include "base/units.h"

#define OPTION "--checkAcknowledged: "
#define WORD_BYTES 32                   // longer than any valid number
#define REASON_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

static bool refuse_line(const struct witness *witness, const char *line, const char *why, struct failure *failure) {
    return failure_set(
        failure, EXIT_REFUSED,
        OPTION "line %" PRIu64
               ", '%.*s', %s; give it the lines that logdisk --acknowledge printed, or what its witness kept of them",
        witness->lines, (int)strcspn(line, "\n"), line, why);
}

// Takes the text up to the next blank or the line feed, and moves *line past that; false if the text does not fit.
static bool take_word(const char **line, char word[WORD_BYTES], char end) {
    size_t length = strcspn(*line, " \n");
    bool good = length > 0 && length < WORD_BYTES && (*line)[length] == end;
    if (good) {
        memcpy(word, *line, length);
        word[length] = '\0';
        *line += length + 1;
    }
    return good;
}

static bool take_number(const char **line, uint64_t *value, char end) {
    char word[WORD_BYTES];
    return take_word(line, word, end) && parse_integer(word, value);
}

static bool take_ready(struct witness *witness, const char *line, struct failure *failure) {
    struct geometry geometry;
    if (witness->ready) {
        return refuse_line(witness, line, "begins a second run", failure);
    }
    if (!mark_parse(&witness->mark, line)) {
        return refuse_line(witness, line, "does not say what the run wrote", failure);
    }
    if (witness->mark.layout != MARK_LAYOUT) {
        return failure_set(
            failure, EXIT_REFUSED,
            OPTION "the run was made by another version of logdisk (layout %" PRIu64
                   " of the blocks; this version knows %d), so nothing can be concluded; check with that version",
            witness->mark.layout, MARK_LAYOUT);
    }
    geometry_of_mark(&geometry, &witness->mark);
    witness->counts_max = geometry_writes_max(&geometry);
    witness->ready = true;
    return true;
}

static bool take_ack(struct witness *witness, const char *line, struct failure *failure) {
    const char *at = line + strlen("ack ");
    uint64_t worker, count;
    if (!take_number(&at, &worker, ' ') || !take_number(&at, &count, '\n') || *at != '\0') {
        return refuse_line(witness, line, "is not 'ack QUEUE_MANAGER COUNT'", failure);
    }
    if (worker < 1 || worker > witness->mark.queue_managers) {
        return refuse_line(witness, line, "names a queue manager that the run does not have", failure);
    }
    if (count > witness->counts_max) {
        return refuse_line(witness, line, "has more writes than can be told apart", failure);
    }
    witness->counts[worker] = count > witness->counts[worker] ? count : witness->counts[worker];
    return true;
}

static bool take_tick(struct witness *witness, const char *line, struct failure *failure) {
    const char *at = line + strlen("tick ");
    uint64_t ns;
    if (!take_number(&at, &ns, '\n') || *at != '\0') {
        return refuse_line(witness, line, "is not 'tick NANOSECONDS'", failure);
    }
    witness->first_tick_ns = witness->ticks == 0 || ns < witness->first_tick_ns ? ns : witness->first_tick_ns;
    witness->last_tick_ns = ns > witness->last_tick_ns ? ns : witness->last_tick_ns;
    witness->ticks++;
    return true;
}

static bool take_end(struct witness *witness, const char *line, struct failure *failure) {
    const char *at = line + strlen("end ");
    char word[WORD_BYTES];
    if (!take_word(&at, word, '\n') || *at != '\0' || word[strspn(word, REASON_LETTERS)] != '\0') {
        return refuse_line(witness, line, "is not 'end REASON'", failure);
    }
    if (witness->reason[0] != '\0') {
        return refuse_line(witness, line, "ends the run a second time", failure);
    }
    (void)snprintf(witness->reason, sizeof witness->reason, "%s", word);
    return true;
}

static bool begins(const char *line, const char *word) {
    return strncmp(line, word, strlen(word)) == 0;
}

bool witness_take(struct witness *witness, const char *line, struct failure *failure) {
    witness->lines++;
    if (begins(line, "ready ")) {
        return take_ready(witness, line, failure);
    }
    if (!witness->ready) {
        return refuse_line(witness, line, "comes before the line 'ready'", failure);
    }
    return begins(line, "ack ")    ? take_ack(witness, line, failure)
           : begins(line, "tick ") ? take_tick(witness, line, failure)
           : begins(line, "end ")  ? take_end(witness, line, failure)
                                   : refuse_line(witness, line, "is unknown", failure);
}

bool witness_complete(const struct witness *witness, struct failure *failure) {
    if (!witness->ready) {
        return failure_set(failure, EXIT_REFUSED,
                           OPTION "there is no line 'ready': the files were not complete when the run was cut off, so "
                                  "nothing can be concluded; begin again, and cut later");
    }
    return strcmp(witness->reason, "signal") != 0 ||
           failure_set(failure, EXIT_REFUSED,
                       OPTION "the run was ended by a signal, as in an orderly shutdown, and that is not a power cut, "
                              "so nothing can be concluded; begin again, and cut the power");
}

uint64_t witness_writing_ns(const struct witness *witness) {
    return witness->last_tick_ns - witness->first_tick_ns;
}

bool witness_read(struct witness *witness, FILE *file, struct failure *failure) {
    char line[WITNESS_LINE_BYTES];
    while (fgets(line, sizeof line, file) != NULL) {
        if (strchr(line, '\n') == NULL) {       // it is too long, contains a NUL, or is the last line
            if (feof(file) && strlen(line) < sizeof line - 1) {
                break;
            }
            witness->lines++;
            return refuse_line(witness, line, "is too long", failure);
        }
        if (!witness_take(witness, line, failure)) {
            return false;
        }
    }
    if (ferror(file)) {
        return failure_set(failure, EXIT_REFUSED, OPTION "cannot read the file: %s", strerror(errno));
    }
    return witness_complete(witness, failure);
}
