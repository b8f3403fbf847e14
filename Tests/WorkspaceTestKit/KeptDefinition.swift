public import CRDTStore
import WorkspaceCrypto
public import WorkspaceModel

/// The kept operations of an authority document by definition (PROTOCOL.md, 5.4), as slow as the
/// definition: a function of the set of operations.
public struct KeptDefinition {
    /// The last kept operation of a branch.
    public struct Tip: Hashable, Sendable {
        /// The log.
        public let device: DeviceID
        /// The log.
        public let incarnation: UInt32
        /// Its place.
        public let sequence: UInt64
        /// Its id.
        public let id: OperationID
    }

    /// The valid operations, the grants without effect that kept content cites, and the past of
    /// all of them.
    public let kept: Set<OperationID>
    /// The kept operations that no kept one follows on their logs.
    public let tips: Set<Tip>

    /// - Parameters:
    ///   - valid: those of `operations` that have effect.
    ///   - cited: the grants that kept content of other documents cites.
    public init(
        _ operations: [AuthOperation], valid: Set<OperationID>, cited: Set<OperationID>
    ) {
        var kept = valid.union(cited)
        var count = -1
        while count != kept.count {
            count = kept.count
            for operation in operations where kept.contains(operation.id) {
                kept.formUnion(operation.dependencies)
                if let previous = operation.previous { kept.insert(previous) }
            }
        }
        let followed = Set(operations.filter { kept.contains($0.id) }.compactMap(\.previous))
        self.kept = kept
        tips = Set(
            operations.filter { kept.contains($0.id) && !followed.contains($0.id) }.map {
                Tip(
                    device: $0.device, incarnation: $0.incarnation, sequence: $0.sequence,
                    id: $0.id)
            })
    }

    /// H("wsx-doc1", Enc sorted [device, inc, seq, id] of kept tips).
    public var digest: SetDigest {
        let sorted = tips.sorted {
            ($0.device, $0.incarnation, $0.sequence, $0.id)
                < ($1.device, $1.incarnation, $1.sequence, $1.id)
        }
        var encoder = CBOREncoder(reservingBytes: 0)
        encoder.array(count: sorted.count)
        for tip in sorted {
            encoder.array(count: 4)
            encoder.byteString(tip.device)
            encoder.uint(UInt64(tip.incarnation))
            encoder.uint(tip.sequence)
            encoder.byteString(tip.id)
        }
        return Hash.name("wsx-doc1", encoder.bytes)
    }
}
