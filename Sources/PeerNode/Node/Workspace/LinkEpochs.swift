import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// The link secrets derived from the newest group keys of one workspace (PROTOCOL.md, 5.1).
///
/// Every end of a membership brings a new group key, but no new discovery secret. So members open
/// links under secrets that only they know, and former members cannot compete for their places.
/// These secrets stay in memory while the node is locked.
struct LinkEpochs {
    /// The link secret of one group key.
    struct Secret {
        /// The key's name.
        let key: KeyID
        /// The operation that introduced it, and its depth.
        let operation: OperationID
        let lamport: UInt64
        /// Hk(K, "link"), 32 bytes.
        let psk: SymmetricKey
    }

    private(set) var newestFirst: [Secret] = []
    /// Up to which change of what is known of keys.
    private var generation: UInt64?

    /// Whether something may have changed.
    func isStale(at generation: UInt64) -> Bool { self.generation != generation }

    /// Replaces the secrets in memory. Existing ones are not derived again.
    mutating func use(
        _ introductions: [KeyIndex.Introduction], at generation: UInt64,
        keyOf: (KeyID) -> SymmetricKey?
    ) {
        let known = Dictionary(newestFirst.map { ($0.key, $0.psk) }) { first, _ in first }
        newestFirst = introductions.compactMap { given in
            let psk =
                known[given.key]
                ?? keyOf(given.key)?.derived(Array("link".utf8), lifetime: .long)
            return psk.map {
                Secret(
                    key: given.key, operation: given.operation, lamport: given.lamport, psk: $0)
            }
        }
        self.generation = generation
    }
}

extension Workspace {
    /// The link secrets of the newest group keys that current members gave and that are held here,
    /// newest first; on a locked node the former ones.
    func linkEpochs() -> [LinkEpochs.Secret] {
        guard !secrets.keys.isEmpty, secrets.discovery.epochs.isStale(at: secrets.index.generation)
        else {
            return secrets.discovery.epochs.newestFirst
        }
        var newest: [KeyIndex.Introduction] = []
        var counts: [KeyID: Int] = [:]
        for known in secrets.index.newestFirst where secrets.keys.holds(known.key) {
            let count = counts[known.key] ?? 0
            guard count > 0 || counts.count < Limits.linkEpochsMax else { break }
            guard count < Limits.linkEpochIntroductionsMax, gives(known), isGiverIn(known.operation)
            else {
                continue
            }
            counts[known.key] = count + 1
            newest.append(known)
        }
        secrets.discovery.epochs.use(newest, at: secrets.index.generation) { secrets.keys[$0] }
        return secrets.discovery.epochs.newestFirst
    }

    /// Those that no former member can know: the operations that created their keys know of every
    /// membership end. If there are none, those whose operations know all ends except of members'
    /// own devices, which are answered at a limited pace; otherwise only the key that seals.
    func linkEpochsOfMembersAlone() -> [LinkEpochs.Secret] {
        let epochs = linkEpochs()
        for ends in [keyEnds(), membershipKeyEnds()] {
            let knowing = epochs.filter { knows(ends, $0.operation, lamport: $0.lamport) }
            guard knowing.isEmpty else { return knowing }
        }
        return epochs.filter { $0.key == sealingKey?.id }
    }

    /// Whether nobody can know the newest discovery secret who is out.
    var isNewestDiscoveryOfMembersAlone: Bool {
        guard let name = secrets.discovery.newest.last?.name,
            let (lamport, giver) = discoveryGiver(name)
        else { return false }
        return knows(keyEnds(), giver, lamport: lamport)
    }
}
