import Glibc

/// What starting the command line costs, against the smallest programs there are.
enum StartupBench {
    static func run(_ options: Options) throws {
        let folder = try TemporaryFolder(in: options.folder)
        let node = try BenchNode("A", in: folder, options: options, workspace: "acme")
        let prefix = [options.node, "--home", node.home]
        let commands: [(name: String, arguments: [String])] = [
            ("floor_true", ["true"]),
            ("floor_git_version", ["git", "--version"]),
            ("version", [options.node, "version"]),
            ("send", prefix + ["send", "general", "hello"]),
            ("log", prefix + ["log", "general", "-n", "10"]),
        ]
        var times: [String: [Double]] = [:]
        for _ in 0..<(20 * options.runs) {
            for command in commands {
                let time = try seconds {
                    let status = try Spawning.wait(Spawning.start(command.arguments))
                    guard status == 0 else { throw BenchError("\(command.name): \(status)") }
                }
                times[command.name, default: []].append(time * 1e3)
            }
        }
        var figures = Figures("wsx_startup")
        for command in commands {
            for time in times[command.name] ?? [] { figures.add("\(command.name)_ms", time) }
        }
        let git = Figures.quantile(0.5, of: times["floor_git_version"] ?? [])
        for name in ["version", "send", "log"] {
            let time = Figures.quantile(0.5, of: times[name] ?? [])
            figures.add("ratio_\(name)_to_git_version", time / git)
        }
        figures.note("binary_bytes", try binarySize(options.node))
        figures.print()
    }

    private static func binarySize(_ path: String) throws -> Int {
        var status = stat()
        guard stat(path, &status) == 0 else { throw BenchError("no \(path)") }
        return Int(status.st_size)
    }
}
