import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Which store this is, and thereby which incarnation of the device writes.
///
/// Drawn again when the guard file shows that the store was copied or restored: a new store never
/// continues an old log (3-protocol 3.2, 3.8).
struct StoreIdentity: Sendable {
    /// Random, 16 bytes.
    var store: StoreID
    /// Names this store's logs.
    var incarnation: UInt32
    /// The first part of event cursors, `e` and a number in base32.
    var epoch: String
    /// The Noise static key of this store.
    var staticKey: AgreementKey

    /// Reads the identity of `store`, or draws one where there is none, or where `isNew` says that
    /// the old one must no longer be used.
    static func load(
        from registry: RegistryStore, home: HomeIdentity, isNew: Bool,
        using random: any RandomSource
    ) throws(StorageError) -> (identity: StoreIdentity, isFresh: Bool) {
        if !isNew, let known = try read(from: registry, home: home) { return (known, false) }
        let fresh = StoreIdentity(
            store: StoreID(random.bytes(16)),
            incarnation: UInt32(truncatingIfNeeded: random.number()),
            epoch: "e" + Base32.encode(random.bytes(5)), staticKey: AgreementKey(using: random))
        try fresh.write(to: registry, home: home, using: random)
        return (fresh, true)
    }

    /// Whether the store has an identity that may be continued.
    static func isKept(
        in registry: RegistryStore, home: HomeIdentity
    ) throws(StorageError) -> Bool {
        try read(from: registry, home: home) != nil
    }

    /// Why the keys of a home are not those of its store, if they are not: the file is missing, or
    /// belongs to another home. With new keys the store would belong to two people, and what the
    /// old ones sealed would be lost permanently.
    static func doubt(
        of home: HomeIdentity?, in registry: RegistryStore
    ) throws(StorageError) -> HomeFileError? {
        guard let sealed = try registry.value("static") else { return nil }
        let hint = "restore identity/device.key from a backup, or move the home away"
        guard let home else {
            return HomeFileError("the identity file of this home is missing", hint: hint)
        }
        guard home.open(sealed, name: Array("static".utf8)) != nil else {
            // One value may be damaged. Other values that these keys have sealed show whose they
            // are.
            let isOurs = try registry.secrets(after: .min, limit: 32).map(\.row).contains {
                home.open($0.sealed, name: KeyVault.label($0.kind, $0.id)) != nil
            }
            if isOurs { return nil }
            return HomeFileError("the identity file belongs to another home", hint: hint)
        }
        return nil
    }

    private static func read(
        from registry: RegistryStore, home: HomeIdentity
    ) throws(StorageError) -> StoreIdentity? {
        guard let store = try registry.value("store").flatMap(StoreID.init(untrusted:)),
            let incarnation = try registry.value("incarnation"), incarnation.count == 4,
            let epoch = try registry.value("epoch").flatMap({
                String(validating: $0, as: UTF8.self)
            }),
            let sealed = try registry.value("static"),
            let secret = home.open(sealed, name: Array("static".utf8)), secret.count == 32
        else { return nil }
        return StoreIdentity(
            store: store,
            incarnation: incarnation.reduce(0) { $0 << 8 | UInt32($1) }, epoch: epoch,
            staticKey: AgreementKey(secret: secret))
    }

    /// Stores it.
    func write(
        to registry: RegistryStore, home: HomeIdentity, using random: any RandomSource
    ) throws(StorageError) {
        try registry.setValue(store.bytes, of: "store")
        try registry.setValue(
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: incarnation >> UInt32($0)) },
            of: "incarnation")
        try registry.setValue(Array(epoch.utf8), of: "epoch")
        try registry.setValue(
            home.seal(staticKey.exposedSecret(), name: Array("static".utf8), using: random),
            of: "static")
    }
}
