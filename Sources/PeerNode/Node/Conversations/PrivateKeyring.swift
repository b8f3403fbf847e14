import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// The keys that open the membership operations of the epochs of one private document, found by
/// name and unsealed on demand.
///
/// Where the epoch key is held, the first of them is derived from it. A key that was handed on
/// proves itself by what it opens, so an epoch may have several, in the order in which they are
/// tried.
struct PrivateKeyring {
    private enum Source {
        case epoch
        /// - Parameters:
        ///   - place: tells those of one epoch in the store.
        ///   - hash: tells whether another one is the same.
        case handedOn(place: UInt8, hash: KeyID)
    }

    private var sources: [KeyID: [Source]] = [:]
    private let owner: Int64
    private let vault: KeyVault

    /// - Parameter owner: the short number of the document.
    init(of owner: Int64, in vault: KeyVault) {
        self.owner = owner
        self.vault = vault
    }

    /// The epochs with at least one key.
    var names: Dictionary<KeyID, some Any>.Keys { sources.keys }
    var isEmpty: Bool { sources.isEmpty }

    /// How many there are of one epoch.
    func count(of name: KeyID) -> Int { sources[name]?.count ?? 0 }

    /// Whether there is anything of an epoch.
    func holds(_ name: KeyID) -> Bool { sources[name] != nil }

    /// Keys that may open the membership operations of an epoch, unsealed one after the other.
    func keys(of name: KeyID) -> some Sequence<PrivateAuthorityKey> {
        (sources[name] ?? []).lazy.compactMap { key($0, of: name) }
    }

    /// The one that is tried first.
    func first(of name: KeyID) -> PrivateAuthorityKey? {
        sources[name]?.first.flatMap { key($0, of: name) }
    }

    private func key(_ source: Source, of name: KeyID) -> PrivateAuthorityKey? {
        switch source {
        case .epoch:
            vault.key(.stored(.privateKey, owner: owner, name)).map(PrivateAuthorityKey.init(of:))
        case .handedOn(let place, _):
            vault.key(.stored(.privateAuthorityKey, owner: owner, name, place: place))
                .map(PrivateAuthorityKey.init(handedOn:))
        }
    }

    /// Notes that the key of an epoch itself is held.
    mutating func takeEpoch(_ name: KeyID) {
        guard sources[name] != nil else { return sources[name] = Self.epochAlone }
        sources[name]?.insert(.epoch, at: 0)
    }

    /// The sources of nearly all epochs, which share this array.
    private static let epochAlone: [Source] = [.epoch]

    /// Notes what was handed on of an epoch.
    ///
    /// - Parameter stored: its place in the store, `nil` for one that is new.
    /// - Returns: its place; `nil` for one that is known, or one too many.
    mutating func take(
        _ key: SymmetricKey, of name: KeyID, stored: UInt8? = nil
    ) -> UInt8? {
        let known = sources[name] ?? []
        // Told by their hashes: a copy of a key to compare would have to be wiped.
        let hash = key.keyID
        let isKnown = known.contains {
            if case .handedOn(_, hash) = $0 { true } else { false }
        }
        guard known.count < Limits.unprovenKeysMax, !isKnown else { return nil }
        let place = stored ?? UInt8(truncatingIfNeeded: known.count + 1)
        sources[name] = known + [.handedOn(place: place, hash: hash)]
        return place
    }

    /// Moves the key at a place to the front, because it has opened something.
    mutating func prefer(_ place: Int, of name: KeyID) { sources[name]?.swapAt(0, place) }
}
