private import CLinux
private import Glibc

/// A program started to live on without us: own session, no terminal, no descriptor of ours.
///
/// Never `fork` here: once threads exist, a forked child may find any lock taken for ever.
public enum DetachedProcess {
    /// Starts the program.
    ///
    /// Its stdin is `/dev/null`, stdout and stderr go to `log`, every other descriptor is closed:
    /// a pipe that we write to ends when we end, and not when the daemon does. Its signal mask is
    /// empty, ignored signals are back to their default.
    ///
    /// - Parameters:
    ///   - executable: an absolute path.
    ///   - arguments: without the program's own name.
    ///   - environment: `NAME=value` each.
    ///   - workingFolder: absolute; with the default no file system is kept from being unmounted.
    /// - Returns: its process number. The caller may wait for it but need not.
    public static func start(
        executable: String, arguments: [String], environment: [String], log: FileDescriptor,
        workingFolder: String = "/"
    ) throws(SystemError) -> Int32 {
        for text in [executable, workingFolder] + arguments + environment {
            try FileSystem.checkPath(text)
        }
        // A log on 0...2 would be overwritten before it is copied.
        let log = try log.duplicatedAboveStandard()
        var setup = SpawnSetup()
        defer { setup.destroy() }
        try setup.detach(log: log, workingFolder: workingFolder)
        return try withCStrings([executable] + arguments) { arguments throws(SystemError) in
            try withCStrings(environment) { environment throws(SystemError) in
                try setup.spawn(executable, arguments, environment)
            }
        }
    }

    /// Waits for a child of ours to end.
    ///
    /// - Returns: its exit status, or 128 + the number of the signal that killed it.
    public static func wait(for pid: Int32) throws(SystemError) -> Int32 {
        var status: Int32 = 0
        guard uninterrupted({ waitpid(pid, &status, 0) }) == pid else {
            throw SystemError("waitpid")
        }
        return wsx_exit_status(status)
    }

    /// Opens the log of a daemon for appending (mode 0600).
    ///
    /// - Parameter byteCountMax: a longer log is kept under `path` + ".1", in place of an older
    ///   one, and a new one begins.
    public static func openLog(
        _ path: String, byteCountMax: Int64 = 10 * 1024 * 1024
    ) throws(SystemError) -> FileDescriptor {
        if let old = try? FileSystem.status(of: path), old.byteCount > byteCountMax {
            let kept = path + ".1"
            guard rename(path, kept) == 0 else { throw SystemError("rename", path: kept) }
        }
        return try FileSystem.openFile(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW)
    }
}

/// The two attribute objects of `posix_spawn`. Their functions return an errno instead of setting
/// it.
private struct SpawnSetup {
    private var actions = posix_spawn_file_actions_t()
    private var attributes = posix_spawnattr_t()

    init() {
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
    }

    mutating func destroy() {
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
    }

    mutating func detach(log: FileDescriptor, workingFolder: String) throws(SystemError) {
        var all = sigset_t()
        var none = sigset_t()
        sigfillset(&all)
        sigemptyset(&none)
        // POSIX_SPAWN_SETSID, which the Glibc module lacks.
        let newSession: Int32 = 0x80
        let flags = newSession | Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
        for number in [
            posix_spawnattr_setflags(&attributes, Int16(flags)),
            posix_spawnattr_setsigdefault(&attributes, &all),
            posix_spawnattr_setsigmask(&attributes, &none),
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0),
            posix_spawn_file_actions_adddup2(&actions, log.number, 1),
            posix_spawn_file_actions_adddup2(&actions, log.number, 2),
            wsx_spawn_close_from(&actions, 3),
            wsx_spawn_chdir(&actions, workingFolder),
        ] where number != 0 {
            throw SystemError("posix_spawn_file_actions", number: number)
        }
    }

    mutating func spawn(
        _ executable: String, _ arguments: [UnsafeMutablePointer<CChar>?],
        _ environment: [UnsafeMutablePointer<CChar>?]
    ) throws(SystemError) -> Int32 {
        var pid = pid_t()
        let number = posix_spawn(&pid, executable, &actions, &attributes, arguments, environment)
        guard number == 0 else {
            throw SystemError("posix_spawn", path: executable, number: number)
        }
        return pid
    }
}

/// C's form of a list of strings: ended by a null pointer, valid only inside `body`.
func withCStrings<Result>(
    _ strings: [String],
    _ body: ([UnsafeMutablePointer<CChar>?]) throws(SystemError) -> Result
) throws(SystemError) -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return try body(copies + [nil])
}
