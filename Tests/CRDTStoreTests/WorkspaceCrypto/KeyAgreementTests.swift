import CSodium
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

private let hex = CryptoVectors.hex

/// Public keys with which every agreement is zero (low order, with and without the top bit).
let lowOrderPublicKeys = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b880",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f11d7",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
]

struct `A key agreement` {
    // RFC 7748, section 5.2 and 6.1.
    @Test(arguments: [
        (
            "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
            "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
            "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
        ),
        (
            "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
            "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
            "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"
        ),
        (
            "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
            "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
            "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"
        ),
    ])
    func `has the result of the RFC`(secret: String, other: String, shared: String) throws {
        let key = AgreementKey(secret: hex(secret), lifetime: .brief)
        let result = try key.sharedSecret(with: AgreementPublicKey(hex(other)))
        #expect(result.exposedCopy() == hex(shared))
    }

    // RFC 7748, section 5.2: k, u = X25519(k, u), k over and over.
    @Test func `has the RFC's results after 1 and 1 000 rounds`() throws {
        var k = [9] + [UInt8](repeating: 0, count: 31)
        var u = k
        for round in 1...1_000 {
            let key = AgreementKey(secret: k, lifetime: .brief)
            (k, u) = (try key.sharedSecret(with: AgreementPublicKey(u)).exposedCopy(), k)
            if round == 1 {
                let once = "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"
                #expect(k == hex(once))
            }
        }
        let often = "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"
        #expect(k == hex(often))
    }

    @Test(.enabled(if: CryptoVectors.areThere))
    func `agrees with all Wycheproof cases and refuses every zero result`() throws {
        let cases = try CryptoVectors.wycheproof("x25519")
        let zero = [UInt8](repeating: 0, count: 32)
        var refused = 0
        for (_, test) in cases {
            let key = AgreementKey(secret: test.bytes("private"), lifetime: .brief)
            let other = AgreementPublicKey(test.bytes("public"))
            if test.bytes("shared") == zero {
                refused += 1
                #expect(throws: AgreementError.weakPublicKey) { try key.sharedSecret(with: other) }
            } else {
                let shared = try key.sharedSecret(with: other).exposedCopy()
                #expect(shared == test.bytes("shared"), "case \(test.number("tcId"))")
            }
        }
        #expect(cases.count == 518)
        #expect(refused == 31)
    }

    @Test(arguments: lowOrderPublicKeys)
    func `refuses a key of low order`(key: String) {
        let random = SeededRandom(seed: 1)
        let weak = AgreementPublicKey(hex(key))
        #expect(throws: AgreementError.weakPublicKey) {
            try AgreementKey(using: random).sharedSecret(with: weak)
        }
        #expect(throws: AgreementError.weakPublicKey) {
            try SealedBox.seal([1], to: weak, using: random)
        }
        #expect(!SealedBox.canSeal(to: weak))
        #expect(SealedBox.canSeal(to: AgreementKey(using: random).publicKey))
    }

    @Test(arguments: Seeds.explore(20))
    func `gives both sides one secret`(seed: UInt64) throws {
        let random = SeededRandom(seed: seed)
        let (left, right) = (AgreementKey(using: random), AgreementKey(using: random))
        let shared = try left.sharedSecret(with: right.publicKey).exposedCopy()
        #expect(try right.sharedSecret(with: left.publicKey).exposedCopy() == shared)
        #expect(AgreementKey(secret: left.exposedSecret()).publicKey == left.publicKey)
    }
}

struct `A sealed box` {
    @Test(arguments: Seeds.explore(20))
    func `is one that libsodium opens, and opens libsodium's`(seed: UInt64) throws {
        let random = SeededRandom(seed: seed)
        let key = AgreementKey(using: random)
        let message = random.bytes(Int(random.number(below: 100)))
        let recipient = key.publicKey.bytes

        let ours = try SealedBox.seal(message, to: key.publicKey, using: random)
        var opened = [UInt8](repeating: 0, count: message.count)
        let status = crypto_box_seal_open(
            &opened, ours, UInt64(ours.count), recipient, key.exposedSecret())
        #expect(status == 0)
        #expect(opened == message)

        var theirs = [UInt8](repeating: 0, count: message.count + crypto_box_sealbytes())
        let sealing = crypto_box_seal(&theirs, message, UInt64(message.count), recipient)
        #expect(sealing == 0)
        #expect(SealedBox.open(theirs, with: key) == message)
        #expect(theirs.count == message.count + SealedBox.overheadByteCount)
    }

    @Test func `opens for its recipient only, whole and unchanged`() throws {
        let random = SeededRandom(seed: 7)
        let (key, other) = (AgreementKey(using: random), AgreementKey(using: random))
        let box = try SealedBox.seal([1, 2, 3], to: key.publicKey, using: random)
        #expect(SealedBox.open(box, with: key) == [1, 2, 3])
        #expect(SealedBox.open(box, with: other) == nil)
        for count in box.indices {
            #expect(SealedBox.open([UInt8](box[..<count]), with: key) == nil)
        }
        for bit in 0..<box.count * 8 {
            #expect(SealedBox.open(box.flippingBit(bit), with: key) == nil)
        }
    }

    @Test func `is a function of the randomness it is given`() throws {
        let key = AgreementKey(using: SeededRandom(seed: 1)).publicKey
        let first = try SealedBox.seal([1], to: key, using: SeededRandom(seed: 2))
        #expect(try SealedBox.seal([1], to: key, using: SeededRandom(seed: 2)) == first)
        #expect(try SealedBox.seal([1], to: key, using: SeededRandom(seed: 3)) != first)
    }
}
