import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

private let hex = CryptoVectors.hex

struct `A signing key` {
    struct Example: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let seed, device, message, signature: String
    }

    // RFC 8032, section 7.1.
    static let examples = [
        Example(
            testDescription: "RFC 8032 test 1: empty",
            seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            device: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            message: "",
            signature: """
                e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155
                5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b
                """),
        Example(
            testDescription: "RFC 8032 test 2: one byte",
            seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            device: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            message: "72",
            signature: """
                92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da
                085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00
                """),
        Example(
            testDescription: "RFC 8032 test 3: two bytes",
            seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            device: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            message: "af82",
            signature: """
                6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac
                18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a
                """),
    ]

    @Test(arguments: examples)
    func `signs as the RFC does`(_ example: Example) {
        let key = SigningKey(seed: hex(example.seed))
        let message = hex(example.message)
        #expect(key.device == DeviceID(hex(example.device)))
        #expect(key.signature(for: message) == Signature(hex(example.signature)))
        #expect(key.device.signed(message, Signature(hex(example.signature))))
        #expect(key.exposedSeed() == hex(example.seed))
    }

    @Test(arguments: Seeds.explore(5))
    func `signs what nobody else signed`(seed: UInt64) {
        let random = SeededRandom(seed: seed)
        let key = SigningKey(using: random)
        let other = SigningKey(using: random)
        let message = random.bytes(1 + Int(random.number(below: 40)))
        let signature = key.signature(for: message)
        #expect(key.device.signed(message, signature))
        #expect(!other.device.signed(message, signature))
        for bit in 0..<signature.bytes.count * 8 {
            #expect(!key.device.signed(message, Signature(signature.bytes.flippingBit(bit))))
        }
        for bit in 0..<message.count * 8 {
            #expect(!key.device.signed(message.flippingBit(bit), signature))
        }
    }

    @Test func `tells nobody what it is`() {
        let key = SigningKey(seed: [UInt8](repeating: 0xab, count: 32))
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped] {
            #expect(!text.contains("171, 171"))
            #expect(!text.lowercased().contains("abab"))
        }
    }
}

struct `A signature` {
    @Test func `is exactly 64 bytes`() {
        let bytes = [UInt8](0..<64)
        #expect(Signature(untrusted: bytes)?.bytes == bytes)
        for count in [0, 1, 32, 63, 65, 128] {
            #expect(Signature(untrusted: [UInt8](repeating: 0, count: count)) == nil)
        }
    }

    @Test(.enabled(if: CryptoVectors.areThere))
    func `is judged as all Wycheproof cases say`() throws {
        let cases = try CryptoVectors.wycheproof("ed25519")
        #expect(cases.count == 151)
        for (group, test) in cases {
            let device = DeviceID(group.object("publicKey").bytes("pk"))
            let signature = Signature(untrusted: test.bytes("sig"))
            let accepted = signature.map { device.signed(test.bytes("msg"), $0) } ?? false
            #expect(accepted == (test.text("result") == "valid"), "case \(test.number("tcId"))")
        }
    }

    /// A signature that one node takes and another refuses would part their histories, so the
    /// answers to 914 odd signatures and 12 disputed ones are pinned.
    @Test(.enabled(if: CryptoVectors.areThere))
    func `is judged alike by every build`() throws {
        let pinned = CryptoVectors.Object(
            try CryptoVectors.json("ed25519/expected-libsodium-1.0.18.json"))
        let odd = try #require(
            CryptoVectors.json("ed25519/cctv-ed25519vectors.json") as? [Any]
        ).map(CryptoVectors.Object.init)
        let accepted = odd.filter { test in
            DeviceID(test.bytes("key")).signed(
                [UInt8](test.text("msg").utf8), Signature(test.bytes("sig")))
        }
        #expect(odd.count == 914)
        #expect(
            accepted.map { $0.number("number") }
                == pinned.fields["cctv_accepted_numbers"] as? [Int])

        let disputed = try #require(
            CryptoVectors.json("ed25519/speccheck-cases.json") as? [Any]
        ).map(CryptoVectors.Object.init)
        let taken = disputed.indices.filter { index in
            let test = disputed[index]
            return DeviceID(test.bytes("pub_key")).signed(
                test.bytes("message"), Signature(test.bytes("signature")))
        }
        #expect(disputed.count == 12)
        #expect(taken == pinned.fields["speccheck_accepted_indexes"] as? [Int])
    }
}
