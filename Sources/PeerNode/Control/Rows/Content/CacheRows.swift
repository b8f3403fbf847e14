import WorkspaceModel

/// The commands for the space that files take on this device.
enum CacheMethods {
    /// In the order of the documentation.
    static let all: [Command] = [stat, clear, keep, quota]

    private static let stat = Command(
        "cache.stat", line: CommandLineForm("cache stat", examples: ["cache stat"]),
        "Show how much space files take here, and how much can be cleared.",
        result: "cache", shape: .cache, effect: .reads, scope: .node,
        run: .answer { (call) throws(NodeError) in try call.node.fileCache.cache() })

    private static let clear = {
        let unused = Parameter.choice(
            "unused", "Only files that have not been used for this long.",
            CachePeriod.allCases.filter { $0 != .forever }.map(\.rawValue)
        ).optional()
        return Command(
            "cache.clear",
            line: CommandLineForm("cache clear", examples: ["cache clear --unused 30d"]),
            """
            Remove files that other devices have. Files that you added or keep stay, and so do those \
            that no other device is known to have.
            """,
            parameters: [unused], result: "cache", shape: .cache, effect: .writes, scope: .node,
            example: ["unused": "30d"],
            run: .outcome { (call) throws(NodeError) in
                let period = call[unused].flatMap(CachePeriod.init(rawValue:))
                return .reply(
                    try call.node.fileCache.clearCache(unusedFor: period?.milliseconds))
            })
    }()

    private static let keep = {
        let period = Parameter.choice(
            "period", "How long after a file was last used.", CachePeriod.allCases.map(\.rawValue)
        ).asked("for how long?")
        return Command(
            "cache.keep",
            line: CommandLineForm("cache keep", ["period"], examples: ["cache keep 30d"]),
            """
            Choose how long to keep files here that other devices have, too. Unless you choose, they \
            stay until space is needed.
            """,
            parameters: [period], result: "cache", shape: .cache, effect: .writes, scope: .node,
            example: ["period": "30d"],
            run: .answer { (call) throws(NodeError) in
                try call.node.fileCache.keepCached(CachePeriod(rawValue: call[period]) ?? .forever)
            })
    }()

    private static let quota = {
        let bytes = Parameter.byteCount(
            "bytes", "How much space files may take here.",
            Limits.quotaBytesMin...Limits.filePositionMax
        ).optional()
        let usual = Parameter.flag(
            "default",
            "What the settings say; unless they do, a tenth of the disk and at most 10 GiB.")
        return Command(
            "cache.quota",
            line: CommandLineForm(
                "cache quota", ["bytes"], examples: ["cache quota 20GB", "cache quota --default"]),
            """
            Limit the space that files take here. Files that other devices have are removed when it \
            is used up, and a file that does not fit is not fetched. Files that you add or keep stay.
            """,
            parameters: [bytes, usual], result: "cache", shape: .cache, effect: .writes,
            scope: .node, failures: [.badRequest], example: ["bytes": 20_000_000_000],
            run: .outcome { (call) throws(NodeError) in
                guard (call[bytes] == nil) == call[usual] else {
                    throw NodeError(
                        .badRequest, "how much space? give a size or 'default', not both",
                        hint: "wsx-node cache quota 20GB", reason: "missing_parameter",
                        fields: [.init(name: "bytes", reason: "missing")])
                }
                return .reply(try call.node.fileCache.limitCache(to: call[bytes]))
            })
    }()
}
