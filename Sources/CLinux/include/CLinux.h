#pragma once
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

// The few system calls and macros that Swift's Glibc module does not show. Each returns -1 and sets
// errno on failure unless it says otherwise. _GNU_SOURCE stays out of this header: with it, the
// system headers that Swift has already read would look different here.

// A socket of this family and type that is non-blocking and closed on exec.
int wsx_socket(int family, int type, int protocol);

// The next waiting connection, non-blocking and closed on exec. The peer's sockaddr goes to
// `address`, whose size in bytes is in `*length` before and after. `address` may be NULL.
int wsx_accept4(int listener, void *address, uint32_t *length);

// Who is at the other end of a Unix socket, as the kernel noted it when the link was made.
int wsx_peercred(int fd, int32_t *pid, uint32_t *uid, uint32_t *gid);

// A non-blocking descriptor that reports the signals in `signals`. Block them first.
int wsx_signalfd(const int *signals, size_t count);

// The number of the next signal, 0 if none waits.
int wsx_read_signal(int fd);

// No core file and no ptrace by others: both would hold keys.
int wsx_forbid_dumps(void);

// Keeps up to `kept` bytes of free memory at the end of each heap, and takes blocks of `mapped` bytes and more
// from the system, each for itself. -1 where the allocator knows no such thing.
int wsx_keep_free_memory(int mapped, int kept);

// Lets the process open up to `wanted` descriptors, or as many as it may ask for. Returns how many
// it may open then.
uint64_t wsx_want_descriptors(uint64_t wanted);

// 1 if the process may be dumped, else 0.
int wsx_may_be_dumped(void);

// Names the calling thread; longer names are cut to 15 bytes.
int wsx_set_name(const char *name);

// Closes every descriptor from `first` on.
int wsx_close_from(int first);

// Closes every descriptor from `first` on in the child. Returns an errno, 0 for none.
int wsx_spawn_close_from(posix_spawn_file_actions_t *actions, int first);

// Changes the child's folder. Returns an errno, 0 for none.
int wsx_spawn_chdir(posix_spawn_file_actions_t *actions, const char *path);

// Makes writes to the file pass the kernel's cache, or not; clears its other flags (O_APPEND ...).
// -1 and errno where the file system cannot do that.
int wsx_pass_cache(int fd, int is_on);

// Has the kernel begin to write `length` bytes of the file from `offset` on to the disk, and does not
// wait. Promises nothing of what a power cut leaves.
int wsx_begin_writing(int fd, int64_t offset, int64_t length);

// Returns once what was begun to be written of these bytes is written. Promises nothing either.
int wsx_await_writing(int fd, int64_t offset, int64_t length);

// Returns once a power cut costs nothing of the file system that `fd` is on.
int wsx_sync_file_system(int fd);

// A file in memory, empty, without a name, and closed on exec.
int wsx_memory_file(const char *name);

// A descriptor that is readable once the process has ended; closed on exec.
int wsx_process_descriptor(int process);

// When the file was made. errno is ENOTSUP where the file system does not say.
int wsx_birth_time(const char *path, int64_t *seconds, uint32_t *nanoseconds);

// A file in a folder that has no name, to be written. EOPNOTSUPP, EISDIR or EINVAL where there is no
// such thing.
int wsx_unnamed_file(const char *folder);

// Gives it a name, unless something has that: then EEXIST.
int wsx_name_file(int fd, const char *path);

// Renames a file unless something has the new name: then EEXIST. EINVAL where the file system cannot.
int wsx_rename_new(const char *path, const char *other);

// The same within an open folder, whatever its path stands for meanwhile.
int wsx_rename_new_at(int folder, const char *name, const char *other);

// A socket on which the kernel reports that addresses or links of this machine changed.
int wsx_network_changes(void);

// 1 if an address or a link changed since the last call, else 0. Reads `fd` empty.
int wsx_drain_network_changes(int fd);

// What a shell would show of a wait status: the exit status, or 128 + the signal's number.
int wsx_exit_status(int wait_status);

// The untranslated text of an errno, or NULL for a number that is none.
const char *wsx_error_text(int number);
