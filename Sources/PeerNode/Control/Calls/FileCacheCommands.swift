public import WorkspaceModel

/// The commands for the space that files take.
public protocol FileCacheCommands {
    /// How much room they take, and how much may be taken.
    func cache() throws(NodeError) -> CacheObject
    /// Drops what others have and nobody keeps.
    ///
    /// - Parameter milliseconds: only what has not been used for so long; `nil` drops all of it.
    func clearCache(unusedFor milliseconds: UInt64?) throws(NodeError) -> CacheObject
    /// Says how many bytes files may take; `nil` for what the settings say.
    func limitCache(to byteCount: Int64?) throws(NodeError) -> CacheObject
    /// Says how long a file stays that others have and nobody uses.
    func keepCached(_ period: CachePeriod) throws(NodeError) -> CacheObject
}

/// How long an unused file is kept that other devices have.
public enum CachePeriod: String, Sendable, CaseIterable {
    /// A week.
    case week = "7d"
    /// A month.
    case month = "30d"
    /// Until the room is needed.
    case forever

    /// The same in milliseconds; `nil` for no limit.
    public var milliseconds: UInt64? {
        switch self {
        case .week: 7 * 24 * 3_600_000
        case .month: 30 * 24 * 3_600_000
        case .forever: nil
        }
    }
}

/// The commands for files that are fetched automatically.
public protocol FileMediaCommands {
    /// Which kinds of files are fetched automatically.
    func media() throws(NodeError) -> Page<MediaObject>
    /// Says it of some kinds.
    func setMedia(_ edit: MediaEdit) throws(NodeError) -> Page<MediaObject>
}

/// The kind of a file, as far as it decides whether the file is fetched automatically.
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

/// When a file is fetched automatically.
public enum MediaPolicy: String, Sendable, CaseIterable {
    /// Once somebody asks for it.
    case manual
    /// With its message, unless the network is metered.
    case unmetered
    /// With its message.
    case always
}

/// Changes of these settings.
public struct MediaEdit: Sendable {
    /// The kinds that it applies to.
    public let kinds: [MediaKind]
    /// When they come.
    public let policy: MediaPolicy
    /// Only files up to this number of bytes; `nil` for all.
    public let byteCountMax: Int64?
}
