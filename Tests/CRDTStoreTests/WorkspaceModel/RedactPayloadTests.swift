import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `The payload of a redaction` {
    private func reference(_ number: UInt8) -> OperationReference {
        OperationReference(
            device: DeviceID([UInt8](repeating: 0xd0, count: 32)), incarnation: 7,
            sequence: UInt64(number), id: OperationID([UInt8](repeating: number, count: 32)))
    }

    @Test func `comes back as it was written, its targets ascending`() throws {
        let samples: [RedactPayload] = [
            .erase([reference(1)], sealed: nil),
            .erase([reference(1), reference(2), reference(9)], sealed: [1, 2, 3]),
            .undo(reference(4)),
        ]
        for sample in samples {
            #expect(try RedactPayload(decoding: sample.encoded) == sample)
        }
        let mixed = RedactPayload.erase([reference(9), reference(1)], sealed: nil)
        #expect(try RedactPayload(decoding: mixed.encoded).targets == [reference(1), reference(9)])
        #expect(RedactPayload.undo(reference(4)).targets.isEmpty)
    }

    @Test func `has one form`() throws {
        let one = RedactPayload.erase([reference(1)], sealed: nil).encoded
        // Map of one, key 1, list of one, array of 4 that begins with 32 bytes.
        #expect(one.prefix(6) == [0xa1, 0x01, 0x81, 0x84, 0x58, 0x20])
        var encoder = CBOREncoder(reservingBytes: 64)
        encoder.map(count: 1)
        encoder.key(1)
        encoder.array(count: 0)
        var wrong: [[UInt8]] = [[], [0xa0], [0xa1, 0x04, 0x00], encoder.bytes, one + [0]]
        for count in 1..<one.count { wrong.append(Array(one.prefix(count))) }
        var twice = CBOREncoder(reservingBytes: 256)
        twice.map(count: 1)
        twice.key(1)
        twice.array(count: 2)
        for _ in 0..<2 { reference(1).encode(to: &twice) }
        wrong.append(twice.bytes)
        var unordered = CBOREncoder(reservingBytes: 256)
        unordered.map(count: 1)
        unordered.key(1)
        unordered.array(count: 2)
        for number in [2, 1] as [UInt8] { reference(number).encode(to: &unordered) }
        wrong.append(unordered.bytes)
        var both = CBOREncoder(reservingBytes: 256)
        both.map(count: 2)
        both.key(1)
        both.array(count: 1)
        reference(1).encode(to: &both)
        both.key(2)
        reference(2).encode(to: &both)
        wrong.append(both.bytes)
        for bytes in wrong {
            #expect(throws: Malformed.self, "\(bytes)") { try RedactPayload(decoding: bytes) }
        }
    }

    @Test func `names at most so many`() throws {
        func many(_ count: Int) -> [UInt8] {
            RedactPayload.erase(
                (0..<count).map { number in
                    var id = [UInt8](repeating: 0, count: 32)
                    id[0] = UInt8(number >> 8)
                    id[1] = UInt8(number & 255)
                    return OperationReference(
                        device: DeviceID(id), incarnation: 1, sequence: 1, id: OperationID(id))
                }, sealed: nil
            ).encoded
        }
        let max = Limits.redactTargetsMax
        #expect(try RedactPayload(decoding: many(max)).targets.count == max)
        #expect(many(max).count < Limits.payloadBytesMax)
        #expect(throws: Malformed.self) { try RedactPayload(decoding: many(max + 1)) }
    }

    @Test func `says beside it which targets are messages`() throws {
        let key = MessageKey(timestamp: HybridTimestamp(rawValue: 77), idPrefix: 5)
        let messages = RedactedMessages([
            .init(target: 3, thread: nil), .init(target: 0, thread: key),
        ])
        #expect(messages.entries.map(\.target) == [0, 3])
        #expect(try RedactedMessages(decoding: messages.encoded) == messages)
        #expect(try RedactedMessages(decoding: RedactedMessages([]).encoded).entries.isEmpty)
        let twice: [UInt8] = [0x82, 0x82, 0x00, 0xf6, 0x82, 0x00, 0xf6]
        #expect(throws: Malformed.self) { try RedactedMessages(decoding: twice) }
        #expect(throws: Malformed.self) { try RedactedMessages(decoding: [0x81, 0x81, 0x00]) }
    }
}
