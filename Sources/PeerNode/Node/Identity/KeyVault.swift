import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// The keys of all epochs, of which a bounded number is in memory.
///
/// They are sealed in the store and opened under the home's key on demand. A node with a hundred
/// thousand keys starts like one with ten, since memory holds only their names.
///
/// A stored key opens, since that was tried when its name was loaded. So `nil` means that the store
/// could not be read, or that the home is locked. The first is recorded and fails the turn: nothing
/// concluded from it may be committed.
final class KeyVault {
    /// The name of a key.
    enum Name: Hashable {
        /// A key of the store. The number is that of the workspace or private document. The place
        /// tells several that were handed on for one epoch, and is 0 elsewhere.
        case stored(SecretKind, owner: Int64, KeyID, place: UInt8 = 0)
        /// A document's content key, derived from an epoch key.
        case content(DocumentID, owner: Int64, KeyID)

        var owner: Int64 {
            switch self {
            case .stored(_, let owner, _, _), .content(_, let owner, _): owner
            }
        }
    }

    private let registry: RegistryStore?
    private var home: HomeIdentity?
    private var recent = RecentKeys<Name>(capacity: Limits.keysInMemoryMax)
    /// Why a key could not be read, until it was asked for.
    private var failure: StorageError?
    /// How many seals were opened; for tests, and what they count is what a start costs.
    private(set) var openings = 0

    /// - Parameter registry: where they are stored; `nil` where nothing is.
    init(_ registry: RegistryStore?) { self.registry = registry }

    /// How many keys are in memory.
    var count: Int { recent.count }

    /// Opens under the key of this home from now on. Without one everything in memory is forgotten.
    func use(_ home: HomeIdentity?) {
        self.home = home
        if home == nil { forgetAll() }
    }

    /// Forgets what is in memory; what is stored is opened again when it is asked for.
    func forgetAll() { recent.forget { _ in true } }

    /// The key, from memory or from the store.
    func key(_ name: Name) -> SymmetricKey? {
        if let known = recent.key(name) { return known }
        guard case .stored(let kind, let owner, let id, let place) = name else { return nil }
        do throws(StorageError) {
            let sealed = try registry?.secret(kind, Self.id(kind, id, place), of: owner)
            guard var secret = sealed.flatMap({ open($0, kind, Self.id(kind, id, place)) }) else {
                return nil
            }
            defer { SecretBytes.wipe(&secret) }
            guard let key = SymmetricKey(untrusted: secret, lifetime: .long) else { return nil }
            recent.keep(key, as: name)
            return key
        } catch {
            failure = failure ?? error
            return nil
        }
    }

    /// A document's content key, derived from an epoch key unless it is in memory.
    func contentKey(
        _ document: DocumentID, _ id: KeyID, of owner: Int64, from epoch: () -> SymmetricKey?
    ) -> SymmetricKey? {
        let name = Name.content(document, owner: owner, id)
        if let known = recent.key(name) { return known }
        guard let key = epoch()?.documentKey(for: document) else { return nil }
        recent.keep(key.longLived, as: name)
        return key
    }

    /// Keeps a key in memory that was just stored.
    func keep(_ key: SymmetricKey, as name: Name) { recent.keep(key.longLived, as: name) }

    /// Forgets the keys of a workspace or private document whose rows are going.
    func forget(_ owner: Int64) { recent.forget { $0.owner == owner } }

    /// Throws once what made a key unreadable.
    func throwFailure() throws(StorageError) {
        guard let error = failure else { return }
        failure = nil
        throw error
    }

    // MARK: Seals

    /// The secret in a sealed row of 32 bytes, which the caller wipes; `nil` for one that is damaged
    /// or of another home.
    func open(_ sealed: [UInt8], _ kind: SecretKind, _ id: [UInt8]) -> [UInt8]? {
        openings &+= 1
        guard var secret = home?.open(sealed, name: Self.label(kind, id)) else { return nil }
        guard secret.count == SymmetricKey.byteCount else {
            SecretBytes.wipe(&secret)
            return nil
        }
        return secret
    }

    /// The name in the store: that of the key, and of what was handed on its place.
    static func id(_ kind: SecretKind, _ key: KeyID, _ place: UInt8 = 0) -> [UInt8] {
        kind == .privateAuthorityKey ? key.bytes + [place] : key.bytes
    }

    /// The associated data of a seal.
    static func label(_ kind: SecretKind, _ id: [UInt8]) -> [UInt8] {
        switch kind {
        case .epochKey, .discovery: id
        case .privateKey, .privateAuthorityKey: [UInt8(truncatingIfNeeded: kind.rawValue)] + id
        }
    }
}

/// The epoch keys of one workspace, or of one private document, that this home holds: their names,
/// and the keys themselves on demand.
struct EpochKeyring {
    private(set) var names: Set<KeyID> = []
    private let kind: SecretKind
    private let owner: Int64
    private let vault: KeyVault

    /// - Parameters:
    ///   - kind: `.epochKey` of a workspace, `.privateKey` of a private document.
    ///   - owner: its short number.
    init(_ kind: SecretKind, of owner: Int64, in vault: KeyVault) {
        self.kind = kind
        self.owner = owner
        self.vault = vault
    }

    var isEmpty: Bool { names.isEmpty }
    var count: Int { names.count }

    /// Whether the key is held; costs no opening.
    func holds(_ name: KeyID) -> Bool { names.contains(name) }

    /// The key, opened where it is not in memory.
    subscript(_ name: KeyID) -> SymmetricKey? {
        guard names.contains(name) else { return nil }
        return vault.key(.stored(kind, owner: owner, name))
    }

    /// The content key for a document.
    func contentKey(_ document: DocumentID, _ name: KeyID) -> SymmetricKey? {
        guard names.contains(name) else { return nil }
        return vault.contentKey(document, name, of: owner) { self[name] }
    }

    /// Notes a key that is stored.
    mutating func insert(_ name: KeyID) { names.insert(name) }

    /// Notes a key that was just stored, and will be wanted.
    mutating func insert(_ key: SymmetricKey, as name: KeyID) {
        names.insert(name)
        vault.keep(key, as: .stored(kind, owner: owner, name))
    }

    mutating func removeAll() { names = [] }
}
