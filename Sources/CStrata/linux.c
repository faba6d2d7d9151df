// Linux calls that Swift's C library module does not show, because they need _GNU_SOURCE.
#define _GNU_SOURCE
#include "cstrata.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int strata_finish_writeback(int descriptor, int64_t position, int64_t count) {
    return sync_file_range(
        descriptor, position, count,
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
}

int strata_start_writeback(int descriptor, int64_t position, int64_t count) {
    return sync_file_range(descriptor, position, count, SYNC_FILE_RANGE_WRITE);
}

void strata_give_back_freed_memory(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

int strata_share_content(int target, int source) { return ioctl(target, FICLONE, source); }

int strata_lower_priority(void) { return setpriority(PRIO_PROCESS, 0, 10); }

int strata_name_this_thread(const char *name) { return pthread_setname_np(pthread_self(), name); }

static struct flock byte_lock(short type, int64_t position) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = position, .l_len = 1};
    return lock;
}

int strata_lock_byte(int descriptor, int64_t position) {
    struct flock lock = byte_lock(F_WRLCK, position);
    return fcntl(descriptor, F_OFD_SETLK, &lock);
}

int strata_unlock_byte(int descriptor, int64_t position) {
    struct flock lock = byte_lock(F_UNLCK, position);
    return fcntl(descriptor, F_OFD_SETLK, &lock);
}

int strata_unlock_all_bytes(int descriptor) {
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    return fcntl(descriptor, F_OFD_SETLK, &lock);
}

int strata_is_byte_locked(int descriptor, int64_t position) {
    struct flock lock = byte_lock(F_WRLCK, position);
    if (fcntl(descriptor, F_OFD_GETLK, &lock) != 0) return -1;
    return lock.l_type != F_UNLCK;
}

int strata_wait_while_equal(const void *word, uint32_t value, int64_t milliseconds) {
    struct timespec limit = {.tv_sec = milliseconds / 1000, .tv_nsec = (milliseconds % 1000) * 1000000};
    return (int)syscall(SYS_futex, word, FUTEX_WAIT, value, &limit, NULL, 0);
}

int strata_wake_waiters(const void *word) {
    return (int)syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void strata_increment(void *word) { __atomic_add_fetch((uint32_t *)word, 1, __ATOMIC_SEQ_CST); }

uint32_t strata_take(void *word) { return __atomic_exchange_n((uint32_t *)word, 0, __ATOMIC_SEQ_CST); }
