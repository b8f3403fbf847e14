import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

private let hex = CryptoVectors.hex

struct `A hash` {
    // Expected values of H and Hk come from another implementation (Python's hashlib.blake2b).
    @Test func `has the value that other implementations give`() {
        #expect(
            Hash.personal("wsx-op1", [UInt8]("abc".utf8))
                == hex("57762e9b27dad163bd3daeb736ec34a0a13480e8a2af372c8d56c60c7fbe645e"))
        #expect(
            Hash.personal("wsx-sixteen-char", [])
                == hex("db8fa22dd2f5445f085ba6b0d079f704117446702aa80b7d2201190998ba58eb"))
    }

    @Test func `with a key has the value that other implementations give`() {
        let key = SymmetricKey([UInt8](0..<32))
        let document = [UInt8](repeating: 7, count: 32)
        let expected = hex("41eb030d649590f3530e33fa94726ce8eecab5cc0e1d0bb89e8f6032f36f6ab1")
        #expect(Hash.keyed(key, [UInt8]("wsx-doc".utf8), document) == expected)
        #expect(key.derived([UInt8]("wsx-doc".utf8), document).exposedCopy() == expected)
        #expect(key.keyID == KeyID(hex("4aed59a35d2ec808445b4d9071404e31")))
    }

    /// The example of PROTOCOL.md, 3.2, in a workspace of Tests/Vectors/frozen.json.
    @Test func `with an epoch key gives the key of a document`() {
        let key = SymmetricKey(
            hex("ae942ad96726f72dd22e643568cbc2e9adc2975064088fd25a8b2dc61f8944e8"))
        let document = hex("9f68aea8a35b5e11abc9a89a2ac2adf4eb44be231be016fc45920df2c357706f")
        let expected = hex("38044587daf6461905a87e7ccda439b04cd077e3fd7d40aabf99f7ba6673cae0")
        #expect(Hash.keyed(key, [UInt8]("wsx-doc".utf8), document) == expected)
        #expect(key.keyID == KeyID(hex("81b476abd2de8c21f0f41e03c173f446")))
    }

    @Test func `of parts is the hash of the parts in a row`() {
        let whole = [UInt8](0..<200)
        let parts = Hash.personal("p", [UInt8](whole[..<7]), [], [UInt8](whole[7...]))
        #expect(parts == Hash.personal("p", whole))
        let name: OperationID = Hash.name("p", [UInt8](whole[..<9]), [UInt8](whole[9...]))
        #expect(name.bytes == parts)
        #expect(Hash.name("p", whole) as OperationID == name)
    }

    @Test(arguments: [0, 1, 31, 32, 33, 128, 1_000])
    func `is a name with the same bytes, from an array or from a part of one`(_ count: Int) {
        let message = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let expected = Hash.personal("wsx-op1", message)
        #expect((Hash.name("wsx-op1", message) as OperationID).bytes == expected)
        #expect((Hash.name("wsx-op1", span: message.span) as OperationID).bytes == expected)
    }

    @Test func `differs for every purpose`() {
        let purposes: [Personal] = ["", "a", "b", "aa", "wsx-op1", "wsx-op2", "wsx-op1-and-more"]
        #expect(Set(purposes.map { Hash.personal($0, [1, 2, 3]) }).count == purposes.count)
        #expect(Set(purposes).count == purposes.count)
        #expect(Personal("wsx-op1") == "wsx-op1")
    }

    @Test(arguments: Seeds.explore(50))
    func `is the same however its bytes arrive`(seed: UInt64) {
        let random = SeededRandom(seed: seed)
        let message = random.bytes(Int(random.number(below: 2_000)))
        let stream = HashStream("wsx-stream")
        var cuts = SeededGenerator(seed: seed)
        let pieces = RandomCuts.parts(of: message, upTo: [3, max(message.count, 1)], using: &cuts)
        for piece in pieces { stream.update([UInt8](piece)) }
        #expect(stream.finish() == Hash.personal("wsx-stream", message), "WSX_SEED=\(seed)")
    }

    @Test func `of a stream that goes on after its end is our own bug`() async {
        await #expect(processExitsWith: .failure) {
            let stream = HashStream("p")
            _ = stream.finish()
            stream.update([1])
        }
    }

    @Test func `takes this long`() {
        let operation = SystemRandom().bytes(200)
        CryptoVectors.printTime("H of 200 B", runs: 20_000, bytes: 200) {
            _ = Hash.personal("wsx-op1", operation)
        }
    }
}

struct `A Noise hash function` {
    // RFC 7693, appendix A.
    @Test func `BLAKE2b has the value of its RFC`() {
        #expect(
            HashFunction.blake2b.hash([UInt8]("abc".utf8))
                == hex(
                    """
                    ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1
                    7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923
                    """))
    }

    @Test func `BLAKE2b's HMAC has the value that another implementation gives`() {
        let key = [UInt8](repeating: UInt8(ascii: "k"), count: 200)
        #expect(
            HashFunction.blake2b.hmac(key: key, [UInt8]("message".utf8))
                == hex(
                    """
                    76d83dfe58e27c7a2559677a3b3cc9132d6d504fd70e089892d0241e686cf77f
                    b070267d54d13a5bdcaf96e0b2139d689d6fcee9cfddbdf3bc65dc3c7c877ebc
                    """))
    }

    @Test(.enabled(if: CryptoVectors.areThere), arguments: [HashFunction.sha256, .sha512])
    func `agrees with all Wycheproof HMAC cases`(function: HashFunction) throws {
        let cases = try CryptoVectors.wycheproof("hmac_\(function.rawValue.lowercased())")
        #expect(cases.count == 174)
        for (group, test) in cases {
            let tag = function.hmac(key: test.bytes("key"), test.bytes("msg"))
            let agrees = tag.starts(with: test.bytes("tag"))
            #expect(test.bytes("tag").count == group.number("tagSize") / 8)
            #expect(agrees == (test.text("result") == "valid"), "case \(test.number("tcId"))")
        }
    }

    /// Noise's HKDF is RFC 5869 without an info and with two or three blocks. The cases with an
    /// info or another length are computed here, from our HMAC.
    @Test(.enabled(if: CryptoVectors.areThere), arguments: [HashFunction.sha256, .sha512])
    func `agrees with all Wycheproof HKDF cases`(function: HashFunction) throws {
        var noiseShaped = 0
        for (_, test) in try CryptoVectors.wycheproof("hkdf_\(function.rawValue.lowercased())") {
            let size = test.number("size")
            let (ikm, salt, info) = (test.bytes("ikm"), test.bytes("salt"), test.bytes("info"))
            guard test.text("result") == "valid" else {
                #expect(size > 255 * function.byteCount)
                continue
            }
            let expected = test.bytes("okm")
            #expect(hkdf(function, ikm, salt, info, size) == expected)
            if info.isEmpty, size <= 3 * function.byteCount {
                noiseShaped += 1
                let keys = function.hkdf(chainingKey: salt, ikm, outputCount: 3)
                #expect([UInt8](keys.joined().prefix(size)) == expected)
                #expect(
                    function.hkdf(chainingKey: salt, ikm, outputCount: 2) == [keys[0], keys[1]])
            }
        }
        #expect(noiseShaped > 0)
    }

    private func hkdf(
        _ function: HashFunction, _ ikm: [UInt8], _ salt: [UInt8], _ info: [UInt8], _ size: Int
    ) -> [UInt8] {
        let key = function.hmac(key: salt, ikm)
        var (output, previous): ([UInt8], [UInt8]) = ([], [])
        var number: UInt8 = 1
        while output.count < size {
            previous = function.hmac(key: key, previous + info + [number])
            output += previous
            number &+= 1
        }
        return [UInt8](output.prefix(size))
    }
}
