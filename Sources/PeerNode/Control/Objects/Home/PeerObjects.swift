public import WorkspaceModel

/// How many peers are in each state.
public struct PeerCounts: ControlObject {
    /// With a session.
    public var connected: Int64 = 0
    /// Being connected to.
    public var dialing: Int64 = 0
    /// To be tried again later.
    public var waiting: Int64 = 0
    /// Refused by the owner.
    public var blocked: Int64 = 0

    /// No peer at all.
    public init() {}

    /// All fields.
    public var json: JSONValue {
        [
            "connected": .integer(connected), "dialing": .integer(dialing),
            "waiting": .integer(waiting), "blocked": .integer(blocked),
        ]
    }
}

/// Another device.
public struct PeerObject: ControlObject {
    /// `d_…`; `nil` until the first handshake.
    public var id: String?
    /// Whose it is.
    public var member: PersonObject?
    /// What it calls itself.
    public var name: String?
    /// Where it is or was reached.
    public var address: String?
    /// `connected`, `dialing`, `waiting`, `blocked` or `heard`.
    public var state: String
    /// Operations it has and we lack, as far as known; `nil` from link-up until both have compared.
    public var behind: Int64?
    /// Operations we have and it lacks, likewise.
    public var ahead: Int64?
    /// Milliseconds since 1970.
    public var lastSeen: Int64?
    /// A sentence without secrets.
    public var lastError: String?
    /// When an attempt to reach it failed last, milliseconds since 1970; `nil` where none did since the
    /// start.
    public var lastTried: Int64?

    /// A peer nothing is known about yet.
    public init(state: String) { self.state = state }

    /// All fields.
    public var json: JSONValue {
        [
            "id": JSONValue(orNull: id), "member": member?.json ?? .null,
            "name": JSONValue(orNull: name), "address": JSONValue(orNull: address),
            "state": .string(state), "behind": JSONValue(orNull: behind),
            "ahead": JSONValue(orNull: ahead),
            "last_seen": JSONValue(orNull: lastSeen), "last_error": JSONValue(orNull: lastError),
            "last_tried": JSONValue(orNull: lastTried),
        ]
    }
}

/// How much a peer and this device differ in one workspace.
public struct SyncObject: ControlObject {
    /// The device, `d_…`.
    public var peer: String
    /// `w_…`.
    public var workspace: String
    /// Operations it has and we lack, as far as known; `nil` until both have compared.
    public var behind: Int64?
    /// Operations we have and it lacks, likewise.
    public var ahead: Int64?
    /// Operations a second, while something is being fetched.
    public var rate: Int64?
    /// Milliseconds until both hold the same at this rate.
    public var remainingMilliseconds: Int64?

    /// `comparing`, `apart` or `in_sync`.
    public var state: String {
        guard let behind, let ahead else { return "comparing" }
        return behind == 0 && ahead == 0 ? "in_sync" : "apart"
    }

    /// All fields.
    public var json: JSONValue {
        [
            "peer": .string(peer), "workspace": .string(workspace), "state": .string(state),
            "behind": JSONValue(orNull: behind), "ahead": JSONValue(orNull: ahead),
            "rate": JSONValue(orNull: rate),
            "eta_ms": JSONValue(orNull: remainingMilliseconds),
        ]
    }
}

/// Whether and how the network is used.
public struct NetworkObject: ControlObject {
    /// Whether `net suspend` holds.
    public var isSuspended = false
    /// Why all writing, and with it the network, has stopped, as a sentence.
    public var failure: String?
    /// Addresses with ports on which it listens.
    public var listen: [String] = []
    /// Whether it tells the local network about itself.
    public var announces = false
    /// How many peers are in each state.
    public var peers = PeerCounts()

    /// A network in use by nobody.
    public init() {}

    /// All fields.
    public var json: JSONValue {
        [
            "suspended": .bool(isSuspended), "failure": JSONValue(orNull: failure),
            "listen": JSONValue(texts: listen),
            "announce": .bool(announces), "peers": peers.json,
        ]
    }
}
