import WorkspaceModel
import WorkspaceTestKit

/// Any value of the profile, for tests that need all of them.
enum CBORTree: Equatable, Sendable {
    case uint(UInt64)
    case byteString([UInt8])
    case text(String)
    case array([CBORTree])
    case map([(key: UInt64, value: CBORTree)])
    case bool(Bool)
    case null

    /// The one item that `bytes` are, read through the public decoder.
    init(_ bytes: [UInt8]) throws(Malformed) {
        var decoder = CBORDecoder(bytes)
        self = try Self.read(&decoder)
        try decoder.finish()
    }

    private static func read(_ decoder: inout CBORDecoder) throws(Malformed) -> CBORTree {
        switch try decoder.peek() {
        case .uint: return .uint(try decoder.uint())
        case .byteString: return .byteString(try decoder.byteString())
        case .text: return .text(try decoder.text(maxBytes: .max))
        case .bool: return .bool(try decoder.bool())
        case .null:
            try decoder.null()
            return .null
        case .array:
            var items: [CBORTree] = []
            for _ in 0..<(try decoder.arrayCount()) { items.append(try read(&decoder)) }
            return .array(items)
        case .map:
            var pairs: [(key: UInt64, value: CBORTree)] = []
            for _ in 0..<(try decoder.mapCount()) {
                pairs.append((try decoder.key(), try read(&decoder)))
            }
            return .map(pairs)
        }
    }

    /// The value's bytes, written through the public encoder.
    var bytes: [UInt8] {
        var encoder = CBOREncoder()
        write(to: &encoder)
        return encoder.bytes
    }

    private func write(to encoder: inout CBOREncoder) {
        switch self {
        case .uint(let value): encoder.uint(value)
        case .byteString(let value): encoder.byteString(value)
        case .text(let value): encoder.text(value)
        case .bool(let value): encoder.bool(value)
        case .null: encoder.null()
        case .array(let items):
            encoder.array(count: items.count)
            for item in items { item.write(to: &encoder) }
        case .map(let pairs):
            encoder.map(count: pairs.count)
            for pair in pairs {
                encoder.key(pair.key)
                pair.value.write(to: &encoder)
            }
        }
    }

    /// Equal down to the bytes of texts; `String ==` would ignore normalisation.
    static func == (left: CBORTree, right: CBORTree) -> Bool { left.bytes == right.bytes }
}

extension SeededGenerator {
    /// A number of random width, so that all sizes of heads occur.
    mutating func anyUInt() -> UInt64 {
        next() >> UInt64(below(64))
    }

    /// A random value that nests at most `depth` containers.
    mutating func cborTree(depth: Int = Limits.cborDepthMax) -> CBORTree {
        switch below(depth > 0 ? 9 : 5) {
        case 0: return .uint(anyUInt())
        case 1: return .byteString(bytes(below(40)))
        case 2: return .text(text(scalars: below(30)))
        case 3: return .bool(oneIn(2))
        case 4: return .null
        case 5, 6: return .array((0..<below(5)).map { _ in cborTree(depth: depth - 1) })
        default:
            let keys = Set((0..<below(5)).map { _ in anyUInt() }).sorted()
            return .map(keys.map { ($0, cborTree(depth: depth - 1)) })
        }
    }

    /// Text of random scalars from all planes, dangerous ones included.
    mutating func text(scalars count: Int) -> String {
        var text = String.UnicodeScalarView()
        while text.count < count {
            let value = UInt32(truncatingIfNeeded: anyUInt()) % 0x11_0000
            if let scalar = Unicode.Scalar(value) { text.append(scalar) }
        }
        return String(text)
    }
}
