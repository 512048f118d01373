// Copyright (c) 2026 mqops contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "lock/agent.h"

#include "base/clock.h"
#include "base/supervisor.h"
#include "base/version.h"
#include "host/procfs.h"
#include "lock/child.h"
#include "output/console.h"
#include "output/outlet.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEADLINE_S UINT64_C(3600)
#define OPEN_PATIENCE_NS (30 * NS_PER_S)        // for the keeper to open the directory
#define KILL_PATIENCE_NS (3 * NS_PER_S)         // for killed lockers to end
#define REMOVE_PATIENCE_NS (10 * NS_PER_S)
#define OUTPUT_PATIENCE_NS (3 * NS_PER_S)
#define REPORT_NS NS_PER_S
#define BEHIND_BYTES 65536                      // with so much text waiting, reports are left out
#define NS_PER_MS UINT64_C(1000000)
#define KEEPER 0
#define START_FIELD (1U << 19)                  // of the words after the name in /proc/PID/stat

enum end { END_NONE, END_INPUT, END_SIGNAL, END_DEADLINE, END_OUTPUT, END_KEEPER };

struct agent {
    const struct options *options;
    struct supervisor supervisor;               // only for its signals
    struct family family;
    struct outlet outlet;
    int signals_fd;
    char line[PROTOCOL_LINE_BYTES];             // the part of a command that has arrived
    size_t length;
    uint64_t deadline_ns, report_ns;
    struct answer kept;                         // the keeper's last answer
    bool has_kept;
    bool takes_commands;
    enum end end;
};

static void end(struct agent *agent, enum end why) {
    agent->end = agent->end == END_NONE ? why : agent->end;
}

// Commands.

static void put_usage(struct agent *agent, uint32_t number, const char *message) {
    answer_put_usage(&agent->outlet.text, number, message);
}

static void put_failed(struct agent *agent, const struct command *command, int error) {
    struct answer answer = {
        .number = command->number, .action = command->action, .outcome = ANSWER_FAILED, .error = error};
    answer_put(&agent->outlet.text, &answer);
}

static void start(struct agent *agent, const struct command *command) {
    if (agent->family.children[command->number].pid != 0) {
        put_usage(agent, command->number, "this locker is already running");
        return;
    }
    memset(&agent->family.shared->lockers[command->number], 0, sizeof agent->family.shared->lockers[0]);
    agent->family.others[1] = agent->outlet.fd;         // known once the line `ready` was written
    int error = child_start(&agent->family, command);
    if (error != 0) {
        put_failed(agent, command, error);
    }
}

static void stop(struct agent *agent, const struct command *command, enum task task) {
    if (agent->family.children[command->number].pending[task] == 0) {
        put_usage(agent, command->number, "there is nothing to stop");
    } else {
        atomic_store(&agent->family.shared->lockers[command->number].stop[task], true);
    }
}

// A locker accepts no second `verify` or `write` until the thread of the first has ended. Returns false, and answers,
// if the command is refused for this reason.
static bool begin_task(struct agent *agent, const struct command *command, enum task task) {
    struct child *child = &agent->family.children[command->number];
    struct locker_state *state = &agent->family.shared->lockers[command->number];
    if (child->pending[task] > 0 && task != TASK_LOCK) {
        put_usage(agent, command->number, "the locker is already doing that; stop it and wait for its answer first");
        return false;
    }
    if (child->pending[task] == 0) {
        atomic_store(&state->stop[task], false);
    }
    if (task == TASK_WRITE) {
        atomic_store(&state->last_return_ns, 0);
        atomic_store(&state->writes, 0);
        atomic_store(&state->pause_max_ns, 0);
    }
    child->pending[task]++;
    return true;
}

static void forward(struct agent *agent, const struct command *command) {
    struct child *child = &agent->family.children[command->number];
    enum task task = task_of(command->action);
    if (task != TASKS && !begin_task(agent, command, task)) {
        return;
    }
    int error = child_tell(child, command);
    if (error != 0) {
        if (task != TASKS) {
            child->pending[task]--;
        }
        put_usage(agent, command->number,
                  error == EAGAIN ? "too many commands are waiting for this locker" : "this locker has ended");
    }
}

static void take_line(struct agent *agent) {
    struct command command;
    char message[PROTOCOL_MESSAGE_BYTES];
    if (!command_parse(&command, agent->line, message)) {
        put_usage(agent, command.number, message);
        return;
    }
    enum task stopped = task_stopped_by(command.action);
    if (command.action == ACTION_START) {
        start(agent, &command);
    } else if (agent->family.children[command.number].pid == 0) {
        put_usage(agent, command.number, "there is no such locker; start it first");
    } else if (command.action == ACTION_KILL) {
        child_kill(&agent->family.children[command.number]);
    } else if (stopped != TASKS) {
        stop(agent, &command, stopped);
    } else {
        forward(agent, &command);
    }
}

// If a line is too long, its last byte is overwritten again and again. No command is as long as the line that remains.
static void take_byte(struct agent *agent, char byte) {
    if (byte == '\n') {
        agent->line[agent->length] = '\0';
        agent->length = 0;
        take_line(agent);
    } else {
        agent->line[agent->length] = byte != '\0' ? byte : '?';
        agent->length += agent->length < sizeof agent->line - 2;
    }
}

// A last line without a line feed was cut off, so it is ignored.
static void take_input(struct agent *agent) {
    char bytes[4096];
    ssize_t length = read(STDIN_FILENO, bytes, sizeof bytes);
    if (length == 0 || (length < 0 && errno != EINTR && errno != EAGAIN)) {
        end(agent, END_INPUT);
    }
    for (ssize_t i = 0; i < length; i++) {
        take_byte(agent, bytes[i]);
    }
}

// Answers.

static bool is_behind(const struct agent *agent) {
    return agent->outlet.text.length > BEHIND_BYTES;
}

static void take_answers(struct agent *agent, uint32_t number) {
    struct child *child = &agent->family.children[number];
    for (struct answer answer; child_take(child, &answer);) {
        enum task task = task_of(answer.action);
        if (task != TASKS && answer.outcome != ANSWER_EACH) {
            child->pending[task]--;
        }
        if (number == KEEPER) {
            agent->kept = answer;
            agent->has_kept = true;
        } else if (answer.outcome != ANSWER_EACH || !is_behind(agent)) {
            answer_put(&agent->outlet.text, &answer);
        }
    }
}

// Reports the progress of a writer, even if the writer hangs. The time since its last write returned counts as a pause.
static void report_writer(struct agent *agent, uint32_t number) {
    const struct locker_state *state = &agent->family.shared->lockers[number];
    struct answer answer = {.number = number, .action = ACTION_WRITE, .outcome = ANSWER_EACH};
    uint64_t last_ns = atomic_load(&state->last_return_ns), positions = atomic_load(&state->positions);
    if (agent->family.children[number].pending[TASK_WRITE] == 0 || last_ns == 0 || positions == 0) {
        return;
    }
    uint64_t since_ns = now_ns() - last_ns, pause_ns = atomic_load(&state->pause_max_ns);
    uint64_t writes = atomic_load(&state->writes);
    answer_add(&answer, FIGURE_COUNT, writes);
    answer_add(&answer, FIGURE_PAUSE_MAX_NS, since_ns > pause_ns ? since_ns : pause_ns);
    answer_add(&answer, FIGURE_PASS, writes / positions);
    answer_put(&agent->outlet.text, &answer);
}

static void report_writers(struct agent *agent) {
    if (now_ns() < agent->report_ns) {
        return;
    }
    agent->report_ns = now_ns() + REPORT_NS;
    for (uint32_t number = 1; number <= PROTOCOL_LOCKERS_MAX && !is_behind(agent); number++) {
        report_writer(agent, number);
    }
}

// The end of lockers.

static void put_ended(struct agent *agent, uint32_t number, int status) {
    bool killed = agent->family.children[number].was_killed;
    struct answer answer = {
        .number = number, .action = killed ? ACTION_KILL : ACTION_EXIT, .outcome = ANSWER_ENDED};
    if (WIFSIGNALED(status)) {
        answer.signal = WTERMSIG(status);
    } else {
        answer_add(&answer, FIGURE_STATUS, (uint64_t)WEXITSTATUS(status));
    }
    answer_put(&agent->outlet.text, &answer);
}

static void forget_ended(struct agent *agent) {
    for (uint32_t number = 0; number <= PROTOCOL_LOCKERS_MAX; number++) {
        struct child *child = &agent->family.children[number];
        int status;
        if (child->pid == 0 || !child_has_ended(child, &status)) {
            continue;
        }
        take_answers(agent, number);
        if (number == KEEPER) {
            end(agent, END_KEEPER);
        } else {
            report_writer(agent, number);
            put_ended(agent, number, status);
        }
        child_forget(child);
    }
}

static void take_signals(struct agent *agent) {
    struct signalfd_siginfo signal;
    while (read(agent->signals_fd, &signal, sizeof signal) == (ssize_t)sizeof signal) {
        if (signal.ssi_signo != (uint32_t)SIGCHLD) {
            end(agent, END_SIGNAL);
        }
    }
    forget_ended(agent);
}

// The loop.

static void drain(struct agent *agent) {
    struct outlet *outlet = &agent->outlet;
    outlet->error = outlet->text.incomplete ? ENOMEM : outlet->error;
    outlet_drain(outlet, false);
    if (outlet->error != 0) {
        end(agent, END_OUTPUT);
    }
}

static int timeout_ms(const struct agent *agent, uint64_t until_ns) {
    uint64_t now = now_ns();
    uint64_t wake_ns = agent->report_ns < until_ns ? agent->report_ns : until_ns;
    wake_ns = agent->deadline_ns < wake_ns ? agent->deadline_ns : wake_ns;
    return wake_ns > now ? (int)((wake_ns - now) / NS_PER_MS) + 1 : 0;
}

// Waits for the next event, but not beyond the given time, and handles all events that have arrived. poll(2) ignores
// negative descriptors.
static void handle_events(struct agent *agent, uint64_t until_ns) {
    struct pollfd polled[PROTOCOL_LOCKERS_MAX + 4];
    nfds_t count = 0;
    for (; count <= PROTOCOL_LOCKERS_MAX; count++) {
        const struct child *child = &agent->family.children[count];
        polled[count] = (struct pollfd){.fd = child->pid != 0 ? child->answers_fd : -1, .events = POLLIN};
    }
    struct pollfd *signals = &polled[count++], *input = &polled[count++], *output = &polled[count++];
    *signals = (struct pollfd){.fd = agent->signals_fd, .events = POLLIN};
    *input = (struct pollfd){.fd = agent->takes_commands ? STDIN_FILENO : -1, .events = POLLIN};
    *output = (struct pollfd){.fd = agent->outlet.text.length > 0 ? agent->outlet.fd : -1, .events = POLLOUT};
    if (poll(polled, count, timeout_ms(agent, until_ns)) < 0) {
        return;
    }
    for (uint32_t number = 0; number <= PROTOCOL_LOCKERS_MAX; number++) {
        if ((polled[number].revents & POLLIN) != 0) {
            take_answers(agent, number);
        }
    }
    if (signals->revents != 0) {
        take_signals(agent);
    }
    if (input->revents != 0) {
        take_input(agent);
    }
    report_writers(agent);
    drain(agent);
    if (now_ns() >= agent->deadline_ns) {
        agent->deadline_ns = UINT64_MAX;
        end(agent, END_DEADLINE);
    }
}

static void handle_until(struct agent *agent, bool (*done)(const struct agent *), uint64_t patience_ns) {
    uint64_t until_ns = now_ns() + patience_ns;
    while (!done(agent) && now_ns() < until_ns) {
        handle_events(agent, until_ns);
    }
}

// The beginning.

static bool refuse(const char *what) {
    console_complain("--lock: cannot set up %s: %s", what, strerror(errno));
    return false;
}

static bool set_up(struct agent *agent) {
    struct supervisor *supervisor = &agent->supervisor;
    struct sigaction normal = {.sa_handler = SIG_DFL};          // a parent may have ignored SIGCHLD
    if (!supervisor_start(supervisor) || sigaction(SIGCHLD, &normal, NULL) != 0 ||
        sigaddset(&supervisor->signals, SIGCHLD) != 0 ||
        sigprocmask(SIG_BLOCK, &supervisor->signals, NULL) != 0) {
        return refuse("signals");
    }
    agent->signals_fd = signalfd(-1, &supervisor->signals, SFD_NONBLOCK | SFD_CLOEXEC);
    agent->family.null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    agent->family.shared = shared_make();
    agent->family.others[0] = agent->signals_fd;
    uint64_t deadline_s = agent->options->deadline_s > 0 ? agent->options->deadline_s : DEADLINE_S;
    agent->deadline_ns = now_ns() + deadline_s * NS_PER_S;
    return (agent->signals_fd >= 0 && agent->family.null_fd >= 0 && agent->family.shared != NULL) ||
           refuse("descriptors and memory");
}

static bool keeper_has_answered(const struct agent *agent) {
    return agent->has_kept || agent->end != END_NONE;
}

static bool open_directory(struct agent *agent) {
    const char *path = agent->family.path;
    const struct command command = {.number = KEEPER, .action = ACTION_START};
    if (child_start(&agent->family, &command) != 0) {
        return refuse("a process");
    }
    handle_until(agent, keeper_has_answered, OPEN_PATIENCE_NS);
    if (!agent->has_kept) {
        console_complain("--lock: the file system of --dir=%s does not respond", path);
    } else if (agent->kept.error == EBADMSG) {
        console_complain("--lock: --dir=%s does not have the mark of mqops.logdisk (.mqops-logdisk.json); name a "
                         "directory that mqops.logdisk.locks created", path);
    } else if (agent->kept.error != 0) {
        console_complain("--lock: cannot open the directory --dir=%s, which must not be a symbolic link: %s", path,
                         strerror(agent->kept.error));
    }
    return agent->has_kept && agent->kept.error == 0;
}

// Returns how long ago the first process of the system or of its container started; if this is not known, how long ago
// the kernel started.
static uint64_t age_ns(void) {
    char text[1024];
    struct timespec now = {0};
    uint64_t start_ticks = 0;
    long ticks_per_s = sysconf(_SC_CLK_TCK);
    bool known = clock_gettime(CLOCK_BOOTTIME, &now) == 0 && read_text("/proc/1/stat", text, sizeof text);
    const char *rest = known ? strrchr(text, ')') : NULL;       // the name before it may contain blanks
    if (rest == NULL || ticks_per_s <= 0 || !parse_figures(rest + 1, "", START_FIELD, &start_ticks)) {
        start_ticks = 0;
    }
    uint64_t since_boot_ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
    uint64_t start_ns = start_ticks > 0 ? start_ticks * (NS_PER_S / (uint64_t)ticks_per_s) : 0;
    return since_boot_ns > start_ns ? since_boot_ns - start_ns : 0;
}

static void put_ready(struct agent *agent) {
    char boot_id[64];
    bool known = read_text("/proc/sys/kernel/random/boot_id", boot_id, sizeof boot_id);
    const char *run_id = agent->options->run_id;
    text_printf(&agent->outlet.text, "ready %s %s version=%s uid=%ju gid=%ju age_ns=%" PRIu64 "\n", run_id[0] != '\0' ? run_id : "-",
                known ? boot_id : "-", LOGDISK_VERSION, (uintmax_t)geteuid(), (uintmax_t)getegid(),
                age_ns());
}

// The end.

static bool lockers_have_ended(const struct agent *agent) {
    bool ended = true;
    for (uint32_t number = 1; number <= PROTOCOL_LOCKERS_MAX; number++) {
        ended &= agent->family.children[number].pid == 0;
    }
    return ended;
}

static void kill_lockers(struct agent *agent) {
    for (uint32_t number = 1; number <= PROTOCOL_LOCKERS_MAX; number++) {
        if (agent->family.children[number].pid != 0) {
            child_kill(&agent->family.children[number]);
        }
    }
    handle_until(agent, lockers_have_ended, KILL_PATIENCE_NS);
}

static bool keeper_has_removed(const struct agent *agent) {
    return agent->has_kept || agent->family.children[KEEPER].pid == 0;
}

// Returns false, with a complaint, if files are left.
static bool remove_files(struct agent *agent) {
    struct child *keeper = &agent->family.children[KEEPER];
    const struct command command = {.number = KEEPER, .action = ACTION_REMOVE};
    agent->has_kept = false;
    if (shared_files(agent->family.shared) == 0) {
        return true;
    }
    if (keeper->pid != 0 && child_tell(keeper, &command) == 0) {
        handle_until(agent, keeper_has_removed, REMOVE_PATIENCE_NS);
    }
    if (agent->has_kept && agent->kept.figures[1].value == 0) {
        return true;
    }
    console_complain("--lock: files are left in %s, because %s; mqops.logdisk.cleanup removes them",
                     agent->family.path,
                     agent->has_kept ? "they could not be removed" : "its file system does not respond");
    return false;
}

static bool output_is_drained(const struct agent *agent) {
    return agent->outlet.text.length == 0;
}

static enum exit_status status_of(enum end end) {
    switch (end) {
    case END_INPUT: return EXIT_MEASURED;
    case END_SIGNAL: case END_DEADLINE: return EXIT_INTERRUPTED;
    default: return EXIT_REFUSED;
    }
}

static enum exit_status finish(struct agent *agent) {
    agent->takes_commands = false;
    kill_lockers(agent);
    bool gone = remove_files(agent);
    if (agent->family.children[KEEPER].pid != 0) {
        child_kill(&agent->family.children[KEEPER]);
    }
    handle_until(agent, output_is_drained, OUTPUT_PATIENCE_NS);
    if (agent->outlet.error != 0 || agent->outlet.text.length > 0) {
        console_complain("--lock: cannot write to standard output: %s",
                         agent->outlet.error != 0 ? strerror(agent->outlet.error) : "nothing takes it");
        end(agent, END_OUTPUT);
    }
    enum exit_status status = status_of(agent->end);
    return status == EXIT_MEASURED && !gone ? EXIT_REFUSED : status;
}

enum exit_status lock_agent(const struct options *options) {
    static struct agent agent = {.outlet = {.fd = STDOUT_FILENO}};
    agent.options = options;
    agent.family.path = options->dir;
    if (!set_up(&agent) || !open_directory(&agent)) {
        return EXIT_REFUSED;
    }
    put_ready(&agent);
    agent.takes_commands = true;
    drain(&agent);
    while (agent.end == END_NONE) {
        handle_events(&agent, UINT64_MAX);
    }
    return finish(&agent);
}
