private import CLinux
private import Glibc

/// A shell command that gets bytes on its standard input.
///
/// The bytes are in an unnamed file in memory: a command that does not read them blocks nobody, and
/// one that needs all of them can seek. They are never parsed by the shell; they reach the command
/// only as input and as variables.
public enum ShellProcess {
    /// How a command relates to the process that starts it.
    public enum Standing: Sendable {
        /// It shares the output of this process, and the interrupt key reaches both.
        case foreground
        /// It has no output, no descriptors and no terminal of this process, and leads a process
        /// group that can be killed as a whole.
        case background
    }

    /// Starts `command` under `/bin/sh -c`.
    ///
    /// - Parameters:
    ///   - input: what it reads; `nil` for what this process reads.
    ///   - output: where it writes; `nil` for where this process does, in the background for nowhere.
    ///   - environment: `NAME=value` each.
    /// - Returns: its process id; the caller waits for it.
    public static func start(
        _ command: String, input: [UInt8]?, output: Int32? = nil, environment: [String],
        as standing: Standing
    ) throws(SystemError) -> Int32 {
        let file = try input.map { (bytes) throws(SystemError) in try memoryFile(bytes) }
        // Only its number is handed on.
        defer { withExtendedLifetime(file) {} }
        let given = file.map { SpawnSetup.Stream.descriptor($0.number) } ?? .ours
        let words = ["/bin/sh", "-c", command]
        switch standing {
        case .foreground:
            let output = output.map { SpawnSetup.Stream.descriptor($0) } ?? .ours
            return try SpawnSetup.start(
                "/bin/sh", words, environment: environment, streams: (given, output, .ours),
                as: .foreground)
        case .background:
            return try SpawnSetup.start(
                "/bin/sh", words, environment: environment,
                streams: (given, output.map { .descriptor($0) } ?? .nothing, .nothing),
                as: .background(folder: "/"))
        }
    }

    private static func memoryFile(_ bytes: [UInt8]) throws(SystemError) -> FileDescriptor {
        let file = try FileDescriptor.result(of: "memfd_create") { wsx_memory_file("wsx-input") }
            .duplicatedAboveStandard()
        try file.writeAll(bytes)
        guard lseek(file.number, 0, SEEK_SET) == 0 else { throw SystemError("lseek") }
        return file
    }

    /// Runs `command` in the foreground and waits for its end.
    ///
    /// - Parameters:
    ///   - input: what it reads; `nil` for what this process reads.
    ///   - given: variables besides those of this process, and in their place.
    /// - Returns: the exit status, 128 and more for a signal; `nil` where nothing could be run.
    public static func run(
        _ command: String, input: [UInt8]?, environment given: [String: String] = [:]
    ) -> Int32? {
        let pairs = given.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        do throws(SystemError) {
            let process = try start(
                command, input: input, environment: environment(with: pairs), as: .foreground)
            return try DetachedProcess.wait(for: process)
        } catch { return nil }
    }

    /// The environment of this process with other variables, those at its end.
    ///
    /// - Parameter dropped: names that are left out.
    public static func environment(
        with given: [(name: String, value: String)], without dropped: Set<String> = []
    ) -> [String] {
        let taken = dropped.union(given.map(\.name))
        var all: [String] = []
        var entry = environ
        while let text = entry.pointee {
            let line = String(cString: text)
            let name = line.utf8.firstIndex(of: UInt8(ascii: "=")).map { String(line[..<$0]) }
            if !taken.contains(name ?? line) { all.append(line) }
            entry += 1
        }
        for (name, value) in given {
            // A variable ends at a zero byte, and so would what was written behind it.
            all.append(name + "=" + String(decoding: value.utf8.filter { $0 != 0 }, as: UTF8.self))
        }
        return all
    }
}
