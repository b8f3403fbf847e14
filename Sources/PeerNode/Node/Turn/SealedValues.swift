import CRDTStore

/// Values of the store that are sealed under the home's key, each bound to its name.
extension CoreMember {
    /// The value of `name`; `nil` without one, without an identity, and for what another home has
    /// sealed.
    func sealedValue(_ name: String) throws(StorageError) -> [UInt8]? {
        guard let home, let sealed = try store.registry.value(name) else { return nil }
        return home.open(sealed, name: Array(name.utf8))
    }

    /// Stores the value of `name`. It removes what is there if there is none, or no identity.
    func setSealedValue(_ value: [UInt8]?, of name: String) throws(StorageError) {
        try write()
        guard let value, let home else { return try store.registry.setValue(nil, of: name) }
        try store.registry.setValue(
            home.seal(value, name: Array(name.utf8), using: environment.random), of: name)
    }
}
