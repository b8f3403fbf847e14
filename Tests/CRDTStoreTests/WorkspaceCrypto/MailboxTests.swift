import CSodium
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

struct `A box in the mailbox` {
    private let random = SeededRandom(seed: 41)
    private static let mailbox = MailboxPlace.mailbox(
        of: DocumentID([UInt8](repeating: 0xaa, count: 32)))
    private static let place = MailboxPlace(
        mailbox: mailbox, sender: TestDevice(1).id, incarnation: 3, sequence: 4)
    private static let document = DocumentID([UInt8](repeating: 0xd0, count: 32))
    private static let operation = OperationID([UInt8](repeating: 0x0f, count: 32))

    private func devices(_ count: Int) -> [AgreementKey] {
        (0..<count).map { _ in AgreementKey(using: random, lifetime: .brief) }
    }

    private func payload(
        _ message: MailboxMessage, from sender: AgreementKey, to recipients: [AgreementKey]
    ) -> MailboxPayload {
        MailboxPayload.sealing(
            recipients.map { MailboxDelivery(message, to: $0.publicKey) }, from: sender,
            at: Self.place, using: random)
    }

    @Test(arguments: [(0, 4), (1, 4), (4, 4), (5, 16), (17, 64), (65, 256), (256, 256)])
    func `opens for each device it is for`(_ count: Int, _ boxes: Int) throws {
        let sender = devices(1)[0]
        let recipients = devices(count)
        let key = SymmetricKey(using: random)
        let payload = payload(.key(key, of: Self.document), from: sender, to: recipients)
        #expect(payload.boxes.count == boxes)
        for recipient in recipients {
            let secret = try MailboxSecret(own: recipient, other: sender.publicKey)
            guard case .key(let opened, Self.document)? = secret.open(payload, at: Self.place)
            else {
                Issue.record("no key")
                return
            }
            #expect(opened.keyID == key.keyID)
        }
        let decoded = try MailboxPayload(decoding: payload.encoded)
        #expect(decoded == payload)
    }

    @Test func `carries a notice of the same length`() throws {
        let devices = devices(2)
        let payload = payload(
            .notice(Self.operation, in: Self.document), from: devices[0], to: [devices[1]])
        let secret = try MailboxSecret(own: devices[1], other: devices[0].publicKey)
        guard case .notice(Self.operation, Self.document)? = secret.open(payload, at: Self.place)
        else {
            Issue.record("no notice")
            return
        }
        #expect(payload.boxes.allSatisfy { $0.sealed.count == 144 })
    }

    // E03: the place and the sender are part of the box.
    @Test func `opens in no other place and from no other sender`() throws {
        let devices = devices(3)
        let key = SymmetricKey(using: random)
        let payload = payload(.key(key, of: Self.document), from: devices[0], to: [devices[1]])
        let secret = try MailboxSecret(own: devices[1], other: devices[0].publicKey)
        let own = Self.place
        let other = DocumentID([UInt8](repeating: 1, count: 32))
        #expect(secret.open(payload, at: own) != nil)
        for place in [
            MailboxPlace(mailbox: other, sender: own.sender, incarnation: 3, sequence: 4),
            MailboxPlace(
                mailbox: own.mailbox, sender: TestDevice(2).id, incarnation: 3, sequence: 4),
            MailboxPlace(mailbox: own.mailbox, sender: own.sender, incarnation: 2, sequence: 4),
            MailboxPlace(mailbox: own.mailbox, sender: own.sender, incarnation: 3, sequence: 5),
        ] {
            #expect(secret.open(payload, at: place) == nil)
        }
        let stranger = try MailboxSecret(own: devices[1], other: devices[2].publicKey)
        #expect(stranger.open(payload, at: own) == nil)
        let eavesdropper = try MailboxSecret(own: devices[2], other: devices[0].publicKey)
        #expect(eavesdropper.open(payload, at: own) == nil)
    }

    // E03: a box is no use under another nonce, and nobody finds it under another tag.
    @Test func `opens under no other nonce and no other tag`() throws {
        let devices = devices(2)
        let payload = payload(
            .notice(Self.operation, in: Self.document), from: devices[0], to: [devices[1]])
        let secret = try MailboxSecret(own: devices[1], other: devices[0].publicKey)
        let renamed = try #require(
            MailboxPayload(nonce: random.bytes(16), boxes: payload.boxes))
        #expect(secret.open(renamed, at: Self.place) == nil)
        let tag = secret.tag(from: Self.place.sender, nonce: payload.nonce)
        let box = try #require(payload.box(tagged: tag))
        for bit in stride(from: 0, to: 144 * 8, by: 7) {
            let others = payload.boxes.filter { $0 != box }
            let changed = MailboxPayload.Box(tag: tag, sealed: box.sealed.flippingBit(bit))
            let moved = try #require(
                MailboxPayload(nonce: payload.nonce, boxes: others + [changed]))
            #expect(secret.open(moved, at: Self.place) == nil)
        }
    }

    @Test func `tells both directions apart`() throws {
        let devices = devices(2)
        let there = try MailboxSecret(own: devices[0], other: devices[1].publicKey)
        let back = try MailboxSecret(own: devices[1], other: devices[0].publicKey)
        let nonce = random.bytes(16)
        let (one, two) = (TestDevice(1).id, TestDevice(2).id)
        #expect(there.tag(from: one, nonce: nonce) == back.tag(from: one, nonce: nonce))
        #expect(there.tag(from: one, nonce: nonce) != there.tag(from: two, nonce: nonce))
        #expect(there.tag(from: one, nonce: nonce) != there.tag(from: one, nonce: random.bytes(16)))
    }

    // The tags of two operations to one device have nothing in common.
    @Test func `is marked differently each time`() {
        let devices = devices(2)
        let message = MailboxMessage.notice(Self.operation, in: Self.document)
        let payloads = (0..<8).map { _ in payload(message, from: devices[0], to: [devices[1]]) }
        let tags = payloads.flatMap { $0.boxes.map(\.tag) }
        #expect(Set(tags).count == tags.count)
        #expect(Set(payloads.map(\.nonce)).count == payloads.count)
    }

    @Test func `agrees with nobody whose key anybody could use`() throws {
        let own = devices(1)[0]
        let weak = AgreementPublicKey([UInt8](repeating: 0, count: 32))
        #expect(throws: AgreementError.weakPublicKey) { try MailboxSecret(own: own, other: weak) }
        let payload = MailboxPayload.sealing(
            [MailboxDelivery(.notice(Self.operation, in: Self.document), to: weak)], from: own,
            at: Self.place, using: random)
        #expect(payload.boxes.count == 4)
    }

    // The sender is a member and may seal anything: it is read or means nothing.
    @Test(arguments: [
        "", "80*128", "00*128", "83 01 58 20 01*32 58 20 02*32 80 00*56",
        "83 01 58 20 01*32 58 20 02*32 81 00*57", "83 01 58 20 01*32 58 20 02*32 00 80 00*56",
        "83 03 58 20 01*32 58 20 02*32 80 00*57", "83 01 58 1f 01*31 58 20 02*32 80 00*58",
        "84 01 58 20 01*32 58 20 02*32 00 80 00*56", "9b ff*8 80 00*118",
        "83 18 01 58 20 01*32 58 20 02*32 80 00*56", "81*127 80",
    ])
    func `means nothing when its text does not`(_ notation: String) throws {
        try expect(spelled(notation), isRead: false)
    }

    @Test func `is read when its text is right`() throws {
        try expect(spelled("83 01 58 20 01*32 58 20 02*32 80 00*57"), isRead: true)
        try expect(spelled("83 02 58 20 01*32 58 20 02*32 80 00*57"), isRead: true)
    }

    /// Seals `text` as an honest program would not, by the words of PROTOCOL.md, 3.5.
    private func expect(_ text: [UInt8], isRead: Bool) throws {
        let sender = AgreementKey(secret: [UInt8](repeating: 1, count: 32), lifetime: .brief)
        let recipient = AgreementKey(secret: [UInt8](repeating: 2, count: 32), lifetime: .brief)
        var agreed = [UInt8](repeating: 0, count: 32)
        let status = crypto_box_beforenm(
            &agreed, recipient.publicKey.bytes, sender.exposedSecret())
        #expect(status == 0)
        let shared = SymmetricKey(agreed)
        let nonce = [UInt8](repeating: 3, count: 16)
        let place = Self.place
        var encoder = CBOREncoder()
        encoder.array(count: 4)
        encoder.byteString(place.mailbox)
        encoder.byteString(place.sender)
        encoder.uint(UInt64(place.incarnation))
        encoder.uint(place.sequence)
        let sealed = XChaCha20Poly1305.seal(
            text, under: shared.derived(Array("wsx-box".utf8), place.sender.bytes, nonce),
            nonce: [UInt8](repeating: 0, count: 24), associatedData: encoder.bytes)
        let hash = Hash.keyed(shared, Array("wsx-tag".utf8), place.sender.bytes, nonce)
        let tag = [UInt8](hash.prefix(8))
        let secret = try MailboxSecret(own: recipient, other: sender.publicKey)
        #expect(secret.tag(from: place.sender, nonce: nonce) == tag)
        guard sealed.count == MailboxPayload.boxByteCount else { return #expect(!isRead) }
        let others = (1...3).map {
            MailboxPayload.Box(
                tag: [UInt8](repeating: UInt8($0), count: 8),
                sealed: [UInt8](repeating: 0, count: 144))
        }
        let payload = try #require(
            MailboxPayload(
                nonce: nonce, boxes: others + [MailboxPayload.Box(tag: tag, sealed: sealed)]))
        #expect((secret.open(payload, at: place) != nil) == isRead)
    }

    @Test func `comes in operations that name no device twice`() {
        let devices = devices(3)
        let message = MailboxMessage.notice(Self.operation, in: Self.document)
        let deliveries = (0..<900).map { number in
            MailboxDelivery(message, to: devices[number % 7 == 0 ? 0 : number % 3].publicKey)
        }
        let batches = MailboxPayload.batches(of: deliveries)
        #expect(batches.reduce(0) { $0 + $1.count } == deliveries.count)
        #expect(batches.allSatisfy { Set($0.map(\.recipient)).count == $0.count })
        let many = (0..<600).map { number in
            MailboxDelivery(
                message,
                to: AgreementPublicKey(
                    [UInt8](repeating: 7, count: 24) + bigEndianBytes(of: UInt64(number))))
        }
        #expect(MailboxPayload.batches(of: many).map(\.count) == [256, 256, 88])
        #expect(MailboxPayload.batches(of: []).isEmpty)
    }
}
