#ifndef STRATA_COUNTERS_H
#define STRATA_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

/// Counts of the whole process, over all of its threads, since it started.
struct strata_counts {
    uint64_t allocations;
    uint64_t retains;
};

struct strata_counts strata_counts_now(void);

/// Opens a counter of the instructions of this process and of the threads that it starts later; returns -1 where the
/// machine has none.
int strata_open_instructions(void);
uint64_t strata_read_instructions(int counter);

/// Runs a program under a tracer that counts the system calls of all of its threads between marks, but for those by
/// which threads wait. The marks' counts go to `counts`, in order. Returns the program's exit status, or -1 if tracing
/// is not allowed here.
int strata_trace_system_calls(char *const arguments[], uint64_t *counts, int capacity, int *count);
/// Marks a place for the tracer of this program; does nothing if there is none.
void strata_mark(void);

#endif
