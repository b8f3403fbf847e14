import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `A change to a private document` {
    static let names = PrivateSamples.changes.keys.sorted()

    @Test func `is sampled for every type`() {
        #expect(Set(PrivateSamples.changes.values.map(\.action.type)) == Set(1...8))
        #expect(Set(PrivateSamples.bytes.keys) == Set(Self.names))
    }

    @Test(arguments: names)
    func `has the bytes that the protocol says`(_ name: String) throws {
        let change = try #require(PrivateSamples.changes[name])
        let bytes = spelled(try #require(PrivateSamples.bytes[name]))
        #expect(change.encoded == bytes)
        #expect(try PrivateChange(decoding: bytes) == change)
    }

    @Test(arguments: names)
    func `corresponds to its bytes one to one`(_ name: String) throws {
        let bytes = try #require(PrivateSamples.changes[name]).encoded
        expectOneForm(of: bytes) { (bytes) throws(Malformed) -> [UInt8] in
            try PrivateChange(decoding: bytes).encoded
        }
    }

    // C06
    @Test(arguments: names)
    func `has no other keys`(_ name: String) throws {
        var bytes = try #require(PrivateSamples.changes[name]).encoded
        bytes[2] += 1
        #expect(refusal(of: bytes + [0x17, 0x00]) == .wrongKeys)
    }

    @Test(arguments: [
        ("82 00 a0", Malformed.Reason.unsupported), ("82 09 a0", .unsupported),
        ("82 08 a0", .wrongKeys),
        ("82 01 a4 01 01 02 81 82 50 22*16 00 03 00 0f 58 20 77*32", .wrongKeys),
        ("82 01 a3 01 00 02 81 82 50 22*16 00 03 00", .outOfRange),
        ("82 01 a3 01 04 02 81 82 50 22*16 00 03 00", .outOfRange),
        ("82 01 a3 01 01 02 81 82 50 22*16 00 03 02", .outOfRange),
        ("82 01 a3 01 01 02 81 82 50 22*16 04 03 00", .outOfRange),
        ("82 01 a3 01 01 02 80 03 00", .countExceeded),
        ("82 01 a3 01 01 02 99 07 d1", .truncated),
        ("82 02 a2 01 82 82 50 22*16 02 82 50 22*16 02 0f 58 20 77*32", .keysOutOfOrder),
        ("82 02 a2 01 82 82 50 22*16 02 82 50 11*16 02 0f 58 20 77*32", .keysOutOfOrder),
        ("82 04 a2 01 99 07 d1", .truncated),
        ("82 04 a2 01 81 83 58 20 dd*32 01 80 0f 58 20 77*32", .keysOutOfOrder),
        ("82 04 a2 01 81 83 58 20 dd*32 01 99 07 d1", .truncated),
        (
            "82 04 a2 01 81 83 58 20 dd*32 01 82 83 58 20 d0*32 02 50 ee*16 "
                + "83 58 20 d0*32 02 50 ee*16 0f 58 20 77*32", .keysOutOfOrder
        ),
        (
            "82 04 a2 01 82 83 58 20 dd*32 01 81 83 58 20 d0*32 02 50 ee*16 "
                + "83 58 20 dd*32 01 81 83 58 20 d1*32 02 50 ee*16 0f 58 20 77*32",
            .keysOutOfOrder
        ),
        ("82 06 a2 01 61 07 0f 58 20 77*32", .badText),
        ("82 06 a2 02 61 00 0f 58 20 77*32", .badText),
        ("82 06 a2 01 79 01 01 61*257 0f 58 20 77*32", .countExceeded),
        ("82 06 a2 02 79 40 01 61*16385 0f 58 20 77*32", .countExceeded),
        ("82 07 a2 01 83 50 33*16 81 83 50 44*16 02 58 48 55*72 80 0f 58 20 77*32", .outOfRange),
        ("82 07 a2 01 83 50 33*16 81 83 50 44*16 01 58 47 55*71 80 0f 58 20 77*32", .countExceeded),
        ("82 07 a2 01 83 50 33*16 98 41", .truncated),
        ("82 07 a2 01 83 50 33*16 80 99 02 01", .truncated),
        ("82 07 a2 01 83 50 33*16 80 82 58 20 66*32 58 20 66*32 0f 58 20 77*32", .keysOutOfOrder),
        ("82 08 a1 0f 58 20 77*32 00", .trailingBytes), ("83 08 a0 00", .countExceeded),
    ])
    func `stays within its ranges`(_ notation: String, _ reason: Malformed.Reason) {
        #expect(refusal(of: spelled(notation)) == reason)
    }

    @Test func `fits into a payload even where it is longest`() {
        let seats = (0..<Limits.privateSeatsMax).map {
            PrivateSeat(
                MemberID([UInt8](repeating: 0, count: 8) + bigEndianBytes(of: UInt64($0))), .guest)
        }
        let epoch = PrivateEpoch(
            keyID: .zero,
            older: [OlderPrivateKey](
                repeating: PrivateSamples.epoch.older[0], count: Limits.olderKeysMax),
            answers: (0..<Limits.privateAnswersMax).map {
                OperationID([UInt8](repeating: 0xff, count: 24) + bigEndianBytes(of: UInt64($0)))
            })
        // Each of another incarnation, so that nothing stands there once for all.
        let cuts = (0..<Limits.privateCutsMax).map {
            CutEntry(
                log: LogName(
                    document: .zero, device: .zero, incarnation: .max - 5_000 + UInt32($0)),
                sequence: 1 << 40, id: .zero)
        }
        let removal = PrivateAction.remove(.zero, cuts: cuts, epoch: epoch)
        let addition = PrivateAction.add(PrivateAddition(seats: seats, epoch: epoch))
        for action in [removal, addition] {
            let bytes = PrivateChange(action, seat: .zero).encoded
            #expect(bytes.count + 200 < Limits.payloadBytesMax)
            #expect((try? PrivateChange(decoding: bytes))?.action == action)
        }
    }

    /// The bound is one of all places, however many devices they are of.
    @Test(arguments: [0, 1])
    func `keeps no more places than its bound, of one device or two`(beyond: Int) {
        let count = Limits.privateCutsMax - 1 + beyond
        let second = spelled("83 58 20 dd*32 02 99") + bigEndianBytes(of: UInt64(count)).suffix(2)
        var bytes =
            spelled("82 04 a2 01 82 83 58 20 dd*32 01 81 83 58 20 d0*32 02 50 ee*16") + second
        for place in 0..<UInt64(count) {
            bytes += spelled("83 58 20 d0*32 1a") + bigEndianBytes(of: 65_536 + place).suffix(4)
            bytes += spelled("50 ee*16")
        }
        bytes += spelled("0f 58 20 77*32")
        #expect(refusal(of: bytes) == (beyond == 0 ? nil : .countExceeded))
    }

    // C03, C05: whatever is inside, it is read or refused.
    @Test(arguments: Seeds.explore(30))
    func `is read or refused, whatever the bytes`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for name in Self.names {
            var bytes = try #require(PrivateSamples.changes[name]).encoded
            for _ in 0...random.below(4) {
                switch random.below(3) {
                case 0: bytes[random.below(bytes.count)] = UInt8(random.below(256))
                case 1: bytes.insert(UInt8(random.below(256)), at: random.below(bytes.count))
                default: bytes.removeLast(min(bytes.count - 1, random.below(3)))
                }
            }
            guard let change = try? PrivateChange(decoding: bytes) else { continue }
            #expect(change.encoded == bytes)
        }
        #expect((try? PrivateChange(decoding: random.bytes(random.below(200)))) == nil)
    }

    private func refusal(of bytes: [UInt8]) -> Malformed.Reason? {
        do throws(Malformed) {
            _ = try PrivateChange(decoding: bytes)
            return nil
        } catch { return error.reason }
    }
}

struct `The payload of a private document` {
    private static let sealed = [UInt8](repeating: 9, count: 72)
    private static let clear = PrivatePayload.Clear(
        workspace: DocumentID([UInt8](repeating: 1, count: 32)),
        nonce: [UInt8](repeating: 2, count: 16))

    @Test(arguments: [
        (PrivatePayload(clear: nil, sealed: sealed), "82 f6 58 48 09*72"),
        (
            PrivatePayload(clear: clear, sealed: sealed),
            "82 a2 01 58 20 01*32 02 50 02*16 58 48 09*72"
        ),
    ])
    func `has the bytes that the protocol says`(_ payload: PrivatePayload, _ notation: String) {
        let bytes = spelled(notation)
        #expect(payload.encoded == bytes)
        #expect((try? PrivatePayload(decoding: bytes)) == payload)
        expectOneForm(of: bytes) { (bytes) throws(Malformed) -> [UInt8] in
            try PrivatePayload(decoding: bytes).encoded
        }
    }

    @Test(arguments: [
        "82 f6 58 47 09*71", "82 f4 58 48 09*72", "82 a1 01 58 20 01*32 58 48 09*72",
        "82 a2 01 58 20 01*32 02 4f 02*15 58 48 09*72", "82 a0 58 48 09*72",
        "82 a3 01 58 20 01*32 02 50 02*16 03 00 58 48 09*72", "81 f6", "82 f6 f6",
        "82 a2 02 50 02*16 03 58 20 01*32 58 48 09*72", "82 f6 5b 7f ff*7", "82 f6 58 48 09*72 00",
    ])
    func `has no other form`(_ notation: String) {
        #expect(throws: Malformed.self) { try PrivatePayload(decoding: spelled(notation)) }
    }
}

struct `The payload of a mailbox` {
    @Test(arguments: [4, 16, 64, 256])
    func `has one of four sizes`(_ count: Int) throws {
        let payload = try #require(PrivateSamples.mailbox(count))
        #expect(try MailboxPayload(decoding: payload.encoded) == payload)
        #expect(payload.encoded.count < Limits.payloadBytesMax)
    }

    @Test(arguments: [0, 1, 3, 5, 15, 17, 255, 257, 1_024])
    func `has no other size`(_ count: Int) {
        #expect(PrivateSamples.mailbox(count) == nil)
    }

    @Test func `corresponds to its bytes one to one`() throws {
        let payload = try #require(PrivateSamples.mailbox(4))
        let spelling =
            "82 50 01*16 84 "
            + (0..<4).map { number in
                "82 48 00*7 0\(number) 58 90 0\(number)*144"
            }.joined(separator: " ")
        #expect(payload.encoded == spelled(spelling))
        expectOneForm(of: payload.encoded) { (bytes) throws(Malformed) -> [UInt8] in
            try MailboxPayload(decoding: bytes).encoded
        }
    }

    @Test(arguments: [
        "82 50 01*16 80", "82 50 01*16 83", "82 50 01*16 99 01 01", "82 50 01*16 9b 7f ff*7",
        "82 4f 01*15 80", "81 50 01*16", "83 50 01*16 80 00",
    ])
    func `claims no more than it may`(_ notation: String) {
        #expect(throws: Malformed.self) { try MailboxPayload(decoding: spelled(notation)) }
    }

    @Test func `marks no two boxes alike, and orders them by their tags`() throws {
        let payload = try #require(PrivateSamples.mailbox(4))
        var boxes = payload.boxes
        #expect(MailboxPayload(nonce: payload.nonce, boxes: boxes.reversed()) == payload)
        boxes[1] = boxes[0]
        #expect(MailboxPayload(nonce: payload.nonce, boxes: boxes) == nil)
        #expect(MailboxPayload(nonce: [], boxes: payload.boxes) == nil)
    }

    @Test(arguments: [4, 64, 256])
    func `finds a box by its tag`(_ count: Int) throws {
        let payload = try #require(PrivateSamples.mailbox(count))
        for box in payload.boxes { #expect(payload.box(tagged: box.tag) == box) }
        #expect(payload.box(tagged: [UInt8](repeating: 0xff, count: 8)) == nil)
        #expect(payload.box(tagged: []) == nil)
        #expect(payload.box(tagged: [0, 0, 0, 0, 0, 0, 1]) == nil)
    }
}
