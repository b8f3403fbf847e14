/// Writes the CBOR profile of the protocol: shortest heads, definite lengths.
///
///     var encoder = CBOREncoder()
///     encoder.array(count: 2)
///     encoder.uint(7)
///     encoder.text("general")
///     let bytes = encoder.bytes
///
/// The encoder does not count items and does not sort keys: it only writes our own structures, and
/// every decoder rejects a wrong one.
///
/// - Source: RFC 8949, section 4.2.1; PROTOCOL.md, 1.
public struct CBOREncoder: Sendable {
    /// What was written so far.
    public private(set) var bytes: [UInt8] = []

    /// - Parameter reservingBytes: the expected size; a wrong guess costs time only.
    public init(reservingBytes: Int = 64) {
        bytes.reserveCapacity(reservingBytes)
    }

    /// An unsigned number: 1 to 9 bytes.
    public mutating func uint(_ value: UInt64) {
        head(CBORMajor.uint, value)
    }

    /// A number that our own code knows to be at least zero.
    ///
    /// - Precondition: `value` is not negative.
    public mutating func int(_ value: Int) {
        head(CBORMajor.uint, UInt64(value))
    }

    /// The key of a map's next pair. Keys must be written in ascending order.
    public mutating func key(_ key: UInt64) {
        head(CBORMajor.uint, key)
    }

    /// A byte string.
    public mutating func byteString(_ value: [UInt8]) {
        head(CBORMajor.byteString, UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    /// A byte string, copied from a part of an array.
    public mutating func byteString(_ value: ArraySlice<UInt8>) {
        head(CBORMajor.byteString, UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    /// A 32-byte name as a byte string: 34 bytes.
    public mutating func byteString<Named>(_ name: Identifier32<Named>) {
        bytes.append(CBORMajor.byteString << 5 | 24)
        bytes.append(32)
        name.append(to: &bytes)
    }

    /// A 16-byte name as a byte string: 17 bytes.
    public mutating func byteString<Named>(_ name: Identifier16<Named>) {
        bytes.append(CBORMajor.byteString << 5 | 16)
        name.append(to: &bytes)
    }

    /// Text, in UTF-8, as it is: nothing is normalised.
    public mutating func text(_ value: String) {
        head(CBORMajor.text, UInt64(value.utf8.count))
        bytes.append(contentsOf: value.utf8)
    }

    /// Begins an array; its `count` items follow.
    public mutating func array(count: Int) {
        head(CBORMajor.array, UInt64(count))
    }

    /// Begins a map; its `count` pairs follow, each a `key(_:)` and a value, keys ascending.
    public mutating func map(count: Int) {
        head(CBORMajor.map, UInt64(count))
    }

    /// `true` or `false`: 1 byte.
    public mutating func bool(_ value: Bool) {
        bytes.append(value ? CBORMajor.trueByte : CBORMajor.falseByte)
    }

    /// The absent value: 1 byte.
    public mutating func null() {
        bytes.append(CBORMajor.nullByte)
    }

    /// One item that is encoded already, such as signed bytes that were kept raw.
    public mutating func item(raw: ArraySlice<UInt8>) {
        bytes.append(contentsOf: raw)
    }

    /// The shortest head: a major type and its argument.
    private mutating func head(_ major: UInt8, _ argument: UInt64) {
        let major = major << 5
        if argument < 24 {
            bytes.append(major | UInt8(truncatingIfNeeded: argument))
        } else if argument <= 0xff {
            bytes.append(major | 24)
            bytes.append(UInt8(truncatingIfNeeded: argument))
        } else if argument <= 0xffff {
            bytes.append(major | 25)
            bigEndian(UInt16(truncatingIfNeeded: argument))
        } else if argument <= 0xffff_ffff {
            bytes.append(major | 26)
            bigEndian(UInt32(truncatingIfNeeded: argument))
        } else {
            bytes.append(major | 27)
            bigEndian(argument)
        }
    }

    private mutating func bigEndian<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }
}

/// The numbers of RFC 8949, section 3.1, that the profile uses.
enum CBORMajor {
    static let uint: UInt8 = 0
    static let negative: UInt8 = 1
    static let byteString: UInt8 = 2
    static let text: UInt8 = 3
    static let array: UInt8 = 4
    static let map: UInt8 = 5
    static let tag: UInt8 = 6
    static let simple: UInt8 = 7

    static let falseByte: UInt8 = 0xf4
    static let trueByte: UInt8 = 0xf5
    static let nullByte: UInt8 = 0xf6
}
