import Foundation
import PeerNode
import Testing

struct `A detached process` {
    /// Runs a shell script detached and returns its exit status and log.
    private func run(
        _ script: String, environment: [String] = ["PATH=/usr/bin:/bin"]
    ) throws -> (status: Int32, lines: [String]) {
        try withTemporaryFolder { root in
            let path = root + "/log"
            let log = try DetachedProcess.openLog(path)
            let pid = try DetachedProcess.start(
                executable: "/bin/sh", arguments: ["-c", script], environment: environment, log: log
            )
            let status = try DetachedProcess.wait(for: pid)
            let text = try FileSystem.read(path, byteCountMax: 100_000)
            let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").map(
                String.init)
            return (status, lines.map { $0.replacingOccurrences(of: path, with: "LOG") })
        }
    }

    @Test func `keeps no descriptor of the caller, not even one that would be inherited`() throws {
        // A pipe without the flag that closes it on exec.
        let leaky = try makePipe()
        #expect(fcntl(leaky.writing.number, F_GETFD) == 0)
        let (status, lines) = try run(
            "ls -l /proc/self/fd | sed -n 's/.* \\([0-9]* -> .*\\)/\\1/p'")
        #expect(status == 0)
        // The pipe to sed is the shell's own, and the folder is the one that ls reads.
        let own = lines.filter { !$0.contains("/proc/") && !$0.hasPrefix("1 ->") }
        #expect(own == ["0 -> /dev/null", "2 -> LOG"])
        withExtendedLifetime(leaky) {}
    }

    @Test func `leads a session of its own, in the root folder`() throws {
        let (_, lines) = try run("echo $$; cut -d' ' -f6 /proc/$$/stat; pwd")
        #expect(lines.count == 3)
        #expect(lines[0] == lines[1])
        #expect(lines[2] == "/")
    }

    @Test func `starts with no signal blocked or ignored`() throws {
        signal(SIGPIPE, SIG_IGN)
        var (set, old) = (sigset_t(), sigset_t())
        sigemptyset(&set)
        sigaddset(&set, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &set, &old)
        defer { pthread_sigmask(SIG_SETMASK, &old, nil) }
        let (_, lines) = try run("grep -E 'SigBlk|SigIgn' /proc/self/status")
        #expect(lines.first == "SigBlk:\t0000000000000000")
        let ignored = try #require(lines.last?.split(separator: "\t").last)
        // The C library keeps signals 32 and 33 for itself, and ignores them in what it spawns.
        #expect(UInt64(ignored, radix: 16).map { $0 & ~0x1_8000_0000 } == 0)
    }

    @Test func `gets exactly its arguments and environment, and tells how it ended`() throws {
        let (status, lines) = try run("echo \"$A\"; echo err >&2; exit 7", environment: ["A=b c"])
        #expect(status == 7)
        #expect(lines == ["b c", "err"])
        #expect(try run("kill -9 $$").status == 128 + 9)
    }

    @Test func `refuses what cannot be started`() throws {
        try withTemporaryFolder { root in
            let log = try DetachedProcess.openLog(root + "/log")
            for (executable, argument) in [("/no/such/program", "a"), ("/bin/sh", "a\0b")] {
                #expect(throws: SystemError.self) {
                    try DetachedProcess.start(
                        executable: executable, arguments: [argument], environment: [], log: log)
                }
            }
        }
    }

    @Test func `appends to its log, and begins a new one when it is long`() throws {
        try withTemporaryFolder { root in
            let path = root + "/log"
            try FileSystem.replace(path, with: [UInt8]("12345678".utf8))
            let log = try DetachedProcess.openLog(path, byteCountMax: 8)
            #expect(write(log.number, "9", 1) == 1)
            #expect(try FileSystem.status(of: path).byteCount == 9)
            _ = try DetachedProcess.openLog(path, byteCountMax: 8)
            #expect(try FileSystem.status(of: path + ".1").byteCount == 9)
            #expect(try FileSystem.status(of: path).byteCount == 0)
            #expect(try FileSystem.status(of: path).mode == 0o600)
        }
    }
}
