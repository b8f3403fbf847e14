public import WorkspaceModel

/// The authority subkey A of an epoch key of a private document: opens the operations of kind 3 of
/// its epoch, and no content.
///
/// A member added to a document that shows only later content gets the subkeys of the older epochs:
/// judging who may do what takes the history of additions and removals.
///
/// - Source: PROTOCOL.md, 4.4: A = Hk(K, "wsx-pauth").
public struct PrivateAuthorityKey: Sendable {
    /// A itself, exposed only to be sealed.
    public let key: SymmetricKey

    /// The subkey of the epoch key K.
    public init(of epochKey: SymmetricKey) {
        key = epochKey.derived(Array("wsx-pauth".utf8))
    }

    /// A as another member handed it on. Only use proves it: it is the subkey of an epoch when the
    /// operation that introduces the epoch opens.
    public init(handedOn key: SymmetricKey) {
        self.key = key
    }

    /// Hk(A, "wsx-doc" || document): seals every operation of kind 3 but the root.
    func sealingKey(for document: DocumentID) -> SymmetricKey {
        key.derived(Array("wsx-doc".utf8), document.bytes)
    }

    /// Hk(A, "wsx-root" || nonce): seals the root, whose id is not known yet.
    func sealingKey(forRootWith nonce: [UInt8]) -> SymmetricKey {
        key.derived(Array("wsx-root".utf8), nonce)
    }

    /// What an operation of kind 3 says.
    ///
    /// - Parameters:
    ///   - header: of the operation, zeros as document in a root.
    ///   - payload: its payload, decoded.
    /// - Returns: `nil` when it does not open under this key at this place, or is no
    ///   `PrivateChange` that fits: a root has a clear part, nothing else has one. Takes any bytes.
    public func open(_ payload: PrivatePayload, of header: OperationHeader) -> PrivateChange? {
        guard let plaintext = plaintext(of: payload, header) else { return nil }
        guard let change = try? PrivateChange(decoding: plaintext),
            (change.seat == nil) == (payload.clear != nil)
        else { return nil }
        return change
    }

    /// Whether the payload opens under this key at this place, even when it does not parse. Tells a
    /// wrong key from a meaningless plaintext.
    public func opens(_ payload: PrivatePayload, of header: OperationHeader) -> Bool {
        plaintext(of: payload, header) != nil
    }

    private func plaintext(
        of payload: PrivatePayload, _ header: OperationHeader
    ) -> [UInt8]? {
        let key =
            payload.clear.map { sealingKey(forRootWith: $0.nonce) }
            ?? sealingKey(for: header.document)
        return SealedPayload.open(
            payload.sealed, under: key, associatedData: header.associatedData)
    }
}

extension OperationDraft {
    /// Seals `change` for the members of a private document, bound to header fields 0 to 10, and
    /// signs it.
    ///
    /// - Parameters:
    ///   - clear: a root's clear part, `nil` in everything else.
    ///   - epochKey: K; what introduces an epoch is sealed under the new key.
    /// - Precondition: the draft's kind is 3, and its document zeros exactly with a clear part.
    public func sealedAndSigned(
        _ change: PrivateChange, clear: PrivatePayload.Clear?, under epochKey: SymmetricKey,
        with key: SigningKey, using random: any RandomSource
    ) -> SignedOperation {
        precondition(kind == .privateAuthority && (clear != nil) == (document == .zero))
        let authorityKey = PrivateAuthorityKey(of: epochKey)
        let sealingKey =
            clear.map { authorityKey.sealingKey(forRootWith: $0.nonce) }
            ?? authorityKey.sealingKey(for: document)
        let context = header(
            of: key.device, keyID: epochKey.keyID, payloadLength: 0, hash: .zero)
        let sealed = SealedPayload.seal(
            change.encoded, under: sealingKey, associatedData: context.associatedData,
            using: random)
        return finished(
            payload: PrivatePayload(clear: clear, sealed: sealed).encoded,
            keyID: epochKey.keyID, with: key)
    }
}

extension OlderPrivateKey {
    /// The older epoch key, or only its authority subkey, sealed under a newer epoch key: a whole
    /// key under a key derived from K, a subkey under one derived from A. So a member who only has
    /// subkeys can follow the chain of subkeys.
    ///
    /// - Source: PROTOCOL.md, 4.4: XSalsa20-Poly1305 under Hk(K, "wsx-older"), a subkey under
    ///   Hk(A, "wsx-older").
    public static func sealing(
        _ older: SymmetricKey, form: Form, under newer: SymmetricKey,
        using random: any RandomSource
    ) -> OlderPrivateKey {
        guard form == .whole else {
            return sealing(
                PrivateAuthorityKey(of: older), of: older.keyID, under: newer, using: random)
        }
        return OlderPrivateKey(
            keyID: older.keyID, form: form,
            sealed: KeyWrap.wrap(older, under: newer.olderSealingKey, using: random))
    }

    /// The authority subkey of an older epoch whose whole key this device does not hold, handed on.
    public static func sealing(
        _ older: PrivateAuthorityKey, of keyID: KeyID, under newer: SymmetricKey,
        using random: any RandomSource
    ) -> OlderPrivateKey {
        OlderPrivateKey(
            keyID: keyID, form: .authority,
            sealed: KeyWrap.wrap(
                older.key, under: PrivateAuthorityKey(of: newer).key.olderSealingKey,
                using: random))
    }

    /// What the newer key yields.
    public enum Opened: Sendable {
        /// The epoch key, which its name proved.
        case whole(SymmetricKey)
        /// The authority subkey, which nothing has proved yet.
        case authority(PrivateAuthorityKey)
    }

    /// The key inside, or `nil` when it does not open or has another name. Takes any bytes.
    public func open(under newer: SymmetricKey) -> Opened? {
        guard form == .whole else {
            return open(under: PrivateAuthorityKey(of: newer)).map { .authority($0) }
        }
        let key = KeyWrap.unwrap(sealed, under: newer.olderSealingKey)
        return key.flatMap { $0.keyID == keyID ? .whole($0) : nil }
    }

    /// The subkey inside, for a member who holds only a subkey of the newer epoch.
    public func open(under newer: PrivateAuthorityKey) -> PrivateAuthorityKey? {
        guard form == .authority else { return nil }
        return KeyWrap.unwrap(sealed, under: newer.key.olderSealingKey)
            .map { PrivateAuthorityKey(handedOn: $0) }
    }
}

extension SymmetricKey {
    /// Hk(K, "wsx-older") of an epoch key or a subkey: what seals older ones in one epoch.
    fileprivate var olderSealingKey: SymmetricKey { derived(Array("wsx-older".utf8)) }
}
