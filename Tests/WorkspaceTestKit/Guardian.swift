public import Foundation
import Glibc

/// Ensures that no daemon outlives the tests, however they end: normally, by a crash, by a signal,
/// or with a home that was never released.
///
/// A shell waits at the end of a pipe whose other end the tests hold and nobody inherits. When that
/// closes, it ends the daemons of all homes in folders with a prefix, identified by the pid in the
/// lock file and the home in the arguments, and removes the folders.
public final class Guardian: @unchecked Sendable {
    /// What the folders of this process begin with.
    public static let prefix = "/tmp/wsx-e2e-\(getpid())-"

    /// That of this process; the first home starts it.
    static let ofThisProcess = Guardian(of: prefix)

    private let pipe: Pipe
    /// The shell.
    public let process = Process()

    private static let script = """
        trap '' INT TERM HUP
        while read -r _; do :; done
        for folder in "$1"*; do
            home=$folder/home
            pid=$(cat "$home/lock" 2>/dev/null)
            if [ -n "$pid" ] && tr '\\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null \\
                | grep -qF -- "$home "; then
                kill -KILL "$pid"
            fi
            rm -rf "$folder"
        done
        """

    /// - Parameter prefix: how the folders begin that it looks after.
    public init(of prefix: String) {
        pipe = Pipe()
        let end = pipe.fileHandleForWriting.fileDescriptor
        _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", Self.script, "guardian", prefix]
        process.environment = ["PATH": "/usr/bin:/bin"]
        process.standardInput = pipe.fileHandleForReading
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { print("SKIPPED: nobody looks after daemons: \(error)") }
        try? pipe.fileHandleForReading.close()
    }

    /// Closes the pipe, as the end of the tests' process does, and returns when all is gone.
    public func end() {
        try? pipe.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
