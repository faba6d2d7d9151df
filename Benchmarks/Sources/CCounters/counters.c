#define _GNU_SOURCE
#include "counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

// MARK: Allocations

static _Atomic uint64_t allocations;
static _Atomic uint64_t retains;

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void count_allocation(void) { atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed); }

// These come before the C library's own, because the program is searched first.
void *malloc(size_t size) {
    count_allocation();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    count_allocation();
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
    count_allocation();
    return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count_allocation();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    count_allocation();
    *block = __libc_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}

// MARK: Retains

// The linker sends every call of these functions of Swift's runtime here (`--wrap`, in Package.swift).
extern void *__real_swift_retain(void *);
extern void *__real_swift_retain_n(void *, uint32_t);
extern void *__real_swift_bridgeObjectRetain(void *);
extern void *__real_swift_bridgeObjectRetain_n(void *, int);

static void count_retain(void) { atomic_fetch_add_explicit(&retains, 1, memory_order_relaxed); }

void *__wrap_swift_retain(void *object) {
    count_retain();
    return __real_swift_retain(object);
}

void *__wrap_swift_retain_n(void *object, uint32_t count) {
    count_retain();
    return __real_swift_retain_n(object, count);
}

void *__wrap_swift_bridgeObjectRetain(void *object) {
    count_retain();
    return __real_swift_bridgeObjectRetain(object);
}

void *__wrap_swift_bridgeObjectRetain_n(void *object, int count) {
    count_retain();
    return __real_swift_bridgeObjectRetain_n(object, count);
}

struct strata_counts strata_counts_now(void) {
    return (struct strata_counts){
        .allocations = atomic_load_explicit(&allocations, memory_order_relaxed),
        .retains = atomic_load_explicit(&retains, memory_order_relaxed),
    };
}

// MARK: Instructions

int strata_open_instructions(void) {
    struct perf_event_attr event;
    memset(&event, 0, sizeof event);
    event.type = PERF_TYPE_HARDWARE;
    event.size = sizeof event;
    event.config = PERF_COUNT_HW_INSTRUCTIONS;
    event.exclude_kernel = 1;
    event.exclude_hv = 1;
    event.inherit = 1;
    return (int)syscall(SYS_perf_event_open, &event, 0, -1, -1, 0);
}

uint64_t strata_read_instructions(int counter) {
    uint64_t value = 0;
    return read(counter, &value, sizeof value) == sizeof value ? value : 0;
}

// MARK: System calls

// A call that nothing else makes: asking for the priority of a user of this number.
enum { mark_which = 0x5354, mark_who = 0x5241 };

void strata_mark(void) { syscall(SYS_getpriority, mark_which, mark_who); }

/// Counts the calls that `thread` enters; returns true at a mark. How often threads wait for each other or wake each
/// other depends on how busy the machine is, so these calls are left out.
static bool enters_mark(pid_t thread, uint64_t *calls) {
    struct __ptrace_syscall_info info;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) <= 0) return false;
    if (info.op != PTRACE_SYSCALL_INFO_ENTRY) return false;
    if (info.entry.nr == SYS_getpriority && info.entry.args[0] == mark_which && info.entry.args[1] == mark_who) {
        return true;
    }
    if (info.entry.nr != SYS_futex && info.entry.nr != SYS_sched_yield) *calls += 1;
    return false;
}

int strata_trace_system_calls(char *const arguments[], uint64_t *counts, int capacity, int *count) {
    pid_t child = fork();
    if (child < 0) return -1;
    if (child == 0) {
        // The program would run unnoticed where it may not be traced.
        if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) _exit(126);
        execv(arguments[0], arguments);
        _exit(127);
    }
    int status;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return -1;
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SETOPTIONS, child, 0, options) != 0) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        return -1;
    }
    uint64_t calls = 0;
    *count = 0;
    pid_t thread = child;
    int signal = 0;
    while (true) {
        ptrace(PTRACE_SYSCALL, thread, 0, signal);
        thread = waitpid(-1, &status, __WALL);
        if (thread < 0) return -1;
        signal = 0;
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (thread != child) continue;
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        if (!WIFSTOPPED(status)) continue;
        int stop = WSTOPSIG(status);
        if (stop == (SIGTRAP | 0x80)) {
            if (enters_mark(thread, &calls)) {
                if (*count < capacity) counts[(*count)++] = calls;
                calls = 0;
            }
        } else if (status >> 16 == 0 && stop != SIGSTOP) {
            // Neither an event of the tracer nor the first stop of a thread.
            signal = stop;
        }
    }
}
