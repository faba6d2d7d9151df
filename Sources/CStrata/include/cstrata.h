// What Swift cannot say: CRC-32C with the processor's own instructions, and Linux calls that its C library module
// hides.
#ifndef CSTRATA_H
#define CSTRATA_H

#include <stddef.h>
#include <stdint.h>

// Each takes the checksum of what came before (0 at the start) and returns the checksum including `bytes`.
// They agree on every input; which of them exist depends on the processor.
uint32_t strata_crc32c(uint32_t checksum, const void *bytes, size_t count);
uint32_t strata_crc32c_portable(uint32_t checksum, const void *bytes, size_t count);
uint32_t strata_crc32c_hardware(uint32_t checksum, const void *bytes, size_t count);

// Whether `strata_crc32c_hardware` may be called on this processor; `strata_crc32c` asks by itself.
int strata_crc32c_has_hardware(void);

// Has the pages written back and returns once they have been handed to the medium; no promise that they survive a loss
// of power. 0, or -1 with errno.
int strata_finish_writeback(int descriptor, int64_t position, int64_t count);

// Locks of one byte that belong to the open file, not to the process. 0, or -1 with errno; `is_byte_locked` says 1 if
// another open file has the lock and 0 if none has.
int strata_lock_byte(int descriptor, int64_t position);
int strata_unlock_byte(int descriptor, int64_t position);
int strata_unlock_all_bytes(int descriptor);
int strata_is_byte_locked(int descriptor, int64_t position);

// Waits until somebody, of this process or another that maps the same file, wakes those who wait at the word; not at
// all if it has another value. 0 if woken, else -1 with errno. The word is a multiple of 4 and need not be writable.
int strata_wait_while_equal(const void *word, uint32_t value, int64_t milliseconds);
// How many were woken, or -1 with errno.
int strata_wake_waiters(const void *word);

// Changes of a word in shared memory that nobody misses: what was stored before them is seen by whoever sees them.
void strata_increment(void *word);
// Puts 0 in place of what it returns.
uint32_t strata_take(void *word);

// Has the pages written back, and does not wait for it. 0, or -1 with errno.
int strata_start_writeback(int descriptor, int64_t position, int64_t count);

// Keeps the process alive when a page of a mapped file within these bytes cannot be had (SIGBUS): a page of zeros
// comes into its place, and 1 plus its distance from `start` into `note`, unless that is not 0 already. Returns what
// `strata_unguard` must be given before the bytes are unmapped; -1 if there is no room for more: then all is as
// without it.
int strata_guard(void *start, size_t count, int is_writable, uint64_t *note);
void strata_unguard(int range);

// Gives an empty file the other one's content without copying it. 0, or -1 with errno where the file system cannot.
int strata_share_content(int target, int source);

// Gives the calling thread, on Linux it alone, less of the processor than others of its process. 0, or -1 with errno.
int strata_lower_priority(void);

// Names the calling thread for debuggers; at most 15 bytes. 0, or an error number.
int strata_name_this_thread(const char *name);

// Asks for memory that will be needed soon, a cache line at a time; promises nothing, and never faults.
static inline void strata_prefetch(const void *start, size_t count) {
    const char *line = (const char *)start;
    for (size_t place = 0; place < count; place += 64) __builtin_prefetch(line + place);
}

// Returns memory that was allocated and freed to the system, where the C library can.
void strata_give_back_freed_memory(void);

#endif
