#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int wsx_socket(int family, int type, int protocol) {
    return socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
}

int wsx_accept4(int listener, void *address, uint32_t *length) {
    return accept4(listener, address, address ? length : NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int wsx_peercred(int fd, int32_t *pid, uint32_t *uid, uint32_t *gid) {
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -1;
    *pid = credentials.pid;
    *uid = credentials.uid;
    *gid = credentials.gid;
    return 0;
}

int wsx_signalfd(const int *signals, size_t count) {
    sigset_t set;
    sigemptyset(&set);
    for (size_t index = 0; index < count; index++) {
        if (sigaddset(&set, signals[index]) != 0) return -1;
    }
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

int wsx_read_signal(int fd) {
    struct signalfd_siginfo info;
    ssize_t count;
    do count = read(fd, &info, sizeof info);
    while (count < 0 && errno == EINTR);
    if (count == (ssize_t)sizeof info) return (int)info.ssi_signo;
    return count < 0 && errno != EAGAIN ? -1 : 0;
}

int wsx_forbid_dumps(void) {
    /* A core_pattern that pipes to a program ignores the limit but respects the flag. */
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int wsx_keep_free_memory(int mapped, int kept) {
    /* Setting either also turns off glibc's dynamic adjustment of both. */
    return mallopt(M_MMAP_THRESHOLD, mapped) && mallopt(M_TRIM_THRESHOLD, kept) ? 0 : -1;
}

void wsx_give_back_memory(size_t kept) {
    /* Little is not worth it: the next turn would have to take it again, page by page. */
    if (mallinfo2().fordblks > kept) malloc_trim(0);
}

/* Unmaps the pages of one program or library that only its file can have filled. */
static int leave_pages(struct dl_phdr_info *object, size_t size, void *context) {
    (void)size;
    (void)context;
    /* The kernel's own object has no file; the program itself has no name. */
    if (object->dlpi_name[0] != '\0' && object->dlpi_name[0] != '/') return 0;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || part->p_flags & PF_W) continue;
        uintptr_t first = (object->dlpi_addr + part->p_vaddr) & ~(page - 1);
        uintptr_t end = object->dlpi_addr + part->p_vaddr + part->p_memsz;
        madvise((void *)first, end - first, MADV_DONTNEED);
    }
    return 0;
}

void wsx_leave_program_pages(void) { dl_iterate_phdr(leave_pages, NULL); }

uint64_t wsx_want_descriptors(uint64_t wanted) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    if (limit.rlim_cur >= wanted) return limit.rlim_cur;
    struct rlimit more = {wanted < limit.rlim_max ? wanted : limit.rlim_max, limit.rlim_max};
    return setrlimit(RLIMIT_NOFILE, &more) == 0 ? more.rlim_cur : limit.rlim_cur;
}

int wsx_may_be_dumped(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }

int wsx_set_name(const char *name) {
    char cut[16] = {0};
    strncpy(cut, name, sizeof cut - 1);
    int number = pthread_setname_np(pthread_self(), cut);
    if (number == 0) return 0;
    errno = number;
    return -1;
}

int wsx_close_from(int first) { return close_range((unsigned)first, ~0U, 0); }

int wsx_spawn_close_from(posix_spawn_file_actions_t *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

int wsx_spawn_chdir(posix_spawn_file_actions_t *actions, const char *path) {
    return posix_spawn_file_actions_addchdir_np(actions, path);
}

int wsx_begin_writing(int fd, int64_t offset, int64_t length) {
    return sync_file_range(fd, offset, length, SYNC_FILE_RANGE_WRITE);
}

int wsx_await_writing(int fd, int64_t offset, int64_t length) {
    return sync_file_range(fd, offset, length, SYNC_FILE_RANGE_WAIT_BEFORE);
}

int wsx_sync_file_system(int fd) { return syncfs(fd); }

int wsx_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

int wsx_process_descriptor(int process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int wsx_birth_time(const char *path, int64_t *seconds, uint32_t *nanoseconds) {
    struct statx status;
    if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &status) != 0) return -1;
    if (!(status.stx_mask & STATX_BTIME)) {
        errno = ENOTSUP;
        return -1;
    }
    *seconds = status.stx_btime.tv_sec;
    *nanoseconds = status.stx_btime.tv_nsec;
    return 0;
}

int wsx_unnamed_file(const char *folder) {
    return open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

int wsx_name_file(int fd, const char *path) {
    char own[32];
    snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, own, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

int wsx_rename_new(const char *path, const char *other) {
    return renameat2(AT_FDCWD, path, AT_FDCWD, other, RENAME_NOREPLACE);
}

int wsx_rename_new_at(int folder, const char *name, const char *other) {
    return renameat2(folder, name, folder, other, RENAME_NOREPLACE);
}

int wsx_network_changes(void) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0) return -1;
    struct sockaddr_nl address = {0};
    address.nl_family = AF_NETLINK;
    address.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR |
                        RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    int number = errno;
    close(fd);
    errno = number;
    return -1;
}

int wsx_drain_network_changes(int fd) {
    // The caller reads the new state with getifaddrs, so the messages need no parsing. A lost
    // message (ENOBUFS) counts as a change.
    int changed = 0;
    char buffer[8192];
    for (;;) {
        ssize_t count = recv(fd, buffer, sizeof buffer, 0);
        if (count > 0 || (count < 0 && errno == ENOBUFS)) {
            changed = 1;
        } else if (count == 0 || errno != EINTR) {
            return count < 0 && errno != EAGAIN ? -1 : changed;
        }
    }
}

int wsx_exit_status(int wait_status) {
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

const char *wsx_error_text(int number) { return strerrordesc_np(number); }
