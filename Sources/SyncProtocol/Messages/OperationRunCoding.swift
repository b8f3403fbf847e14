import WorkspaceModel

/// `ops`: runs of operations in columns, so that repeated values are sent once.
///
/// Payloads and signatures are two long byte strings; each is copied once, into its entry.
extension CBOREncoder {
    mutating func operations(
        _ workspace: WorkspaceNumber, request: RequestNumber, _ runs: [OperationRun],
        isComplete: Bool
    ) {
        map(count: 4)
        self.workspace(workspace)
        key(2)
        uint(UInt64(request))
        key(3)
        array(count: runs.count)
        for run in runs { self.run(run) }
        key(4)
        bool(isComplete)
    }

    private mutating func run(_ run: OperationRun) {
        array(count: 6)
        byteString(run.log.document)
        byteString(run.log.device)
        uint(UInt64(run.log.incarnation))
        uint(run.firstSequence)
        if let previous = run.previous { byteString(previous) } else { byteString([UInt8]()) }
        let absent = run.entries.indices.filter { run.entries[$0].absent != nil }
        array(count: absent.isEmpty ? 8 : 9)
        columns(run.entries)
        if !absent.isEmpty { self.absent(absent, of: run.entries) }
    }

    /// The ninth column, present only where a payload is missing.
    private mutating func absent(_ places: [Int], of entries: [OperationRun.Entry]) {
        array(count: places.count)
        for place in places {
            guard let absent = entries[place].absent else { continue }
            array(count: 3)
            int(place)
            int(absent.length)
            byteString(absent.hash)
        }
    }

    private mutating func columns(_ entries: [OperationRun.Entry]) {
        var kinds = RunLengths<UInt64>()
        var grants = RunLengths<OperationID>()
        var keys = RunLengths<KeyID?>()
        var lengths = RunLengths<Int>()
        var payloadBytes = 0
        var dependents: [Int] = []
        for index in entries.indices {
            kinds.append(entries[index].kind)
            grants.append(entries[index].grant)
            keys.append(entries[index].keyID)
            lengths.append(entries[index].payload.count)
            payloadBytes += entries[index].payload.count
            if !entries[index].dependencies.isEmpty { dependents.append(index) }
        }
        kinds.encode(to: &self) { encoder, kind in encoder.uint(kind) }
        timestamps(entries)
        grants.encode(to: &self) { encoder, grant in encoder.byteString(grant) }
        keys.encode(to: &self) { encoder, key in
            if let key { encoder.byteString(key) } else { encoder.byteString([UInt8]()) }
        }
        array(count: dependents.count)
        for place in dependents { dependencies(entries[place].dependencies, at: place) }
        lengths.encode(to: &self) { encoder, length in encoder.int(length) }
        byteStringHead(count: payloadBytes)
        for index in entries.indices { item(raw: entries[index].payload[...]) }
        byteStringHead(count: entries.count * Signature.byteCount)
        for index in entries.indices { item(raw: entries[index].signature.bytes[...]) }
    }

    private mutating func timestamps(_ entries: [OperationRun.Entry]) {
        array(count: entries.count)
        var before: UInt64 = 0
        for index in entries.indices {
            let timestamp = entries[index].timestamp.rawValue
            // A chained log's timestamps ascend; a difference that wraps is refused by the peer.
            uint(timestamp &- before)
            before = timestamp
        }
    }

    private mutating func dependencies(_ references: [OperationReference], at place: Int) {
        array(count: 2)
        int(place)
        array(count: references.count)
        for reference in references {
            array(count: 4)
            byteString(reference.device)
            uint(UInt64(reference.incarnation))
            uint(reference.sequence)
            byteString(reference.id)
        }
    }

    /// The head of a byte string whose `count` bytes are written piece by piece.
    private mutating func byteStringHead(count: Int) {
        if count < 24 {
            item(raw: [0x40 | UInt8(count)])
        } else if count < 1 << 8 {
            item(raw: [0x58, UInt8(count)])
        } else if count < 1 << 16 {
            item(raw: [0x59, UInt8(count >> 8), UInt8(count & 0xff)])
        } else {
            let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) }
            item(raw: [0x5a] + bytes)
        }
    }
}

extension OperationRun {
    /// An estimate of the run's size, for reserving memory.
    var encodedBytesEstimate: Int {
        entries.indices.reduce(into: 256) { sum, index in
            sum += entries[index].payload.count + 76 + 84 * entries[index].dependencies.count
        }
    }
}
