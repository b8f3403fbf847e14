public import WorkspaceModel

/// What models of replicas take instead of hashes: nobody attacks a model. It is here because tests
/// are built without optimising, and a session asks for a root at nearly each message.
public enum PlainMix {
    /// 32 bytes that depend on all of `bytes`.
    public static func of(_ bytes: [UInt8]) -> OperationID {
        var words: (UInt64, UInt64, UInt64, UInt64) = (
            0x9e37_79b9, 0x7f4a_7c15, 0x85eb_ca6b, 0xc2b2_ae35
        )
        func take(_ value: UInt64, _ word: inout UInt64) {
            word = (word ^ value) &* 0x100_0000_01b3
            word ^= word >> 29
        }
        var place: UInt64 = 0
        for byte in bytes {
            let value = UInt64(byte) &+ place
            take(value, &words.0)
            take(value &+ 1, &words.1)
            take(value &+ 2, &words.2)
            take(value &+ 3, &words.3)
            place &+= 1
        }
        var mixed: [UInt8] = []
        for word in [words.0, words.1, words.2, words.3] {
            for shift in 0..<8 { mixed.append(UInt8(truncatingIfNeeded: word >> (shift * 8))) }
        }
        return OperationID(mixed)
    }

    /// Bytes that tell one list of tips from another.
    public static func bytes(of tips: [LogTip]) -> [UInt8] {
        var bytes: [UInt8] = []
        for tip in tips {
            bytes += tip.log.document.bytes
            bytes += tip.log.device.bytes
            bytes.append(UInt8(truncatingIfNeeded: tip.log.incarnation))
            for shift in 0..<8 {
                bytes.append(UInt8(truncatingIfNeeded: tip.sequence >> (shift * 8)))
            }
            bytes += tip.id.bytes
        }
        return bytes
    }
}
