import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Recognizes a call that is repeated with the same `key`.
///
/// Stored are keyed hashes of (method, key) and of the parameters, and the name of what was
/// created; the answer is built again.
extension NodeCore {
    /// How long a key is remembered at least, and longer while there are few.
    static let keyMilliseconds: UInt64 = 7 * 24 * 3_600 * 1_000

    /// What the first call created, or `nil` for a new one.
    ///
    /// - Throws: `key_reused` when it came with other parameters.
    func replay(_ scope: CallScope) throws(NodeError) -> [UInt8]? {
        guard let key = scope.key, let home = session.home else { return nil }
        let found = try turn.stored { () throws(StorageError) in
            try turn.store.registry.made(name(of: key, home))
        }
        guard let found else { return nil }
        guard found.body == body(of: key, home) else {
            throw NodeError(
                .keyReused,
                "the key \(NodeError.quoted(key.word)) was already used for another call",
                hint: "use a new key for a new call", reason: "key.reused",
                fields: [.init(name: "key", reason: "reused")])
        }
        return found.made
    }

    /// Remembers what the call made, in the transaction of the making.
    func remember(_ scope: CallScope, made: [UInt8]) throws(NodeError) {
        guard let key = scope.key, let home = session.home else { return }
        try turn.stored { () throws(StorageError) in
            try turn.write()
            try turn.store.registry.trimMade(
                before: oldestKey, keeping: Limits.rememberedCallsMin)
            try turn.store.registry.setMade(
                .init(body: body(of: key, home), made: made), key: name(of: key, home),
                at: turn.time.wall)
        }
    }

    /// Calls before this moment are forgotten, milliseconds since 1970.
    private var oldestKey: UInt64 { turn.time.wall &- min(turn.time.wall, Self.keyMilliseconds) }

    private func name(of key: RepeatKey, _ home: HomeIdentity) -> [UInt8] {
        Hash.keyed(
            home.homeKey, Array("key".utf8), Array(key.method.utf8), [0], Array(key.word.utf8))
    }

    private func body(of key: RepeatKey, _ home: HomeIdentity) -> [UInt8] {
        Hash.keyed(home.homeKey, Array("body".utf8), key.parameters)
    }
}
