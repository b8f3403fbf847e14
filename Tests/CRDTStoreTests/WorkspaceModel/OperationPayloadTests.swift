import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `The payload of an operation` {
    static let authorityNames = PayloadSamples.authority.keys.sorted()
    static let contentNames = PayloadSamples.content.keys.sorted()

    @Test func `is sampled for every type`() {
        let types = Set(PayloadSamples.authority.values.map(\.type))
        #expect(types == Set(1...20))
        #expect(Set(PayloadSamples.authorityBytes.keys) == Set(Self.authorityNames))
        #expect(Set(PayloadSamples.contentBytes.keys) == Set(Self.contentNames))
        #expect(Set(PayloadSamples.authority.values.map(\.word)).count == 20)
    }

    @Test(arguments: authorityNames)
    func `has the bytes that the protocol says`(_ name: String) throws {
        let payload = try #require(PayloadSamples.authority[name])
        let bytes = spelled(try #require(PayloadSamples.authorityBytes[name]))
        #expect(payload.encoded == bytes)
        #expect(try AuthorityPayload(decoding: bytes) == payload)
    }

    @Test(arguments: contentNames)
    func `has the bytes that the protocol says of content`(_ name: String) throws {
        let payload = try #require(PayloadSamples.content[name])
        let bytes = spelled(try #require(PayloadSamples.contentBytes[name]))
        #expect(payload.encoded == bytes)
        #expect(try ContentPayload(decoding: bytes) == payload)
    }

    @Test(arguments: authorityNames)
    func `corresponds to its bytes one to one`(_ name: String) throws {
        let bytes = try #require(PayloadSamples.authority[name]).encoded
        expectOneForm(of: bytes) { (bytes) throws(Malformed) -> [UInt8] in
            let payload = try AuthorityPayload(decoding: bytes)
            if case .unknown = payload { return bytes }
            return payload.encoded
        }
    }

    /// Readers skip unknown keys from 32 on: files have more than one form.
    @Test(arguments: contentNames.filter { $0 != "filesMessage" })
    func `corresponds to its bytes one to one as content`(_ name: String) throws {
        let bytes = try #require(PayloadSamples.content[name]).encoded
        expectOneForm(of: bytes) { (bytes) throws(Malformed) -> [UInt8] in
            try ContentPayload(decoding: bytes).encoded
        }
    }

    // C06
    @Test(arguments: authorityNames)
    func `has no other keys`(_ name: String) throws {
        var bytes = try #require(PayloadSamples.authority[name]).encoded
        let head = bytes[1] < 24 ? 2 : 3
        #expect(bytes[head] & 0xe0 == 0xa0)
        bytes[head] += 1
        #expect(refusal(of: bytes + [0x17, 0x00]) == .wrongKeys)
        #expect(refusal(of: bytes + [0x01, 0x00]) != nil)
    }

    /// So that a later version can say more in a message without hiding it from this one.
    /// The key of files is one of these.
    @Test(arguments: contentNames.filter { $0 != "filesMessage" })
    func `may have keys of later versions as content`(_ name: String) throws {
        let sample = try #require(PayloadSamples.content[name])
        var bytes = sample.encoded
        let head = bytes[1] < 24 ? 2 : 3
        bytes[head] += 2
        let later: [UInt8] = [0x18, 33, 0x82, 0x01, 0x41, 0x00, 0x18, 40, 0xf6]
        #expect(try ContentPayload(decoding: bytes + later) == sample)
        let refused: [[UInt8]] = [
            [0x17, 0x00, 0x18, 40, 0xf6], Array(later.dropLast()), later + [0x00],
        ]
        for broken in refused {
            #expect(throws: Malformed.self) { try ContentPayload(decoding: bytes + broken) }
        }
    }

    // C06
    @Test(arguments: [
        "82 01 a0", "82 0d a1 01 01", "82 0d a1 02 50 01*16", "82 13 a0", "82 09 a0",
        "82 0e a1 02 58 20 01*32", "82 0f a1 01 58 20 01*32", "82 0a a0", "82 05 a0",
    ])
    func `has all its keys`(_ notation: String) {
        #expect(refusal(of: spelled(notation)) == .wrongKeys)
    }

    // C03: whatever is claimed, nothing is reserved before the bytes were seen.
    @Test(arguments: [
        "82 0c a1 01 9b 7f ff*7", "82 0c a1 01 9b ff*8", "82 0c bb 7f ff*7",
        "82 0d a2 01 01 02 5b 7f ff*7", "9b 7f ff*7", "82 0c a1 01 99 13 89",
        "82 05 a3 01 98 41", "82 05 a3 01 80",
    ])
    func `claims no more than it may`(_ notation: String) {
        let reason = refusal(of: spelled(notation))
        #expect(reason == .countExceeded || reason == .truncated)
    }

    @Test(arguments: [
        ("82 02 a7 01 04 00*20", Malformed.Reason.outOfRange),
        ("82 0e a2 01 58 20 01*32 08 02", .outOfRange),
        ("82 10 a1 04 03", .outOfRange), ("82 10 a1 05 03", .outOfRange),
        ("82 10 a1 06 41 00", .countExceeded), ("82 13 a1 01 40", .wrongType),
        ("82 11 a0 00", .trailingBytes), ("83 11 a0 00", .countExceeded),
        ("82 18 11 a0", .notCanonical), ("82 10 a2 05 00 04 00", .keysOutOfOrder),
        ("82 10 a2 04 00 04 00", .duplicateKey),
        (
            "82 12 a3 01 50 33*16 02 82 82 48 02*8 58 70 aa*112 82 48 01*8 58 70 aa*112 03 80",
            .keysOutOfOrder
        ),
    ])
    func `stays within its ranges`(_ notation: String, _ reason: Malformed.Reason) {
        #expect(refusal(of: spelled(notation)) == reason)
    }

    @Test(arguments: [
        ("82 00 a0", UInt64(0)), ("82 15 a0", 21), ("82 1b ff*8 a1 01 82 f5 f6", .max),
    ])
    func `of a later version is kept as it is`(_ notation: String, _ type: UInt64) throws {
        let payload = try AuthorityPayload(decoding: spelled(notation))
        #expect(payload == .unknown(type: type))
        #expect(payload.type == type)
    }

    @Test(arguments: ["82 15", "82 15 f7", "82 15 a2 02 00 01 00", "82 15 a0 00", "82 15 c0 00"])
    func `of a later version is still of the profile`(_ notation: String) {
        #expect(refusal(of: spelled(notation)) != nil)
    }

    @Test func `is not nested deeper than the profile`() {
        let deep = [0x82, 0x15] + [UInt8](repeating: 0x81, count: 10_000) + [0]
        #expect(refusal(of: deep) == .depthExceeded)
        #expect(Rejection.malformed(Malformed(.depthExceeded, at: 0)).word == "op.too_deep")
    }

    // O14
    @Test(arguments: [
        "82 01 a1 01 61 00", "82 01 a1 01 62 c0 80", "82 01 a1 01 63 ed a0 80",
        "82 01 a1 01 64 f5 80 80 80", "82 01 a1 01 61 ff",
    ])
    func `holds no text that is none`(_ notation: String) {
        let bytes = spelled(notation)
        #expect(throws: Malformed.self) { try ContentPayload(decoding: bytes) }
    }

    @Test(arguments: [
        "82 01 a2 01 60 02 00", "82 01 a2 01 60 02 02", "82 02 a2 01 04 02 80",
        "82 01 a2 01 60 03 82 00 47 00*7", "82 01 a0", "82 02 a1 01 00", "82 00 a0", "82 04 a0",
        // Nobody and not everybody are absent, members ascend, places are on the earth.
        "82 01 a2 01 60 05 80", "82 01 a2 01 60 06 f4",
        "82 01 a2 01 60 05 82 50 02*16 50 02*16", "82 01 a2 01 60 05 82 50 03*16 50 02*16",
        "82 01 a2 01 60 04 84 1a 6b 49 d2 01 00 f6 f6",
        "82 01 a2 01 60 04 84 00 1a d6 93 a4 01 f6 f6",
        "82 01 a2 01 60 04 84 00 00 f6 60", "82 01 a2 01 60 04 84 00 00 1a 02 00*3 f6",
        // A field of a profile is one of five; no text, and text with a NUL, are none.
        "82 0c a1 01 00", "82 0c a1 01 06", "82 0c a2 01 01 02 60", "82 0c a2 01 01 02 61 00",
        "82 0c a0", "82 0c a1 02 61 61", "82 0c a2 01 01 02 41 61", "82 0c a2 01 01 02 f6",
        "82 0d a1 01 01",
        // An annotation has a message; a sign is some text.
        "82 0a a2 02 61 2b 03 f5", "82 0a a3 01 82 00 48 00*8 02 60 03 f5",
        "82 0a a3 01 82 00 48 00*8 02 61 00 03 f5", "82 0b a1 01 82 00 48 00*8",
        "82 0b a2 01 82 00 48 00*8 02 01", "82 09 a3 01 82 00 48 00*8 02 60 03 00",
        "82 0c a1 01 82 00 48 00*8",
        // A star is on or off; a reminder has a time and a conversation, or neither, and some text.
        "82 0d a1 01 82 00 48 00*8", "82 0d a2 01 82 00 48 00*8 02 01", "82 0e a0",
        "82 0e a2 01 50 09*16 02 05", "82 0e a2 01 50 09*16 03 50 06*16", "82 0e a1 01 4f 09*15",
        "82 0e a4 01 50 09*16 02 05 03 50 06*16 05 60",
        "82 0e a4 01 50 09*16 02 05 03 50 06*16 05 61 00", "82 0f a1 01 00",
        // A note has a title, and all that is said of it names it; an edit says something.
        "82 0f a1 01 60", "82 0f a1 01 61 00", "82 0f a0", "82 10 a1 02 61 50",
        "82 10 a2 01 82 00 48 00*8 02 60", "82 11 a1 01 82 00 48 00*8",
        "82 11 a2 01 82 00 48 00*8 02 40", "82 11 a2 01 82 00 48 00*8 02 61 50",
        "82 11 a3 01 82 00 48 00*8 02 41 00 03 80", "82 12 a1 01 82 00 48 00*8",
        "82 12 a2 01 82 00 48 00*8 02 01", "82 13 a1 01 00",
        // An attestation is of an address in its one form, or of an account with a provider; what is
        // taken back says nothing else.
        "82 13 a0", "82 13 a2 01 50 02*16 02 03", "82 13 a3 01 50 02*16 02 01 03 61 70",
        "82 13 a2 01 50 02*16 02 02",
        "82 13 a4 01 50 02*16 02 01 04 66 41 40 62 2e 63 6f 05 01",
        "82 13 a4 01 50 02*16 02 01 04 67 61 0a 40 62 2e 63 6f 05 01",
        "82 13 a3 01 50 02*16 02 01 04 66 61 40 62 2e 63 6f",
        "82 13 a3 01 50 02*16 02 01 05 01", "82 13 a3 01 50 02*16 02 01 07 05",
        "82 13 a4 01 50 02*16 02 01 04 66 61 40 62 2e 63 6f 05 03",
        "82 13 a5 01 50 02*16 02 01 04 66 61 40 62 2e 63 6f 05 01 06 61 6e",
        "82 13 a5 01 50 02*16 02 02 03 61 70 04 78 40 47*64 05 02",
        "82 13 a5 01 50 02*16 02 02 03 60 04 78 40 30*64 05 02",
    ])
    func `has one form as content`(_ notation: String) {
        let bytes = spelled(notation)
        #expect(throws: Malformed.self) { try ContentPayload(decoding: bytes) }
    }

    // C04
    @Test func `holds a text at the limit and not above`() throws {
        let text = String(repeating: "x", count: Limits.messageTextBytesMax)
        let full = ContentPayload.message(.init(text: text))
        #expect(try ContentPayload(decoding: full.encoded) == full)
        let over = ContentPayload.message(.init(text: text + "x")).encoded
        #expect(throws: Malformed.self) { try ContentPayload(decoding: over) }
    }

    // C04
    @Test(arguments: [(UInt8(12), 5_000), (5, 64), (18, 64)])
    func `lists so many and no more`(_ type: UInt8, _ most: Int) {
        for (count, expected) in [(most, nil), (most + 1, Malformed.Reason.countExceeded)] {
            #expect(refusal(of: Self.list(type, count)) == expected, "\(count)")
        }
    }

    // C04
    @Test(
        arguments: [
            (0, .outOfRange), (1, nil), (Limits.readFrontierLogsMax, nil),
            (Limits.readFrontierLogsMax + 1, .countExceeded),
        ] as [(Int, Malformed.Reason?)])
    func `names some logs where something was read, and no more`(
        _ count: Int, _ expected: Malformed.Reason?
    ) {
        let names = (0..<UInt64(count)).map(bigEndianBytes)
        let bytes =
            spelled("82 05 a3 01 50 01*16 02 82 00 48 00*8 03") + Self.listHead(count)
            + names.flatMap { [0x82, 0x48] + $0 + [0x01] }
        do {
            let payload = try ContentPayload(decoding: bytes)
            #expect(expected == nil)
            #expect(payload.encoded == bytes)
        } catch { #expect(error.reason == expected) }
    }

    /// The beginning of an array.
    private static func listHead(_ count: Int) -> [UInt8] {
        switch count {
        case ..<24: [0x80 + UInt8(count)]
        case ..<256: [0x98, UInt8(count)]
        default: [0x99, UInt8(count >> 8), UInt8(truncatingIfNeeded: count)]
        }
    }

    /// A payload with `count` cuts, devices or older keys.
    private static func list(_ type: UInt8, _ count: Int) -> [UInt8] {
        func items(_ notation: String) -> [UInt8] {
            listHead(count) + Array(repeatElement(spelled(notation), count: count).joined())
        }
        switch type {
        case 12:
            guard count > 0 else { return spelled("82 0c a1 01 80") }
            var bytes = spelled("82 0c a1 01 81 83 58 20 02*32 03") + listHead(count)
            for place in 0..<UInt64(count) {
                bytes += spelled("83 58 20 01*32 1a")
                let place: [UInt8] = bigEndianBytes(of: 65_536 + place)
                bytes += place.suffix(4)
                bytes += spelled("50 05*16")
            }
            return bytes
        case 5:
            let devices = items("83 58 20 01*32 58 20 02*32 58 40 03*64")
            return spelled("82 05 a3 01") + devices + spelled("02 50 04*16 03 80")
        default:
            let older = items("82 50 02*16 40")
            return spelled("82 12 a3 01 50 01*16 02 80 03") + older
        }
    }

    // C04
    @Test func `reminds of a text at the limit and of none above`() throws {
        let name = ReminderName([UInt8](repeating: 9, count: 16))
        let conversation = try #require(ConversationName([UInt8](repeating: 6, count: 16)))
        func payload(_ length: Int) -> ContentPayload {
            let text = String(repeating: "x", count: length)
            return .own(
                .reminder(name, Reminder(due: 5, conversation: conversation, text: text)))
        }
        let full = payload(Limits.reminderTextBytesMax)
        #expect(try ContentPayload(decoding: full.encoded) == full)
        let over = payload(Limits.reminderTextBytesMax + 1).encoded
        #expect(throws: Malformed.self) { try ContentPayload(decoding: over) }
    }

    // C04
    @Test func `calls nobody by more than 256 bytes`() throws {
        let name = String(repeating: "x", count: Limits.nameBytesMax)
        let full = ContentPayload.profile(name: name)
        #expect(try ContentPayload(decoding: full.encoded) == full)
        let over = ContentPayload.profile(name: name + "x").encoded
        #expect(throws: Malformed.self) { try ContentPayload(decoding: over) }
    }

    @Test(arguments: Seeds.explore(40))
    func `survives noise`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let bytes =
                [0x82, UInt8(random.below(24)), 0xa0 + UInt8(random.below(4))]
                + random.bytes(random.below(30))
            if let payload = try? AuthorityPayload(decoding: bytes), payload.type < 20,
                payload.type > 0
            {
                #expect(payload.encoded == bytes, "WSX_SEED=\(seed)")
            }
            if let payload = try? ContentPayload(decoding: bytes) {
                #expect(payload.encoded == bytes, "WSX_SEED=\(seed)")
            }
        }
    }

    private func refusal(of bytes: [UInt8]) -> Malformed.Reason? {
        do {
            _ = try AuthorityPayload(decoding: bytes)
            return nil
        } catch { return error.reason }
    }
}

/// Every prefix of `bytes` is refused, and every change of one byte is refused or decodes to a
/// value that encodes to exactly the changed bytes.
func expectOneForm(
    of bytes: [UInt8], _ recoded: ([UInt8]) throws(Malformed) -> [UInt8],
    sourceLocation: SourceLocation = #_sourceLocation
) {
    for count in bytes.indices {
        let isRead = (try? recoded([UInt8](bytes[..<count]))) != nil
        #expect(!isRead, "the first \(count) bytes", sourceLocation: sourceLocation)
    }
    #expect((try? recoded(bytes + [0])) == nil, sourceLocation: sourceLocation)
    var survivors = 0
    for index in bytes.indices {
        for change: UInt8 in [1, 2, 4, 8, 16, 32, 64, 128, 255] {
            var changed = bytes
            changed[index] ^= change
            guard let again = try? recoded(changed) else { continue }
            survivors += 1
            if again != changed {
                Issue.record(
                    "byte \(index) changed by \(change)", sourceLocation: sourceLocation)
            }
        }
    }
    #expect(survivors > 0 || bytes.count < 8, sourceLocation: sourceLocation)
}
