public import WorkspaceModel

/// The state of the node, for one screen.
public struct StatusObject: ControlObject {
    /// One workspace in it.
    public struct Workspace: Sendable {
        /// `w_…`.
        public let id: String
        /// As it is shown.
        public let name: String
        /// Hex.
        public let digest: String
        /// How many this node holds.
        public let operations: Int64
        /// How many it knows of and does not hold; `nil` while it compares with its first peers.
        public let behind: Int64?
        /// `member`, `deleted`, or how the caller's membership ended.
        public var state = "member"
    }

    /// What the disk holds; sizes in bytes.
    public struct Store: Sendable {
        /// How many are held.
        public var operations: Int64 = 0
        /// Of the database.
        public var bytes: Int64 = 0
        /// Of the files.
        public var blobBytes: Int64 = 0
        /// Left on the file system.
        public var freeBytes: Int64 = 0

        /// An empty store.
        public init() {}
    }

    /// Something the owner should know.
    public struct Warning: Sendable {
        /// A stable word.
        public let kind: WarningKind
        /// What is wrong.
        public let message: String
        /// A command to run.
        public let hint: String?
    }

    /// `nil` before there is one.
    public var identity: IdentityObject?
    /// The home folder.
    public var home: String
    /// The path of the control socket.
    public var socket: String
    /// Addresses with ports on which it listens.
    public var listen: [String] = []
    /// Milliseconds since the start.
    public var uptimeMilliseconds: Int64 = 0
    /// Whether the keys are closed.
    public var isLocked = false
    /// How many peers are in each state.
    public var peers = PeerCounts()
    /// Every workspace of this home.
    public var workspaces: [Workspace] = []
    /// What the disk holds.
    public var store = Store()
    /// What the owner should know.
    public var warnings: [Warning] = []

    /// All fields.
    public var json: JSONValue {
        [
            "version": .string(Release.version), "api": Release.api,
            "identity": identity?.json ?? .null, "device": JSONValue(orNull: identity?.id),
            "home": .string(home), "socket": .string(socket), "listen": JSONValue(texts: listen),
            "uptime_ms": .integer(uptimeMilliseconds), "locked": .bool(isLocked),
            "peers": peers.json, "workspaces": .array(workspaces.map(\.json)),
            "store": store.json, "warnings": .array(warnings.map(\.json)),
        ]
    }
}

extension StatusObject {
    /// Whether nothing needs looking after, as `status --check` and `GET /healthz` tell.
    ///
    /// - Parameter status: its form on the socket.
    public static func isHealthy(_ status: JSONValue) -> Bool {
        status["locked"]?.boolValue != true && illnesses(of: status).isEmpty
    }

    /// The warnings that say that the node itself is not well (``WarningKind/isIllness``).
    public static func illnesses(of status: JSONValue) -> [String] {
        (status["warnings"]?.arrayValue ?? []).compactMap(WarningKind.init(of:))
            .filter(\.isIllness).map(\.rawValue)
    }
}

extension StatusObject.Workspace {
    var json: JSONValue {
        [
            "id": .string(id), "name": .string(name), "digest": .string(digest),
            "operations": .integer(operations), "behind": JSONValue(orNull: behind),
            "state": .string(state),
        ]
    }
}

extension StatusObject.Store {
    var json: JSONValue {
        [
            "operations": .integer(operations), "bytes": .integer(bytes),
            "blob_bytes": .integer(blobBytes), "free_bytes": .integer(freeBytes),
        ]
    }
}

extension StatusObject.Warning {
    var json: JSONValue {
        [
            "kind": .string(kind.rawValue), "message": .string(message),
            "hint": JSONValue(orNull: hint),
        ]
    }
}

/// A finding of `doctor`.
public struct FindingObject: ControlObject {
    /// A stable word, such as `network.listener`.
    public let id: String
    /// `ok`, `warn` or `fail`.
    public let state: String
    /// What was seen.
    public let message: String
    /// The one command that remedies it.
    public let hint: String?

    /// One finding.
    public init(id: String, state: String, message: String, hint: String? = nil) {
        self.id = id
        self.state = state
        self.message = message
        self.hint = hint
    }

    /// All fields.
    public var json: JSONValue {
        [
            "id": .string(id), "state": .string(state), "message": .string(message),
            "hint": JSONValue(orNull: hint),
        ]
    }
}

/// The version of this build.
public enum Release {
    /// The version of the program.
    public static let version = "0.1.0"
    /// The version of the interface: fields are only added within one major number.
    public static let api: JSONValue = ["major": .integer(apiMajor), "minor": 0]
    /// Grows when something is removed.
    public static let apiMajor: Int64 = 1
    /// The answer of `node.version`.
    public static var json: JSONValue { ["version": .string(version), "api": api] }
}
