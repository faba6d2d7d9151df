// Loaded into a child with LD_PRELOAD: makes calls on the files of one folder fail at random, as a medium that breaks,
// a disk that is full, or a system that writes less than it was given.
//
// TORTURE_FOLDER: the folder; TORTURE_SEED; TORTURE_AFTER: so many calls go well first; TORTURE_EVERY: one in so many
// fails from then on; TORTURE_KINDS: eio, enospc, short, separated by commas.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

enum { EIO_KIND = 1, ENOSPC_KIND = 2, SHORT_KIND = 4 };

static const char *folder;
static size_t folder_length;
static uint64_t seed, after, every;
static int kinds;
static _Atomic uint64_t calls;
static _Atomic unsigned char is_ours[65536];

static uint64_t number(const char *name) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void prepare(void) {
    folder = getenv("TORTURE_FOLDER");
    folder_length = folder ? strlen(folder) : 0;
    seed = number("TORTURE_SEED");
    after = number("TORTURE_AFTER");
    every = number("TORTURE_EVERY");
    const char *text = getenv("TORTURE_KINDS");
    if (text && strstr(text, "eio")) kinds |= EIO_KIND;
    if (text && strstr(text, "enospc")) kinds |= ENOSPC_KIND;
    if (text && strstr(text, "short")) kinds |= SHORT_KIND;
}

static uint64_t mixed(uint64_t value) {
    value += 0x9E3779B97F4A7C15u;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
    return value ^ (value >> 31);
}

static int is_path(const char *path) { return folder_length > 0 && path && strncmp(path, folder, folder_length) == 0; }

static int is_file(int file) { return file >= 0 && file < 65536 && atomic_load(&is_ours[file]); }

// The kind of failure of this call, of those that it can have; 0 if it goes well.
static int failure(int possible) {
    possible &= kinds;
    if (!possible || !every) return 0;
    uint64_t call = atomic_fetch_add(&calls, 1);
    if (call < after) return 0;
    uint64_t value = mixed(seed ^ call);
    if (value % every) return 0;
    int kind = 1 << (value >> 32) % 3;
    return possible & kind;
}

static int fails(int possible) {
    int kind = failure(possible & ~SHORT_KIND);
    if (kind) errno = kind == ENOSPC_KIND ? ENOSPC : EIO;
    return kind;
}

static int noted(int file, int ours) {
    if (file >= 0 && file < 65536) atomic_store(&is_ours[file], ours);
    return file;
}

#define MODE(last) \
    mode_t mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { \
        va_list list; \
        va_start(list, last); \
        mode = va_arg(list, mode_t); \
        va_end(list); \
    }

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(name); \
        MODE(flags) \
        int ours = is_path(path); \
        if (ours && fails(EIO_KIND | (flags & O_CREAT ? ENOSPC_KIND : 0))) return -1; \
        return noted(real(path, flags, mode), ours); \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        REAL(name); \
        MODE(flags) \
        int ours = is_path(path) || is_file(folder); \
        if (ours && fails(EIO_KIND | (flags & O_CREAT ? ENOSPC_KIND : 0))) return -1; \
        return noted(real(folder, path, flags, mode), ours); \
    }
OPENAT(openat)
OPENAT(openat64)

int close(int file) {
    REAL(close);
    noted(file, 0);
    return real(file);
}

#define READ(name, offset_type) \
    ssize_t name(int file, void *bytes, size_t count, offset_type offset) { \
        REAL(name); \
        int kind = is_file(file) ? failure(EIO_KIND | SHORT_KIND) : 0; \
        if (kind == EIO_KIND) return errno = EIO, -1; \
        return real(file, bytes, kind && count > 1 ? count / 2 : count, offset); \
    }
READ(pread, off_t)
READ(pread64, off64_t)

#define WRITE(name, offset_type) \
    ssize_t name(int file, const void *bytes, size_t count, offset_type offset) { \
        REAL(name); \
        int kind = is_file(file) ? failure(EIO_KIND | ENOSPC_KIND | SHORT_KIND) : 0; \
        if (kind == EIO_KIND || kind == ENOSPC_KIND) return errno = kind == EIO_KIND ? EIO : ENOSPC, -1; \
        return real(file, bytes, kind && count > 1 ? count / 2 : count, offset); \
    }
WRITE(pwrite, off_t)
WRITE(pwrite64, off64_t)

int fsync(int file) {
    REAL(fsync);
    return is_file(file) && fails(EIO_KIND | ENOSPC_KIND) ? -1 : real(file);
}

int fdatasync(int file) {
    REAL(fdatasync);
    return is_file(file) && fails(EIO_KIND | ENOSPC_KIND) ? -1 : real(file);
}

int sync_file_range(int file, off64_t start, off64_t count, unsigned flags) {
    REAL(sync_file_range);
    return is_file(file) && fails(EIO_KIND) ? -1 : real(file, start, count, flags);
}

int ftruncate(int file, off_t size) {
    REAL(ftruncate);
    return is_file(file) && fails(EIO_KIND) ? -1 : real(file, size);
}

int posix_fallocate(int file, off_t start, off_t count) {
    REAL(posix_fallocate);
    return is_file(file) && fails(EIO_KIND | ENOSPC_KIND) ? errno : real(file, start, count);
}

int rename(const char *from, const char *to) {
    REAL(rename);
    return is_path(from) && fails(EIO_KIND | ENOSPC_KIND) ? -1 : real(from, to);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    REAL(renameat);
    int ours = is_path(from) || is_file(from_folder);
    return ours && fails(EIO_KIND | ENOSPC_KIND) ? -1 : real(from_folder, from, to_folder, to);
}

int unlink(const char *path) {
    REAL(unlink);
    return is_path(path) && fails(EIO_KIND) ? -1 : real(path);
}

int unlinkat(int folder, const char *path, int flags) {
    REAL(unlinkat);
    return (is_path(path) || is_file(folder)) && fails(EIO_KIND) ? -1 : real(folder, path, flags);
}
