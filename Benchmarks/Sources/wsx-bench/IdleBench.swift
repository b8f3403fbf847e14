import Glibc

/// What a daemon with an empty workspace costs when nothing happens.
enum IdleBench {
    static func run(_ options: Options) throws {
        let folder = try TemporaryFolder(in: options.folder)
        let node = try BenchNode("A", in: folder, options: options, workspace: "acme")
        let floor = try Spawning.start(["sleep", "600"])
        defer {
            kill(floor, SIGTERM)
            _ = try? Spawning.wait(floor)
        }
        // The write-ahead log is emptied after 5 quiet seconds; measure what comes after.
        sleep(7)
        let before = (try node.processorSeconds(), try wakeUps(node))
        sleep(UInt32(options.idleSeconds))
        let span = Double(options.idleSeconds)
        var figures = Figures("wsx_idle")
        figures.note("seconds", options.idleSeconds)
        figures.add("rss_MB", try node.kernelFigure("VmRSS:", file: "status") / 1_024)
        figures.add("pss_MB", try node.kernelFigure("Pss:", file: "smaps_rollup") / 1_024)
        figures.add("cpu_ms_per_s", (try node.processorSeconds() - before.0) * 1e3 / span)
        figures.add("wake_ups_per_minute", (try wakeUps(node) - before.1) * 60 / span)
        for line in try readFile("/proc/\(floor)/status").split(separator: "\n")
        where line.hasPrefix("VmRSS:") {
            let size = line.split(whereSeparator: { $0 == " " || $0 == "\t" })[1]
            figures.add("floor_sleep_rss_MB", (Double(size) ?? 0) / 1_024)
        }
        figures.print()
    }

    /// How often the loop's thread has waited; it is the one that serves everything.
    private static func wakeUps(_ node: BenchNode) throws -> Double {
        try node.kernelFigure("voluntary_ctxt_switches:", file: "status")
    }
}
