// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "lock/protocol.h"

#include "base/failure.h"
#include "base/units.h"

#include <signal.h>

#define WORD_BYTES (PROTOCOL_HEX_MAX + 2)       // one more than the longest word, so that a longer one is recognized
#define FILE_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_-"
#define HEX_LETTERS "0123456789abcdef"

// The forms of commands. Words in capitals stand for arguments, which the next table describes.
static const char *const forms[ACTIONS] = {
    [ACTION_START] = "start",
    [ACTION_CREATE] = "create FILE BYTES",
    [ACTION_OPEN] = "open FILE",
    [ACTION_LOCK_TRY] = "lock FILE try COUNT",
    [ACTION_LOCK_WAIT] = "lock FILE wait",
    [ACTION_LOCK_POLL] = "lock FILE poll MS",
    [ACTION_TEST] = "test FILE",
    [ACTION_UNLOCK] = "unlock FILE",
    [ACTION_CLOSE] = "close FILE",
    [ACTION_EXIT] = "exit",
    [ACTION_KILL] = "kill",
    [ACTION_STOP_LOCK] = "stop lock",
    [ACTION_STOP_VERIFY] = "stop verify",
    [ACTION_STOP_WRITE] = "stop write",
    [ACTION_ADD] = "add FILE UPDATES",
    [ACTION_VERIFY] = "verify FILE MS",
    [ACTION_WRITE] = "write FILE SEED PAUSE",
    [ACTION_SCAN] = "scan FILE SEED SEED WRITES WRITES WRITES",
    [ACTION_NONCE_WRITE] = "nonce FILE write HEX",
    [ACTION_NONCE_READ] = "nonce FILE read",
    [ACTION_MANY] = "many PREFIX FILES",
    [ACTION_REMOVE] = "remove",
};

// The allowed values of the words in capitals. A number is from min to max, and a multiple of unit.
static const struct argument {
    const char *name;
    const char *letters;                        // NULL: a number
    size_t length_max;
    bool pairs;                                 // the length is even
    uint64_t min, max, unit;
    const char *allowed;
} arguments[] = {
    {"FILE", FILE_LETTERS, PROTOCOL_FILE_MAX, .allowed = "1 to 64 of a-z, 0-9, '_' and '-'"},
    {"PREFIX", FILE_LETTERS, PROTOCOL_FILE_MAX - 5, .allowed = "1 to 59 of a-z, 0-9, '_' and '-'"},
    {"HEX", HEX_LETTERS, PROTOCOL_HEX_MAX, true, .allowed = "2 to 256 hexadecimal digits, an even number of them"},
    {"BYTES", .min = PROTOCOL_PAGE_BYTES, .max = UINT64_C(1) << 40, .unit = PROTOCOL_PAGE_BYTES,
     .allowed = "a multiple of 4096, up to 1099511627776"},
    {"COUNT", .min = 1, .max = 1000000, .unit = 1, .allowed = "1 to 1000000"},
    {"UPDATES", .min = 0, .max = 1000000, .unit = 1, .allowed = "0 to 1000000"},
    {"FILES", .min = 1, .max = PROTOCOL_MANY_MAX, .unit = 1, .allowed = "1 to 10000"},
    {"MS", .min = 1, .max = 3600000, .unit = 1, .allowed = "1 to 3600000"},
    {"PAUSE", .min = 0, .max = 3600000, .unit = 1, .allowed = "0 to 3600000"},
    {"SEED", .min = 0, .max = UINT64_MAX, .unit = 1, .allowed = "0 to 18446744073709551615"},
    {"WRITES", .min = 0, .max = UINT64_MAX, .unit = 1, .allowed = "0 to 18446744073709551615"},
};

#define ARGUMENTS (sizeof arguments / sizeof arguments[0])

// Takes the next word, which ends at one blank or at the end of the text. A word that is too long is truncated to a
// length that no allowed word has.
static void take_word(const char **text, char word[WORD_BYTES]) {
    size_t length = strcspn(*text, " ");
    (void)snprintf(word, WORD_BYTES, "%.*s", length < WORD_BYTES ? (int)length : WORD_BYTES - 1, *text);
    *text += length;
    *text += **text == ' ' && (*text)[1] != '\0';       // a blank at the end is left over, and is wrong
}

static const struct argument *find_argument(const char *name) {
    size_t i = 0;
    while (i < ARGUMENTS && strcmp(arguments[i].name, name) != 0) {
        i++;
    }
    return i < ARGUMENTS ? &arguments[i] : NULL;
}

static bool take_text(const struct argument *argument, const char *word, char *field) {
    size_t length = strlen(word);
    bool good = length >= 1 && length <= argument->length_max && strspn(word, argument->letters) == length &&
                !(argument->pairs && length % 2 != 0);
    if (good) {
        memcpy(field, word, length + 1);
    }
    return good;
}

static bool take_number(const struct argument *argument, const char *word, uint64_t *value) {
    return parse_integer(word, value) && *value >= argument->min && *value <= argument->max &&
           *value % argument->unit == 0;
}

static bool take_argument(struct command *command, const struct argument *argument, const char *word, size_t *values) {
    if (argument->letters == NULL) {
        return take_number(argument, word, &command->values[(*values)++]);
    }
    return take_text(argument, word, argument->pairs ? command->hex : command->file);
}

enum match { MATCH_NO, MATCH_WRONG, MATCH_YES };

// Compares words with a form. MATCH_WRONG means that the fixed words match, but that the argument *wrong does not have
// an allowed value.
static enum match match(struct command *command, const char *form, const char *text, const struct argument **wrong) {
    char wanted[WORD_BYTES], word[WORD_BYTES];
    size_t values = 0;
    *wrong = NULL;
    while (*form != '\0' && *text != '\0') {
        take_word(&form, wanted);
        take_word(&text, word);
        const struct argument *argument = find_argument(wanted);
        if (argument == NULL && strcmp(word, wanted) != 0) {
            return MATCH_NO;
        }
        if (argument != NULL && *wrong == NULL && !take_argument(command, argument, word, &values)) {
            *wrong = argument;
        }
    }
    return *form != '\0' || *text != '\0' ? MATCH_NO : *wrong != NULL ? MATCH_WRONG : MATCH_YES;
}

// Lists the forms of the given verb; false if there are none.
static bool list_forms(const char *verb, char message[PROTOCOL_MESSAGE_BYTES]) {
    size_t length = 0;
    for (enum action action = 0; action < ACTIONS_OF_USERS; action++) {
        char of_form[WORD_BYTES];
        const char *form = forms[action];
        take_word(&form, of_form);
        if (strcmp(of_form, verb) == 0) {
            length += (size_t)snprintf(message + length, PROTOCOL_MESSAGE_BYTES - length, "%sNUMBER %s",
                                       length > 0 ? ", or " : "expected: ", forms[action]);
        }
    }
    return length > 0;
}

static bool parse_action(struct command *command, const char *text, char message[PROTOCOL_MESSAGE_BYTES]) {
    const struct argument *wrong;
    char verb[WORD_BYTES];
    for (enum action action = 0; action < ACTIONS_OF_USERS; action++) {
        enum match found = match(command, forms[action], text, &wrong);
        command->action = action;
        if (found == MATCH_WRONG) {
            (void)snprintf(message, PROTOCOL_MESSAGE_BYTES, "NUMBER %s: %s must be %s", forms[action], wrong->name,
                           wrong->allowed);
        }
        if (found != MATCH_NO) {
            return found == MATCH_YES;
        }
    }
    take_word(&text, verb);
    if (!list_forms(verb, message)) {
        (void)snprintf(message, PROTOCOL_MESSAGE_BYTES, "unknown command");
    }
    return false;
}

bool command_parse(struct command *command, const char *line, char message[PROTOCOL_MESSAGE_BYTES]) {
    char word[WORD_BYTES];
    uint64_t number = 0;
    *command = (struct command){0};
    message[0] = '\0';
    take_word(&line, word);
    if (!parse_integer(word, &number) || number < 1 || number > PROTOCOL_LOCKERS_MAX) {
        (void)snprintf(message, PROTOCOL_MESSAGE_BYTES, "a line begins with the number of a locker, 1 to %d",
                       PROTOCOL_LOCKERS_MAX);
        return false;
    }
    command->number = (uint32_t)number;
    return parse_action(command, line, message);
}

// Answers.

static const char *const outcome_words[] = {
    [ANSWER_DONE] = "done", [ANSWER_HELD] = "held",     [ANSWER_REFUSED] = "refused",
    [ANSWER_FREE] = "free", [ANSWER_LOCKED] = "locked", [ANSWER_FAILED] = "failed",
    [ANSWER_ENDED] = "ended", [ANSWER_EACH] = "each",
};

static const char *const figure_names[] = {
    [FIGURE_PID] = "pid",
    [FIGURE_TRIES] = "tries",
    [FIGURE_AFTER_NS] = "after_ns",
    [FIGURE_NS] = "ns",
    [FIGURE_COUNT] = "count",
    [FIGURE_MAX_NS] = "max_ns",
    [FIGURE_PAUSE_MAX_NS] = "pause_max_ns",
    [FIGURE_PASS] = "pass",
    [FIGURE_FIRST] = "first",
    [FIGURE_LAST] = "last",
    [FIGURE_TORN] = "torn",
    [FIGURE_A_SECTORS] = "a_sectors",
    [FIGURE_B_SECTORS] = "b_sectors",
    [FIGURE_OTHER_SECTORS] = "other_sectors",
    [FIGURE_A_WRITE_MAX] = "a_write_max",
    [FIGURE_B_WRITE_MAX] = "b_write_max",
    [FIGURE_LATE_SECTORS] = "late_sectors",
    [FIGURE_LATE_WRITES] = "late_writes",
    [FIGURE_LOST] = "lost",
    [FIGURE_HELD] = "held",
    [FIGURE_STATUS] = "status",
    [FIGURE_REMOVED] = "removed",
    [FIGURE_LEFT] = "left",
};

void answer_add(struct answer *answer, enum figure figure, uint64_t value) {
    if (answer->count < ANSWER_FIGURES_MAX) {
        answer->figures[answer->count].figure = figure;
        answer->figures[answer->count++].value = value;
    }
}

// Adds the name of the signal without SIG, or its number.
static void put_signal(struct text *text, int number) {
    static const struct { int number; const char *name; } names[] = {
        {SIGKILL, "KILL"}, {SIGSEGV, "SEGV"}, {SIGBUS, "BUS"}, {SIGABRT, "ABRT"},
        {SIGILL, "ILL"},   {SIGFPE, "FPE"},   {SIGTERM, "TERM"}, {SIGINT, "INT"},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].number == number) {
            text_printf(text, " signal=%s", names[i].name);
            return;
        }
    }
    text_printf(text, " signal=%d", number);
}

void answer_put(struct text *text, const struct answer *answer) {
    const char *form = forms[answer->action];
    text_printf(text, "%" PRIu32 " %.*s %s", answer->number, (int)strcspn(form, " "), form,
                outcome_words[answer->outcome]);
    for (unsigned i = 0; i < answer->count; i++) {
        text_printf(text, " %s=%" PRIu64, figure_names[answer->figures[i].figure], answer->figures[i].value);
    }
    if (answer->error != 0 || answer->action == ACTION_MANY) {
        text_printf(text, " errno=%s", answer->error != 0 ? failure_error_name(answer->error) : "-");
    }
    if (answer->signal != 0) {
        put_signal(text, answer->signal);
    }
    if (answer->action == ACTION_NONCE_READ || answer->action == ACTION_NONCE_WRITE) {
        text_printf(text, " hex=%s", answer->hex[0] != '\0' ? answer->hex : "-");
    }
    text_add(text, "\n", 1);
}

void answer_put_usage(struct text *text, uint32_t number, const char *message) {
    text_printf(text, "%" PRIu32 " error usage %s\n", number, message);
}

enum task task_of(enum action action) {
    switch (action) {
    case ACTION_LOCK_TRY: case ACTION_LOCK_WAIT: case ACTION_LOCK_POLL: return TASK_LOCK;
    case ACTION_VERIFY: return TASK_VERIFY;
    case ACTION_WRITE: return TASK_WRITE;
    default: return TASKS;
    }
}

enum task task_stopped_by(enum action action) {
    switch (action) {
    case ACTION_STOP_LOCK: return TASK_LOCK;
    case ACTION_STOP_VERIFY: return TASK_VERIFY;
    case ACTION_STOP_WRITE: return TASK_WRITE;
    default: return TASKS;
    }
}
