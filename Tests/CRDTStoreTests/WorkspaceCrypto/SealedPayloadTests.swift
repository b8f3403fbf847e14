import CSodium
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

private let hex = CryptoVectors.hex

struct `A sealed payload` {
    let random = SeededRandom(seed: 11)

    @Test(arguments: Seeds.explore(20))
    func `opens to what was sealed`(seed: UInt64) {
        let random = SeededRandom(seed: seed)
        let key = SymmetricKey(using: random)
        let plaintext = random.bytes(Int(random.number(below: 300)))
        let header = random.bytes(Int(random.number(below: 100)))
        let sealed = SealedPayload.seal(
            plaintext, under: key, associatedData: header, using: random)
        #expect(
            SealedPayload.open(sealed, under: key, associatedData: header) == plaintext,
            "WSX_SEED=\(seed)")
        #expect(sealed.count == 24 + (plaintext.count / 32 + 1) * 32 + 16)
    }

    @Test func `opens for nothing else`() {
        let key = SymmetricKey(using: random)
        let sealed = SealedPayload.seal(
            [1, 2, 3], under: key, associatedData: [4], using: random)
        for bit in 0..<sealed.count * 8 {
            #expect(
                SealedPayload.open(sealed.flippingBit(bit), under: key, associatedData: [4]) == nil)
        }
        for count in sealed.indices {
            let cut = [UInt8](sealed[..<count])
            #expect(SealedPayload.open(cut, under: key, associatedData: [4]) == nil)
        }
        #expect(SealedPayload.open(sealed, under: key, associatedData: [5]) == nil)
        #expect(SealedPayload.open(sealed, under: key, associatedData: []) == nil)
        let other = SymmetricKey(using: random)
        #expect(SealedPayload.open(sealed, under: other, associatedData: [4]) == nil)
    }

    @Test func `does not open when its padding is not exactly right`() {
        let key = SymmetricKey(using: random)
        let nonce = random.bytes(24)
        for padded in [[], [0x80], [UInt8](repeating: 0, count: 32), [1] + zeros(31)] {
            let sealed = XChaCha20Poly1305.seal(
                padded, under: key, nonce: nonce, associatedData: [])
            #expect(SealedPayload.open(nonce + sealed, under: key, associatedData: []) == nil)
        }
    }

    @Test(.enabled(if: CryptoVectors.areThere))
    func `is sealed as all Wycheproof cases say`() throws {
        let cases = try CryptoVectors.wycheproof("xchacha20_poly1305")
        var otherNonces = 0
        for (_, test) in cases {
            let (nonce, ad) = (test.bytes("iv"), test.bytes("aad"))
            let sealed = test.bytes("ct") + test.bytes("tag")
            let key = SymmetricKey(test.bytes("key"))
            let opened = XChaCha20Poly1305.open(
                sealed, under: key, nonce: nonce, associatedData: ad)
            let isValid = test.text("result") == "valid"
            #expect(opened == (isValid ? test.bytes("msg") : nil), "case \(test.number("tcId"))")
            if nonce.count != 24 { otherNonces += 1 }
            if isValid {
                let again = XChaCha20Poly1305.seal(
                    test.bytes("msg"), under: key, nonce: nonce, associatedData: ad)
                #expect(again == sealed)
            }
        }
        #expect(cases.count == 315)
        #expect(otherNonces == 9)
    }

    @Test func `takes this long`() {
        let key = SymmetricKey(using: random)
        let (text, header) = (random.bytes(100), random.bytes(150))
        let sealed = SealedPayload.seal(text, under: key, associatedData: header, using: random)
        let system = SystemRandom()
        CryptoVectors.printTime("sealing 100 B", runs: 10_000, bytes: 100) {
            _ = SealedPayload.seal(text, under: key, associatedData: header, using: system)
        }
        CryptoVectors.printTime("opening 100 B", runs: 10_000, bytes: 100) {
            _ = SealedPayload.open(sealed, under: key, associatedData: header)
        }
    }
}

struct `Padding to 32` {
    @Test func `adds 1 to 32 bytes and takes them away again`() {
        for count in 0...100 {
            let text = [UInt8](repeating: 0x80, count: count)
            let padded = Padding.padded(text)
            #expect(padded.count % 32 == 0)
            #expect((1...32).contains(padded.count - count))
            #expect(Padding.unpadded(padded) == text)
        }
        #expect(Padding.padded([]) == [0x80] + zeros(31))
    }

    @Test func `is libsodium's padding`() {
        for count in 0...100 {
            var padded = [UInt8](repeating: 7, count: count) + zeros(32)
            var length = 0
            let status = sodium_pad(&length, &padded, count, 32, padded.count)
            #expect(status == 0)
            let expected = [UInt8](padded.prefix(length))
            #expect(Padding.padded([UInt8](repeating: 7, count: count)) == expected)
        }
    }

    @Test func `has one form only`() {
        #expect(Padding.unpadded([]) == nil)
        #expect(Padding.unpadded([0x80]) == nil)
        #expect(Padding.unpadded(zeros(32)) == nil)
        #expect(Padding.unpadded([0x80] + zeros(32)) == nil)
        // The mark lies in the block before: a whole block of zeros too many.
        #expect(Padding.unpadded([0x80] + zeros(63)) == nil)
        #expect(Padding.unpadded(zeros(31) + [0x81]) == nil)
        #expect(Padding.unpadded(zeros(31) + [0x80]) == zeros(31))
    }
}

struct `A wrapped key` {
    @Test func `comes out under the newer key only`() throws {
        let random = SeededRandom(seed: 5)
        let (older, newer) = (SymmetricKey(using: random), SymmetricKey(using: random))
        let wrapped = KeyWrap.wrap(older, under: newer, using: random)
        #expect(wrapped.count == KeyWrap.byteCount)
        let unwrapped = try #require(KeyWrap.unwrap(wrapped, under: newer))
        #expect(unwrapped.exposedCopy() == older.exposedCopy())
        #expect(KeyWrap.unwrap(wrapped, under: older) == nil)
        for bit in 0..<wrapped.count * 8 {
            #expect(KeyWrap.unwrap(wrapped.flippingBit(bit), under: newer) == nil)
        }
        for count in [0, 1, 24, 40, 71, 73, 100] {
            #expect(KeyWrap.unwrap([UInt8](repeating: 0, count: count), under: newer) == nil)
        }
    }

    @Test func `is one that libsodium opens`() {
        let random = SeededRandom(seed: 6)
        let (older, newer) = (SymmetricKey(using: random), SymmetricKey(using: random))
        let wrapped = KeyWrap.wrap(older, under: newer, using: random)
        var opened = zeros(32)
        let status = crypto_secretbox_open_easy(
            &opened, [UInt8](wrapped[24...]), 48, wrapped, newer.exposedCopy())
        #expect(status == 0)
        #expect(opened == older.exposedCopy())
    }
}

/// The primitive below `CipherState`, whose nonces always begin with four zero bytes: vectors with
/// other nonces are tested here.
struct `ChaCha20-Poly1305` {
    // RFC 8439, section 2.8.2.
    @Test func `seals as the RFC does`() {
        let text = """
            Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the \
            future, sunscreen would be it.
            """
        let sealed = seal(
            [UInt8](text.utf8), key: [UInt8](0x80..<0xa0), nonce: hex("070000004041424344454647"),
            associatedData: hex("50515253c0c1c2c3c4c5c6c7"))
        let expected = hex(
            """
            d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6
            3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36
            92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc
            3ff4def08e4b7a9de576d26586cec64b6116
            1ae10b594f09e26a7e902ecbd0600691
            """)
        #expect(sealed == expected)
    }

    @Test(.enabled(if: CryptoVectors.areThere))
    func `agrees with all Wycheproof cases`() throws {
        let cases = try CryptoVectors.wycheproof("chacha20_poly1305")
        #expect(cases.count == 325)
        var compared = 0
        for (group, test) in cases where group.number("ivSize") == 96 {
            let sealed = seal(
                test.bytes("msg"), key: test.bytes("key"), nonce: test.bytes("iv"),
                associatedData: test.bytes("aad"))
            let agrees = sealed == test.bytes("ct") + test.bytes("tag")
            #expect(agrees == (test.text("result") == "valid"), "case \(test.number("tcId"))")
            compared += 1
        }
        #expect(compared == 316)
    }

    private func seal(
        _ text: [UInt8], key: [UInt8], nonce: [UInt8], associatedData: [UInt8]
    ) -> [UInt8] {
        var sealed = zeros(text.count + 16)
        let status = crypto_aead_chacha20poly1305_ietf_encrypt(
            &sealed, nil, text, UInt64(text.count), associatedData,
            UInt64(associatedData.count), nil, nonce, key)
        #expect(status == 0)
        return sealed
    }
}

private func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
