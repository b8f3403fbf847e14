import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

struct `The header of an operation` {
    /// Written by cbor2 for Python and `hashlib`, from PROTOCOL.md 2.
    static let golden = spelled(
        """
        8d 02 01 58 20 41*32 58 20 42*32 1a de ad be ef 1a 00 01 11 70 58 20 43*32 1b 10 \
        00*6 01 58 20 44*32 50 45*16 82 84 58 20 50*32 07 19 01 2c 58 20 51*32 84 58 20 \
        60*32 07 19 01 2c 58 20 61*32 05 58 20 04 a4 6a c7 2c a4 8d 4e 12 a6 70 ef ce 14 \
        8b f6 e3 36 8d 8e 14 32 26 ed de 32 6f 81 76 29 08 72
        """)
    static let goldenRoot = spelled(
        """
        8d 02 02 58 20 00*32 58 20 42*32 01 00 40 1a 00 01 00 00 58 20 00*32 40 80 00 58 \
        20 86 15 2f 39 78 cc 29 a5 07 29 f8 06 3e 26 22 bd dc e3 3d cd c1 60 2e 4c 3b b3 \
        ca 06 66 9f f9 04
        """)

    @Test func `has the bytes that the protocol says`() throws {
        let header = Self.header()
        #expect(header.encoded == Self.golden)
        #expect(try OperationHeader(decoding: Self.golden) == header)
        let id = Vectors.bytes(
            hex: "fb723b1b3b7215958e4d7035a63cb48942f28e6a1c7fba36c1169f464fbc16f0")
        #expect(OperationSigning.id(ofHeader: Self.golden).bytes == id)
    }

    @Test func `of a root says nothing before it`() throws {
        let root = try OperationHeader(decoding: Self.goldenRoot)
        #expect(root.encoded == Self.goldenRoot)
        #expect(root.previous == nil && root.keyID == nil && root.dependencies.isEmpty)
        #expect(root.document == .zero && root.grant == .zero)
    }

    @Test func `begins like its associated data`() {
        let header = Self.header()
        let context = header.associatedData
        #expect(context.first == 0x8b)
        #expect(context.dropFirst().elementsEqual(Self.golden[1..<context.count]))
        #expect(Self.golden.count == context.count + 1 + 34)
    }

    @Test(arguments: [golden, goldenRoot])
    func `corresponds to its bytes one to one`(_ bytes: [UInt8]) {
        expectOneForm(of: bytes) { (bytes) throws(Malformed) -> [UInt8] in
            try OperationHeader(decoding: bytes).encoded
        }
    }

    @Test(arguments: Seeds.explore(50))
    func `goes back and forth unchanged`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var header = Self.header()
        header.kind = random.oneIn(2) ? 2 : random.next()
        header.incarnation = UInt32(truncatingIfNeeded: random.next() >> random.below(64))
        header.sequence = random.next() >> random.below(64)
        header.previous = header.sequence == 0 ? nil : OperationID(random.bytes(32))
        header.timestamp = HybridTimestamp(rawValue: random.next() >> random.below(64))
        header.keyID = random.oneIn(2) ? nil : KeyID(random.bytes(16))
        let most = OperationKind.dependenciesMax(header.kind)
        header.dependencies = Self.references(random.below(most + 1), with: &random)
        header.payloadLength = random.below(OperationKind.payloadBytesMax(header.kind) + 1)
        #expect(try OperationHeader(decoding: header.encoded) == header, "WSX_SEED=\(seed)")
        #expect(header.encoded.count <= Limits.headerBytesMax)
    }

    // O08, C04
    @Test(arguments: [(UInt64(1), 16), (2, 64), (3, 64), (4, 16), (77, 16)])
    func `cites so many and no more`(_ kind: UInt64, _ most: Int) {
        var random = SeededGenerator(seed: 1)
        var header = Self.header()
        header.kind = kind
        header.dependencies = Self.references(most, with: &random)
        #expect(refusal(of: header.encoded) == nil)
        header.dependencies = Self.references(most + 1, with: &random)
        #expect(refusal(of: header.encoded) == .countExceeded)
        header.dependencies = Self.references(10_000, with: &random)
        #expect(refusal(of: header.encoded) == .outOfRange)
    }

    // O08
    @Test func `cites nothing twice and in one order only`() {
        var header = Self.header()
        header.dependencies.append(header.dependencies[1])
        #expect(refusal(of: header.encoded) == .keysOutOfOrder)
        header.dependencies = [header.dependencies[1], header.dependencies[0]]
        #expect(refusal(of: header.encoded) == .keysOutOfOrder)
    }

    // C04
    @Test(arguments: [(UInt64(1), 256), (2, 768), (4, 256), (.max, 256)])
    func `has a payload up to the limit`(_ kind: UInt64, _ kibibytes: Int) {
        var header = Self.header()
        header.kind = kind
        header.payloadLength = kibibytes << 10
        #expect(refusal(of: header.encoded) == nil)
        header.payloadLength += 1
        #expect(refusal(of: header.encoded) == .outOfRange)
    }

    // O05
    @Test func `names what came before it, unless nothing did`() {
        var header = Self.header()
        header.sequence = 0
        #expect(refusal(of: header.encoded) == .inconsistent)
        header.previous = nil
        #expect(refusal(of: header.encoded) == nil)
        header.sequence = .max
        #expect(refusal(of: header.encoded) == .inconsistent)
    }

    @Test func `is of one version`() {
        var bytes = Self.golden
        bytes[1] = 1
        #expect(refusal(of: bytes) == .unsupported)
        bytes[1] = 3
        #expect(refusal(of: bytes) == .unsupported)
    }

    // C03
    @Test(arguments: [
        "9b 7f ff*7", "8d 02 01 5b 7f ff*7",
        "8d 02 01 58 20 41*32 58 20 42*32 01 00 40 00 58 20 00*32 40 9b 7f ff*7",
        "8d 02 01 58 20 41*32 58 20 42*32 1b 00 00 00 01 00 00 00 00",
    ])
    func `claims no more than it may`(_ notation: String) {
        #expect(refusal(of: spelled(notation)) != nil)
    }

    static func header() -> OperationHeader {
        func bytes(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }
        func reference(_ byte: UInt8) -> OperationReference {
            OperationReference(
                device: DeviceID(bytes(byte)), incarnation: 7, sequence: 300,
                id: OperationID(bytes(byte + 1)))
        }
        return OperationHeader(
            kind: 1, document: DocumentID(bytes(0x41)), device: DeviceID(bytes(0x42)),
            incarnation: 0xdead_beef, sequence: 70_000, previous: OperationID(bytes(0x43)),
            timestamp: HybridTimestamp(rawValue: 1 << 60 + 1), grant: OperationID(bytes(0x44)),
            keyID: KeyID([UInt8](repeating: 0x45, count: 16)),
            dependencies: [reference(0x50), reference(0x60)], payloadLength: 5,
            payloadHash: OperationSigning.hash(ofPayload: Array("hello".utf8)))
    }

    static func references(
        _ count: Int, with random: inout SeededGenerator
    ) -> [OperationReference] {
        let references = (0..<count).map { _ in
            OperationReference(
                device: DeviceID(random.bytes(32)), incarnation: 1, sequence: random.next() >> 40,
                id: OperationID(random.bytes(32)))
        }
        return references.sorted { $0.id < $1.id }
    }

    private func refusal(of bytes: [UInt8]) -> Malformed.Reason? {
        do {
            _ = try OperationHeader(decoding: bytes)
            return nil
        } catch { return error.reason }
    }
}
