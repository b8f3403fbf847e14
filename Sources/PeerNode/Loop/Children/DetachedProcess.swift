private import CLinux
private import Glibc

/// Starts a program that outlives this process: in a session of its own, without a terminal and
/// without inherited descriptors.
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
        // A log on 0...2 would be overwritten before it is copied.
        let log = try log.duplicatedAboveStandard()
        defer { withExtendedLifetime(log) {} }
        return try SpawnSetup.start(
            executable, [executable] + arguments, environment: environment,
            streams: (.nothing, .descriptor(log.number), .descriptor(log.number)),
            as: .background(folder: workingFolder))
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
