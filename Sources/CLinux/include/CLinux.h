#pragma once
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

// System calls and macros that Swift's Glibc module lacks. Each returns -1 and sets errno on
// failure unless it says otherwise. Do not define _GNU_SOURCE in this header: the system headers
// that Swift has already read would look different here.

// Opens a socket of this family and type, non-blocking and close-on-exec.
int wsx_socket(int family, int type, int protocol);

// Accepts the next connection, non-blocking and close-on-exec. Writes the peer's sockaddr to
// `address`; `*length` holds its size in bytes before and after. `address` may be NULL.
int wsx_accept4(int listener, void *address, uint32_t *length);

// The process at the other end of a Unix socket, as recorded by the kernel at connect time.
int wsx_peercred(int fd, int32_t *pid, uint32_t *uid, uint32_t *gid);

// Opens a non-blocking descriptor that reports the signals in `signals`. Block them first.
int wsx_signalfd(const int *signals, size_t count);

// The number of the next signal, 0 if none is pending.
int wsx_read_signal(int fd);

// Forbids core files and ptrace by other processes: both would expose keys.
int wsx_forbid_dumps(void);

// Makes malloc keep up to `kept` bytes of free memory at the end of each heap, and mmap blocks of
// `mapped` bytes and more. Returns -1 if the allocator does not support this.
int wsx_keep_free_memory(int mapped, int kept);

// Returns all free memory to the system, if it is more than `kept` bytes: the end of a heap only of
// the main thread's.
void wsx_give_back_memory(size_t kept);

// Unmaps all code and constants of the program and its libraries. What is used again is mapped
// again from the files, which usually are in the kernel's cache.
void wsx_leave_program_pages(void);

// Raises the limit of open descriptors to `wanted`, or as far as allowed. Returns the new limit.
uint64_t wsx_want_descriptors(uint64_t wanted);

// 1 if the process may be dumped, else 0.
int wsx_may_be_dumped(void);

// Names the calling thread; cuts names to 15 bytes.
int wsx_set_name(const char *name);

// Closes every descriptor from `first` on.
int wsx_close_from(int first);

// Closes every descriptor from `first` on in the child. Returns an errno, 0 for none.
int wsx_spawn_close_from(posix_spawn_file_actions_t *actions, int first);

// Sets the child's working folder. Returns an errno, 0 for none.
int wsx_spawn_chdir(posix_spawn_file_actions_t *actions, const char *path);

// Starts writing `length` bytes of the file from `offset` on to the disk, without waiting. This is
// no protection against a power cut.
int wsx_begin_writing(int fd, int64_t offset, int64_t length);

// Waits until that writing is done for these bytes. No protection against a power cut either.
int wsx_await_writing(int fd, int64_t offset, int64_t length);

// Syncs the whole file system that contains `fd`.
int wsx_sync_file_system(int fd);

// Creates an empty, unnamed file in memory, close-on-exec.
int wsx_memory_file(const char *name);

// Opens a descriptor that becomes readable when the process ends; close-on-exec.
int wsx_process_descriptor(int process);

// The creation time of a file. Fails with ENOTSUP if the file system does not record it.
int wsx_birth_time(const char *path, int64_t *seconds, uint32_t *nanoseconds);

// Creates an unnamed file in a folder, open for writing. Fails with EOPNOTSUPP, EISDIR or EINVAL if
// that is not supported.
int wsx_unnamed_file(const char *folder);

// Gives an unnamed file a name. Fails with EEXIST if the name is taken.
int wsx_name_file(int fd, const char *path);

// Renames a file. Fails with EEXIST if the new name is taken, or EINVAL if not supported.
int wsx_rename_new(const char *path, const char *other);

// The same within an open folder, even if its path changes meanwhile.
int wsx_rename_new_at(int folder, const char *name, const char *other);

// Opens a socket on which the kernel reports changes of this machine's links, addresses and routes.
int wsx_network_changes(void);

// Reads all reports from `fd`. Returns 1 if there were any since the last call, else 0.
int wsx_drain_network_changes(int fd);

// A wait status as a shell shows it: the exit status, or 128 + the signal's number.
int wsx_exit_status(int wait_status);

// The untranslated text of an errno, or NULL for an unknown number.
const char *wsx_error_text(int number);
