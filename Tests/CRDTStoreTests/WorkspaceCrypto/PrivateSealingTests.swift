import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

struct `What a private document seals` {
    private let random = SeededRandom(seed: 31)
    private static let document = DocumentID([UInt8](repeating: 0xd0, count: 32))
    private static let clear = PrivatePayload.Clear(
        workspace: DocumentID([UInt8](repeating: 0xaa, count: 32)),
        nonce: [UInt8](repeating: 5, count: 16))
    private static let grant = OperationID([UInt8](repeating: 0xa1, count: 32))

    private func draft(in document: DocumentID, at sequence: UInt64 = 0) -> OperationDraft {
        OperationDraft(
            kind: .privateAuthority, document: document, incarnation: 1, sequence: sequence,
            previous: sequence == 0 ? nil : OperationID.zero,
            timestamp: HybridTimestamp(rawValue: 1 << 20), grant: Self.grant)
    }

    private func sealed(
        _ change: PrivateChange, under key: SymmetricKey
    ) throws -> (SignedOperation, PrivatePayload) {
        let isRoot = change.seat == nil
        let operation = draft(in: isRoot ? .zero : Self.document).sealedAndSigned(
            change, clear: isRoot ? Self.clear : nil, under: key, with: TestDevice(1).key,
            using: random)
        return (operation, try PrivatePayload(decoding: operation.payload))
    }

    @Test(arguments: PrivateSamples.changes.keys.sorted())
    func `opens with the epoch key`(_ name: String) throws {
        let change = try #require(PrivateSamples.changes[name])
        let key = SymmetricKey(using: random)
        let (operation, payload) = try sealed(change, under: key)
        #expect(PrivateAuthorityKey(of: key).open(payload, of: operation.header) == change)
        #expect(operation.header.keyID == key.keyID)
        #expect((payload.clear == Self.clear) == (change.seat == nil))
        #expect(
            OperationSigning.verify(operation.signature, of: operation.id, by: TestDevice(1).id))
    }

    // E03
    @Test(arguments: PrivateSamples.changes.keys.sorted())
    func `opens in no other place`(_ name: String) throws {
        let key = SymmetricKey(using: random)
        let authorityKey = PrivateAuthorityKey(of: key)
        let (operation, payload) = try sealed(
            try #require(PrivateSamples.changes[name]), under: key)
        let moves: [(String, (inout OperationHeader) -> Void)] = [
            ("kind", { $0.kind = 1 }),
            ("document", { $0.document = DocumentID([UInt8](repeating: 9, count: 32)) }),
            ("author", { $0.device = TestDevice(2).id }), ("incarnation", { $0.incarnation = 2 }),
            ("place", { $0.sequence = 7 }), ("previous", { $0.previous = Self.grant }),
            ("time", { $0.timestamp = HybridTimestamp(rawValue: 1) }),
            ("grant", { $0.grant = .zero }), ("epoch", { $0.keyID = KeyID.zero }),
            ("no epoch", { $0.keyID = nil }),
            (
                "citations",
                {
                    $0.dependencies = [
                        OperationReference(
                            device: .zero, incarnation: 0, sequence: 0, id: Self.grant)
                    ]
                }
            ),
        ]
        for (what, move) in moves {
            var header = operation.header
            move(&header)
            #expect(authorityKey.open(payload, of: header) == nil, "\(what)")
            #expect(!authorityKey.opens(payload, of: header), "\(what)")
        }
    }

    // E03
    @Test func `opens under no other key, and not as content`() throws {
        let (key, other) = (SymmetricKey(using: random), SymmetricKey(using: random))
        let change = PrivateChange(.delete, seat: Self.grant)
        let (operation, payload) = try sealed(change, under: key)
        #expect(PrivateAuthorityKey(of: other).open(payload, of: operation.header) == nil)
        #expect(PrivateAuthorityKey(handedOn: key).open(payload, of: operation.header) == nil)
        for wrong in [key, key.documentKey(for: Self.document), PrivateAuthorityKey(of: key).key] {
            #expect(
                SealedPayload.open(
                    payload.sealed, under: wrong, associatedData: operation.header.associatedData)
                    == nil)
        }
    }

    // A root stays a root: its clear part is in its key.
    @Test func `does not change between root and change`() throws {
        let key = SymmetricKey(using: random)
        let authorityKey = PrivateAuthorityKey(of: key)
        let (root, payload) = try sealed(
            PrivateChange(.root(PrivateSamples.root), seat: nil), under: key)
        let bare = PrivatePayload(clear: nil, sealed: payload.sealed)
        #expect(authorityKey.open(bare, of: root.header) == nil)
        let renamed = PrivatePayload(
            clear: PrivatePayload.Clear(
                workspace: Self.clear.workspace, nonce: [UInt8](repeating: 6, count: 16)),
            sealed: payload.sealed)
        #expect(authorityKey.open(renamed, of: root.header) == nil)
        // Honestly sealed, but the wrong thing in the wrong place.
        let (fake, fakePayload) = try sealed(
            PrivateChange(.root(PrivateSamples.root), seat: nil), under: key)
        #expect(authorityKey.opens(fakePayload, of: fake.header))
        let draft = draft(in: Self.document)
        let lone = draft.sealedAndSigned(
            PrivateChange(.root(PrivateSamples.root), seat: nil), clear: nil, under: key,
            with: TestDevice(1).key, using: random)
        let lonePayload = try PrivatePayload(decoding: lone.payload)
        #expect(authorityKey.opens(lonePayload, of: lone.header))
        #expect(authorityKey.open(lonePayload, of: lone.header) == nil)
    }

    // The subkey that newcomers get does not open what was said.
    @Test func `tells holders of the subkey nothing of the content`() throws {
        let key = SymmetricKey(using: random)
        let draft = OperationDraft(
            kind: .content, document: Self.document, incarnation: 1, sequence: 0, previous: nil,
            timestamp: HybridTimestamp(rawValue: 1 << 20), grant: Self.grant)
        let content = draft.sealedAndSigned(
            plaintext: [1, 2, 3], under: key, keyID: key.keyID, with: TestDevice(1).key,
            using: random)
        let subkey = PrivateAuthorityKey(of: key).key
        for wrong in [subkey, subkey.documentKey(for: Self.document)] {
            #expect(
                SealedPayload.open(
                    content.payload, under: wrong, associatedData: content.header.associatedData)
                    == nil)
        }
        #expect(subkey.keyID != key.keyID)
    }

    // Hostile members hold the key: whatever they seal is read or means nothing.
    @Test(arguments: Seeds.explore(40))
    func `is read or means nothing, whatever a member seals`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let random = SeededRandom(seed: seed)
        let key = SymmetricKey(using: random)
        let samples = PrivateSamples.changes.keys.sorted()
        for name in samples {
            var text = try #require(PrivateSamples.changes[name]).encoded
            for _ in 0..<generator.below(4) {
                text[generator.below(text.count)] ^= UInt8(1 + generator.below(255))
            }
            if generator.oneIn(4) { text = generator.bytes(generator.below(300)) }
            let authorityKey = PrivateAuthorityKey(of: key)
            let header = draft(in: Self.document).signed(payload: [], with: TestDevice(1).key)
                .header
            let sealed = SealedPayload.seal(
                text, under: authorityKey.key.documentKey(for: Self.document),
                associatedData: header.associatedData, using: random)
            let payload = PrivatePayload(clear: nil, sealed: sealed)
            #expect(authorityKey.opens(payload, of: header))
            if let change = authorityKey.open(payload, of: header) {
                #expect(change.encoded == text && change.seat != nil)
            }
        }
    }
}

struct `An older key of a private document` {
    private let random = SeededRandom(seed: 32)

    @Test func `is handed on as a whole or as what opens authority alone`() throws {
        let (older, newer) = (SymmetricKey(using: random), SymmetricKey(using: random))
        let whole = OlderPrivateKey.sealing(older, form: .whole, under: newer, using: random)
        guard case .whole(let opened)? = whole.open(under: newer) else {
            Issue.record("no key")
            return
        }
        #expect(opened.keyID == older.keyID && whole.keyID == older.keyID)
        let part = OlderPrivateKey.sealing(older, form: .authority, under: newer, using: random)
        let again = OlderPrivateKey.sealing(
            PrivateAuthorityKey(of: older), of: older.keyID, under: newer, using: random)
        for handed in [part, again] {
            guard case .authority(let subkey)? = handed.open(under: newer) else {
                Issue.record("no subkey")
                return
            }
            #expect(subkey.key.keyID == PrivateAuthorityKey(of: older).key.keyID)
            #expect(handed.keyID == older.keyID && handed.form == .authority)
        }
    }

    @Test func `opens under its key alone, and proves its name`() {
        let (older, newer) = (SymmetricKey(using: random), SymmetricKey(using: random))
        let sealed = OlderPrivateKey.sealing(older, form: .whole, under: newer, using: random)
        #expect(sealed.open(under: older) == nil)
        #expect(sealed.open(under: SymmetricKey(using: random)) == nil)
        let renamed = OlderPrivateKey(keyID: newer.keyID, form: .whole, sealed: sealed.sealed)
        #expect(renamed.open(under: newer) == nil)
        for bit in stride(from: 0, to: sealed.sealed.count * 8, by: 5) {
            let changed = OlderPrivateKey(
                keyID: older.keyID, form: .whole, sealed: sealed.sealed.flippingBit(bit))
            #expect(changed.open(under: newer) == nil)
        }
        // What opens under the epoch key itself, as the workspace's rekeys do, is not one.
        let plain = OlderPrivateKey(
            keyID: older.keyID, form: .whole,
            sealed: KeyWrap.wrap(older, under: newer, using: random))
        #expect(plain.open(under: newer) == nil)
    }
}
