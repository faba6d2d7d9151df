// Linux calls that Swift's C library module does not show, because they need _GNU_SOURCE.
#define _GNU_SOURCE
#include "cstrata.h"

#include <fcntl.h>
#include <pthread.h>

int strata_finish_writeback(int descriptor, int64_t position, int64_t count) {
    return sync_file_range(
        descriptor, position, count,
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
}

int strata_name_this_thread(const char *name) { return pthread_setname_np(pthread_self(), name); }
