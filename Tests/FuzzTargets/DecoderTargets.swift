import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

@testable import PeerNode

/// Decoders of the wire and of what is stored. All have one spelling for what they take, so taking
/// bytes apart and putting them together must give the same bytes.
extension FuzzTarget {
    static let cbor = FuzzTarget(
        "cbor", "any item through the strict decoder; its encoding is the input again"
    ) { bytes in
        let isValid = (try? CBORValidation.check(bytes)) != nil
        var decoder = CBORDecoder(bytes)
        var encoder = CBOREncoder()
        do {
            try copy(&decoder, to: &encoder)
            try decoder.finish()
        } catch is Malformed {
            return try hold(!isValid, "skipping takes what reading refuses")
        }
        try hold(isValid, "reading takes what skipping refuses")
        try hold(encoder.bytes == bytes, "two spellings of one item")
    }

    private static func copy(_ decoder: inout CBORDecoder, to encoder: inout CBOREncoder) throws {
        switch try decoder.peek() {
        case .uint: encoder.uint(try decoder.uint())
        case .byteString: encoder.byteString(try decoder.byteString())
        case .text: encoder.text(try decoder.text(maxBytes: .max))
        case .bool: encoder.bool(try decoder.bool())
        case .null:
            try decoder.null()
            encoder.null()
        case .array:
            let count = try decoder.arrayCount()
            encoder.array(count: count)
            for _ in 0..<count { try copy(&decoder, to: &encoder) }
        case .map:
            let count = try decoder.mapCount()
            encoder.map(count: count)
            for _ in 0..<count {
                encoder.key(try decoder.key())
                try copy(&decoder, to: &encoder)
            }
        }
    }

    /// The encoding of what the decoder took that `number` names.
    private static func again(_ number: UInt8, _ bytes: [UInt8]) throws -> [UInt8] {
        switch number % 12 {
        case 0: return try OperationHeader(decoding: bytes).encoded
        case 1:
            let payload = try AuthorityPayload(decoding: bytes)
            // Of a later version: kept as bytes, and never written by this one.
            if case .unknown = payload { return bytes }
            return payload.encoded
        case 2:
            let encoded = try ContentPayload(decoding: bytes).encoded
            guard encoded.count < bytes.count else { return encoded }
            // Keys of later versions were passed over; what is left has one spelling.
            let once = try ContentPayload(decoding: encoded).encoded
            return once == encoded ? bytes : once
        case 3: return try MailboxPayload(decoding: bytes).encoded
        case 4: return try PrivatePayload(decoding: bytes).encoded
        case 5: return try PrivateChange(decoding: bytes).encoded
        case 6: return try RedactPayload(decoding: bytes).encoded
        case 7: return try RedactedMessages(decoding: bytes).encoded
        case 8: return DeviceEntry.encoded(try DeviceEntry.list(decoding: bytes))
        case 9: return try HandshakePayload(decoding: bytes).encoded
        case 10: return PendingJoin.encoded(try PendingJoin.list(decoding: bytes))
        default: return try AddressRecord(row: bytes).row
        }
    }

    static let payloads = FuzzTarget(
        "payloads", "the decoder of operations and rows that the first byte names; the same again"
    ) { bytes in
        guard let first = bytes.first else { return }
        let body = Array(bytes.dropFirst())
        guard let encoded = try? again(first, body) else { return }
        try hold(encoded == body, "decoder \(first) has two spellings of one value")
    }

    static let messages = FuzzTarget(
        "messages", "a message of the link, of every type; its encoding is the input again",
        bytesMax: 16_384
    ) { bytes in
        guard let message = try? SyncMessage.decoded(bytes) else { return }
        try hold(message.encoded() == bytes, "two spellings of one message")
        try hold(message.type == bytes.first, "another type")
    }

    static let frames = FuzzTarget(
        "frames", "frames of fragments of all classes; the same messages from one and many frames",
        bytesMax: 16_384
    ) { bytes in
        var input = FuzzBytes(bytes)
        var (decoder, whole) = (FrameDecoder(), FrameDecoder())
        var (joined, apart): ([UInt8], [FrameDecoder.Message]) = ([], [])
        while !input.isEmpty {
            let frame = input.field()
            guard let messages = try? decoder.messages(in: frame, at: 1) else { return }
            try hold(decoder.bufferedBytes <= bytes.count, "more is kept than came")
            joined += frame
            apart += messages
            for message in messages { _ = try? SyncMessage.decoded(message.bytes) }
        }
        try hold((try? whole.messages(in: joined, at: 1)) == apart, "frames decide about messages")
        try hold(whole.bufferedBytes == decoder.bufferedBytes, "and about what is left")
    }
}
