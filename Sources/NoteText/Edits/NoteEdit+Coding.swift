public import WorkspaceModel

// Body = Enc array [sources, changes]. docs/PROTOCOL.md specifies the bytes.
extension NoteEdit {
    /// The body of the payload.
    public var encoded: [UInt8] {
        var encoder = CBOREncoder(reservingBytes: 64 + 16 * sources.count)
        encoder.array(count: 2)
        var keys: [UInt8] = []
        keys.reserveCapacity(16 * sources.count)
        for source in sources {
            keys += bigEndianBytes(of: source.timestamp.rawValue)
            keys += bigEndianBytes(of: source.idPrefix)
        }
        encoder.byteString(keys)
        encoder.array(count: changes.count)
        for change in changes { encode(change, to: &encoder) }
        return encoder.bytes
    }

    private func encode(_ change: Change, to encoder: inout CBOREncoder) {
        switch change {
        case .insert(let left, let right, let text):
            encoder.array(count: 4)
            encoder.uint(0)
            encoder.uint(number(left))
            encoder.uint(number(right))
            encoder.text(text)
        case .delete(let reference, let count):
            encoder.array(count: 3)
            encoder.uint(1)
            encoder.uint(number(reference))
            encoder.int(count)
        case .mark(let from, let to, let mark):
            encoder.array(count: 5)
            encoder.uint(2)
            encoder.uint(number(from))
            encoder.uint(number(to))
            encoder.uint(mark.kind.rawValue)
            switch mark {
            case .bold(let isOn), .italic(let isOn), .underline(let isOn), .code(let isOn):
                encoder.bool(isOn)
            case .link(.some(let address)): encoder.text(address)
            case .link(nil): encoder.null()
            }
        case .block(let reference, let kind):
            encoder.array(count: 3)
            encoder.uint(3)
            encoder.uint(number(reference))
            encoder.uint(kind.rawValue)
        }
    }

    /// A reference as one number: 0 for none, else 1 + source + offset * (sources + 1).
    private func number(_ reference: Reference?) -> UInt64 {
        guard let reference else { return 0 }
        return 1 + UInt64(reference.source) + UInt64(reference.offset) * UInt64(sources.count + 1)
    }

    /// Reads a body. Refuses any other form, and references to the operation's own scalars that are
    /// impossible; references to other operations are checked where those are known.
    ///
    /// - Throws: `Malformed`.
    public init(decoding bytes: [UInt8]) throws(Malformed) {
        guard bytes.count <= NoteLimits.editBytesMax else { throw Malformed(.countExceeded, at: 0) }
        if let read = bytes.withUnsafeBytes({ Self.plain($0) }) {
            sources = read.sources
            form = .read(bytes, read.steps)
        } else {
            self = try NoteEdit(judging: bytes)
        }
    }

    /// The same for every body, with the reason of a refusal.
    init(judging bytes: [UInt8]) throws(Malformed) {
        var decoder = CBORDecoder(bytes)
        try decoder.arrayCount(exactly: 2)
        var reader = Reader(sources: try Self.sources(from: &decoder))
        let start = decoder.position
        let count = try decoder.arrayCount(max: NoteLimits.changesMax)
        guard count > 0 else { throw Malformed(.countExceeded, at: start) }
        var changes: [Change] = []
        changes.reserveCapacity(count)
        for _ in 0..<count { changes.append(try reader.change(from: &decoder)) }
        try decoder.finish()
        sources = reader.sources
        form = .made(changes)
    }

    /// Reads a body that `BodyScanner` understands completely; else `nil`.
    private static func plain(
        _ bytes: UnsafeRawBufferPointer
    ) -> (sources: [MessageKey], steps: [ReadStep])? {
        guard let frame = BodyScanner.frame(bytes) else { return nil }
        var sources: [MessageKey] = []
        sources.reserveCapacity(frame.sources.count / 16)
        for offset in stride(from: frame.sources.lowerBound, to: frame.sources.upperBound, by: 16) {
            let time = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self).bigEndian
            let id = bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self).bigEndian
            let key = MessageKey(timestamp: HybridTimestamp(rawValue: time), idPrefix: id)
            if let last = sources.last, last >= key { return nil }
            sources.append(key)
        }
        var scanner = BodyScanner(bytes, from: frame.start, sources: sources.count)
        var steps: [ReadStep] = []
        // A change has at least four bytes.
        steps.reserveCapacity(min(frame.count, (bytes.count - frame.start) / 4))
        for _ in 0..<frame.count {
            guard let step = scanner.step() else { return nil }
            steps.append(step)
        }
        return scanner.index == bytes.count ? (sources, steps) : nil
    }

    private static func sources(
        from decoder: inout CBORDecoder
    ) throws(Malformed) -> [MessageKey] {
        let start = decoder.position
        let range = try decoder.byteStringRange(maxCount: 16 * NoteLimits.sourcesMax)
        guard range.count % 16 == 0 else { throw Malformed(.countExceeded, at: start) }
        var keys: [MessageKey] = []
        keys.reserveCapacity(range.count / 16)
        for offset in stride(from: range.lowerBound, to: range.upperBound, by: 16) {
            var words: (UInt64, UInt64) = (0, 0)
            for index in offset..<offset + 8 {
                words.0 = words.0 << 8 | UInt64(decoder.bytes[index])
                words.1 = words.1 << 8 | UInt64(decoder.bytes[index + 8])
            }
            let key = MessageKey(timestamp: .init(rawValue: words.0), idPrefix: words.1)
            if let last = keys.last, last >= key { throw Malformed(.keysOutOfOrder, at: offset) }
            keys.append(key)
        }
        return keys
    }

    /// Reads changes in order and counts inserted scalars.
    private struct Reader {
        let sources: [MessageKey]
        var inserted = 0

        mutating func change(from decoder: inout CBORDecoder) throws(Malformed) -> Change {
            let start = decoder.position
            let count = try decoder.arrayCount(max: 5)
            let type = try decoder.uint(max: 3)
            guard count == [4, 3, 5, 3][Int(type)] else {
                throw Malformed(.countExceeded, at: start)
            }
            switch type {
            case 0: return try insertion(from: &decoder)
            case 1: return try deletion(from: &decoder)
            case 2: return try mark(from: &decoder)
            default:
                let line = try reference(from: &decoder)
                let start = decoder.position
                guard let kind = NoteBlockKind(rawValue: try decoder.uint()) else {
                    throw Malformed(.outOfRange, at: start)
                }
                return .block(line, kind)
            }
        }

        private mutating func insertion(
            from decoder: inout CBORDecoder
        ) throws(Malformed) -> Change {
            let left = try reference(from: &decoder)
            let right = try reference(from: &decoder)
            let start = decoder.position
            let text = try decoder.text(maxBytes: NoteLimits.editBytesMax)
            guard !text.isEmpty, NoteCharacters.areAllowed(text) else {
                throw Malformed(.badText, at: start)
            }
            inserted += text.scalarCount
            return .insert(left: left, right: right, text: text)
        }

        private func deletion(from decoder: inout CBORDecoder) throws(Malformed) -> Change {
            let start = decoder.position
            guard let reference = try reference(from: &decoder) else {
                throw Malformed(.outOfRange, at: start)
            }
            let place = decoder.position
            let count = try decoder.int(max: NoteLimits.offsetsMax)
            guard count > 0 else { throw Malformed(.outOfRange, at: place) }
            let end = reference.source == 0 ? inserted : NoteLimits.offsetsMax
            guard reference.offset + count <= end else { throw Malformed(.outOfRange, at: place) }
            return .delete(reference, count: count)
        }

        private func mark(from decoder: inout CBORDecoder) throws(Malformed) -> Change {
            let from = try reference(from: &decoder)
            let to = try reference(from: &decoder)
            let start = decoder.position
            guard let kind = NoteMark.Kind(rawValue: try decoder.uint()) else {
                throw Malformed(.outOfRange, at: start)
            }
            switch kind {
            case .bold: return .mark(from: from, to: to, .bold(try decoder.bool()))
            case .italic: return .mark(from: from, to: to, .italic(try decoder.bool()))
            case .underline: return .mark(from: from, to: to, .underline(try decoder.bool()))
            case .code: return .mark(from: from, to: to, .code(try decoder.bool()))
            case .link:
                let start = decoder.position
                let address = try decoder.nullOr { (d) throws(Malformed) in
                    try d.text(maxBytes: NoteLimits.linkBytesMax)
                }
                guard address.map(NoteMark.isAddress) ?? true else {
                    throw Malformed(.badText, at: start)
                }
                return .mark(from: from, to: to, .link(address))
            }
        }

        /// A reference from one number, see `number(_:)`.
        private func reference(from decoder: inout CBORDecoder) throws(Malformed) -> Reference? {
            let start = decoder.position
            let number = try decoder.int(max: 1 << 32)
            guard number > 0 else { return nil }
            let source = (number - 1) % (sources.count + 1)
            let offset = (number - 1) / (sources.count + 1)
            // Its own scalars only after they were inserted.
            guard offset < (source == 0 ? inserted : NoteLimits.offsetsMax) else {
                throw Malformed(.outOfRange, at: start)
            }
            return Reference(source: source, offset: offset)
        }
    }
}

extension NoteMark {
    /// Whether a text can be the address of a link: not empty, without white space, and printable
    /// in a terminal.
    public static func isAddress(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= NoteLimits.linkBytesMax
            && text.unicodeScalars.allSatisfy {
                $0 != " " && $0 != "\n" && $0 != "\t" && NoteCharacters.isAllowed($0)
            }
    }
}
