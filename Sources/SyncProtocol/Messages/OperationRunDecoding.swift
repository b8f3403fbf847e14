import WorkspaceModel

extension SyncMessage {
    static func operations(from body: inout CBORDecoder) throws(Malformed) -> Self {
        try body.mapCount(exactly: 4)
        let workspace = try body.workspace()
        try body.key(exactly: 2)
        let request = try body.uint(as: RequestNumber.self)
        try body.key(exactly: 3)
        var runs: [OperationRun] = []
        for _ in 0..<(try body.arrayCount()) { runs.append(try body.run()) }
        try body.key(exactly: 4)
        return .operations(workspace, request: request, runs, isComplete: try body.bool())
    }
}

/// The columns of one run before they are assembled.
private struct Columns {
    let kinds: RunLengths<UInt64>
    let timestamps: [HybridTimestamp]
    let grants: RunLengths<OperationID>
    let keys: RunLengths<KeyID?>
    let dependencies: [(place: Int, references: [OperationReference])]
    let lengths: RunLengths<Int>
    let payloads: Range<Int>
    let signatures: Range<Int>
    let absent: [Int: OperationRun.AbsentPayload]
}

extension CBORDecoder {
    fileprivate mutating func run() throws(Malformed) -> OperationRun {
        try arrayCount(exactly: 6)
        let document: DocumentID = try identifier32()
        let device: DeviceID = try identifier32()
        let incarnation = try uint(as: UInt32.self)
        let start = position
        let first = try uint()
        let previous = try previous(before: first)
        let columns = try columns()
        // The sequence after the run must exist, so that a later `+ 1` cannot overflow.
        let (_, overflows) = first.addingReportingOverflow(UInt64(columns.timestamps.count))
        guard !overflows else { throw Malformed(.outOfRange, at: start) }
        return OperationRun(
            log: LogName(document: document, device: device, incarnation: incarnation),
            firstSequence: first, previous: previous, entries: entries(of: columns))
    }

    /// The operation before a run, absent exactly at the start of a log.
    private mutating func previous(before first: UInt64) throws(Malformed) -> OperationID? {
        if first > 0 { return try identifier32(Named.Operation.self) }
        let start = position
        guard try byteStringRange().isEmpty else { throw Malformed(.inconsistent, at: start) }
        return nil
    }

    private mutating func columns() throws(Malformed) -> Columns {
        let shape = position
        let columnCount = try arrayCount(max: 9)
        guard columnCount >= 8 else { throw Malformed(.countExceeded, at: shape) }
        let start = position
        // Each entry has a signature further on, so the bytes left bound the counts.
        let limit = (bytes.count - position) / Signature.byteCount
        let kinds = try RunLengths(from: &self, limit: limit) {
            (decoder) throws(Malformed) in try decoder.uint()
        }
        let count = kinds.count
        guard count > 0 else { throw Malformed(.countExceeded, at: start) }
        let timestamps = try timestamps(count: count)
        let grants = try RunLengths(from: &self, limit: count) {
            (decoder) throws(Malformed) -> OperationID in try decoder.identifier32()
        }
        let keys = try RunLengths(from: &self, limit: count) {
            (decoder) throws(Malformed) in try decoder.keyID()
        }
        let dependencies = try dependencies(count: count)
        let lengths = try RunLengths(from: &self, limit: count) {
            (decoder) throws(Malformed) in
            try decoder.int(max: Limits.authPayloadBytesMax)
        }
        let payloads = try byteStringRange()
        let signatures = try byteStringRange()
        guard grants.count == count, keys.count == count, lengths.count == count,
            lengths.total(atMost: payloads.count) == payloads.count,
            signatures.count == count * Signature.byteCount
        else { throw Malformed(.inconsistent, at: start) }
        let absent = columnCount == 9 ? try absentPayloads(lengths) : [:]
        return Columns(
            kinds: kinds, timestamps: timestamps, grants: grants, keys: keys,
            dependencies: dependencies, lengths: lengths, payloads: payloads,
            signatures: signatures, absent: absent)
    }

    /// The ninth column: not empty, ascending, and only where the column of lengths says 0.
    private mutating func absentPayloads(
        _ lengths: RunLengths<Int>
    ) throws(Malformed) -> [Int: OperationRun.AbsentPayload] {
        let start = position
        let count = try arrayCount(max: lengths.count)
        var cursor = lengths.makeCursor()
        var next = 0
        var absent: [Int: OperationRun.AbsentPayload] = [:]
        for _ in 0..<count {
            try arrayCount(exactly: 3)
            let place = try int(max: lengths.count - 1)
            guard place >= next else { throw Malformed(.keysOutOfOrder, at: start) }
            var length = 0
            while next <= place {
                length = cursor.next()
                next += 1
            }
            guard length == 0 else { throw Malformed(.inconsistent, at: start) }
            absent[place] = OperationRun.AbsentPayload(
                length: try int(max: Limits.payloadBytesMax), hash: try identifier32())
        }
        guard count > 0 else { throw Malformed(.inconsistent, at: start) }
        return absent
    }

    /// Assembles the columns. All lengths were compared before, so nothing can fail.
    private func entries(of columns: Columns) -> [OperationRun.Entry] {
        var kinds = columns.kinds.makeCursor()
        var grants = columns.grants.makeCursor()
        var keys = columns.keys.makeCursor()
        var lengths = columns.lengths.makeCursor()
        var payload = columns.payloads.lowerBound
        var signature = columns.signatures.lowerBound
        var dependent = 0
        var entries: [OperationRun.Entry] = []
        entries.reserveCapacity(columns.timestamps.count)
        for place in columns.timestamps.indices {
            var references: [OperationReference] = []
            if dependent < columns.dependencies.count,
                columns.dependencies[dependent].place == place
            {
                references = columns.dependencies[dependent].references
                dependent += 1
            }
            let payloadEnd = payload + lengths.next()
            let signatureEnd = signature + Signature.byteCount
            entries.append(
                OperationRun.Entry(
                    kind: kinds.next(), timestamp: columns.timestamps[place],
                    grant: grants.next(), keyID: keys.next(), dependencies: references,
                    payload: [UInt8](bytes[payload..<payloadEnd]),
                    absent: columns.absent.isEmpty ? nil : columns.absent[place],
                    signature: Signature(untrusted: bytes, in: signature..<signatureEnd) ?? .zero))
            payload = payloadEnd
            signature = signatureEnd
        }
        return entries
    }

    private mutating func timestamps(count: Int) throws(Malformed) -> [HybridTimestamp] {
        try arrayCount(exactly: count)
        var timestamps: [HybridTimestamp] = []
        timestamps.reserveCapacity(count)
        var timestamp: UInt64 = 0
        for _ in 0..<count {
            let start = position
            let (next, overflows) = timestamp.addingReportingOverflow(try uint())
            guard !overflows else { throw Malformed(.outOfRange, at: start) }
            timestamp = next
            timestamps.append(HybridTimestamp(rawValue: timestamp))
        }
        return timestamps
    }

    private mutating func keyID() throws(Malformed) -> KeyID? {
        let start = position
        let range = try byteStringRange()
        if range.isEmpty { return nil }
        guard range.count == KeyID.byteCount, let key = KeyID(untrusted: bytes, in: range) else {
            throw Malformed(.countExceeded, at: start)
        }
        return key
    }

    private mutating func dependencies(
        count: Int
    ) throws(Malformed) -> [(place: Int, references: [OperationReference])] {
        var dependencies: [(place: Int, references: [OperationReference])] = []
        for _ in 0..<(try arrayCount(max: count)) {
            try arrayCount(exactly: 2)
            let start = position
            let place = try int(max: count - 1)
            let isAscending = dependencies.last.map { $0.place < place } ?? true
            let references = try references()
            guard isAscending, !references.isEmpty else {
                throw Malformed(.inconsistent, at: start)
            }
            dependencies.append((place, references))
        }
        return dependencies
    }

    private mutating func references() throws(Malformed) -> [OperationReference] {
        var references: [OperationReference] = []
        for _ in 0..<(try arrayCount(max: Limits.authDependenciesMax)) {
            try arrayCount(exactly: 4)
            let device: DeviceID = try identifier32()
            let incarnation = try uint(as: UInt32.self)
            let sequence = try uint()
            references.append(
                OperationReference(
                    device: device, incarnation: incarnation, sequence: sequence,
                    id: try identifier32()))
        }
        return references
    }
}

extension RunLengths where Value == Int {
    /// The sum of the column, or `nil` when it is above `limit`.
    fileprivate func total(atMost limit: Int) -> Int? {
        var left = limit
        for group in groups {
            let (bytes, overflows) = group.count.multipliedReportingOverflow(by: group.value)
            guard !overflows, bytes <= left else { return nil }
            left -= bytes
        }
        return limit - left
    }
}
