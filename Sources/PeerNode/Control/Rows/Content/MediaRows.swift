public import WorkspaceModel

/// What the node does with files that nobody has asked for yet.
public protocol FileMediaCommands {
    /// Which kinds of files come by themselves.
    func media() throws(NodeError) -> Page<MediaObject>
    /// Says it of some kinds.
    func setMedia(_ edit: MediaEdit) throws(NodeError) -> Page<MediaObject>
}

/// What a file is, as far as it matters for whether it comes by itself.
public enum MediaKind: String, Sendable, CaseIterable {
    /// Pictures.
    case image
    /// Sound.
    case audio
    /// Moving pictures.
    case video
    /// Everything else.
    case other

    /// The kind of a media type.
    ///
    /// - Parameter type: what a sender claims; comes from outside.
    public init(type: String) {
        let kind = String(type.prefix { $0 != "/" })
        self = Self(rawValue: kind) ?? .other
    }
}

/// When a file comes that nobody asked for.
public enum MediaPolicy: String, Sendable, CaseIterable {
    /// Once somebody asks for it.
    case manual
    /// With its message, unless the network is metered.
    case unmetered
    /// With its message.
    case always
}

/// What is to be changed of that.
public struct MediaEdit: Sendable {
    /// Of which kinds.
    public let kinds: [MediaKind]
    /// When they come.
    public let policy: MediaPolicy
    /// Only files of at most so many bytes; `nil` for all.
    public let byteCountMax: Int64?
}

/// Which files come by themselves on this device.
enum MediaMethods {
    /// In the order of the documentation.
    static let all: [Command] = [list, set]

    private static let list = Command(
        "media.list", line: CommandLineForm("media list", examples: ["media list"]),
        "Show which kinds of files are fetched with their messages.",
        result: "list of media", shape: .media, effect: .reads, scope: .node,
        run: { (context, _) throws(NodeError) in .reply(try context.node.fileMedia.media()) })

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
            parameters: [kind.definition, policy.definition, most.definition],
            result: "list of media", shape: .media, effect: .writes, scope: .node,
            example: ["kind": "image", "policy": "always"],
            run: { (context, given) throws(NodeError) in
                let kinds = MediaKind(rawValue: given[kind]).map { [$0] } ?? MediaKind.allCases
                return .reply(
                    try context.node.fileMedia.setMedia(
                        MediaEdit(
                            kinds: kinds, policy: MediaPolicy(rawValue: given[policy]) ?? .manual,
                            byteCountMax: given[most])))
            })
    }()
}
