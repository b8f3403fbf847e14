/// The cuts of a revocation on the wire (PROTOCOL.md, 3.1). Members write in many documents with
/// few devices, so each device and incarnation is written once.
extension CBOREncoder {
    /// Cuts in any order; duplicates are written once.
    mutating func cuts(_ cuts: [CutEntry]) {
        let ascending = cuts.sorted(by: CutEntry.precedes)
        var parts: [[CutEntry]] = []
        for cut in ascending {
            guard let last = parts.last?.last, last.isOfSameStore(as: cut) else {
                parts.append([cut])
                continue
            }
            if last != cut { parts[parts.count - 1].append(cut) }
        }
        list(parts) { encoder, part in
            encoder.array(count: 3)
            encoder.byteString(part[0].log.device)
            encoder.uint(UInt64(part[0].log.incarnation))
            encoder.list(part) { encoder, cut in
                encoder.array(count: 3)
                encoder.byteString(cut.log.document)
                encoder.uint(cut.sequence)
                encoder.byteString(cut.id)
            }
        }
    }
}

extension CBORDecoder {
    /// At most `max` cuts, which must ascend.
    mutating func cuts(
        max: Int = AuthorityListLimits.cuts
    ) throws(Malformed) -> [CutEntry] {
        let start = position
        var cuts: [CutEntry] = []
        for _ in 0..<(try arrayCount(max: max)) {
            try arrayCount(exactly: 3)
            let device: DeviceID = try identifier32()
            let incarnation = try uint(as: UInt32.self)
            let isFirst = cuts.last.map {
                ($0.log.device, $0.log.incarnation) < (device, incarnation)
            }
            let count = try arrayCount(max: max - cuts.count)
            guard isFirst != false, count > 0 else { throw Malformed(.keysOutOfOrder, at: start) }
            for place in 0..<count {
                let cut = try cut(of: device, incarnation)
                guard place == 0 || cuts.last.map({ CutEntry.precedes($0, cut) }) == true else {
                    throw Malformed(.keysOutOfOrder, at: start)
                }
                cuts.append(cut)
            }
        }
        return cuts
    }

    private mutating func cut(
        of device: DeviceID, _ incarnation: UInt32
    ) throws(Malformed) -> CutEntry {
        try arrayCount(exactly: 3)
        let log = LogName(
            document: try identifier32(), device: device, incarnation: incarnation)
        return CutEntry(log: log, sequence: try uint(), id: try identifier16())
    }
}

extension CutEntry {
    fileprivate func isOfSameStore(as other: Self) -> Bool {
        log.device == other.log.device && log.incarnation == other.log.incarnation
    }

    /// By device, incarnation, document, place and id.
    static func precedes(_ left: Self, _ right: Self) -> Bool {
        let (one, other) = (left.log, right.log)
        if !left.isOfSameStore(as: right) {
            return (one.device, one.incarnation) < (other.device, other.incarnation)
        }
        return (one.document, left.sequence, left.id) < (other.document, right.sequence, right.id)
    }
}
