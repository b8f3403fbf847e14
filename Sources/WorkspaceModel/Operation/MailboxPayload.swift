/// The payload of kind 4: boxes, each for one device, that reveal neither recipient nor subject.
///
/// - Wire form: `Enc` array [nonce 16, array of [tag 8, box 144]] (PROTOCOL.md, 3.5).
public struct MailboxPayload: Hashable, Sendable {
    /// A sealed message for one device, or random padding.
    public struct Box: Hashable, Sendable {
        /// The 8 bytes by which the recipient finds it.
        public let tag: [UInt8]
        /// 144 bytes: a fixed plaintext of 128 and a tag.
        public let sealed: [UInt8]

        /// - Precondition: `tag` holds 8 bytes, `sealed` 144.
        public init(tag: [UInt8], sealed: [UInt8]) {
            precondition(tag.count == MailboxPayload.tagByteCount, "a tag of \(tag.count) bytes")
            precondition(sealed.count == MailboxPayload.boxByteCount, "a box of \(sealed.count)")
            self.tag = tag
            self.sealed = sealed
        }
    }

    /// 16 random bytes, so that every tag and every key belongs to this operation alone.
    public let nonce: [UInt8]
    /// 4, 16, 64 or 256 boxes, strictly ascending by tag.
    public let boxes: [Box]

    /// How many bytes a nonce has.
    public static var nonceByteCount: Int { 16 }
    /// How many bytes a tag has.
    public static var tagByteCount: Int { 8 }
    /// How many bytes a box has.
    public static var boxByteCount: Int { 144 }
    /// The allowed numbers of boxes: few, so that the number reveals little.
    public static var boxCounts: [Int] { [4, 16, 64, 256] }

    /// Boxes in any order.
    ///
    /// - Returns: `nil` unless the nonce has 16 bytes, the number of boxes is one of `boxCounts`
    ///   and no two have one tag.
    public init?(nonce: [UInt8], boxes: [Box]) {
        let boxes = boxes.sorted { $0.tag.lexicographicallyPrecedes($1.tag) }
        guard nonce.count == Self.nonceByteCount, Self.boxCounts.contains(boxes.count),
            Self.isAscending(boxes)
        else { return nil }
        self.nonce = nonce
        self.boxes = boxes
    }

    /// The box with this tag.
    public func box(tagged tag: [UInt8]) -> Box? {
        var range = boxes.startIndex..<boxes.endIndex
        while let first = range.first {
            let middle = first + range.count / 2
            if boxes[middle].tag == tag { return boxes[middle] }
            let isBefore = boxes[middle].tag.lexicographicallyPrecedes(tag)
            range = isBefore ? middle + 1..<range.upperBound : first..<middle
        }
        return nil
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var encoder = CBOREncoder(reservingBytes: 160 * boxes.count + 32)
        encoder.array(count: 2)
        encoder.byteString(nonce)
        encoder.list(boxes) { encoder, box in
            encoder.array(count: 2)
            encoder.byteString(box.tag)
            encoder.byteString(box.sealed)
        }
        return encoder.bytes
    }

    /// Reads the wire form and refuses every other.
    ///
    /// - Throws: `Malformed`, also for another number of boxes or two with one tag.
    public init(decoding bytes: [UInt8]) throws(Malformed) {
        var decoder = CBORDecoder(bytes)
        try decoder.arrayCount(exactly: 2)
        nonce = try decoder.byteString(exactly: Self.nonceByteCount)
        let start = decoder.position
        boxes = try decoder.list(max: Self.boxCounts.last ?? 0) { (d) throws(Malformed) -> Box in
            try d.arrayCount(exactly: 2)
            let tag = try d.byteString(exactly: Self.tagByteCount)
            return Box(tag: tag, sealed: try d.byteString(exactly: Self.boxByteCount))
        }
        guard Self.boxCounts.contains(boxes.count) else {
            throw Malformed(.countExceeded, at: start)
        }
        guard Self.isAscending(boxes) else { throw Malformed(.keysOutOfOrder, at: start) }
        try decoder.finish()
    }

    private static func isAscending(_ boxes: [Box]) -> Bool {
        zip(boxes, boxes.dropFirst()).allSatisfy { $0.tag.lexicographicallyPrecedes($1.tag) }
    }
}
