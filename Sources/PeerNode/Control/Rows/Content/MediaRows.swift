import WorkspaceModel

/// The commands for files that are fetched automatically on this device.
enum MediaMethods {
    /// In the order of the documentation.
    static let all: [Command] = [list, set]

    private static let list = Command(
        "media.list", line: CommandLineForm("media list", examples: ["media list"]),
        "Show which kinds of files are fetched with their messages.",
        result: "list of media", shape: .media, effect: .reads, scope: .node,
        run: .answer { (call) throws(NodeError) in try call.node.fileMedia.media() })

    private static let set = {
        let kind = Parameter.choice(
            "kind", "Which files.", MediaKind.allCases.map(\.rawValue) + ["all"])
        let policy = Parameter.choice(
            "policy",
            "When they are fetched: if you ask, on networks that are not metered, always.",
            MediaPolicy.allCases.map(\.rawValue))
        let most = Parameter.byteCount(
            "up_to", "Only files of at most this size.", 1...Limits.filePositionMax
        ).optional()
        return Command(
            "media.policy",
            line: CommandLineForm(
                "media set", ["kind", "policy"],
                examples: [
                    "media set image always --up-to 5MB", "media set all always",
                    "media set video unmetered",
                ]),
            """
            Choose which files are fetched with their messages. It applies to \
            messages that come from then on. Small images are fetched unless you choose otherwise.
            """,
            parameters: [kind, policy, most], result: "list of media", shape: .media,
            effect: .writes, scope: .node, example: ["kind": "image", "policy": "always"],
            run: .outcome { (call) throws(NodeError) in
                let kinds = MediaKind(rawValue: call[kind]).map { [$0] } ?? MediaKind.allCases
                return .reply(
                    try call.node.fileMedia.setMedia(
                        MediaEdit(
                            kinds: kinds, policy: MediaPolicy(rawValue: call[policy]) ?? .manual,
                            byteCountMax: call[most])))
            })
    }()
}
