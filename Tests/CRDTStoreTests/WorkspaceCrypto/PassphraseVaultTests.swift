import CSodium
import Testing
import WorkspaceCrypto
import WorkspaceModel

private let hex = CryptoVectors.hex

struct `A passphrase vault` {
    static let cost = PassphraseVault.Cost(passes: 1, memoryKiB: 8)
    static let passphrase = [UInt8]("correct horse".utf8)
    static let secrets = [UInt8](0..<40)

    static func file(seed: UInt64 = 1) throws -> [UInt8] {
        try PassphraseVault.seal(
            secrets, passphrase: passphrase, cost: cost, using: SeededRandom(seed: seed))
    }

    /// RFC 9106's own Argon2id vector has a secret, associated data and four lanes, none of which
    /// libsodium takes. This is a vector of the reference implementation's test suite with one
    /// lane: 2 passes over 64 MiB, "password", "somesalt".
    @Test func `rests on Argon2id as the reference implementation has it`() {
        let text = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$"
        let hash = "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
        #expect(crypto_pwhash_argon2id_str_verify(text + hash, "password", 8) == 0)
        #expect(crypto_pwhash_argon2id_str_verify(text + hash, "passwore", 8) != 0)
    }

    @Test func `opens with its passphrase only`() throws {
        let file = try Self.file()
        #expect(try PassphraseVault.open(file, passphrase: Self.passphrase) == Self.secrets)
        for wrong in ["", "correct hors", "correct horse ", "Correct horse", "correct horse\0"] {
            #expect(throws: PassphraseVault.OpenError.wrongPassphrase) {
                try PassphraseVault.open(file, passphrase: [UInt8](wrong.utf8))
            }
        }
    }

    @Test func `takes any passphrase and any secrets`() throws {
        for passphrase in [[], [0], [UInt8](repeating: 0xff, count: 1_000)] as [[UInt8]] {
            for secrets in [[], [1], [UInt8](repeating: 2, count: 10_000)] as [[UInt8]] {
                let file = try PassphraseVault.seal(
                    secrets, passphrase: passphrase, cost: Self.cost, using: SystemRandom())
                #expect(try PassphraseVault.open(file, passphrase: passphrase) == secrets)
            }
        }
    }

    @Test func `has the layout that is written down`() throws {
        let file = try Self.file()
        #expect(file.count == 57 + Self.secrets.count + 16 + 16)
        #expect([UInt8](file[..<17]) == [UInt8]("wsxvault".utf8) + [1, 1, 0, 0, 0, 8, 0, 0, 0])
        #expect([UInt8](file[17..<57]) == SeededRandom(seed: 1).bytes(40))
        let check = Hash.personal("wsx-vault1", [UInt8](file.dropLast(16))).prefix(16)
        #expect([UInt8](file.suffix(16)) == [UInt8](check))

        var key = [UInt8](repeating: 0, count: 32)
        let status = crypto_pwhash(
            &key, 32, Self.passphrase.map { CChar(bitPattern: $0) }, UInt64(Self.passphrase.count),
            [UInt8](file[17..<33]), 1, 8 * 1_024, crypto_pwhash_alg_argon2id13())
        #expect(status == 0)
        let opened = XChaCha20Poly1305.open(
            [UInt8](file[57..<file.count - 16]), under: SymmetricKey(key),
            nonce: [UInt8](file[33..<57]), associatedData: [UInt8](file[..<57]))
        #expect(opened == Self.secrets)
    }

    @Test func `tells a damaged file from a wrong passphrase`() throws {
        let file = try Self.file()
        for count in file.indices { expectMalformed([UInt8](file[..<count])) }
        for bit in 0..<file.count * 8 { expectMalformed(file.flippingBit(bit)) }
        expectMalformed(file + [0])
        expectMalformed(SystemRandom().bytes(200))
    }

    @Test(
        arguments: [
            (0, 8), (17, 8), (.max, 8), (1, 0), (1, 7), (1, 65_537), (1, .max), (.max, .max),
        ] as [(UInt32, UInt32)])
    func `refuses a foreign cost before it allocates`(passes: UInt32, memoryKiB: UInt32) throws {
        var body = [UInt8](try Self.file().dropLast(16))
        body.replaceSubrange(9..<13, with: littleEndian(passes))
        body.replaceSubrange(13..<17, with: littleEndian(memoryKiB))
        let file = body + Hash.personal("wsx-vault1", body).prefix(16)
        #expect(throws: PassphraseVault.OpenError.excessiveCost) {
            try PassphraseVault.open(file, passphrase: Self.passphrase)
        }
    }

    @Test func `costs a person's attacker 64 MiB a guess`() throws {
        #expect(PassphraseVault.Cost.standard.passes == 4)
        #expect(
            Int(PassphraseVault.Cost.standard.memoryKiB) * 1_024 == Limits.passphraseMemoryBytes)
        let file = try PassphraseVault.seal(
            [1], passphrase: Self.passphrase, using: SeededRandom(seed: 1))
        CryptoVectors.printTime("opening a vault", runs: 1, bytes: 0) {
            let opened = try? PassphraseVault.open(file, passphrase: Self.passphrase)
            #expect(opened == [1])
        }
    }

    private func expectMalformed(_ file: [UInt8]) {
        #expect(throws: PassphraseVault.OpenError.malformed) {
            try PassphraseVault.open(file, passphrase: Self.passphrase)
        }
    }

    private func littleEndian(_ number: UInt32) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { [UInt8]($0) }
    }
}
