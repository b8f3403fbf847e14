public import WorkspaceModel

/// A device that both ends know, in messages: its first 8 bytes. A second device with the same name
/// takes 2^64 tries, and these names only decide what is announced.
public struct DeviceName: Hashable, Comparable, Sendable {
    /// The bytes as a big-endian number.
    private let number: UInt64

    /// The name of a device.
    public init(of device: DeviceID) { self.init(bytes: device.bytes.prefix(8)) }

    /// The name with these bytes; of fewer than 8 the last ones are zeros.
    init(bytes: some Collection<UInt8>) {
        var number: UInt64 = 0
        for (place, byte) in bytes.prefix(8).enumerated() {
            number |= UInt64(byte) << UInt64(56 - 8 * place)
        }
        self.number = number
    }

    /// Byte order.
    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }

    var bytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) } }
}

extension CBOREncoder {
    mutating func names(_ names: [DeviceName]) {
        array(count: names.count)
        for name in names { byteString(name.bytes) }
    }
}

extension CBORDecoder {
    mutating func deviceName() throws(Malformed) -> DeviceName {
        DeviceName(bytes: try byteString(exactly: 8))
    }

    mutating func deviceNames(max: Int) throws(Malformed) -> [DeviceName] {
        var names: [DeviceName] = []
        for _ in 0..<(try arrayCount(max: max)) { names.append(try deviceName()) }
        return names
    }
}
