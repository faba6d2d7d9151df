// Keeps a process alive when a page of a mapped file cannot be had: the file was made shorter, or its medium failed.
//
// The kernel says so with SIGBUS, while the instruction that needs the page waits. Within ranges that were registered
// the handler puts a page of zeros in the place of the page that is missing and notes which it was; whoever reads there
// looks at the note afterward. Everything else goes to whatever handled the signal before.
#define _GNU_SOURCE
#include "cstrata.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#define RANGES 4096
#define BEING_CHANGED 1

struct range {
    // 0 if the range is free.
    _Atomic uintptr_t start;
    _Atomic uintptr_t end;
    _Atomic int protection;
    _Atomic(_Atomic uint64_t *) note;
};

static struct range ranges[RANGES];
// Behind the last range that was ever used.
static _Atomic int used_ranges;
static _Atomic int has_missing_pages;
static uintptr_t page_bytes;
static struct sigaction previous;
static pthread_once_t installed = PTHREAD_ONCE_INIT;

// Only what is safe within a signal handler: atomic loads and stores, and system calls.
static int put_zeros(uintptr_t address) {
    int count = atomic_load(&used_ranges);
    for (int index = 0; index < count; index++) {
        struct range *range = &ranges[index];
        uintptr_t start = atomic_load(&range->start);
        if (start <= BEING_CHANGED || address < start || address >= atomic_load(&range->end)) continue;
        int protection = atomic_load(&range->protection);
        _Atomic uint64_t *note = atomic_load(&range->note);
        // The range that is being read does not go meanwhile; any other may have been another one's just now.
        if (atomic_load(&range->start) != start) continue;
        uintptr_t page = address & ~(page_bytes - 1);
        void *zeros = mmap(
            (void *)page, page_bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (zeros == MAP_FAILED) return 0;
        uint64_t none = 0;
        atomic_compare_exchange_strong(note, &none, (uint64_t)(page - start) + 1);
        atomic_store(&has_missing_pages, 1);
        return 1;
    }
    return 0;
}

static void pass_on(int signal, siginfo_t *info, void *context) {
    if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(signal, info, context);
        return;
    }
    int was_sent = info->si_code <= 0;
    if (previous.sa_handler == SIG_IGN && was_sent) return;
    if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
        previous.sa_handler(signal);
        return;
    }
    // As without this handler: the instruction is tried once more, and the process ends where it failed.
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigaction(SIGBUS, &plain, NULL);
    if (was_sent) raise(SIGBUS);
}

static void handle(int signal, siginfo_t *info, void *context) {
    if (info->si_code > 0 && put_zeros((uintptr_t)info->si_addr)) return;
    pass_on(signal, info, context);
}

static void install(void) {
    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &previous);
}

int strata_guard(void *start, size_t count, int is_writable, uint64_t *note) {
    pthread_once(&installed, install);
    for (int index = 0; index < RANGES; index++) {
        struct range *range = &ranges[index];
        uintptr_t nobody = 0;
        if (!atomic_compare_exchange_strong(&range->start, &nobody, BEING_CHANGED)) continue;
        atomic_store(&range->end, (uintptr_t)start + count);
        atomic_store(&range->protection, is_writable ? PROT_READ | PROT_WRITE : PROT_READ);
        atomic_store(&range->note, (_Atomic uint64_t *)note);
        atomic_store(&range->start, (uintptr_t)start);
        int seen = atomic_load(&used_ranges);
        while (seen <= index && !atomic_compare_exchange_weak(&used_ranges, &seen, index + 1)) {}
        return index;
    }
    return -1;
}

int strata_has_missing_pages(void) { return atomic_load_explicit(&has_missing_pages, memory_order_acquire); }

void strata_unguard(int range) {
    if (range >= 0) atomic_store(&ranges[range].start, 0);
}
