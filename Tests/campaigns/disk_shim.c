/* Records and injects disk faults into wsx-node; loaded with LD_PRELOAD.
 *
 * WSX_SHIM_ROOT     the folder to watch; calls on other files pass through
 * WSX_SHIM_JOURNAL  record: appends every change of a file below the root to this file, in order,
 *                   as struct record, path, bytes. The calls themselves are unchanged.
 * WSX_SHIM_RULES    fail: a page shared with the campaign (faults.py), read at every call, so the
 *                   rules may change while the node runs.
 *
 * Files that end in -shm are not durable: they are not recorded, but may fail.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { FDS = 4096, NAME = 200, RULES = 8 };

struct record {
    char magic[4], op, pad[3];
    uint64_t offset, length, time, inode;
    uint32_t names, pid;
};

/* How a call fails: an errno, or one of these. */
enum { SHORT = 1000, TORN_EIO, TORN_FULL, FLIP };

struct rule {
    char call[12], suffix[40];
    int32_t error, pad;
    int64_t low, high;   /* the byte range that a call must touch */
    int64_t skip, count; /* calls that succeed first, then calls that fail; -1: all */
    int64_t struck;      /* how often the rule applied, read by the campaign */
};

static char root[PATH_MAX];
static size_t root_length;
static int journal = -1;
static struct rule *rules;
static char names[FDS][NAME]; /* relative to the root; "" is none, "." the root itself */
static char unsynced[FDS];       /* written since its last sync */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }
#define REAL(name) ((__typeof__(&name))real(#name))

static const char *below(const char *path) {
    if (!root_length || strncmp(path, root, root_length)) return NULL;
    if (!path[root_length]) return ".";
    return path[root_length] == '/' ? path + root_length + 1 : NULL;
}

/* A file that was already open at the start, such as the log. */
static void inherit(int fd) {
    char link[32], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return;
    path[length] = 0;
    const char *name = below(path);
    if (name) snprintf(names[fd], NAME, "%s", name);
}

__attribute__((constructor)) static void start(void) {
    const char *folder = getenv("WSX_SHIM_ROOT"), *path = getenv("WSX_SHIM_JOURNAL");
    const char *page = getenv("WSX_SHIM_RULES");
    if (!folder) return;
    root_length = strlen(folder);
    memcpy(root, folder, root_length + 1);
    for (int fd = 1; fd <= 2; fd++) inherit(fd);
    if (path) journal = REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (!page) return;
    int fd = REAL(open)(page, O_RDWR | O_CLOEXEC);
    void *at = REAL(mmap)(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    rules = at == MAP_FAILED ? NULL : at;
    REAL(close)(fd);
}

static const char *name_of(int fd) {
    return fd >= 0 && fd < FDS && names[fd][0] ? names[fd] : NULL;
}

static int is_shm(const char *name) {
    size_t length = strlen(name);
    return length > 4 && !strcmp(name + length - 4, "-shm");
}

/* `fd` identifies the file by inode, as its name may change; -1 if only a name changes. */
static void note(char op, int fd, const char *name, const char *other, int64_t offset,
                 const void *bytes, size_t length) {
    if (journal < 0 || is_shm(name)) return;
    int saved = errno;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct record r = {.magic = "WSXJ", .op = op, .offset = (uint64_t)offset, .length = length};
    r.time = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    r.pid = (uint32_t)getpid();
    struct stat found;
    if (fd >= 0 && !fstat(fd, &found)) r.inode = found.st_ino;
    size_t first = strlen(name) + 1, second = other ? strlen(other) + 1 : 0;
    r.names = (uint32_t)(first + second);
    struct iovec parts[] = {{&r, sizeof r}, {(void *)name, first}, {(void *)other, second},
                            {(void *)bytes, bytes ? length : 0}};
    if (writev(journal, parts, 4) < 0) abort();
    errno = saved;
}

/* The fault for this call, or 0. */
static int fault(const char *call, const char *name, int64_t offset, int64_t length) {
    if (!rules || !name) return 0;
    for (int i = 0; i < RULES; i++) {
        struct rule *r = rules + i;
        if (!r->error || !r->count || strcmp(r->call, call)) continue;
        size_t whole = strlen(name), part = strlen(r->suffix);
        if (part > whole || strcmp(name + whole - part, r->suffix)) continue;
        if (offset >= r->high || offset + (length ? length : 1) <= r->low) continue;
        if (__atomic_fetch_sub(&r->skip, 1, __ATOMIC_SEQ_CST) > 0) continue;
        if (r->count > 0) r->count--;
        __atomic_fetch_add(&r->struck, 1, __ATOMIC_SEQ_CST);
        return r->error;
    }
    return 0;
}

static int fails(const char *call, const char *name) {
    int error = fault(call, name, 0, 0);
    if (error) errno = error >= SHORT ? EIO : error;
    return error;
}

static int opened(int fd, const char *name, int made, int flags) {
    if (fd < 0 || fd >= FDS || !name) return fd;
    snprintf(names[fd], NAME, "%s", name);
    if (made) note('O', fd, name, NULL, 0, NULL, 0);
    else if (flags & O_TRUNC) note('T', fd, name, NULL, 0, NULL, 0);
    return fd;
}

#define OPENING(function, call_real)                                                       \
    mode_t mode = 0;                                                                       \
    if (flags & (O_CREAT | O_TMPFILE)) {                                                   \
        va_list rest;                                                                      \
        va_start(rest, flags);                                                             \
        mode = va_arg(rest, mode_t);                                                       \
        va_end(rest);                                                                      \
    }                                                                                      \
    const char *name = below(path);                                                        \
    if (!name) return call_real;                                                           \
    if (fails("open", name)) return -1;                                                    \
    pthread_mutex_lock(&lock);                                                             \
    struct stat found;                                                                     \
    int made = (flags & O_CREAT) && stat(path, &found) != 0;                               \
    int fd = opened(call_real, name, made, flags);                                         \
    pthread_mutex_unlock(&lock);                                                           \
    return fd;

int open(const char *path, int flags, ...) { OPENING(open, REAL(open)(path, flags, mode)) }
int open64(const char *path, int flags, ...) { OPENING(open64, REAL(open64)(path, flags, mode)) }
int openat(int at, const char *path, int flags, ...) {
    OPENING(openat, REAL(openat)(at, path, flags, mode))
}

int close(int fd) {
    if (fd >= 0 && fd < FDS) names[fd][0] = 0;
    return REAL(close)(fd);
}

static ssize_t writes(int fd, const void *bytes, size_t length, int64_t offset) {
    const char *name = name_of(fd);
    int is_at = offset >= 0;
    ssize_t (*put)(int, const void *, size_t) = REAL(write);
    ssize_t (*put_at)(int, const void *, size_t, off_t) = REAL(pwrite);
    if (!name) return is_at ? put_at(fd, bytes, length, offset) : put(fd, bytes, length);
    pthread_mutex_lock(&lock);
    if (!is_at) {
        struct stat found;
        int appends = fcntl(fd, F_GETFL) & O_APPEND;
        offset = appends && !fstat(fd, &found) ? found.st_size : lseek(fd, 0, SEEK_CUR);
    }
    int error = fault("write", name, offset, (int64_t)length);
    size_t part = error >= SHORT && length > 1 ? length / 2 : length;
    ssize_t done = -1;
    if (!error || error >= SHORT) {
        done = is_at ? put_at(fd, bytes, part, offset) : put(fd, bytes, part);
    }
    if (done > 0) {
        note('W', fd, name, NULL, offset, bytes, (size_t)done);
        if (fd < FDS) unsynced[fd] = 1;
    }
    pthread_mutex_unlock(&lock);
    if (error && error != SHORT) {
        errno = error == TORN_FULL ? ENOSPC : error >= SHORT ? EIO : error;
        return -1;
    }
    return done;
}

ssize_t write(int fd, const void *bytes, size_t length) { return writes(fd, bytes, length, -1); }
ssize_t pwrite(int fd, const void *b, size_t n, off_t at) { return writes(fd, b, n, at); }
ssize_t pwrite64(int fd, const void *b, size_t n, off64_t at) { return writes(fd, b, n, at); }

static ssize_t reads(int fd, void *bytes, size_t length, int64_t offset) {
    const char *name = name_of(fd);
    int64_t at = offset >= 0 || !name ? offset : lseek(fd, 0, SEEK_CUR);
    int error = fault("read", name, at, (int64_t)length);
    if (error && error < SHORT) {
        errno = error;
        return -1;
    }
    size_t part = error == SHORT && length > 1 ? length / 2 : length;
    ssize_t done =
        offset >= 0 ? REAL(pread)(fd, bytes, part, offset) : REAL(read)(fd, bytes, part);
    if (error == FLIP && done > 0) ((unsigned char *)bytes)[done / 2] ^= 4;
    return done;
}

ssize_t read(int fd, void *bytes, size_t length) { return reads(fd, bytes, length, -1); }
ssize_t pread(int fd, void *bytes, size_t length, off_t at) { return reads(fd, bytes, length, at); }
ssize_t pread64(int fd, void *bytes, size_t n, off64_t at) { return reads(fd, bytes, n, at); }

static int syncs(int fd, int (*sync)(int)) {
    const char *name = name_of(fd);
    if (fails("sync", name)) return -1;
    if (name) pthread_mutex_lock(&lock);
    int done = sync(fd);
    if (name) {
        if (!done) {
            note('S', fd, name, NULL, 0, NULL, 0);
            if (fd < FDS) unsynced[fd] = 0;
        }
        pthread_mutex_unlock(&lock);
    }
    return done;
}

int fsync(int fd) { return syncs(fd, REAL(fsync)); }
int fdatasync(int fd) { return syncs(fd, REAL(fdatasync)); }

static int truncates(int fd, int64_t length) {
    const char *name = name_of(fd);
    if (fails("truncate", name)) return -1;
    int done = REAL(ftruncate)(fd, length);
    if (name && !done) note('T', fd, name, NULL, length, NULL, 0);
    return done;
}

int ftruncate(int fd, off_t length) { return truncates(fd, length); }
int ftruncate64(int fd, off64_t length) { return truncates(fd, length); }

int unlink(const char *path) {
    const char *name = below(path);
    if (fails("unlink", name)) return -1;
    int done = REAL(unlink)(path);
    if (name && !done) note('U', -1, name, NULL, 0, NULL, 0);
    return done;
}

int rename(const char *path, const char *to) {
    const char *name = below(path), *other = below(to);
    if (fails("rename", other)) return -1;
    int done = REAL(rename)(path, to);
    if (name && other && !done) note('R', -1, name, other, 0, NULL, 0);
    return done;
}

int link(const char *path, const char *to) {
    const char *name = below(path), *other = below(to);
    if (fails("link", other)) return -1;
    int done = REAL(link)(path, to);
    if (name && other && !done) note('L', -1, name, other, 0, NULL, 0);
    return done;
}

/* The path of a name in an open folder. Absolute names, and names in a folder that cannot be
   resolved, are returned unchanged. */
static const char *at_folder(int folder, const char *name, char *path) {
    char own[32];
    if (name[0] == '/' || folder == AT_FDCWD) return name;
    snprintf(own, sizeof own, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(own, path, PATH_MAX - 1);
    if (length < 0 || (size_t)length + strlen(name) + 2 > PATH_MAX) return name;
    snprintf(path + length, PATH_MAX - (size_t)length, "/%s", name);
    return path;
}

int unlinkat(int folder, const char *path, int flags) {
    char whole[PATH_MAX];
    const char *name = below(at_folder(folder, path, whole));
    if (!(flags & AT_REMOVEDIR) && fails("unlink", name)) return -1;
    int done = REAL(unlinkat)(folder, path, flags);
    if (name && !done && !(flags & AT_REMOVEDIR)) note('U', -1, name, NULL, 0, NULL, 0);
    return done;
}

int renameat2(int from, const char *path, int into, const char *to, unsigned int flags) {
    char whole[PATH_MAX], target[PATH_MAX];
    const char *name = below(at_folder(from, path, whole));
    const char *other = below(at_folder(into, to, target));
    if (fails("rename", other)) return -1;
    int done = REAL(renameat2)(from, path, into, to, flags);
    if (name && other && !done) note('R', -1, name, other, 0, NULL, 0);
    return done;
}

/* A file created without a name gets one. Its earlier writes are not in the journal, so record the
   whole content here, and its last sync. */
static void name_unnamed(int fd, const char *name) {
    struct stat found;
    if (fd < 0 || fd >= FDS || fstat(fd, &found)) return;
    note('O', fd, name, NULL, 0, NULL, 0);
    char part[65536];
    for (off_t at = 0; at < found.st_size;) {
        ssize_t length = REAL(pread)(fd, part, sizeof part, at);
        if (length <= 0) break;
        note('W', fd, name, NULL, at, part, (size_t)length);
        at += length;
    }
    if (!unsynced[fd]) note('S', fd, name, NULL, 0, NULL, 0);
}

int linkat(int from, const char *path, int into, const char *to, int flags) {
    char whole[PATH_MAX], target[PATH_MAX];
    const char *name = below(at_folder(from, path, whole));
    const char *other = below(at_folder(into, to, target));
    if (fails("link", other)) return -1;
    int done = REAL(linkat)(from, path, into, to, flags);
    int fd = -1;
    if (done) return done;
    if (name && other) note('L', -1, name, other, 0, NULL, 0);
    if (!name && other && sscanf(path, "/proc/self/fd/%d", &fd) == 1) name_unnamed(fd, other);
    return done;
}

int mkdir(const char *path, mode_t mode) {
    const char *name = below(path);
    if (fails("mkdir", name)) return -1;
    int done = REAL(mkdir)(path, mode);
    if (name && !done) note('K', -1, name, NULL, 0, NULL, 0);
    return done;
}

static void *maps(void *at, size_t length, int protection, int flags, int fd, off_t offset,
                  void *(*map)(void *, size_t, int, int, int, off_t)) {
    if (!(flags & MAP_ANONYMOUS) && fails("mmap", name_of(fd))) return MAP_FAILED;
    return map(at, length, protection, flags, fd, offset);
}

void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset) {
    return maps(at, length, protection, flags, fd, offset, REAL(mmap));
}

void *mmap64(void *at, size_t length, int protection, int flags, int fd, off64_t offset) {
    return maps(at, length, protection, flags, fd, offset, REAL(mmap));
}
